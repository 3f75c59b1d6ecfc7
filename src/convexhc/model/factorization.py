"""Factors of sparse definite matrices."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array
from scipy.sparse.linalg import SuperLU, splu

from convexhc.kernels import flows as flow_kernels

# Neighbour graphs of points in at most so many dimensions have sparse factors.
SPATIAL = 3
# Density up to which a matrix is worth factoring: beyond it, dense products are faster.
_SPARSE = 0.05
# Density up to which its factor is worth using.
_FILLED = 0.125


def definite_factor(matrix: csc_array) -> SuperLU:
    """Factor a symmetric positive definite matrix in an order that keeps the factors sparse.

    Definite matrices need no pivoting, so that the factors stay symmetric: L D L'.
    """
    return splu(
        matrix,
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )


class Factor:
    """L D L' of a symmetric positive definite matrix, for right sides of many columns.

    Parameters
    ----------
    matrix : csc_array
        To be factored.

    Attributes
    ----------
    place : ndarray of int
        Where every row of the matrix comes in the order of elimination.
    rows : ndarray of int
        The rows in that order.
    """

    @classmethod
    def if_sparse(cls, matrix: csc_array) -> Factor | None:
        """The factor, unless it fills up."""
        size = matrix.shape[0] ** 2
        if matrix.nnz > _SPARSE * size:
            return None
        factor = cls(matrix)
        return factor if factor.value.size <= _FILLED * size else None

    def __init__(self, matrix: csc_array) -> None:
        factor = definite_factor(matrix)
        lower = factor.L
        # The unit diagonal is left out, without scipy's detours: small systems come by thousands.
        each = np.diff(lower.indptr)
        below = lower.indices != np.repeat(np.arange(each.size), each)
        self.start = (lower.indptr - np.arange(each.size + 1)).astype(np.int32)
        self.row, self.value = lower.indices[below].astype(np.int32), lower.data[below]
        self.pivot = factor.U.diagonal()
        self.place = factor.perm_c.astype(np.int64)
        self.rows = np.argsort(self.place)

    @cached_property
    def _single(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        return self.value.astype(np.float32), self.pivot.astype(np.float32)

    def solve(self, X: NDArray[Any]) -> None:
        """Solve in place, rows in the order of elimination, in the precision of X. O(nnz(L) m)."""
        single = X.dtype == np.float32
        value, pivot = self._single if single else (self.value, self.pivot)
        flow_kernels.substitute(X, self.start, self.row, value, pivot)
