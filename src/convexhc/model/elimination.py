"""Elimination of Laplacians: one order and one pattern for many conductances."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dtrsm, strsm
from scipy.linalg.lapack import dpotrf
from scipy.sparse import csc_array

from convexhc._types import FloatArray, IntArray
from convexhc.kernels.elimination import count_fill, eliminate
from convexhc.model.factorization import FACTOR_DENSITY, SparseFactor


def elimination_order(n: int, tail: IntArray, head: IntArray) -> IntArray:
    """Rank of every node in an order of little fill (minimum degree).

    Restricted to any part of the graph, the order has no more fill there than in the whole.
    """
    from scipy.sparse.linalg import spilu

    degree = np.bincount(tail, minlength=n) + np.bincount(head, minlength=n)
    value = np.concatenate([np.full(2 * tail.size, -1.0), degree + 1.0])
    rows = np.concatenate([tail, head, np.arange(n)])
    columns = np.concatenate([head, tail, np.arange(n)])
    # An incomplete factorisation that drops everything computes the order and little else.
    factor = spilu(
        csc_array((value, (rows, columns)), shape=(n, n)),
        drop_tol=1e30,
        fill_factor=1.0,
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    return np.asarray(factor.perm_c, np.int64)


class Elimination:
    """Pattern of L D L' of a Laplacian on n nodes whose rows are in elimination order.

    ``grounded`` is one node of every component: doubling its degree makes the Laplacian definite,
    and does not change the differences of potentials.
    """

    def __init__(self, n: int, tail: IntArray, head: IntArray, grounded: IntArray) -> None:
        self.n, self.tail, self.head, self.grounded = n, tail, head, grounded
        low, high = np.minimum(tail, head), np.maximum(tail, head)
        # Numbers of 16 bits are sorted by counting: a fifth of the time.
        self._edge = np.argsort(high.astype(np.uint16) if n < 2**16 else high, kind="stable")
        self._start = np.concatenate([[0], np.cumsum(np.bincount(high, minlength=n))])
        self._other = low[self._edge]

    @cached_property
    def _tree(self) -> tuple[IntArray, NDArray[np.int32]]:
        """Parents in the elimination tree, and pointers to the columns of L."""
        parent = np.full(self.n, -1)
        count = np.zeros(self.n, np.int64)
        count_fill(self._start, self._other, parent, count)
        return parent, np.concatenate([[0], np.cumsum(count)]).astype(np.int32)

    @property
    def column(self) -> NDArray[np.int32]:
        """Pointers to the columns of L."""
        return self._tree[1]

    @cached_property
    def is_dense(self) -> bool:
        """Whether L is so full that it is better stored as a square."""
        return bool(self.column[-1] > FACTOR_DENSITY * self.n**2)

    def factor(self, conductance: FloatArray) -> SparseFactor | DenseFactor:
        """Factor under positive conductances."""
        tail, head, degree = self.tail, self.head, self._degree(conductance)
        degree[self.grounded] += self.ground(conductance)
        dense = DenseFactor.of(tail, head, conductance, degree) if self.is_dense else None
        return self._sparse_factor(conductance, degree) if dense is None else dense

    def ground(self, conductance: FloatArray) -> FloatArray:
        """What is added to the degrees of the grounded nodes."""
        degree = self._degree(conductance)[self.grounded]
        return np.where(degree > 0.0, degree, 1.0)

    def _degree(self, conductance: FloatArray) -> FloatArray:
        tail, head = (np.bincount(end, conductance, self.n) for end in (self.tail, self.head))
        return np.asarray(tail + head, np.float64)

    def _sparse_factor(self, conductance: FloatArray, degree: FloatArray) -> SparseFactor:
        row, value = np.empty(self.column[-1], np.int32), np.empty(self.column[-1])
        eliminate(
            self._start,
            self._other,
            conductance[self._edge],
            self._tree[0],
            self.column,
            row,
            value,
            degree,
            np.empty((3, self.n), np.int64),
            np.zeros(self.n),
        )
        return SparseFactor(self.column, row, value, degree)


class DenseFactor:
    """Cholesky factor of a Laplacian, stored as a square."""

    def __init__(self, L: FloatArray) -> None:
        self.L = L

    @property
    def size(self) -> int:
        """Numbers stored."""
        return self.L.size

    @classmethod
    def of(
        cls, tail: IntArray, head: IntArray, conductance: FloatArray, degree: FloatArray
    ) -> DenseFactor | None:
        """The factor; None if round-off made a pivot negative."""
        A = np.zeros((degree.size, degree.size), order="F")
        A[np.maximum(tail, head), np.minimum(tail, head)] = -conductance
        np.fill_diagonal(A, degree)
        L, failed = dpotrf(A, lower=1, overwrite_a=1)
        return None if failed else cls(L)

    @cached_property
    def _single(self) -> NDArray[np.float32]:
        return self.L.astype(np.float32, order="F")

    def solve(self, X: NDArray[Any]) -> None:
        """Solve in place, in the precision of X, which is C-contiguous. O(n^2 m)."""
        single = X.dtype == np.float32
        solve, L = (strsm, self._single) if single else (dtrsm, self.L)
        # (L L') X = R is X'L L' = R': the transpose of X is contiguous by columns.
        solve(1.0, L, X.T, side=1, lower=1, trans_a=1, overwrite_b=1)
        solve(1.0, L, X.T, side=1, lower=1, overwrite_b=1)
