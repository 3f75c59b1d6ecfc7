"""Products and linear systems with the support A, the 0/1 matrix of the positive entries."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from convexhc._types import FloatArray
from convexhc.kernels.compile import FAST, compiled

Pointer = NDArray[np.int64]
Columns = NDArray[np.int32]
Mask = NDArray[np.bool_]

_compiled = compiled(fastmath=FAST | {"arcp"}, raise_on_division=False)

# A support denser than this is stored as a mask instead of lists of columns.
MAX_SPARSE = 0.15
_MAX_ITER = 2000


class Support(NamedTuple):
    """Support of a c x m matrix: row pointers, the columns of every row, and a mask.

    Row i of a sparse support has the columns column[start[i] : start[i + 1]]; of a dense one, only
    start and the mask are valid.
    """

    start: Pointer
    column: Columns
    mask: Mask

    @classmethod
    def allocate(cls, c: int, m: int, *, masked: bool = True) -> Support:
        """Arrays for a support of c rows and m columns, with an empty mask unless ``masked``."""
        room = int(MAX_SPARSE * c * m) + 2 * m
        mask = np.empty((c, m if masked else 0), np.bool_)
        return cls(np.zeros(c + 1, np.int64), np.empty(room, np.int32), mask)

    def row_sums(self, p: FloatArray, sums: FloatArray) -> None:
        """Write A p. O(support)."""
        _row_sums(self.start, self.column, self.mask, p, sums)

    def add_column_sums(self, x: FloatArray, sums: FloatArray) -> None:
        """Add A'x, the sums of x over the support of every column, to ``sums``. O(support)."""
        _add_column_sums(self.start, self.column, self.mask, x, sums)

    def solve(
        self, d: FloatArray, diagonal: FloatArray, r: FloatArray, accuracy: float, x: FloatArray
    ) -> None:
        """Solve (diag(diagonal) - A' diag(d) A) x = r to a residual norm of ``accuracy``.

        r is overwritten by the residual.
        """
        work = np.empty((3, x.size))
        _solve_columns(self.start, self.column, self.mask, d, diagonal, r, accuracy, x, work)


@_compiled
def _row_sums(start: Pointer, column: Columns, mask: Mask, p: FloatArray, sums: FloatArray) -> None:
    c, m = mask.shape
    sparse = start[c] <= MAX_SPARSE * c * m
    for i in range(c):
        total = 0.0
        if sparse:
            for k in range(start[i], start[i + 1]):
                total += p[column[k]]
        else:
            for j in range(m):
                total += p[j] if mask[i, j] else 0.0
        sums[i] = total


@_compiled
def _add_column_sums(
    start: Pointer, column: Columns, mask: Mask, x: FloatArray, sums: FloatArray
) -> None:
    c, m = mask.shape
    sparse = start[c] <= MAX_SPARSE * c * m
    for i in range(c):
        xi = x[i]
        if sparse:
            for k in range(start[i], start[i + 1]):
                sums[column[k]] += xi
        else:
            for j in range(m):
                sums[j] += xi if mask[i, j] else 0.0


@_compiled
def _subtract_gram(
    start: Pointer, column: Columns, mask: Mask, d: FloatArray, p: FloatArray, out: FloatArray
) -> None:
    """Subtract A' diag(d) A p from ``out``, in one pass over A. O(support)."""
    c, m = mask.shape
    sparse = start[c] <= MAX_SPARSE * c * m
    for i in range(c):
        total = 0.0
        if sparse:
            for k in range(start[i], start[i + 1]):
                total += p[column[k]]
            total *= d[i]
            for k in range(start[i], start[i + 1]):
                out[column[k]] -= total
        else:
            for j in range(m):
                total += p[j] if mask[i, j] else 0.0
            total *= d[i]
            for j in range(m):
                out[j] -= total if mask[i, j] else 0.0


@_compiled
def _solve_columns(
    start: Pointer,
    column: Columns,
    mask: Mask,
    d: FloatArray,
    diagonal: FloatArray,
    r: FloatArray,
    accuracy: float,
    x: FloatArray,
    work: FloatArray,
) -> None:
    """Conjugate gradients with a Jacobi preconditioner, in a workspace of three rows."""
    p, q, inverse = work[0], work[1], work[2]
    for j in range(x.size):
        x[j] = 0.0
        p[j] = 0.0
        inverse[j] = -diagonal[j]
    _add_column_sums(start, column, mask, d, inverse)
    rho, square = 0.0, 0.0
    for j in range(x.size):
        inverse[j] = -1.0 / inverse[j]
        rho += inverse[j] * r[j] * r[j]
        square += r[j] * r[j]
    ratio = 0.0
    for _ in range(_MAX_ITER):
        if square <= accuracy * accuracy:
            return
        for j in range(x.size):
            p[j] = inverse[j] * r[j] + ratio * p[j]
            q[j] = diagonal[j] * p[j]
        _subtract_gram(start, column, mask, d, p, q)
        curvature = 0.0
        for j in range(x.size):
            curvature += p[j] * q[j]
        if curvature <= 0.0:
            return
        step, last, rho, square = rho / curvature, rho, 0.0, 0.0
        for j in range(x.size):
            x[j] += step * p[j]
            r[j] -= step * q[j]
            rho += inverse[j] * r[j] * r[j]
            square += r[j] * r[j]
        ratio = rho / last
