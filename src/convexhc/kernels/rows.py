"""Operations on the rows of a matrix: permutations, means, interpolation, prescribed sums."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from convexhc._types import FloatArray, IntArray, Labels
from convexhc.kernels.compile import FAST, compiled, pays_to_compile

Real = NDArray[Any]


def group_means(C: FloatArray, labels: Labels, mass: FloatArray) -> FloatArray:
    """Mean row of every group, rows weighted by their mass. O(n m).

    Groups are numbered from zero, and none is empty.
    """
    if pays_to_compile(C.size, by=_group_means):
        return _group_means(C, labels, mass)
    weight = np.bincount(labels, mass)
    share, first = mass / weight[labels], np.arange(labels.size + 1)
    shares = csc_array((share, labels, first), shape=(weight.size, labels.size))
    return np.asarray(shares @ C)


@compiled()
def _group_means(C: FloatArray, labels: Labels, mass: FloatArray) -> FloatArray:
    weight = np.zeros(labels.max() + 1)
    for i in range(labels.size):
        weight[labels[i]] += mass[i]
    out = np.zeros((weight.size, C.shape[1]))
    for i in range(labels.size):
        row, share = out[labels[i]], mass[i] / weight[labels[i]]
        for k in range(C.shape[1]):
            row[k] += share * C[i, k]
    return out


def interpolate_rows(A: FloatArray, B: FloatArray, t: FloatArray) -> FloatArray:
    """Row i is A_i + t_i (B_i - A_i). O(n m)."""
    out = B - A
    out *= t[:, None]
    out += A
    return out


@compiled(fastmath=FAST)
def gather_rows(R: FloatArray, rows: IntArray, mass: FloatArray, out: Real) -> None:
    """Row j of ``out`` is row ``rows[j]`` of R times its mass, in the precision of ``out``."""
    for j in range(rows.size):
        i = rows[j]
        factor = mass[i]
        for k in range(R.shape[1]):
            out[j, k] = factor * R[i, k]


@compiled(fastmath=FAST)
def scatter_rows(X: Real, rows: IntArray) -> FloatArray:
    """Row ``rows[j]`` of the result is row j of X. O(n m)."""
    out = np.empty(X.shape)
    for j in range(rows.size):
        i = rows[j]
        for k in range(X.shape[1]):
            out[i, k] = X[j, k]
    return out


@compiled(fastmath=FAST)
def fix_row_sums(C: FloatArray, total: float) -> None:
    """Add a constant to every row, in place, so that it sums to ``total``. O(n m)."""
    m = C.shape[1]
    for i in range(C.shape[0]):
        row_sum = 0.0
        for k in range(m):
            row_sum += C[i, k]
        shift = (total - row_sum) / m
        for k in range(m):
            C[i, k] += shift


@compiled(fastmath=FAST)
def fix_column_sums(C: FloatArray, mass: FloatArray, total: float) -> None:
    """Add a constant to every column, in place, so that mass' C equals ``total``. O(n m)."""
    n, m = C.shape
    shift, weight = np.zeros(m), 0.0
    for i in range(n):
        weight += mass[i]
        for k in range(m):
            shift[k] += mass[i] * C[i, k]
    for k in range(m):
        shift[k] = (total - shift[k]) / weight
    for i in range(n):
        for k in range(m):
            C[i, k] += shift[k]
