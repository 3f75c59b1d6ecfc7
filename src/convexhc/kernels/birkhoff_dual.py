"""Newton's method on the multipliers of the doubly stochastic projection.

C = max(X + u 1' + 1 v', 0) is the projection where (u, v) minimise the smooth convex dual

    phi(u, v) = 1/2 sum_i w_i |C_i|^2 - sum_i w_i u_i - sum_j v_j,

whose gradient is the excess of the sums: w_i (C_i 1 - 1) for the rows, w'C - 1' for the columns.
With A the 0/1 matrix of the support (the positive entries), the generalised Hessian is the signless
Laplacian of a weighted bipartite graph, which is reduced to the columns.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from convexhc._types import FloatArray
from convexhc.kernels.compile import FAST, blocks, compiled

Matrix = NDArray[Any]  # float64 or float32
Pointer = NDArray[np.int64]
Columns = NDArray[np.int32]

_compiled = compiled(fastmath=FAST | {"arcp"}, raise_on_division=False)

# A byte of a row, and eight of them that are equal.
_NO, _YES = np.uint8(0), np.uint8(1)
_NONE, _ALL_EIGHT = np.uint64(0), np.uint64(0x0101010101010101)
# Trial points of one line search.
_MAX_TRIALS = 40
# Iterations of conjugate gradients.
_MAX_CG = 2000


class _Point(NamedTuple):
    """phi, its derivative along the last step, the largest excess and the largest multiplier."""

    phi: float
    slope: float
    residual: float
    largest: float


class _Dual:
    """A moving dual point (u, v), in the arrays given, with the excesses and a step there.

    ``row`` has the excess, the step and two more numbers of every row, ``col`` five more
    of every column. Row i of the support has the columns column[start[i] : start[i + 1]], or
    if row[3, i] is one, all but these.
    """

    def __init__(self, X: Matrix, w: FloatArray, u: FloatArray, v: FloatArray) -> None:
        c, m = X.shape
        self.X, self.w, self.u, self.v = X.view(), w, u, v
        # One type for all, which is compiled once.
        self.X.flags.writeable = False
        self.row, self.col = np.zeros((4, c)), np.zeros((7, m))
        # Memory is taken as far as the support is long.
        self.start, self.column = np.zeros(c + 1, np.int64), np.empty(c * m + 8, np.int32)
        self._positive = np.zeros(-(-m // 8), np.uint64)

    def evaluate(self) -> _Point:
        """Write the excesses and the support. O(c m)."""
        bytes_, at = self._positive.view(np.uint8), (self.w, self.u, self.v)
        found = _evaluate(
            self.X, *at, self.row, self.col, self.start, self.column, bytes_, self._positive
        )
        point = _Point(*found)
        return point if point.residual < np.inf else point._replace(residual=np.nan)

    def find_step(self, residual: float, tol: float) -> float:
        """Write the Newton step, regularised in proportion to the residual; return the slope.

        Solved well below `tol`: once the support is right, the next sums are as accurate as the
        step.
        """
        share = min(0.1, residual)
        slope = _find_step(
            self.w, 0.1 * share, share, 0.01 * tol, self.row, self.col, self.start, self.column
        )
        return float(slope)

    def move(self, t: float) -> None:
        """Add t times the step to the point."""
        self.u += t * self.row[1]
        self.v += t * self.col[1]

    def write(self, out: Matrix) -> None:
        """Write C."""
        _write(self.X, self.u, self.v, out)


def _search(dual: _Dual, phi: float, slope_low: float, length: float) -> tuple[_Point, float]:
    """Move along the step to where the slope has fallen; return the point and the length there.

    Trial lengths follow the secant of the slope, from ``length``.
    """
    fallen, low, high, slope_high, done = -0.95 * slope_low, 0.0, np.inf, 0.0, 0.0
    for _ in range(_MAX_TRIALS):
        dual.move(length - done)
        done, point = length, dual.evaluate()
        if abs(point.slope) <= fallen and point.phi <= phi + 1e-11 * (1.0 + abs(phi)):
            break
        if point.slope >= 0.0:
            high, slope_high = length, point.slope
        else:
            low, slope_low = length, point.slope
        if high < np.inf:
            secant = slope_low / (slope_low - slope_high) if slope_low < slope_high else 0.5
            length = low + (high - low) * min(max(secant, 0.1), 0.9)
        else:
            length *= 8.0
    return point, done


@_compiled
def _evaluate(
    X: Matrix,
    w: FloatArray,
    u: FloatArray,
    v: FloatArray,
    row: FloatArray,
    col: FloatArray,
    start: Pointer,
    column: Columns,
    positive: NDArray[np.uint8],
    eights: NDArray[np.uint64],
) -> tuple[float, float, float, float]:
    """Write the excesses and the support; return the numbers of a `_Point`. O(c m).

    ``positive`` is scratch, a byte per column; ``eights`` are the same bytes, most of which are
    zero, or in full rows one.
    """
    rows, step_u, omitted, cols, step_v = row[0], row[1], row[3], col[0], col[1]
    phi, slope, residual, largest, k = 0.0, 0.0, 0.0, 0.0, 0
    for j in range(v.size):
        cols[j] = -1.0
    for i in range(u.size):
        x, ui, wi, total, squares = X[i], u[i], w[i], 0.0, 0.0
        for j in range(v.size):
            t = x[j] + (ui + v[j])
            positive[j] = t > 0.0
            t = t if t > 0.0 else 0.0
            total += t
            squares += t * t
            cols[j] += wi * t
        found, full, skipped = 0, _NO, _NONE
        for j in range(v.size):
            found += positive[j]
        if 2 * found > v.size:
            full, skipped = _YES, _ALL_EIGHT
        omitted[i] = full
        for j in range(v.size, positive.size):
            positive[j] = full
        for word in range(eights.size):
            if eights[word] != skipped:
                for j in range(8 * word, 8 * word + 8):
                    column[k] = j
                    k += positive[j] ^ full
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
def _find_step(
    w: FloatArray,
    ridge: float,
    accuracy: float,
    floor: float,
    row: FloatArray,
    col: FloatArray,
    start: Pointer,
    column: Columns,
) -> float:
    """Write the inexact Newton step, regularised by ``ridge``; return the slope of phi along it.

    With D = diag(w / (counts + ridge)), (ridge + diag(A'w) - A'D A) v = A'D rows - cols is solved
    by conjugate gradients with a Jacobi preconditioner, to a residual norm of ``accuracy`` relative
    to the right-hand side, or of ``floor``. O(support) per iteration.
    """
    rows, step_u, d, omitted = row[0], row[1], row[2], row[3]
    cols, x, r, p, q, diagonal, inverse = col[0], col[1], col[2], col[3], col[4], col[5], col[6]
    for j in range(x.size):
        x[j] = 0.0
        p[j] = 0.0
        r[j] = -cols[j]
        diagonal[j] = ridge
        inverse[j] = ridge
    # What a full row adds to every column; its list is subtracted.
    right_all, weight_all, own_all = 0.0, 0.0, 0.0
    for i in range(w.size):
        full, first, last = omitted[i], start[i], start[i + 1]
        sign = 1.0 - 2.0 * full
        d[i] = w[i] / (full * x.size + sign * (last - first) + ridge)
        right, own = d[i] * rows[i], w[i] - d[i]
        right_all += full * right
        weight_all += full * w[i]
        own_all += full * own
        for k in range(first, last):
            j = column[k]
            r[j] += sign * right
            diagonal[j] += sign * w[i]
            inverse[j] += sign * own
    square, rho, ratio = 0.0, 0.0, 0.0
    for j in range(x.size):
        r[j] += right_all
        diagonal[j] += weight_all
        inverse[j] = 1.0 / (inverse[j] + own_all)
        square += r[j] * r[j]
        rho += inverse[j] * r[j] * r[j]
    target = max(accuracy * accuracy * square, floor * floor)
    for _ in range(_MAX_CG):
        if square <= target:
            break
        total_all, p_all, curvature = 0.0, 0.0, 0.0
        for j in range(x.size):
            p[j] = inverse[j] * r[j] + ratio * p[j]
            q[j] = diagonal[j] * p[j]
            p_all += p[j]
        for i in range(w.size):
            full, total = omitted[i], 0.0
            for k in range(start[i], start[i + 1]):
                total += p[column[k]]
            sign = 1.0 - 2.0 * full
            total = d[i] * (full * p_all + sign * total)
            total_all += full * total
            for k in range(start[i], start[i + 1]):
                q[column[k]] -= sign * total
        for j in range(x.size):
            q[j] -= total_all
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
    slope, x_all = 0.0, 0.0
    for j in range(x.size):
        slope += cols[j] * x[j]
        x_all += x[j]
    for i in range(w.size):
        full, total = omitted[i], 0.0
        for k in range(start[i], start[i + 1]):
            total += x[column[k]]
        total = rows[i] + full * x_all + (1.0 - 2.0 * full) * total
        step_u[i] = -total * d[i] / w[i]
        slope += w[i] * rows[i] * step_u[i]
    return slope


@_compiled
def _write(X: Matrix, u: FloatArray, v: FloatArray, out: Matrix) -> None:
    for i in range(u.size):
        for j in range(v.size):
            out[i, j] = max(X[i, j] + (u[i] + v[j]), 0.0)


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
    dual = _Dual(X, w, u, v)
    point = dual.evaluate()
    steps, stalled, length = 0, 0, 0.5
    if not point.residual < start_limit:
        return point.residual, 0
    while point.residual > tol and steps < max_newton and 2 * stalled < max_newton:
        # Sums at large multipliers are not more accurate: only a new centre can lower the residual.
        if point.residual <= 4e-16 * v.size * point.largest:
            break
        last, slope = point, dual.find_step(point.residual, tol)
        point, length = _search(dual, point.phi, slope, min(1.0, 2.0 * length))
        steps += 1
        flat = last.phi - point.phi <= 1e-15 * abs(point.phi)
        stalled = stalled + 1 if flat and point.residual > 0.5 * last.residual else 0
    if not point.residual > accept:
        dual.write(out)
    return point.residual, steps


def dual_value(X: Matrix, w: FloatArray, u: FloatArray, v: FloatArray) -> float:
    """Return phi(u, v). O(c m)."""
    energy = 0.0
    for some in blocks(X.shape):
        C = np.add.outer(u[some], v)
        C += X[some]
        np.maximum(C, 0.0, out=C)
        energy += float(w[some] @ np.einsum("ij,ij->i", C, C))
    return float(0.5 * energy - v.sum() - w @ u)
