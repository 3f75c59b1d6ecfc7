"""Newton's method on the multipliers of the doubly stochastic projection.

C = max(X + u 1' + 1 v', 0) is the projection where (u, v) minimise the smooth convex dual

    phi(u, v) = 1/2 sum_i w_i |C_i|^2 - sum_i w_i u_i - sum_j v_j,

whose gradient is the excess of the sums: w_i (C_i 1 - 1) for the rows, w'C - 1' for the columns.
With A the 0/1 matrix of the support (the positive entries), the generalised Hessian is the signless
Laplacian of a weighted bipartite graph, which is reduced to the columns.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from convexhc._types import FloatArray
from convexhc.kernels.compile import FAST, blocks, compiled

Matrix = NDArray[Any]  # float64 or float32

_compiled = compiled(fastmath=FAST | {"arcp"}, raise_on_division=False)

# Trial points of one line search.
_MAX_TRIALS = 40
# Iterations of conjugate gradients.
_MAX_CG = 2000


class _Work(NamedTuple):
    """Excess, step and one more number of every row; the same and five more of every column.

    Row i of the support has the columns column[start[i] : start[i + 1]]. ``mark`` has a byte for
    every column, and ``words`` the same bytes by eights, most of which are zero.
    """

    row: FloatArray
    col: FloatArray
    start: NDArray[np.int64]
    column: NDArray[np.int32]
    mark: NDArray[np.uint8]
    words: NDArray[np.uint64]

    @classmethod
    def allocate(cls, c: int, m: int) -> _Work:
        """For c rows and m columns. Memory is taken as far as the support is long."""
        start, column = np.zeros(c + 1, np.int64), np.empty(c * m + 8, np.int32)
        words = np.zeros(-(-m // 8), np.uint64)
        mark = words.view(np.uint8)
        return cls(np.zeros((3, c)), np.zeros((7, m)), start, column, mark, words)


@_compiled
def _evaluate(
    X: Matrix, w: FloatArray, u: FloatArray, v: FloatArray, work: _Work
) -> tuple[float, float, float, float]:
    """Write the excesses and the support. O(c m).

    Returns phi, its derivative along the step, the largest excess and the largest multiplier.
    """
    row, col, start, column, mark, words = work
    rows, step_u, cols, step_v = row[0], row[1], col[0], col[1]
    phi, slope, residual, largest, k = 0.0, 0.0, 0.0, 0.0, 0
    for j in range(v.size):
        cols[j] = -1.0
    for i in range(u.size):
        x, ui, wi, total, squares = X[i], u[i], w[i], 0.0, 0.0
        for j in range(v.size):
            t = x[j] + (ui + v[j])
            positive = t > 0.0
            t = t if positive else 0.0
            total += t
            squares += t * t
            cols[j] += wi * t
            mark[j] = positive
        for word in range(words.size):
            if words[word] != 0:
                for j in range(8 * word, 8 * word + 8):
                    column[k] = j
                    k += mark[j]
        start[i + 1] = k
        total -= 1.0
        rows[i] = total
        phi += wi * (0.5 * squares - ui)
        slope += wi * total * step_u[i]
        residual = max(residual, abs(total))
        largest = max(largest, abs(ui))
    for j in range(v.size):
        phi -= v[j]
        slope += cols[j] * step_v[j]
        residual = max(residual, abs(cols[j]))
        largest = max(largest, abs(v[j]))
    return phi, slope, residual, largest


@_compiled
def _find_step(w: FloatArray, ridge: float, accuracy: float, floor: float, work: _Work) -> float:
    """Write the inexact Newton step, regularised by ``ridge``; return the slope of phi along it.

    With D = diag(w / (counts + ridge)), (ridge + diag(A'w) - A'D A) v = A'D rows - cols is solved
    by conjugate gradients with a Jacobi preconditioner, to a residual norm of ``accuracy`` relative
    to the right-hand side, or of ``floor``. O(support) per iteration.
    """
    row, col, start, column, _, _ = work
    rows, step_u, d = row[0], row[1], row[2]
    cols, x, r, p, q, diagonal, inverse = col[0], col[1], col[2], col[3], col[4], col[5], col[6]
    for j in range(x.size):
        x[j] = 0.0
        p[j] = 0.0
        r[j] = -cols[j]
        diagonal[j] = ridge
        inverse[j] = ridge
    for i in range(w.size):
        d[i] = w[i] / (start[i + 1] - start[i] + ridge)
        right, own = d[i] * rows[i], w[i] - d[i]
        for k in range(start[i], start[i + 1]):
            j = column[k]
            r[j] += right
            diagonal[j] += w[i]
            inverse[j] += own
    square, rho, ratio = 0.0, 0.0, 0.0
    for j in range(x.size):
        inverse[j] = 1.0 / inverse[j]
        square += r[j] * r[j]
        rho += inverse[j] * r[j] * r[j]
    target = max(accuracy * accuracy * square, floor * floor)
    for _ in range(_MAX_CG):
        if square <= target:
            break
        for j in range(x.size):
            p[j] = inverse[j] * r[j] + ratio * p[j]
            q[j] = diagonal[j] * p[j]
        for i in range(w.size):
            total = 0.0
            for k in range(start[i], start[i + 1]):
                total += p[column[k]]
            total *= d[i]
            for k in range(start[i], start[i + 1]):
                q[column[k]] -= total
        curvature = 0.0
        for j in range(x.size):
            curvature += p[j] * q[j]
        if curvature <= 0.0:
            break
        step, last, rho, square = rho / curvature, rho, 0.0, 0.0
        for j in range(x.size):
            x[j] += step * p[j]
            r[j] -= step * q[j]
            rho += inverse[j] * r[j] * r[j]
            square += r[j] * r[j]
        ratio = rho / last
    slope = 0.0
    for i in range(w.size):
        total = rows[i]
        for k in range(start[i], start[i + 1]):
            total += x[column[k]]
        step_u[i] = -total * d[i] / w[i]
        slope += w[i] * rows[i] * step_u[i]
    for j in range(x.size):
        slope += cols[j] * x[j]
    return slope


@_compiled
def _newton(
    X: Matrix,
    w: FloatArray,
    u: FloatArray,
    v: FloatArray,
    out: Matrix,
    work: _Work,
    tol: float,
    max_newton: int,
    start_limit: float,
    accept: float,
) -> tuple[float, int]:
    """Newton steps with a line search, each to where the slope of phi has fallen; see `newton`.

    Trial lengths follow the secant of the slope.
    """
    step_u, step_v = work.row[1], work.col[1]
    phi, _, residual, largest = _evaluate(X, w, u, v, work)
    steps, stalled, length = 0, 0, 0.5
    if not residual < start_limit:
        return residual, 0
    while residual > tol and steps < max_newton and 2 * stalled < max_newton:
        # Sums at large multipliers are not more accurate: only a new centre can lower the residual.
        if residual <= 4e-16 * v.size * largest:
            break
        # Well below `tol`: once the support is right, the next sums are as accurate as the step.
        accuracy = min(0.1, residual)
        slope_low = _find_step(w, 0.1 * accuracy, accuracy, 0.01 * tol, work)
        fallen, low, high, slope_high, done = -0.95 * slope_low, 0.0, math.inf, 0.0, 0.0
        last_phi, last_residual, length = phi, residual, min(1.0, 2.0 * length)
        for _ in range(_MAX_TRIALS):
            for i in range(u.size):
                u[i] += (length - done) * step_u[i]
            for j in range(v.size):
                v[j] += (length - done) * step_v[j]
            done = length
            phi, slope, residual, largest = _evaluate(X, w, u, v, work)
            if abs(slope) <= fallen and phi <= last_phi + 1e-11 * (1.0 + abs(last_phi)):
                break
            if slope >= 0.0:
                high, slope_high = length, slope
            else:
                low, slope_low = length, slope
            if high < math.inf:
                secant = slope_low / (slope_low - slope_high) if slope_low < slope_high else 0.5
                length = low + (high - low) * min(max(secant, 0.1), 0.9)
            else:
                length *= 8.0
        length = done
        steps += 1
        flat = last_phi - phi <= 1e-15 * abs(phi) and residual > 0.5 * last_residual
        stalled = stalled + 1 if flat else 0
    if residual <= accept:
        for i in range(u.size):
            for j in range(v.size):
                out[i, j] = max(X[i, j] + (u[i] + v[j]), 0.0)
    return residual, steps


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
    fixed = X.view()
    # One type for all, which is compiled once.
    fixed.flags.writeable = False
    work = _Work.allocate(*X.shape)
    limits = (float(start_limit), float(accept))
    residual, steps = _newton(fixed, w, u, v, out, work, float(tol), max_newton, *limits)
    return (float(residual) if residual < np.inf else np.nan), int(steps)


def dual_value(X: Matrix, w: FloatArray, u: FloatArray, v: FloatArray) -> float:
    """Return phi(u, v). O(c m)."""
    energy = 0.0
    for some in blocks(X.shape):
        C = np.add.outer(u[some], v)
        C += X[some]
        np.maximum(C, 0.0, out=C)
        energy += float(w[some] @ np.einsum("ij,ij->i", C, C))
    return float(0.5 * energy - v.sum() - w @ u)
