"""Newton's method on the multipliers of the doubly stochastic projection.

C = max(X + u 1' + 1 v', 0) is the projection where (u, v) minimise the smooth convex dual

    phi(u, v) = 1/2 sum_i w_i |C_i|^2 - sum_i w_i u_i - sum_j v_j,

whose gradient is the excess of the sums: w_i (C_i 1 - 1) for the rows, w'C - 1' for the columns.
With A the 0/1 matrix of the support (the positive entries), the generalised Hessian is the signless
Laplacian of a weighted bipartite graph, which is reduced to the columns, or to fewer rows.

The iteration is written once, for two versions of its passes: `DenseDual` in numpy, for matrices
too small for compiled kernels to pay, and `ListedDual` of `birkhoff_listed`.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dposv

from convexhc._types import FloatArray
from convexhc.kernels.birkhoff_listed import Dual, ListedDual
from convexhc.kernels.birkhoff_sums import Matrix
from convexhc.kernels.compile import blocks, pays_to_compile

# Trial points of one line search.
_MAX_TRIALS = 40
# Least ridge of the dense Newton matrix, relative to its largest diagonal entry.
_LEAST_RIDGE = 1e-14


class DenseDual(Dual):
    """Passes in numpy, and a dense factor of the Newton matrix, of rows or of columns.

    O(c m) per pass, and O(c m min(c, m)) per step.
    """

    def __init__(self, X: Matrix, w: FloatArray, u: FloatArray, v: FloatArray) -> None:
        super().__init__(X.astype(np.float64, copy=False), w, u, v)
        self.C = self.X

    def evaluate(self) -> float:
        """Write the excesses and return phi."""
        self.move_base()
        C = np.add.outer(self.u, self.v)
        C += self.X
        self.C = np.maximum(C, 0.0, out=C)
        C.sum(axis=1, out=self.rows)
        np.dot(self.w, C, out=self.cols)
        self.excess -= 1.0
        return 0.5 * float(self.w @ np.einsum("ij,ij->i", C, C)) - self.linear()

    def find_step(self, residual: float, tol: float) -> None:
        """Write the Newton step, regularised in proportion to the residual."""
        A, w = (self.C > 0.0).astype(np.float64), self.w
        diagonal = w @ A
        ridge = max(min(0.1, 0.1 * residual), _LEAST_RIDGE * float(diagonal.max()))
        rows = w * (A.sum(axis=1) + ridge)
        A *= w[:, None]
        if w.size < diagonal.size:
            inverse = 1.0 / (diagonal + ridge)
            right = (A * inverse) @ self.cols - w * self.rows
            self.step_u[:] = _solve_reduced(rows, inverse, A.T, right, ridge)
            self.step_v[:] = -inverse * (self.cols + self.step_u @ A)
        else:
            right = (self.rows * w / rows) @ A - self.cols
            self.step_v[:] = _solve_reduced(diagonal + ridge, 1.0 / rows, A, right, ridge)
            self.step_u[:] = -(w * self.rows + A @ self.step_v) / rows

    def at_round_off(self, residual: float) -> bool:
        """Whether only a new centre can lower the residual: round-off of X + u + v."""
        return residual <= self.round_off()

    def write(self, out: Matrix) -> None:
        """Write C."""
        out[...] = self.C


def _solve_reduced(
    diagonal: FloatArray, inverse: FloatArray, A: FloatArray, right: FloatArray, ridge: float
) -> FloatArray:
    """Solve (diag(diagonal) - A' diag(inverse) A) x = right, with more ridge if it is singular."""
    matrix = A.T @ (-inverse[:, None] * A)
    matrix.flat[:: right.size + 1] += diagonal
    _, step, failed = dposv(matrix, right)
    while failed and ridge < np.inf:
        ridge *= 100.0
        matrix.flat[:: right.size + 1] += ridge
        _, step, failed = dposv(matrix, right)
    return np.asarray(step)


def _search(dual: Dual, phi: float, length: float) -> tuple[float, float]:
    """Move along the step to where the slope has fallen; return phi and the length there.

    Trial lengths follow the secant of the slope, from ``length``.
    """
    low, high, slope_low, slope_high = 0.0, np.inf, dual.slope(), 0.0
    fallen, done, value = -0.95 * slope_low, 0.0, phi
    for _ in range(_MAX_TRIALS):
        dual.move(length - done)
        done, value, slope = length, dual.evaluate(), dual.slope()
        if abs(slope) <= fallen and value <= phi + 1e-11 * (1.0 + abs(phi)):
            break
        if slope >= 0.0:
            high, slope_high = length, slope
        else:
            low, slope_low = length, slope
        if high < np.inf:
            secant = slope_low / (slope_low - slope_high) if slope_low < slope_high else 0.5
            length = low + (high - low) * min(max(secant, 0.1), 0.9)
        else:
            length *= 8.0
    return value, done


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
    dual = (ListedDual if pays_to_compile(X.size) else DenseDual)(X, w, u, v)
    phi = dual.evaluate()
    residual, steps, stalled, length = dual.residual(), 0, 0, 0.5
    if not residual < start_limit:
        return residual, 0
    while residual > tol and steps < max_newton and 2 * stalled < max_newton:
        if dual.at_round_off(residual):
            break
        dual.find_step(residual, tol)
        last_phi, last_residual = phi, residual
        phi, length = _search(dual, phi, min(1.0, 2.0 * length))
        residual = dual.residual()
        steps += 1
        flat = last_phi - phi <= 1e-15 * abs(phi) and residual > 0.5 * last_residual
        stalled = stalled + 1 if flat else 0
    if not residual > accept:
        dual.write(out)
    dual.move_base()
    return residual, steps


def dual_value(X: Matrix, w: FloatArray, u: FloatArray, v: FloatArray) -> float:
    """Return phi(u, v). O(c m)."""
    energy = 0.0
    for some in blocks(X.shape):
        C = np.add.outer(u[some], v)
        C += X[some]
        np.maximum(C, 0.0, out=C)
        energy += float(w[some] @ np.einsum("ij,ij->i", C, C))
    return float(0.5 * energy - v.sum() - w @ u)
