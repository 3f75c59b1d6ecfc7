"""Weighted graph Laplacians, and their solution layer by layer of edge conductance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs
from scipy.sparse import csc_array, csr_array

from convexhc._types import FloatArray, IntArray
from convexhc.graph import Graph
from convexhc.kernels.components import components
from convexhc.kernels.flows import potentials
from convexhc.kernels.rows import group_means
from convexhc.model.elimination import DenseFactor, Elimination
from convexhc.model.factorization import DENSE_FACTOR_NODES, Factor, SparseFactor

# Least conductance of the edges that join the pieces of a layer, relative to the largest: the
# potentials across weaker edges would swamp those across the others in double precision.
_WEAKEST = 1e-8


def grounded_potentials(
    R: FloatArray, tail: IntArray, head: IntArray, conductance: FloatArray
) -> FloatArray:
    """Solve L X = R on one component, up to a constant; R sums to zero. O(n^3 + n^2 m).

    Edges may be parallel. A refinement by differences of potentials makes the residual as accurate
    as that of conjugate gradients.

    Examples
    --------
    >>> one = np.ones(2)
    >>> X = grounded_potentials(np.array([[1.0], [0.0], [-1.0]]), np.r_[0, 1], np.r_[1, 2], one)
    >>> np.round(X[0] - X[2], 12)
    array([2.])
    """
    n = len(R)
    flat = np.concatenate([tail * n + head, head * n + tail])
    matrix = -np.bincount(flat, np.tile(conductance, 2), n * n).reshape(n, n)
    degree = -matrix.sum(axis=0)
    matrix[np.arange(n), np.arange(n)] = degree
    # The mean over all nodes is grounded, evenly: no node is singled out.
    matrix += degree.mean() / n
    # The matrix is symmetric: its transpose is in the order that LAPACK wants.
    factor, failed = dpotrf(matrix.T, lower=1, overwrite_a=1)
    if failed:
        return potentials(R, tail, head, conductance)
    X = dpotrs(factor, R, lower=1)[0]
    flow = conductance[:, None] * (X[tail] - X[head])
    rows, columns = np.concatenate([tail, head]), np.tile(np.arange(tail.size), 2)
    signs = np.concatenate([np.ones(tail.size), -np.ones(tail.size)])
    ends = csr_array((signs, (rows, columns)), shape=(n, tail.size))
    X += dpotrs(factor, R - ends @ flow, lower=1)[0]
    return np.ascontiguousarray(X)


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
    """

    at: IntArray  # indices of the edges
    ends: IntArray  # (2, edges): their end nodes
    conductance: FloatArray  # their conductances
    piece: IntArray  # (n,): piece of every node
    ordered: bool = False  # whether the pieces are in an order of little fill

    @classmethod
    def all_of(
        cls, n: int, ends: IntArray, conductance: FloatArray, *, ordered: bool = False
    ) -> list[Layer]:
        """Partition the edges of n nodes into layers, strongest first. O(n + E) per layer.

        The pieces of the first layer are the nodes, which may be ``ordered`` for little fill.

        Examples
        --------
        >>> chain = np.array([[0, 1, 2], [1, 2, 3]])
        >>> [layer.at.tolist() for layer in Layer.all_of(4, chain, np.array([1.0, 1e-20, 0.5]))]
        [[0, 2], [1]]
        """
        found: list[Layer] = []
        piece, left = np.arange(n), np.arange(conductance.size)
        if left.size and conductance.min() >= _WEAKEST * conductance.max():
            return [cls(left, ends, conductance, piece, ordered)]
        while left.size:
            (tail, head), c = piece[ends[:, left]], conductance[left]
            count = int(piece.max()) + 1
            part, top = components(count, tail, head, np.ones(left.size, np.bool_)), np.zeros(count)
            np.maximum.at(top, part[tail], c)
            joined = components(count, tail, head, c >= _WEAKEST * top[part[tail]])
            # Weak edges within a piece belong to its layer too.
            inside = joined[tail] == joined[head]
            first = ordered and not found
            found.append(cls(left[inside], ends[:, left[inside]], c[inside], piece, first))
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
    def _degree(self) -> FloatArray:
        """Sum of the conductances at every piece."""
        n, (tail, head), c = int(self.piece.max()) + 1, self.between, self.conductance
        return np.asarray(np.bincount(tail, c, n) + np.bincount(head, c, n), np.float64)

    @cached_property
    def _ground(self) -> IntArray:
        """The piece of largest degree of every component: grounding it changes no flow."""
        order = np.argsort(self._degree, kind="stable")
        ground = np.empty(int(self._component.max()) + 1, np.int64)
        # The last number written to a place stays.
        ground[self._component[order]] = order
        return ground

    @cached_property
    def _ordered_factor(self) -> SparseFactor | DenseFactor:
        """Factor with the rows in their order."""
        n, (tail, head) = self._degree.size, self.between
        return Elimination(n, tail, head, self._ground).factor(self.conductance)

    @cached_property
    def _factor(self) -> Factor:
        """Factor in an order of its own."""
        (tail, head), c, degree = self.between, self.conductance, self._degree.copy()
        n = degree.size
        degree[self._ground] *= 2.0
        degree[degree == 0.0] = 1.0
        nodes = np.arange(n)
        rows, columns = np.concatenate([tail, head, nodes]), np.concatenate([head, tail, nodes])
        value = np.concatenate([-c, -c, degree])
        return Factor(csc_array((value, (rows, columns)), shape=(n, n)))

    def potentials(self, R: FloatArray, *, factored: bool = True) -> FloatArray:
        """Solve L X = R, one row per piece, by a sparse factor or, where it fills in, without."""
        if not factored:
            largest = int(np.bincount(self._component).max())
            return self._dense(R) if largest <= DENSE_FACTOR_NODES else self._conjugate_gradients(R)
        if self.ordered:
            X = R.copy()
            self._ordered_factor.solve(X)
            return X
        rows, out = self._factor.rows, np.empty_like(R)
        X = np.ascontiguousarray(R[rows])
        self._factor.solve(X)
        out[rows] = X
        return out

    def _dense(self, R: FloatArray) -> FloatArray:
        """X with L X = R up to the mean of R over every component, by one factor per component.

        The mean of R over a component is removed, as for `_conjugate_gradients`.
        """
        (tail, head), component = self.between, self._component
        n = component.size
        R = R - group_means(R, component, np.ones(n))[component]
        size = np.bincount(component)
        order = np.argsort(component, kind="stable")
        first = np.cumsum(size) - size
        place = np.empty(n, np.int64)
        place[order] = np.arange(n) - np.repeat(first, size)
        by_component = np.argsort(component[tail], kind="stable")
        ends = np.searchsorted(component[tail[by_component]], np.arange(size.size + 1))
        X = np.zeros_like(R)
        for g in np.flatnonzero(size > 1):
            nodes = order[first[g] : first[g] + size[g]]
            edges = by_component[ends[g] : ends[g + 1]]
            i, j, c = place[tail[edges]], place[head[edges]], self.conductance[edges]
            X[nodes] = grounded_potentials(R[nodes], i, j, c)
        return X

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
