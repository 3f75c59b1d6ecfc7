"""Rows of a matrix: lengths, permutations, means, interpolation, prescribed sums."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray
from scipy.sparse import csc_array

from convexhc._types import FloatArray, IntArray, Labels
from convexhc.kernels.compile import FAST, compiled
from convexhc.kernels.threads import runs_for

Real = NDArray[Any]


def lengths(X: FloatArray) -> FloatArray:
    """Euclidean norm of every row. O(n m)."""
    return np.asarray(np.sqrt(np.einsum("ik,ik->i", X, X)))


def group_means(C: FloatArray, labels: Labels, mass: FloatArray) -> FloatArray:
    """Mean row of every group, rows weighted by their mass. O(n m).

    Groups are numbered from zero, and none is empty.
    """
    weight = np.bincount(labels, mass)
    share, first = mass / weight[labels], np.arange(labels.size + 1)
    shares = csc_array((share, labels, first), shape=(weight.size, labels.size))
    return np.asarray(shares @ C)


def interpolate_rows(A: FloatArray, B: FloatArray, t: FloatArray) -> FloatArray:
    """Row i is A_i + t_i (B_i - A_i). O(n m)."""
    out = B - A
    out *= t[:, None]
    out += A
    return out


def gather_rows(R: FloatArray, rows: IntArray, mass: FloatArray, out: Real) -> None:
    """Row j of ``out`` is row ``rows[j]`` of R times its mass, in the precision of ``out``."""
    if R.dtype != out.dtype:
        np.multiply(R[rows], mass[rows, None], out=out, casting="same_kind")
        return
    # Without checks of the indices, numpy writes to ``out`` directly.
    np.take(R, rows, axis=0, out=out, mode="clip")
    if (mass != 1.0).any():
        out *= mass[rows, None].astype(out.dtype)


def scatter_rows(X: Real, rows: IntArray) -> FloatArray:
    """Row ``rows[j]`` of the result is row j of X. O(n m)."""
    out = np.empty(X.shape, X.dtype)
    for j in range(rows.size):
        i = rows[j]
        for k in range(X.shape[1]):
            out[i, k] = X[j, k]
    return out


def scatter_rows_with_sums(
    X: Real, rows: IntArray, mass: FloatArray, total: float, *, columns: bool
) -> Real:
    """`scatter_rows` after a constant was added to every row, so that it sums to ``total``.

    With ``columns``, another is added to every column, so that mass' C is ``total`` as well. Masses
    are in the order of the result. X is left with the sums of its rows right. O(n m).
    """
    out, n = np.empty_like(X), len(X)
    runs = runs_for(4 * X.size)
    sums = np.empty((runs, X.shape[1]), X.dtype)
    weights, shared = mass[rows].astype(X.dtype), runs > 1
    real = X.dtype.type
    if shared:
        _fix_row_sums_threaded(X, weights, real(total), sums)
    else:
        _fix_row_sums(0, n, X, weights, real(total), sums[0])
    shift = (total - sums.sum(axis=0)) / mass.sum() if columns else np.zeros(X.shape[1])
    if shared:
        _scatter_threaded(X, rows, shift.astype(X.dtype), runs, out)
    else:
        _scatter(0, n, X, rows, shift.astype(X.dtype), out)
    return out


@compiled(fastmath=FAST)
def _fix_row_sums(first: int, last: int, X: Real, weights: Real, total: Any, sums: Real) -> None:
    m = X.shape[1]
    sums[:] = total - total
    for j in range(first, last):
        row_sum = total - total
        for k in range(m):
            row_sum += X[j, k]
        shift, weight = (total - row_sum) / m, weights[j]
        for k in range(m):
            fixed = X[j, k] + sums.dtype.type(shift)
            X[j, k] = fixed
            sums[k] += weight * fixed


@compiled(parallel=True)
def _fix_row_sums_threaded(X: Real, weights: Real, total: Any, sums: Real) -> None:
    runs, n = sums.shape[0], X.shape[0]
    for run in prange(runs):
        _fix_row_sums(run * n // runs, (run + 1) * n // runs, X, weights, total, sums[run])


@compiled(fastmath=FAST)
def _scatter(first: int, last: int, X: Real, rows: IntArray, shift: Real, out: Real) -> None:
    for j in range(first, last):
        i = rows[j]
        for k in range(X.shape[1]):
            out[i, k] = X[j, k] + shift[k]


@compiled(parallel=True)
def _scatter_threaded(X: Real, rows: IntArray, shift: Real, runs: int, out: Real) -> None:
    n = X.shape[0]
    for run in prange(runs):
        _scatter(run * n // runs, (run + 1) * n // runs, X, rows, shift, out)
