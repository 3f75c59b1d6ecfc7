"""Dense times sparse, where the dense factor may be sparse too."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from convexhc._types import FloatArray

Index = NDArray[np.int32]

# Rows of a full factor that are multiplied together.
_TOGETHER = 64
# Share of nonzero entries from which a factor counts as full.
_FULL = 0.25
# Rows that are looked at to estimate that share.
_ASKED = 50


def times_sparse(C: FloatArray, start: Index, column: Index, value: FloatArray) -> FloatArray:
    """C K for a symmetric K in compressed rows (start, column, value).

    Centroids are mostly zeros while few nodes are fused, and then zeros cost nothing; iterates that
    only tend to them are full. O(n nnz(K)), or O(nonzeros of C x entries a row of K).

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> K = csr_array([[2.0, 1.0], [1.0, 0.0]])
    >>> times_sparse(np.array([[1.0, 3.0]]), K.indptr, K.indices, K.data)
    array([[5., 1.]])
    """
    some = C[:: max(1, C.shape[0] // _ASKED)]
    full = np.count_nonzero(some) > _FULL * some.size
    return (_times_full if full else _times_few)(C, start, column, value)


@njit(cache=True, nogil=True)
def _times_few(C: FloatArray, start: Index, column: Index, value: FloatArray) -> FloatArray:
    """Row i of the product is the sum of the rows of K weighted by row i of C."""
    n, m = C.shape
    out = np.zeros((n, m))
    for i in range(n):
        for k in range(m):
            c = C[i, k]
            if c != 0.0:
                for p in range(start[k], start[k + 1]):
                    out[i, column[p]] += c * value[p]
    return out


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _times_full(C: FloatArray, start: Index, column: Index, value: FloatArray) -> FloatArray:
    """Many rows of C side by side, so that an entry of K is one operation on all of them."""
    n, m = C.shape
    out = np.empty((n, m))
    turned, made = np.zeros((m, _TOGETHER)), np.empty((m, _TOGETHER))
    for first in range(0, n, _TOGETHER):
        count = min(_TOGETHER, n - first)
        for b in range(count):
            for k in range(m):
                turned[k, b] = C[first + b, k]
        for k in range(m):
            sums = made[k]
            sums[:] = 0.0
            for p in range(start[k], start[k + 1]):
                factor, source = value[p], turned[column[p]]
                for b in range(_TOGETHER):
                    sums[b] += factor * source[b]
        for b in range(count):
            for k in range(m):
                out[first + b, k] = made[k, b]
    return out
