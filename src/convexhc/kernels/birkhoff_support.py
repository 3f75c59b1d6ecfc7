"""Products and linear systems with the support A, the 0/1 matrix of the positive entries."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from convexhc._types import FloatArray
from convexhc.kernels.conjugate_gradients import conjugate_gradients

# Sums may be reordered, as vector units need; NaN and infinities keep their meaning.
_FAST = {"reassoc", "nsz", "contract", "arcp"}
_compiled = njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)

# A support denser than this is stored as a mask instead of lists of columns.
MAX_SPARSE = 0.15


class Support(NamedTuple):
    """Columns column[start[i] : start[i + 1]] of row i; if dense, only start and mask are valid."""

    start: NDArray[np.int64]
    column: NDArray[np.int32]
    mask: NDArray[np.bool_]


@_compiled
def is_sparse(support: Support) -> bool:
    """Whether the support is stored as lists of columns. O(1)."""
    c, m = support.mask.shape
    return bool(support.start[c] <= MAX_SPARSE * c * m)


@_compiled
def list_columns(support: Support) -> None:
    """Convert the mask to lists of columns. O(c m)."""
    mask, column = support.mask, support.column
    k = 0
    for i in range(mask.shape[0]):
        for j in range(mask.shape[1]):
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
def row_sums(support: Support, p: FloatArray, sums: FloatArray) -> None:
    """Write A p. O(support)."""
    start, column, mask = support.start, support.column, support.mask
    sparse = is_sparse(support)
    for i in range(sums.size):
        total = 0.0
        if sparse:
            for k in range(start[i], start[i + 1]):
                total += p[column[k]]
        else:
            for j in range(p.size):
                total += p[j] if mask[i, j] else 0.0
        sums[i] = total


@_compiled
def add_column_sums(support: Support, x: FloatArray, sums: FloatArray) -> None:
    """Add A'x, the sums of x over the support of every column, to ``sums``. O(support)."""
    start, column, mask = support.start, support.column, support.mask
    sparse = is_sparse(support)
    for i in range(x.size):
        xi = x[i]
        if sparse:
            for k in range(start[i], start[i + 1]):
                sums[column[k]] += xi
        else:
            for j in range(sums.size):
                sums[j] += xi if mask[i, j] else 0.0


class _ColumnSystem(NamedTuple):
    """The matrix diag(diagonal) - A' diag(d) A and the inverse of its own diagonal."""

    support: Support
    d: FloatArray
    diagonal: FloatArray
    inverse: FloatArray


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST, inline="always")
def _apply(system: _ColumnSystem, p: FloatArray, image: FloatArray) -> float:
    """Write the product with p in one pass over A; return its inner product with p. O(support)."""
    support, d, diagonal, _ = system
    start, column, mask = support.start, support.column, support.mask
    sparse = is_sparse(support)
    for j in range(p.size):
        image[j] = diagonal[j] * p[j]
    for i in range(d.size):
        total = 0.0
        if sparse:
            for k in range(start[i], start[i + 1]):
                total += p[column[k]]
            total *= d[i]
            for k in range(start[i], start[i + 1]):
                image[column[k]] -= total
        else:
            for j in range(p.size):
                total += p[j] if mask[i, j] else 0.0
            total *= d[i]
            for j in range(p.size):
                image[j] -= total if mask[i, j] else 0.0
    return dot(p, image)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST, inline="always")
def _precondition(system: _ColumnSystem, r: FloatArray, z: FloatArray) -> tuple[float, float]:
    """Write r over the diagonal of the system to z; return <r, z> and |r|^2."""
    inverse, rho, square = system.inverse, 0.0, 0.0
    for j in range(r.size):
        z[j] = inverse[j] * r[j]
        rho += r[j] * z[j]
        square += r[j] * r[j]
    return rho, square


@_compiled
def solve_columns(
    support: Support, d: FloatArray, diagonal: FloatArray, right: FloatArray, accuracy: float
) -> FloatArray:
    """Solve (diag(diagonal) - A' diag(d) A) z = right to a residual norm of ``accuracy``.

    Conjugate gradients with a Jacobi preconditioner; ``right`` is overwritten by the residual.
    """
    own = diagonal.copy()
    add_column_sums(support, -d, own)
    system = _ColumnSystem(support, d, diagonal, 1.0 / own)
    return conjugate_gradients(_apply, _precondition, system, right, 0.0, accuracy, 2000)[0]
