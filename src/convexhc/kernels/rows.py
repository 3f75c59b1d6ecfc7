"""Rows of a matrix: lengths, permutations, means, interpolation, prescribed sums."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from convexhc._types import FloatArray, IntArray, Labels

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
    np.multiply(R[rows], mass[rows, None], out=out, casting="same_kind")


def scatter_rows(X: Real, rows: IntArray) -> FloatArray:
    """Row ``rows[j]`` of the result is row j of X. O(n m)."""
    out = np.empty(X.shape)
    out[rows] = X
    return out


def fix_row_sums(C: FloatArray, total: float) -> None:
    """Add a constant to every row, in place, so that it sums to ``total``. O(n m)."""
    C += ((total - C.sum(axis=1)) / C.shape[1])[:, None]


def fix_column_sums(C: FloatArray, mass: FloatArray, total: float) -> None:
    """Add a constant to every column, in place, so that mass' C equals ``total``. O(n m)."""
    C += (total - mass @ C) / mass.sum()
