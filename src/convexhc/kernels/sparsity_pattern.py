"""Products and systems with A, the 0/1 matrix of the positive entries of a matrix."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from convexhc._types import FloatArray

# Sums may be reordered, as vector units need; NaN and infinities keep their meaning.
_FAST = {"reassoc", "nsz", "contract", "arcp"}
_compiled = njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)

MAX_SPARSE = 0.15  # a support denser than this is kept as a mask, not as lists of columns


class Support(NamedTuple):
    """Row i holds column[start[i] : start[i + 1]]; when dense, only start and mask are meant."""

    start: NDArray[np.int64]
    column: NDArray[np.int32]
    mask: NDArray[np.bool_]


@_compiled
def is_sparse(support: Support) -> bool:
    """Whether the support is kept as lists of columns. O(1)."""
    c, m = support.mask.shape
    return bool(support.start[c] <= MAX_SPARSE * c * m)


@_compiled
def list_columns(support: Support) -> None:
    """Turn the mask into lists of columns. O(c m)."""
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
    """Add A'x. O(support)."""
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


@_compiled
def subtract_gram(support: Support, d: FloatArray, p: FloatArray, image: FloatArray) -> None:
    """Subtract A' diag(d) A p in one pass over A. O(support)."""
    start, column, mask = support.start, support.column, support.mask
    sparse = is_sparse(support)
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


@_compiled
def solve_columns(
    support: Support,
    d: FloatArray,
    diagonal: FloatArray,
    right: FloatArray,
    accuracy: float,
    z: FloatArray,
) -> None:
    """Solve (diag(diagonal) - A' diag(d) A) z = right by Jacobi conjugate gradients.

    `right` is overwritten by the residual; the solution stops where its norm meets `accuracy`.
    """
    scale = diagonal.copy()
    add_column_sums(support, -d, scale)
    scale = 1.0 / scale
    p, image = scale * right, np.empty(z.size)
    z[:] = 0.0
    rho, square = dot(right, p), dot(right, right)
    for _ in range(2000):
        if square <= accuracy * accuracy:
            break
        for j in range(z.size):
            image[j] = diagonal[j] * p[j]
        subtract_gram(support, d, p, image)
        curvature = dot(p, image)
        if curvature <= 0.0:
            break
        length, last_rho, rho, square = rho / curvature, rho, 0.0, 0.0
        for j in range(z.size):
            z[j] += length * p[j]
            right[j] -= length * image[j]
            square += right[j] * right[j]
            rho += right[j] * right[j] * scale[j]
        ratio = rho / last_rho
        for j in range(z.size):
            p[j] = scale[j] * right[j] + ratio * p[j]
