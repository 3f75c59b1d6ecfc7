"""Products and linear systems with the support A, the 0/1 matrix of the positive entries.

Row i of a sparse support has the columns column[start[i] : start[i + 1]]; of a dense one, only
start and the mask are valid.
"""

from __future__ import annotations

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


@_compiled
def list_columns(start: Pointer, column: Columns, mask: Mask) -> None:
    """Convert the mask of a sparse support to lists of columns. O(c m)."""
    c, m = mask.shape
    if start[c] > MAX_SPARSE * c * m:
        return
    k = 0
    for i in range(c):
        for j in range(m):
            if mask[i, j]:
                column[k] = j
                k += 1


@_compiled
def dot(x: FloatArray, y: FloatArray) -> float:
    """Return the inner product."""
    total = 0.0
    for k in range(x.size):
        total += x[k] * y[k]
    return total


@_compiled
def row_sums(start: Pointer, column: Columns, mask: Mask, p: FloatArray, sums: FloatArray) -> None:
    """Write A p. O(support)."""
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
def add_column_sums(
    start: Pointer, column: Columns, mask: Mask, x: FloatArray, sums: FloatArray
) -> None:
    """Add A'x, the sums of x over the support of every column, to ``sums``. O(support)."""
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
def solve_columns(
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
    """Solve (diag(diagonal) - A' diag(d) A) x = r to a residual norm of ``accuracy``.

    Conjugate gradients with a Jacobi preconditioner, in a workspace of three rows; r is overwritten
    by the residual.
    """
    p, q, inverse = work[0], work[1], work[2]
    for j in range(x.size):
        x[j] = 0.0
        p[j] = 0.0
        inverse[j] = -diagonal[j]
    add_column_sums(start, column, mask, d, inverse)
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
        curvature = dot(p, q)
        if curvature <= 0.0:
            return
        step, last, rho, square = rho / curvature, rho, 0.0, 0.0
        for j in range(x.size):
            x[j] += step * p[j]
            r[j] -= step * q[j]
            rho += inverse[j] * r[j] * r[j]
            square += r[j] * r[j]
        ratio = rho / last
