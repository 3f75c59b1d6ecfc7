"""Newton's method on the multipliers of the doubly stochastic projection.

C = max(X + u 1' + 1 v', 0) is the projection where (u, v) minimise the smooth convex dual

    phi(u, v) = 1/2 sum_i w_i |C_i|^2 - sum_i w_i u_i - sum_j v_j,

whose gradient is the excess of the sums: w_i (C_i 1 - 1) for the rows, w'C - 1' for the columns.
With A the 0/1 matrix of the support (the positive entries), the generalised Hessian is the signless
Laplacian of a weighted bipartite graph; it is reduced to the columns and solved by conjugate
gradients. Two things make a step cheap:

- the shortlist: the entries with X + u + v > -reach, collected at one dual point, contain the whole
  support as long as u and v together rise by at most reach, so X itself is seldom read again;
- the dual point is a base plus a small offset, which keeps sums accurate when u and v are large.

Kernels take plain arrays and write plain loops: tuples of arrays and array expressions would take
several times as long to compile.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from convexhc._types import FloatArray
from convexhc.kernels.birkhoff_support import (
    MAX_SPARSE,
    add_column_sums,
    dot,
    list_columns,
    row_sums,
    solve_columns,
)

Matrix = NDArray[Any]  # float64 or float32
Pointer = NDArray[np.int64]
Columns = NDArray[np.int32]

# Sums may be reordered, as vector units need; NaN and infinities keep their meaning.
_FAST = {"reassoc", "nsz", "contract", "arcp"}
_compiled = njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)

# A shortlist denser than this is slower than a vectorised pass over X.
_MAX_LISTED = 0.06
# Trial points of one line search.
_MAX_TRIALS = 40


@njit(cache=True, nogil=True)
def _entry(x: float, a: float, b: float) -> float:
    """Return x + (a + b), rounded in this order everywhere."""
    return x + (a + b)


@_compiled
def _add_scaled(x: FloatArray, t: float, y: FloatArray) -> None:
    for k in range(x.size):
        x[k] += t * y[k]


@_compiled
def _move_base(x: FloatArray, dx: FloatArray) -> None:
    for k in range(x.size):
        x[k] += dx[k]
        dx[k] = 0.0


@_compiled
def _range(x: FloatArray) -> tuple[float, float]:
    """Return the minimum and the maximum."""
    low, high = np.inf, -np.inf
    for k in range(x.size):
        low = min(low, x[k])
        high = max(high, x[k])
    return low, high


@_compiled
def _largest(x: FloatArray, y: FloatArray) -> float:
    """Return the largest modulus of x and y."""
    low, high = _range(x)
    lower, higher = _range(y)
    return max(max(high, -low), max(higher, -lower))


@_compiled
def dual_value(X: Matrix, w: FloatArray, u: FloatArray, v: FloatArray) -> float:
    """Return phi(u, v). O(c m)."""
    energy = 0.0
    for i in range(X.shape[0]):
        squares = 0.0
        for j in range(X.shape[1]):
            t = max(_entry(X[i, j], u[i], v[j]), 0.0)
            squares += t * t
        energy += w[i] * squares
    for j in range(v.size):
        energy -= 2.0 * v[j]
    return 0.5 * energy - dot(w, u)


@_compiled
def _share_above(X: Matrix, u: FloatArray, v: FloatArray, level: float) -> float:
    """Estimate the share of entries with X + u + v > level from about fifty rows."""
    c, m = X.shape
    stride = max(1, c // 50)
    count, seen = 0, 0
    for i in range(0, c, stride):
        seen += m
        for j in range(m):
            count += _entry(X[i, j], u[i], v[j]) > level
    return count / seen


@_compiled
def _fill_shortlist(
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
def _sum_listed(
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
def _sum_all(
    X: Matrix,
    w: FloatArray,
    u: FloatArray,
    v: FloatArray,
    rows: FloatArray,
    cols: FloatArray,
    support_start: Pointer,
    mask: NDArray[np.bool_],
) -> float:
    """Fill the excesses and the support mask from all of X; return 1/2 sum_i w_i |C_i|^2."""
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
        support_start[i + 1] = support_start[i] + found
    return 0.5 * energy


@_compiled
def _newton_step(
    w: FloatArray,
    R: FloatArray,
    V: FloatArray,
    start: Pointer,
    column: Columns,
    mask: NDArray[np.bool_],
    excess: float,
    tol: float,
) -> None:
    """Write the inexact Newton step, regularised in proportion to the excess.

    Solved well below `tol`: once the support is right, the next sums are as accurate as the step.
    """
    step_u, rows, d, lifted = R[2], R[3], R[4], R[5]
    step_v, right, cols, diagonal = V[2], V[3], V[7], V[8]
    ridge = min(0.1, 0.1 * excess)
    for i in range(w.size):
        d[i] = w[i] / (start[i + 1] - start[i] + ridge)
        lifted[i] = d[i] * rows[i]
    for j in range(cols.size):
        diagonal[j] = ridge
        right[j] = -cols[j]
    add_column_sums(start, column, mask, w, diagonal)
    add_column_sums(start, column, mask, lifted, right)
    accuracy = max(min(0.1, excess) * np.sqrt(dot(right, right)), 0.01 * tol)
    solve_columns(start, column, mask, d, diagonal, accuracy, V)
    row_sums(start, column, mask, step_v, step_u)
    for i in range(w.size):
        step_u[i] = -(rows[i] + step_u[i]) * d[i] / w[i]


@_compiled
def _write(X: Matrix, u: FloatArray, v: FloatArray, out: Matrix) -> None:
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            out[i, j] = max(_entry(X[i, j], u[i], v[j]), 0.0)


@_compiled
def _write_listed(
    du: FloatArray,
    dv: FloatArray,
    start: Pointer,
    column: Columns,
    value: FloatArray,
    out: Matrix,
) -> None:
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = 0.0
        for k in range(start[i], start[i + 1]):
            j = column[k]
            out[i, j] = max(_entry(value[k], du[i], dv[j]), 0.0)


def newton(
    X: Matrix,
    w: FloatArray,
    u: FloatArray,
    v: FloatArray,
    out: Matrix,
    tol: float,
    max_newton: int,
    start_limit: float,
    accept: float,
) -> tuple[float, int]:
    """Improve (u, v) in place until the residual is within `tol`; return it and the steps taken.

    Takes no step if the residual of the start is not below `start_limit`. Writes C to `out`, which
    may be X, at the end, unless the residual exceeds `accept`.
    """
    c, m = X.shape
    room = int(MAX_SPARSE * c * m) + 2 * m
    return _newton(
        X,
        w,
        u,
        v,
        np.zeros((6, c)),
        np.zeros((9, m)),
        np.empty(c + 1, np.int64),
        np.empty(room, np.int32),
        np.empty(room),
        np.empty(c + 1, np.int64),
        np.empty(room, np.int32),
        np.empty((c, m), np.bool_),
        out,
        tol,
        max_newton,
        start_limit,
        accept,
    )


@_compiled
def _newton(
    X: Matrix,
    w: FloatArray,
    u: FloatArray,
    v: FloatArray,
    R: FloatArray,
    V: FloatArray,
    list_start: Pointer,
    list_column: Columns,
    list_value: FloatArray,
    start: Pointer,
    column: Columns,
    mask: NDArray[np.bool_],
    out: Matrix,
    tol: float,
    max_newton: int,
    start_limit: float,
    accept: float,
) -> tuple[float, int]:
    c, m = X.shape
    du, step_u, rows = R[1], R[2], R[3]
    dv, step_v, cols = V[1], V[2], V[7]
    reach, guess = -np.inf, 0.25 / (_share_above(X, u, v, 0.0) * m + 1.0)
    phi, residual, steps, stalled = np.inf, np.inf, -1, 0
    length, done, trials = 0.0, 0.0, _MAX_TRIALS
    low, high, slope_low, slope_high, slope_start = 0.0, np.inf, 0.0, 0.0, 0.0
    while True:
        _add_scaled(du, length - done, step_u)
        _add_scaled(dv, length - done, step_v)
        done = length
        if not _range(du)[1] + _range(dv)[1] <= reach:
            _move_base(u, du)
            _move_base(v, dv)
            reach = guess
            if _share_above(X, u, v, -reach) > _MAX_LISTED:
                reach *= 0.3
                if _share_above(X, u, v, -reach) > _MAX_LISTED:
                    reach = -np.inf
            if reach >= 0.0 and not _fill_shortlist(
                X, u, v, reach, list_start, list_column, list_value
            ):
                reach = -np.inf
        if reach >= 0.0:
            value = _sum_listed(
                w, du, dv, list_start, list_column, list_value, rows, cols, start, column
            )
        else:
            value = _sum_all(X, w, u, v, rows, cols, start, mask)
            list_columns(start, column, mask)
        slope = dot(cols, step_v)
        for i in range(c):
            value -= w[i] * (u[i] + du[i])
            slope += w[i] * rows[i] * step_u[i]
        for j in range(m):
            value -= v[j] + dv[j]
        trials += 1
        if trials < _MAX_TRIALS and not (
            abs(slope) <= -0.95 * slope_start and value <= phi + 1e-11 * (1.0 + abs(phi))
        ):
            if slope >= 0.0:
                high, slope_high = length, slope
            else:
                low, slope_low = length, slope
            if high < np.inf:
                secant = slope_low / (slope_low - slope_high)
                length = low + (high - low) * min(max(secant, 0.1), 0.9)
            else:
                length *= 8.0
            continue
        last_phi, last_residual = phi, residual
        phi, residual = value, _largest(rows, cols)
        steps += 1
        if steps == 0:
            if not residual < start_limit:
                return residual, 0
            length = 0.5
        else:
            flat = last_phi - phi <= 1e-15 * abs(phi) and residual > 0.5 * last_residual
            stalled = stalled + 1 if flat else 0
        if not residual > tol or steps >= max_newton or 2 * stalled >= max_newton:
            break
        if reach < 0.0 and residual <= 2e-16 * m * (_largest(u, u) + _largest(v, v)):
            break  # round-off of X + u + v, which only a new centre can lower
        _newton_step(w, R, V, start, column, mask, residual, tol)
        low_u, high_u = _range(step_u)
        low_v, high_v = _range(step_v)
        guess = 2.0 * max(high_u + high_v, -low_u - low_v)
        if guess < 0.1 * reach and list_start[c] > 4 * start[c]:
            reach = -np.inf  # a much shorter list suffices from here on
        slope_start = dot(cols, step_v)
        for i in range(c):
            slope_start += w[i] * rows[i] * step_u[i]
        low, high, slope_low, slope_high = 0.0, np.inf, slope_start, 0.0
        length, done, trials = min(1.0, 2.0 * length), 0.0, 0
    if not residual > accept:
        if reach >= 0.0:
            _write_listed(du, dv, list_start, list_column, list_value, out)
        else:
            _write(X, u, v, out)
    _move_base(u, du)
    _move_base(v, dv)
    return residual, steps
