"""Passes over the entries of C = max(X + u 1' + 1 v', 0): sums, support, shortlist.

The shortlist has, row by row, the columns and values of the entries with X + u + v > -reach. Every
pass rounds an entry in the same way, so that the support does not depend on which one found it.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from convexhc._types import FloatArray
from convexhc.kernels.birkhoff_support import MAX_SPARSE, Columns, Mask, Pointer
from convexhc.kernels.compile import FAST, compiled

Matrix = NDArray[Any]  # float64 or float32

_compiled = compiled(fastmath=FAST | {"arcp"}, raise_on_division=False)


@compiled()
def _entry(x: float, a: float, b: float) -> float:
    """Return x + (a + b), rounded in this order everywhere."""
    return x + (a + b)


@_compiled
def fill_shortlist(
    X: Matrix,
    u: FloatArray,
    v: FloatArray,
    reach: float,
    start: Pointer,
    column: Columns,
    value: FloatArray,
) -> bool:
    """Collect the entries with X + u + v > -reach; False if they are too many for a list."""
    c, m = X.shape
    k = 0
    for i in range(c):
        start[i] = k
        if k + m > column.size:
            return False
        for j in range(m):
            t = _entry(X[i, j], u[i], v[j])
            if t > -reach:
                column[k] = j
                value[k] = t
                k += 1
    start[c] = k
    return bool(k <= MAX_SPARSE * c * m)  # products with the support then never need its mask


@_compiled
def sum_listed(
    w: FloatArray,
    du: FloatArray,
    dv: FloatArray,
    start: Pointer,
    column: Columns,
    value: FloatArray,
    rows: FloatArray,
    cols: FloatArray,
    support_start: Pointer,
    support_column: Columns,
) -> float:
    """Fill the excesses and the support from the shortlist; return 1/2 sum_i w_i |C_i|^2."""
    for j in range(cols.size):
        cols[j] = -1.0
    energy, found = 0.0, 0
    for i in range(w.size):
        support_start[i] = found
        total, squares = 0.0, 0.0
        for k in range(start[i], start[i + 1]):
            j = column[k]
            t = _entry(value[k], du[i], dv[j])
            positive = t > 0.0
            t = t if positive else 0.0
            total += t
            squares += t * t
            cols[j] += w[i] * t
            support_column[found] = j
            found += positive
        rows[i] = total - 1.0
        energy += w[i] * squares
    support_start[w.size] = found
    return 0.5 * energy


@_compiled
def sum_all(
    X: Matrix,
    w: FloatArray,
    u: FloatArray,
    v: FloatArray,
    rows: FloatArray,
    cols: FloatArray,
    support_start: Pointer,
    support_column: Columns,
    mask: Mask,
) -> float:
    """Fill the excesses and the support from all of X; return 1/2 sum_i w_i |C_i|^2.

    The columns of a support that is not sparse are listed as far as there is room.
    """
    c, m = X.shape
    for j in range(m):
        cols[j] = -1.0
    energy = 0.0
    support_start[0] = 0
    for i in range(c):
        ui, wi = u[i], w[i]
        total, squares, found = 0.0, 0.0, 0
        for j in range(m):
            t = _entry(X[i, j], ui, v[j])
            positive = t > 0.0
            t = t if positive else 0.0
            total += t
            squares += t * t
            cols[j] += wi * t
            found += positive
            mask[i, j] = positive
        rows[i] = total - 1.0
        energy += wi * squares
        k = support_start[i]
        support_start[i + 1] = k + found
        if k + m <= support_column.size:
            for j in range(m):
                support_column[k] = j
                k += mask[i, j]
    return 0.5 * energy


@_compiled
def write_listed(
    du: FloatArray,
    dv: FloatArray,
    start: Pointer,
    column: Columns,
    value: FloatArray,
    out: Matrix,
) -> None:
    """Write C, from the shortlist. O(c m)."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = 0.0
        for k in range(start[i], start[i + 1]):
            j = column[k]
            out[i, j] = max(_entry(value[k], du[i], dv[j]), 0.0)
