"""Factors of sparse positive definite matrices."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.sparse import csc_array

from convexhc._types import FloatArray
from convexhc.kernels import flows as flow_kernels

if TYPE_CHECKING:
    from scipy.sparse.linalg import SuperLU

# Neighbour graphs of points in up to this many dimensions have sparse factors.
SPATIAL = 3
# Density up to which sparse products and factors are faster than dense ones.
SPARSE_DENSITY = 0.05
# Density of a triangular factor above which a dense one, in BLAS, is faster: for 600 to 1500 nodes
# factoring breaks even at 0.1 to 0.2, a solve at 0.16 to 0.2.
FACTOR_DENSITY = 0.15
# Nodes up to which all eigenvalues are computed by a dense decomposition.
DENSE_NODES = 400
# Nodes up to which a dense factor or inverse is stored.
DENSE_FACTOR_NODES = 3000


def definite_factor(matrix: csc_array) -> SuperLU:
    """Factor a symmetric positive definite matrix, by minimum degree.

    Definite matrices need no pivoting, so the factors are symmetric: L D L'.
    """
    from scipy.sparse.linalg import splu

    return splu(
        matrix,
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )


class SparseFactor:
    """L D L' by columns, without the unit diagonal of L."""

    def __init__(
        self, start: NDArray[np.int32], row: NDArray[np.int32], value: FloatArray, pivot: FloatArray
    ) -> None:
        self.start, self.row, self.value, self.pivot = start, row, value, pivot

    @property
    def size(self) -> int:
        """Numbers stored."""
        return self.value.size

    @cached_property
    def _single(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        return self.value.astype(np.float32), self.pivot.astype(np.float32)

    def solve(self, X: NDArray[Any]) -> None:
        """Solve in place, rows in elimination order, in the precision of X. O(nnz(L) m)."""
        single = X.dtype == np.float32
        value, pivot = self._single if single else (self.value, self.pivot)
        flow_kernels.substitute(X, self.start, self.row, value, pivot)


class Factor(SparseFactor):
    """L D L' of a symmetric positive definite matrix, for many right-hand sides.

    ``rows`` are its rows in elimination order, ``place`` the position of every row there.
    """

    @classmethod
    def if_sparse(cls, matrix: csc_array) -> Factor | None:
        """The factor; None if the matrix or its factor is not sparse enough."""
        size = matrix.shape[0] ** 2
        if matrix.nnz > SPARSE_DENSITY * size:
            return None
        factor = cls(matrix)
        return factor if factor.value.size <= FACTOR_DENSITY * size else None

    def __init__(self, matrix: csc_array) -> None:
        factor = definite_factor(matrix)
        lower = factor.L
        # Drop the unit diagonal by hand: scipy is slow on thousands of small systems.
        counts = np.diff(lower.indptr)
        below = lower.indices != np.repeat(np.arange(counts.size), counts)
        start = (lower.indptr - np.arange(counts.size + 1)).astype(np.int32)
        row = lower.indices[below].astype(np.int32)
        super().__init__(start, row, lower.data[below], factor.U.diagonal())
        self.place = factor.perm_c.astype(np.int64)
        self.rows = np.argsort(self.place)


class DenseInverse:
    """Inverse of a symmetric positive definite matrix, in place of a factor that fills in.

    One dense product takes no longer than two triangular solves. Rows are in their own order.
    """

    def __init__(self, matrix: csc_array) -> None:
        factor, failed = dpotrf(matrix.toarray(), lower=1, overwrite_a=1)
        if failed:
            raise RuntimeError("the matrix is not positive definite.")
        lower = np.tril(dpotri(factor, lower=1, overwrite_c=1)[0])
        self.inverse: FloatArray = lower + np.tril(lower, -1).T
        self.rows = np.arange(matrix.shape[0])

    @cached_property
    def _single(self) -> NDArray[np.float32]:
        return self.inverse.astype(np.float32)

    def solve(self, X: NDArray[Any]) -> None:
        """Solve in place, in the precision of X. O(n^2 m)."""
        X[:] = (self._single if X.dtype == np.float32 else self.inverse) @ X
