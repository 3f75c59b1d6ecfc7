"""Points on the line through two matrices."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]


@njit(cache=True, nogil=True)
def on_line(one: Array, other: Array, along: Array) -> Array:
    """Row by row, one + along (other - one), ``along`` having one number a row. O(n m)."""
    out = np.empty(one.shape)
    for i in range(one.shape[0]):
        for k in range(one.shape[1]):
            out[i, k] = one[i, k] + along[i] * (other[i, k] - one[i, k])
    return out
