"""Dense times sparse products that skip zeros of the dense factor."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from convexhc.kernels.compile import FAST, compiled
from convexhc.kernels.threads import runs_for

Index = NDArray[np.int32]
Real = NDArray[Any]  # C and K in the same precision

# Rows of C multiplied together: enough for vector operations, few enough for the cache.
_BLOCK = 64
# Density of C above which its zeros are not skipped.
_FULL = 0.25


def times_sparse(C: Real, start: Index, column: Index, value: Real) -> Real:
    """C K for a symmetric K in compressed rows (start, column, value).

    Centroids are mostly zero while few nodes are fused, and zeros are then skipped; iterates that
    only converge to them are full. The density of C is estimated from about fifty rows.
    O(n nnz(K)), or O(nnz(C) x entries per row of K).

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> K = csr_array([[2.0, 1.0], [1.0, 0.0]])
    >>> times_sparse(np.array([[1.0, 3.0]]), K.indptr, K.indices, K.data)
    array([[5., 1.]])
    """
    sample = C[:: max(1, C.shape[0] // 50)]
    full = np.count_nonzero(sample) > _FULL * sample.size
    return (_times_full if full else _times_few)(C, start, column, value)


@compiled()
def _times_few(C: Real, start: Index, column: Index, value: Real) -> Real:
    """Row i of the product is the sum of the rows of K weighted by row i of C."""
    n, m = C.shape
    out = np.zeros((n, m), C.dtype)
    for i in range(n):
        for k in range(m):
            c = C[i, k]
            if c != 0.0:
                for p in range(start[k], start[k + 1]):
                    out[i, column[p]] += c * value[p]
    return out


def _times_full(C: Real, start: Index, column: Index, value: Real) -> Real:
    out = np.empty_like(C)
    blocks = (C.shape[0] + _BLOCK - 1) // _BLOCK
    if runs_for(value.size * C.shape[0]) > 1:
        _times_full_threaded(blocks, C, start, column, value, out)
    else:
        _times_full_run(0, blocks, C, start, column, value, out)
    return out


@compiled(fastmath=FAST)
def _times_full_run(
    begin: int, end: int, C: Real, start: Index, column: Index, value: Real, out: Real
) -> None:
    """Transpose blocks of rows of C, so that every entry of K is one vector operation."""
    n, m = C.shape
    transposed, product = np.zeros((m, _BLOCK), C.dtype), np.empty((m, _BLOCK), C.dtype)
    for block in range(begin, end):
        first = block * _BLOCK
        count = min(_BLOCK, n - first)
        for b in range(count):
            for k in range(m):
                transposed[k, b] = C[first + b, k]
        for k in range(m):
            sums = product[k]
            sums[:] = 0.0
            for p in range(start[k], start[k + 1]):
                factor, source = value[p], transposed[column[p]]
                for b in range(_BLOCK):
                    sums[b] += factor * source[b]
        for b in range(count):
            for k in range(m):
                out[first + b, k] = product[k, b]


@compiled(parallel=True)
def _times_full_threaded(
    blocks: int, C: Real, start: Index, column: Index, value: Real, out: Real
) -> None:
    for block in prange(blocks):
        _times_full_run(block, block + 1, C, start, column, value, out)
