"""Weighted graph Laplacians, and their solution layer by layer of edge conductance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from convexhc._types import FloatArray, IntArray
from convexhc.graph import Graph
from convexhc.kernels.components import components
from convexhc.kernels.flows import potentials
from convexhc.kernels.rows import group_means
from convexhc.model.factorization import Factor

# Least conductance of the edges that join the pieces of a layer, relative to the largest: the
# potentials across weaker edges would swamp those across the others in double precision.
_WEAKEST = 1e-8


def laplacian(graph: Graph, weight: NDArray[np.float64]) -> csr_array:
    """D' diag(weight) D: degrees on the diagonal, minus the weights off it. O(n + E).

    Examples
    --------
    >>> import numpy as np
    >>> pair = Graph.from_matrix([[0.0, 2.0], [2.0, 0.0]])
    >>> laplacian(pair, pair.weight).toarray()
    array([[ 2., -2.],
           [-2.,  2.]])
    """
    n, tail, head = graph.n, graph.tail, graph.head
    degree = np.bincount(tail, weight, n) + np.bincount(head, weight, n)
    nodes = np.arange(n)
    rows = np.concatenate([tail, head, nodes])
    columns = np.concatenate([head, tail, nodes])
    return csr_array((np.concatenate([-weight, -weight, degree]), (rows, columns)), shape=(n, n))


@dataclass(frozen=True, eq=False)
class Layer:
    """Edges of comparable conductance between pieces that stronger edges join.

    A Laplacian whose conductances span more orders of magnitude than double precision resolves is
    numerically singular. Its layers are not: each contracts the pieces joined by stronger edges.

    Parameters
    ----------
    at : ndarray of int
        Indices of the edges.
    ends : (2, edges) ndarray of int
        Their end nodes.
    conductance : ndarray
        Their conductances.
    piece : (n,) ndarray of int
        Piece of every node.
    """

    at: IntArray
    ends: IntArray
    conductance: FloatArray
    piece: IntArray

    @classmethod
    def all_of(cls, n: int, ends: IntArray, conductance: FloatArray) -> list[Layer]:
        """Partition the edges of n nodes into layers, strongest first. O(n + E) per layer.

        Examples
        --------
        >>> chain = np.array([[0, 1, 2], [1, 2, 3]])
        >>> [layer.at.tolist() for layer in Layer.all_of(4, chain, np.array([1.0, 1e-20, 0.5]))]
        [[0, 2], [1]]
        """
        found, piece, left = [], np.arange(n), np.arange(conductance.size)
        while left.size:
            (tail, head), c = piece[ends[:, left]], conductance[left]
            count = int(piece.max()) + 1
            part, top = components(count, tail, head, np.ones(left.size, np.bool_)), np.zeros(count)
            np.maximum.at(top, part[tail], c)
            joined = components(count, tail, head, c >= _WEAKEST * top[part[tail]])
            # Weak edges within a piece belong to its layer too.
            inside = joined[tail] == joined[head]
            found.append(cls(left[inside], ends[:, left[inside]], c[inside], piece))
            piece, left = joined[piece], left[~inside]
        return found

    @cached_property
    def between(self) -> IntArray:
        """Pieces at the ends of every edge; edges may be parallel."""
        return np.ascontiguousarray(self.piece[self.ends])

    @cached_property
    def pull(self) -> csr_array:
        """Matrix from the potentials of the pieces to the net flow out of every node."""
        (tail, head), (i, j), c = self.ends, self.between, self.conductance
        shape = self.piece.size, int(self.piece.max()) + 1
        value = np.concatenate([c, c, -c, -c])
        rows, columns = np.concatenate([tail, head, tail, head]), np.concatenate([i, j, j, i])
        return csr_array((value, (rows, columns)), shape=shape)

    @cached_property
    def gather(self) -> csr_array:
        """Matrix that sums over pieces."""
        n = self.piece.size
        return csr_array((np.ones(n), (self.piece, np.arange(n))))

    @cached_property
    def _component(self) -> IntArray:
        """Connected component of every piece."""
        tail, head = self.between
        return components(int(self.piece.max()) + 1, tail, head, np.ones(tail.size, np.bool_))

    @cached_property
    def _factor(self) -> Factor:
        """Factor, with the node of largest degree of every component grounded: same flows."""
        n, (tail, head), c = int(self.piece.max()) + 1, self.between, self.conductance
        degree: FloatArray = np.asarray(
            np.bincount(tail, c, n) + np.bincount(head, c, n), np.float64
        )
        order = np.argsort(-degree, kind="stable")
        ground = order[np.unique(self._component[order], return_index=True)[1]]
        degree[ground] = 2.0 * degree[ground]
        degree[degree == 0.0] = 1.0
        nodes = np.arange(n)
        rows, columns = np.concatenate([tail, head, nodes]), np.concatenate([head, tail, nodes])
        value = np.concatenate([-c, -c, degree])
        return Factor(csc_array((value, (rows, columns)), shape=(n, n)))

    def potentials(self, R: FloatArray, *, factored: bool = True) -> FloatArray:
        """Solve L X = R, one row per piece, by a factor or by conjugate gradients."""
        if not factored:
            return self._conjugate_gradients(R)
        rows, out = self._factor.rows, np.empty_like(R)
        X = np.ascontiguousarray(R[rows])
        self._factor.solve(X)
        out[rows] = X
        return out

    def _conjugate_gradients(self, R: FloatArray) -> FloatArray:
        """X with L X = R up to the mean of R over every component.

        Conjugate gradients diverge on an inconsistent system, and weaker layers are solved only to
        a tolerance: the mean of R over a component is removed. Every component is scaled to a
        largest conductance of one, so that the weakest does not decide alone when to stop.
        """
        (tail, head), component = self.between, self._component
        scale = np.zeros(int(component.max()) + 1)
        np.maximum.at(scale, component[tail], self.conductance)
        scale[scale == 0.0] = 1.0
        unit = scale[component]
        R = R - group_means(R, component, np.ones(component.size))[component]
        return np.asarray(potentials(R, tail, head, self.conductance / unit[tail]) / unit[:, None])

    def flow(self, X: FloatArray) -> FloatArray:
        """Flow along every edge under potentials of the pieces."""
        tail, head = self.between
        return np.asarray(self.conductance[:, None] * (X[tail] - X[head]))
