"""Dense times sparse, where the dense factor may be sparse too."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int32]


@njit(cache=True, nogil=True)
def times_sparse(C: Array, start: Index, column: Index, value: Array) -> Array:
    """C K for a square K in compressed rows (start, column, value).

    Row i of the product is the sum of the rows of K weighted by row i of C; zeros of C cost
    nothing, and centroids are mostly zeros while few nodes are fused. O(nonzeros of C x entries a
    row of K).
    """
    n, m = C.shape
    out = np.zeros((n, m))
    for i in range(n):
        for k in range(m):
            c = C[i, k]
            if c != 0.0:
                for p in range(start[k], start[k + 1]):
                    out[i, column[p]] += c * value[p]
    return out
