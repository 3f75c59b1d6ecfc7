"""Sums of matrices in one pass: points on a line, steps of descent."""

from __future__ import annotations

import numpy as np
from numba import njit

from convexhc._types import FloatArray


@njit(cache=True, nogil=True)
def on_line(one: FloatArray, other: FloatArray, along: FloatArray) -> FloatArray:
    """Row by row, one + along (other - one), ``along`` having one number a row. O(n m)."""
    out = np.empty(one.shape)
    for i in range(one.shape[0]):
        for k in range(one.shape[1]):
            out[i, k] = one[i, k] + along[i] * (other[i, k] - one[i, k])
    return out


@njit(cache=True, nogil=True, fastmath={"contract"})
def add_descent(R: FloatArray, C: FloatArray, G: FloatArray, curvature: float) -> None:
    """R <- R + curvature C - G, in place. O(n m)."""
    for i in range(R.shape[0]):
        for k in range(R.shape[1]):
            R[i, k] += curvature * C[i, k] - G[i, k]
