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
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from convexhc._types import FloatArray
from convexhc.kernels.birkhoff_support import (
    MAX_SPARSE,
    Support,
    add_column_sums,
    dot,
    is_sparse,
    list_columns,
    row_sums,
    solve_columns,
)

Matrix = NDArray[Any]  # float64 or float32

# Sums may be reordered, as vector units need; NaN and infinities keep their meaning.
_FAST = {"reassoc", "nsz", "contract", "arcp"}
_compiled = njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)

# A shortlist denser than this is slower than a vectorised pass over X.
_MAX_LISTED = 0.06


class _State(NamedTuple):
    """Dual point (u + du, v + dv), the Newton step there, and the excess of the sums of C."""

    u: FloatArray
    v: FloatArray
    du: FloatArray
    dv: FloatArray
    step_u: FloatArray
    step_v: FloatArray
    rows: FloatArray
    cols: FloatArray


class _Shortlist(NamedTuple):
    """Row i holds column[start[i] : start[i + 1]] and the values of X + u + v at the base."""

    start: NDArray[np.int64]
    column: NDArray[np.int32]
    value: FloatArray


@njit(cache=True, nogil=True)
def _entry(x: float, a: float, b: float) -> float:
    """Return x + (a + b), rounded in this order everywhere."""
    return x + (a + b)


@_compiled
def _add_scaled(x: FloatArray, t: float, y: FloatArray) -> None:
    for k in range(x.size):
        x[k] += t * y[k]


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
    X: Matrix, u: FloatArray, v: FloatArray, reach: float, listed: _Shortlist
) -> bool:
    """Collect the entries with X + u + v > -reach; False if they are too many for a list."""
    start, column, value = listed.start, listed.column, listed.value
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
def _rebase(X: Matrix, state: _State, guess: float, listed: _Shortlist) -> float:
    """Move the base to the dual point; return the reach of the new shortlist, -inf if none."""
    u, v, du, dv = state.u, state.v, state.du, state.dv
    u += du
    v += dv
    du[:] = 0.0
    dv[:] = 0.0
    for reach in (guess, 0.3 * guess):
        if _share_above(X, u, v, -reach) <= _MAX_LISTED:
            return reach if _fill_shortlist(X, u, v, reach, listed) else -np.inf
    return -np.inf


@_compiled
def _sum_listed(w: FloatArray, state: _State, listed: _Shortlist, support: Support) -> float:
    """Fill the excesses and the support from the shortlist; return 1/2 sum_i w_i |C_i|^2."""
    start, column, value = listed.start, listed.column, listed.value
    support_start, support_column = support.start, support.column
    du, dv, rows, cols = state.du, state.dv, state.rows, state.cols
    cols[:] = -1.0
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
def _sum_all(X: Matrix, w: FloatArray, state: _State, support: Support) -> float:
    """Fill the excesses and the support mask from all of X; return 1/2 sum_i w_i |C_i|^2."""
    u, v, rows, cols = state.u, state.v, state.rows, state.cols
    support_start, mask = support.start, support.mask
    c, m = X.shape
    cols[:] = -1.0
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
def _evaluate(
    X: Matrix,
    w: FloatArray,
    state: _State,
    listed: _Shortlist,
    support: Support,
    reach: float,
    guess: float,
) -> tuple[float, float]:
    """Fill excesses and support at the dual point; return phi and the reach of the shortlist."""
    if not state.du.max() + state.dv.max() <= reach:
        reach = _rebase(X, state, guess, listed)
    if reach >= 0.0:
        phi = _sum_listed(w, state, listed, support)
    else:
        phi = _sum_all(X, w, state, support)
        if is_sparse(support):
            list_columns(support)
    for i in range(w.size):
        phi -= w[i] * (state.u[i] + state.du[i])
    for j in range(state.v.size):
        phi -= state.v[j] + state.dv[j]
    return phi, reach


@_compiled
def _newton_step(w: FloatArray, state: _State, support: Support, excess: float, tol: float) -> None:
    """Write the inexact Newton step, regularised in proportion to the excess.

    Solved well below `tol`: once the support is right, the next sums are as accurate as the step.
    """
    start, rows, step_u = support.start, state.rows, state.step_u
    c, m = state.u.size, state.v.size
    ridge = min(0.1, 0.1 * excess)
    d, lifted = np.empty(c), np.empty(c)
    for i in range(c):
        d[i] = w[i] / (start[i + 1] - start[i] + ridge)
        lifted[i] = d[i] * rows[i]
    diagonal, right = np.full(m, ridge), -state.cols
    add_column_sums(support, w, diagonal)
    add_column_sums(support, lifted, right)
    accuracy = max(min(0.1, excess) * np.sqrt(dot(right, right)), 0.01 * tol)
    state.step_v[:] = solve_columns(support, d, diagonal, right, accuracy)
    row_sums(support, state.step_v, step_u)
    for i in range(c):
        step_u[i] = -(rows[i] + step_u[i]) * d[i] / w[i]


