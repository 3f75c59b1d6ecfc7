"""Products of a sparse graph Laplacian with a block of columns, in one pass."""

from __future__ import annotations

import numpy as np
from numba import prange
from numpy.typing import NDArray

from convexhc._types import FloatArray
from convexhc.kernels.compile import compiled

Index = NDArray[np.integer]


@compiled(parallel=True)
def combine(
    start: Index,
    column: Index,
    weight: FloatArray,
    degree: FloatArray,
    X: FloatArray,
    Z: FloatArray,
    a: float,
    b: float,
    c: float,
    out: FloatArray,
) -> None:
    """Write a L X + b X + c Z into ``out``, L = diag(degree) - W.

    W is symmetric in compressed rows (start, column, weight) with an empty diagonal. One step
    of a three-term recurrence (Lanczos, Chebyshev, conjugate gradients). X, Z and ``out`` are
    (n, m), rows contiguous; ``out`` may be Z, not X. O((n + entries) m), parallel over rows, with a
    fixed order of summation.
    """
    n, m = X.shape
    for i in prange(n):
        own = a * degree[i] + b
        for k in range(m):
            out[i, k] = own * X[i, k] + c * Z[i, k]
        for p in range(start[i], start[i + 1]):
            j, w = column[p], a * weight[p]
            for k in range(m):
                out[i, k] -= w * X[j, k]
