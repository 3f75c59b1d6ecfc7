"""Weighted undirected graphs.

A :class:`Graph` represents edge weights as well as a symmetric similarity matrix ``K``: its edges
are the off-diagonal entries, its ``diagonal`` the self-similarities. It is validated when it is
built: entries are finite, symmetric, sorted and unique.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from convexhc._checks import named
from convexhc._types import FloatArray, IntArray
from convexhc.graph_checks import (
    Symmetrize,
    add_missing_mirrors,
    check_structure,
    check_symmetrize,
    check_values,
    checked_names,
    checked_size,
    is_valid_dense,
    node_indices,
    real_array,
    square_matrix,
    symmetric_part,
)
from convexhc.kernels.components import components

__all__ = ["Graph", "Symmetrize"]


@dataclass(frozen=True, eq=False)
class Graph:
    """Weighted undirected graph on nodes 0 to n - 1, immutable.

    Its symmetric matrix has ``weight[e]`` at ``(tail[e], head[e])`` and ``(head[e], tail[e])``,
    ``diagonal[i]`` at ``(i, i)`` and zero elsewhere. Build it with :meth:`from_matrix` or
    :meth:`from_edges`, which sort and symmetrise; the constructor only validates.

    Parameters
    ----------
    n : int
        Number of nodes, at least one.
    tail, head : (E,) int64 arrays
        Ends of the edges, ``tail < head``, in lexicographic order, each pair once.
    weight : (E,) float64 array
        Weights of the edges: finite, nonzero, positive unless built with ``signed=True``.
    diagonal : (n,) float64 array
        Self-similarities, or self-loops; zero where there is none.
    names : tuple of n distinct hashable values
        Names of the nodes; by default ``0 .. n - 1``.

    Notes
    -----
    The arrays are read-only. Memory is proportional to ``n + E``.

    Examples
    --------
    >>> import numpy as np
    >>> triangle = Graph.from_matrix(np.ones((3, 3)) - np.eye(3), names=["a", "b", "c"])
    >>> triangle
    Graph(n=3, n_edges=3)
    >>> triangle.tail, triangle.head
    (array([0, 0, 1]), array([1, 2, 2]))
    """

    n: int
    tail: IntArray
    head: IntArray
    weight: FloatArray
    diagonal: FloatArray
    names: tuple[Hashable, ...]

    def __post_init__(self) -> None:
        """Validate the arrays, and copy them read-only."""
        object.__setattr__(self, "n", checked_size(self.n))
        dtypes = {"tail": np.int64, "head": np.int64, "weight": np.float64, "diagonal": np.float64}
        for field, dtype in dtypes.items():
            # A copy: the caller's array stays writable, and writing to it does not alter ours.
            array = np.array(getattr(self, field), dtype=dtype, order="C")
            array.setflags(write=False)
            object.__setattr__(self, field, array)
        object.__setattr__(self, "names", checked_names(self.names, self.n))
        check_structure(self)

    def __repr__(self) -> str:
        return f"Graph(n={self.n}, n_edges={self.n_edges})"

    @classmethod
    def from_matrix(
        cls,
        matrix: ArrayLike | sparse.sparray | sparse.spmatrix,
        *,
        names: Iterable[Hashable] | None = None,
        signed: bool = False,
        symmetrize: Symmetrize | None = None,
    ) -> Graph:
        """Build a graph from a square symmetric matrix, dense or sparse.

        Parameters
        ----------
        matrix : (n, n) array, scipy sparse matrix or scipy sparse array
            Any real dtype and any sparse format; entries of a sparse matrix stored twice are
            summed, as scipy reads them, and stored zeros are dropped.
        names : iterable of n distinct hashable values, optional
            Names of the nodes; by default ``0 .. n - 1``.
        signed : bool
            Allow negative entries.
        symmetrize : {"mean", "max", "min"}, optional
            How to combine ``(i, j)`` and ``(j, i)`` if they differ. By default a difference
            above ``1e-10`` of the largest entry (a few units of round-off for float32) is an
            error, and a smaller one is averaged.

        Returns
        -------
        Graph
            O(n + entries) memory for a sparse matrix, which is never made dense.

        Raises
        ------
        ValueError
            The matrix is empty or not square, entries are NaN, infinite, negative or asymmetric,
            or names are wrong.
        TypeError
            Entries are not real numbers.

        Examples
        --------
        >>> Graph.from_matrix([[1.0, 0.5], [0.5, 1.0]]).diagonal
        array([1., 1.])
        """
        check_symmetrize(symmetrize)
        square, tolerance = square_matrix(matrix)
        labels = checked_names(names, checked_size(square.shape[0]))
        if is_valid_dense(square, signed=signed):
            tail, head = np.nonzero(np.triu(square, 1))
            return cls(len(labels), tail, head, square[tail, head], square.diagonal(), labels)
        entries = sparse.csr_array(square)
        entries.sum_duplicates()
        listed = entries.tocoo()
        check_values(listed.data, listed.row, listed.col, labels, signed=signed)
        symmetric = symmetric_part(entries, symmetrize, tolerance, labels)
        upper = sparse.csr_array(sparse.triu(symmetric, 1, format="csr"))
        upper.eliminate_zeros()
        upper.sort_indices()
        tail, head = (axis.astype(np.int64) for axis in upper.tocoo().coords)
        return cls(len(labels), tail, head, upper.data, symmetric.diagonal(), labels)

    @classmethod
    def from_edges(
        cls,
        n: int,
        tail: ArrayLike,
        head: ArrayLike,
        weight: ArrayLike | None = None,
        *,
        names: Iterable[Hashable] | None = None,
        signed: bool = False,
        duplicates: Literal["sum", "mirror"] = "sum",
        symmetrize: Symmetrize | None = None,
    ) -> Graph:
        """Build a graph from a list of edges in any order and orientation.

        Self-loops go to the diagonal; edges of weight zero are dropped.

        Parameters
        ----------
        n : int
            Number of nodes.
        tail, head : (E,) int arrays
            Ends of the edges, between ``0`` and ``n - 1``.
        weight : (E,) array, optional
            Weights; by default all one.
        names, signed
            As for :meth:`from_matrix`.
        duplicates : {"sum", "mirror"}
            How to treat repeated pairs. ``"sum"`` adds the weights of both orientations
            (parallel edges of a multigraph). ``"mirror"`` adds the weights of each orientation,
            and requires the two sums to agree if both occur (a symmetric list).
        symmetrize : {"mean", "max", "min"}, optional
            Read the list as directed instead, and combine the two directions as
            :meth:`from_matrix` does; a missing direction counts as zero.

        Returns
        -------
        Graph
            O(E log E) time.

        Raises
        ------
        ValueError
            As :meth:`from_matrix`; or arrays differ in length, or a node is out of range.
        TypeError
            Weights are not real numbers, or nodes are not integers.

        Examples
        --------
        >>> Graph.from_edges(3, [1, 2], [0, 1], [0.5, 2.0]).weight
        array([0.5, 2. ])
        """
        check_symmetrize(symmetrize)
        summed = named("duplicates", duplicates, {"sum": True, "mirror": False})
        n = checked_size(n)
        rows, columns = node_indices(tail, n, "tail"), node_indices(head, n, "head")
        values = np.ones(len(rows)) if weight is None else real_array(weight, "weight")
        values = values.astype(np.float64)
        if values.shape != rows.shape or columns.shape != rows.shape:
            raise ValueError(
                "tail, head and weight must be one-dimensional arrays of one length, got shapes "
                f"{rows.shape}, {columns.shape} and {values.shape}"
            )
        labels = checked_names(names, n)
        # Before duplicates are summed, so that the error names a listed pair.
        check_values(values, rows, columns, labels, signed=signed)
        if symmetrize is None:
            if summed:
                rows, columns = np.minimum(rows, columns), np.maximum(rows, columns)
            rows, columns, values = add_missing_mirrors(n, rows, columns, values)
        entries = sparse.coo_array((values, (rows, columns)), shape=(n, n))
        return cls.from_matrix(entries, names=labels, signed=signed, symmetrize=symmetrize)

    @property
    def n_edges(self) -> int:
        """Number of edges, self-loops not counted."""
        return len(self.weight)

    @property
    def largest(self) -> float:
        """Largest absolute entry."""
        sizes = (float(np.abs(one).max(initial=0.0)) for one in (self.weight, self.diagonal))
        return max(sizes)

    def matrix(self) -> sparse.csr_array:
        """Return the (n, n) symmetric matrix, diagonal included, without stored zeros."""
        loops = np.flatnonzero(self.diagonal)
        rows = np.concatenate([self.tail, self.head, loops])
        columns = np.concatenate([self.head, self.tail, loops])
        values = np.concatenate([self.weight, self.weight, self.diagonal[loops]])
        result = sparse.coo_array((values, (rows, columns)), shape=(self.n, self.n)).tocsr()
        result.sort_indices()
        return result

    def dense(self) -> FloatArray:
        """Return the symmetric matrix, diagonal included, as a dense (n, n) array."""
        result = np.zeros((self.n, self.n))
        result[self.tail, self.head] = self.weight
        result[self.head, self.tail] = self.weight
        np.fill_diagonal(result, self.diagonal)
        return result

    def components(self) -> tuple[int, IntArray]:
        """Return the number of connected components, and the component of each node.

        Components, also of single nodes, are numbered in the order of their first nodes.

        Examples
        --------
        >>> Graph.from_edges(4, [1], [3]).components()
        (3, array([0, 1, 2, 1]))
        """
        found = components(self.n, self.tail, self.head, np.ones(self.n_edges, np.bool_))
        return int(found.max(initial=-1)) + 1, found

    def without_weak(self, share: float) -> Graph:
        """Return the graph without edges lighter than ``share`` times the largest weight.

        Examples
        --------
        >>> Graph.from_edges(3, [0, 1], [1, 2], [1.0, 1e-30]).without_weak(1e-9).n_edges
        1
        """
        strong = self.weight >= share * self.weight.max(initial=0.0)
        if strong.all():
            return self
        return replace(
            self, tail=self.tail[strong], head=self.head[strong], weight=self.weight[strong]
        )

    def without_diagonal(self) -> Graph:
        """Return the same edges with a zero diagonal."""
        return self.with_diagonal(np.zeros(self.n))

    def with_diagonal(self, diagonal: ArrayLike) -> Graph:
        """Return the same edges with another diagonal: one value, or one per node."""
        return replace(self, diagonal=np.broadcast_to(np.asarray(diagonal), (self.n,)))

    def subgraph(self, nodes: ArrayLike) -> Graph:
        """Return the induced subgraph, its nodes numbered in the order given.

        Parameters
        ----------
        nodes : (m,) int array
            Distinct nodes to keep, at least one.

        Returns
        -------
        Graph
            The edges with both ends in ``nodes``, names and diagonal kept; O(n + E log E).

        Examples
        --------
        >>> path = Graph.from_edges(3, [0, 1], [1, 2], [5.0, 7.0])
        >>> path.subgraph([2, 1]).weight
        array([7.])
        """
        kept = node_indices(nodes, self.n, "nodes")
        place = np.full(self.n, -1, dtype=np.int64)
        place[kept] = np.arange(len(kept))
        if np.count_nonzero(place >= 0) != len(kept):
            raise ValueError("nodes lists a node more than once: give each node once")
        inside = (place[self.tail] >= 0) & (place[self.head] >= 0)
        one, other = place[self.tail[inside]], place[self.head[inside]]
        tail, head = np.minimum(one, other), np.maximum(one, other)
        order = np.lexsort((head, tail))
        return Graph(
            len(kept),
            tail[order],
            head[order],
            self.weight[inside][order],
            self.diagonal[kept],
            tuple(self.names[i] for i in kept),
        )

    def permuted(self, order: ArrayLike) -> Graph:
        """Return the graph whose node ``k`` is node ``order[k]`` of this one."""
        if np.size(order) != self.n:
            raise ValueError(f"order must list all {self.n} nodes once, got {np.size(order)}")
        return self.subgraph(order)
