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

Kernels take plain arrays: a step compiles several times as fast as with tuples of arrays.
"""

from __future__ import annotations

import numpy as np

from convexhc._types import FloatArray
from convexhc.kernels.birkhoff_sums import (
    Matrix,
    fill_shortlist,
    share_above,
    sum_all,
    sum_listed,
    write_all,
    write_listed,
)
from convexhc.kernels.birkhoff_support import (
    MAX_SPARSE,
    Columns,
    Mask,
    Pointer,
    add_column_sums,
    dot,
    list_columns,
    row_sums,
    solve_columns,
)
from convexhc.kernels.compile import FAST, compiled

_compiled = compiled(fastmath=FAST | {"arcp"}, raise_on_division=False)

# A shortlist denser than this is slower than a vectorised pass over X.
_MAX_LISTED = 0.06
# Trial points of one line search.
_MAX_TRIALS = 40


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
    """Return the largest modulus in x and y; NaN if an entry is not finite."""
    largest, zero = 0.0, 0.0
    for k in range(x.size):
        largest = max(largest, abs(x[k]))
        zero += 0.0 * x[k]
    for k in range(y.size):
        largest = max(largest, abs(y[k]))
        zero += 0.0 * y[k]
    return largest + zero


@_compiled
def _newton_step(
    w: FloatArray,
    rows: FloatArray,
    cols: FloatArray,
    start: Pointer,
    column: Columns,
    mask: Mask,
    excess: float,
    tol: float,
    step_u: FloatArray,
    step_v: FloatArray,
    row_work: FloatArray,
    column_work: FloatArray,
) -> None:
    """Write the inexact Newton step, regularised in proportion to the excess.

    Solved well below `tol`: once the support is right, the next sums are as accurate as the step.
    """
    d, lifted = row_work[0], row_work[1]
    diagonal, right = column_work[0], column_work[1]
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
    solve_columns(start, column, mask, d, diagonal, right, accuracy, step_v, column_work[2:])
    row_sums(start, column, mask, step_v, step_u)
    for i in range(w.size):
        step_u[i] = -(rows[i] + step_u[i]) * d[i] / w[i]


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
        np.zeros((5, c)),
        np.zeros((8, m)),
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
    row_work: FloatArray,
    column_work: FloatArray,
    list_start: Pointer,
    list_column: Columns,
    list_value: FloatArray,
    start: Pointer,
    column: Columns,
    mask: Mask,
    out: Matrix,
    tol: float,
    max_newton: int,
    start_limit: float,
    accept: float,
) -> tuple[float, int]:
    c, m = X.shape
    du, step_u, rows = row_work[0], row_work[1], row_work[2]
    dv, step_v, cols = column_work[0], column_work[1], column_work[2]
    reach, guess = -np.inf, 0.25 / (share_above(X, u, v, 0.0) * m + 1.0)
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
            if share_above(X, u, v, -reach) > _MAX_LISTED:
                reach *= 0.3
                if share_above(X, u, v, -reach) > _MAX_LISTED:
                    reach = -np.inf
            if reach >= 0.0 and not fill_shortlist(
                X, u, v, reach, list_start, list_column, list_value
            ):
                reach = -np.inf
        if reach >= 0.0:
            value = sum_listed(
                w, du, dv, list_start, list_column, list_value, rows, cols, start, column
            )
        else:
            value = sum_all(X, w, u, v, rows, cols, start, mask)
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
        if reach < 0.0 and residual <= 4e-16 * m * _largest(u, v):
            break  # round-off of X + u + v, which only a new centre can lower
        _newton_step(
            w,
            rows,
            cols,
            start,
            column,
            mask,
            residual,
            tol,
            step_u,
            step_v,
            row_work[3:],
            column_work[3:],
        )
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
            write_listed(du, dv, list_start, list_column, list_value, out)
        else:
            write_all(X, u, v, out)
    _move_base(u, du)
    _move_base(v, dv)
    return residual, steps
