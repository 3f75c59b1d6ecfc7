"""Euclidean projection of every row onto the probability simplex."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from convexhc._types import FloatArray
from convexhc.kernels.compile import compiled


@compiled()
def _excess_level(kept: FloatArray, count: int) -> float:
    """Return the t with sum max(x - t, 0) = 1 over the first `count` numbers, all in (-1, 0].

    Newton from the left on this convex function: with f the excess of the sum over one and s the
    number of terms above t, one step gives f'/f + s'/s <= 1, so that f s falls at least fourfold
    and log2(count) + 27 steps end in round-off. `kept` is overwritten by its numbers above t.
    """
    level: float = (kept[:count].sum() - 1.0) / count
    while True:
        total, above = 0.0, 0
        for k in range(count):
            if kept[k] > level:
                kept[above] = kept[k]
                total += kept[k]
                above += 1
        if above == count:
            return level
        level = (total - 1.0) / above
        count = above


@compiled()
def _project_rows(X: FloatArray, C: FloatArray, shift: FloatArray) -> None:
    kept = np.empty(X.shape[1])
    for i in range(X.shape[0]):
        top = X[i, 0]
        for j in range(X.shape[1]):
            top = max(top, X[i, j])
        # One unit below the largest entry nothing survives; sums relative to it lose no digits.
        count = 0
        for j in range(X.shape[1]):
            t = X[i, j] - top
            kept[count] = t
            count += t > -1.0
        level = _excess_level(kept, count)
        shift[i] = -(top + level)
        for j in range(X.shape[1]):
            C[i, j] = max((X[i, j] - top) - level, 0.0)


def project_rows(X: ArrayLike, out: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
    """Project every row of X onto the probability simplex.

    C_i = argmin |C_i - X_i|^2 over C_i >= 0, C_i 1 = 1, and C = max(X + shift 1', 0). Returns C, in
    ``out`` if given, which may be X itself, and the shifts, the multipliers of the row sums.
    Entries are finite, not checked. Two passes over X and a few over the entries within one unit of
    their row's largest; never more than O(m log m) per row.

    Examples
    --------
    >>> C, shift = project_rows([[1.0, 0.5, -2.0]])
    >>> C, shift
    (array([[0.75, 0.25, 0.  ]]), array([-0.25]))
    """
    matrix = np.ascontiguousarray(X, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise ValueError(f"X must be a matrix with at least one column; got shape {matrix.shape}.")
    C = np.empty_like(matrix) if out is None else out
    if C.shape != matrix.shape or C.dtype != np.float64 or not C.flags.c_contiguous:
        raise ValueError(
            f"out must be C-ordered float64 of shape {matrix.shape}; "
            f"got {C.dtype} of shape {C.shape}."
        )
    shift = np.empty(matrix.shape[0])
    _project_rows(matrix, C, shift)
    return C, shift
