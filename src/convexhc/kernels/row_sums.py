"""Rows of a matrix in another order, and sums of rows and columns made what they have to be."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from convexhc._types import FloatArray, IntArray

Real = NDArray[Any]

_FAST = {"reassoc", "contract", "nsz"}


@njit(cache=True, nogil=True, fastmath=_FAST)
def gather(R: FloatArray, rows: IntArray, mass: FloatArray, out: Real) -> None:
    """Row j of ``out`` is row ``rows[j]`` of R times its mass, in the precision of ``out``."""
    for j in range(rows.size):
        i = rows[j]
        heavy = mass[i]
        for k in range(R.shape[1]):
            out[j, k] = heavy * R[i, k]


@njit(cache=True, nogil=True, fastmath=_FAST)
def scatter(X: Real, rows: IntArray) -> FloatArray:
    """Row ``rows[j]`` of the answer is row j of X. O(n m)."""
    out = np.empty(X.shape)
    for j in range(rows.size):
        i = rows[j]
        for k in range(X.shape[1]):
            out[i, k] = X[j, k]
    return out


@njit(cache=True, nogil=True, fastmath=_FAST)
def fix_row_sums(C: FloatArray, total: float) -> None:
    """Add a constant to every row, in place, so that it sums to ``total``. O(n m)."""
    m = C.shape[1]
    for i in range(C.shape[0]):
        found = 0.0
        for k in range(m):
            found += C[i, k]
        shift = (total - found) / m
        for k in range(m):
            C[i, k] += shift


@njit(cache=True, nogil=True, fastmath=_FAST)
def fix_column_sums(C: FloatArray, mass: FloatArray, total: float) -> None:
    """Add a constant to every column, in place, so that rows times masses sum to ``total``."""
    n, m = C.shape
    found, heavy = np.zeros(m), 0.0
    for i in range(n):
        heavy += mass[i]
        for k in range(m):
            found[k] += mass[i] * C[i, k]
    for k in range(m):
        found[k] = (total - found[k]) / heavy
    for i in range(n):
        for k in range(m):
            C[i, k] += found[k]