@_compiled
def _slope(w: FloatArray, state: _State) -> float:
    """Return the derivative of phi along the step."""
    slope = dot(state.cols, state.step_v)
    for i in range(w.size):
        slope += w[i] * state.rows[i] * state.step_u[i]
    return slope


@_compiled
def _line_search(
    X: Matrix,
    w: FloatArray,
    state: _State,
    listed: _Shortlist,
    support: Support,
    length: float,
    phi: float,
    reach: float,
) -> tuple[float, float, float]:
    """Line search: move until the slope has clearly changed and phi has not increased.

    Returns the step size, and phi and the reach there.
    """
    step_u, step_v = state.step_u, state.step_v
    guess = 2.0 * max(step_u.max() + step_v.max(), -step_u.min() - step_v.min())
    if guess < 0.1 * reach and listed.start[w.size] > 4 * support.start[w.size]:
        reach = -np.inf  # a much shorter list suffices from here on
    slope_start = _slope(w, state)
    ceiling = phi + 1e-11 * (1.0 + abs(phi))
    low, high, slope_low, slope_high, done = 0.0, np.inf, slope_start, 0.0, 0.0
    for _ in range(40):
        _add_scaled(state.du, length - done, step_u)
        _add_scaled(state.dv, length - done, step_v)
        done = length
        phi, reach = _evaluate(X, w, state, listed, support, reach, guess)
        slope = _slope(w, state)
        if abs(slope) <= -0.95 * slope_start and phi <= ceiling:
            break
        if slope >= 0.0:
            high, slope_high = length, slope
        else:
            low, slope_low = length, slope
        if high < np.inf:
            secant = slope_low / (slope_low - slope_high)
            length = low + (high - low) * min(max(secant, 0.1), 0.9)
        else:
            length *= 8.0
    return done, phi, reach


@_compiled
def _largest_excess(state: _State) -> float:
    largest: float = max(np.abs(state.rows).max(), np.abs(state.cols).max())
    return largest


@_compiled
def _write(X: Matrix, state: _State, listed: _Shortlist, reach: float, out: Matrix) -> None:
    for i in range(X.shape[0]):
        if reach >= 0.0:
            out[i, :] = 0.0
            for k in range(listed.start[i], listed.start[i + 1]):
                j = listed.column[k]
                out[i, j] = max(_entry(listed.value[k], state.du[i], state.dv[j]), 0.0)
        else:
            for j in range(X.shape[1]):
                out[i, j] = max(_entry(X[i, j], state.u[i], state.v[j]), 0.0)


@_compiled
def _allocate(u: FloatArray, v: FloatArray) -> tuple[_State, _Shortlist, Support]:
    c, m = u.size, v.size
    room = int(MAX_SPARSE * c * m) + 2 * m
    state = _State(
        u, v, np.zeros(c), np.zeros(m), np.empty(c), np.empty(m), np.empty(c), np.empty(m)
    )
    listed = _Shortlist(np.zeros(c + 1, np.int64), np.empty(room, np.int32), np.empty(room))
    support = Support(
        np.zeros(c + 1, np.int64), np.empty(room, np.int32), np.empty((c, m), np.bool_)
    )
    return state, listed, support


@_compiled
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
    m = v.size
    state, listed, support = _allocate(u, v)
    guess = 0.25 / (_share_above(X, u, v, 0.0) * m + 1.0)
    phi, reach = _evaluate(X, w, state, listed, support, -np.inf, guess)
    residual = _largest_excess(state)
    if not residual < start_limit:
        return residual, 0
    length, steps, stalled = 1.0, 0, 0
    while residual > tol and steps < max_newton and 2 * stalled < max_newton:
        if reach < 0.0 and residual <= 2e-16 * m * (np.abs(u).max() + np.abs(v).max()):
            break  # round-off of X + u + v, which only a new centre can lower
        _newton_step(w, state, support, residual, tol)
        last_phi, last_residual = phi, residual
        length, phi, reach = _line_search(
            X, w, state, listed, support, min(1.0, 2.0 * length), phi, reach
        )
        residual = _largest_excess(state)
        steps += 1
        flat = last_phi - phi <= 1e-15 * abs(phi) and residual > 0.5 * last_residual
        stalled = stalled + 1 if flat else 0
    if not residual > accept:
        _write(X, state, listed, reach, out)
    u += state.du
    v += state.dv
    return residual, steps
