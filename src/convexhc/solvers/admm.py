"""ADMM with a closed-form centroid step (appendix C, without its inner loop)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from convexhc.kernels import edges as edge_kernels
from convexhc.kernels import signs as sign_kernels
from convexhc.kernels.edges import Scratch
from convexhc.problem import Problem
from convexhc.solvers.loop import Candidate, Solution
from convexhc.solvers.start import fused_labels, fusion_of, starting_point

Array = NDArray[np.float64]
Single = NDArray[np.float32]


@dataclass
class ADMMState:
    """Centroids C; copies Z = D C (edges) and V = C >= 0 with their duals Y and S.

    ``right`` is the right side of the next centroid step, but for the data; ``last`` that of the
    step before, with them. Residuals mean nothing for the first iterations, ``settling`` of them.
    """

    C: Array
    Y: Array
    Z: Array
    V: Array
    S: Array
    scratch: Scratch
    right: Array
    last: Array
    sylvester: _Sylvester
    settling: int
    warm: tuple[Array, Array] | None = None
    n_iter: int = 0


@dataclass(frozen=True)
class ADMM:
    """Split edge differences and signs from the quadratic; its step is a Sylvester equation.

    C H + (rho D'D + tau I) C = R with fixed row and column sums is diagonal in the eigenbases of H
    and D'D: four N^3 products an iteration and nothing to refactor when rho changes. The penalty
    tau on the signs follows their multipliers and is no less than a share of |H|, unless the run is
    long; rho on the edges balances residuals.

    With ``linear``, the quadratic is replaced by its tangent plus |H| / 2 |C - C_last|^2: no
    eigenvectors of H, two products by the basis of D'D and one by H an iteration, and hardly more
    of them while H is well conditioned.

    Parameters
    ----------
    relax : float
        Over-relaxation, between 1 and 2.
    linear : bool
        Whether the quadratic is linearised.
    """

    relax: float = 1.6
    linear: bool = False
    name: str = "admm"

    def init(self, problem: Problem, start: Solution | None) -> ADMMState:
        """Start from the identity (or the data), or from an earlier solution."""
        edges = fusion_of(problem).edges
        C, Y, scratch = starting_point(problem, start)
        Z = edge_kernels.differences(C, edges)
        S = np.zeros_like(C)
        if start is not None and start.signs is not None:
            S[:] = start.signs
        tau = _sign_penalty(problem, S, C)
        sylvester = _Sylvester(problem, _first_rho(problem, Y, Z), tau, self.linear)
        right, last = np.empty_like(C), np.empty_like(C)
        settling = 0 if start is None else _SETTLING
        state = ADMMState(C, Y, Z, C.copy(), S, scratch, right, last, sylvester, settling)
        _pull(problem, state)
        return state

    def step(self, problem: Problem, state: ADMMState) -> None:
        """Centroids, then both copies and both duals; then perhaps another rho."""
        fidelity, sylvester = problem.fidelity, state.sylvester
        R = state.right
        if self.linear:
            _, gradient = fidelity.evaluate(state.C)
            R += fidelity.lipschitz * state.C
            R -= gradient
        else:
            R += fidelity.target
        if sylvester.n_solved % _EXACT == 0 or R.size < _SMALL:
            state.C = sylvester.solve(R)
        else:
            state.C = state.C + sylvester.change(R - state.last)
        state.last, state.right = state.right, state.last
        sylvester.n_solved += 1
        penalty = fusion_of(problem)
        rho, tau = sylvester.rho, sylvester.tau
        edges = edge_kernels.exchange(
            state.C, state.Y, state.Z, rho, self.relax, penalty.edges, state.scratch
        )
        state.right[:] = penalty.metric.represent(state.scratch.total)
        signs = (0.0, 0.0)
        if problem.constraint.nonnegative:
            signs = sign_kernels.hold(state.C, state.V, state.S, tau, self.relax, state.right)
        state.n_iter += 1
        if state.n_iter in _REBALANCE and state.n_iter > state.settling:
            rho = _balanced(rho, edges, _sizes(problem, state.Y, state.Z))
            if state.n_iter < _LATE:
                tau = _sign_penalty(problem, state.S, state.V)
            else:
                tau = min(tau, _balanced(tau, signs, (_norm(state.S), _norm(state.V))))
            if not (_alike(rho, sylvester.rho) and _alike(tau, sylvester.tau)):
                state.sylvester = _Sylvester(problem, rho, tau, self.linear)
                _pull(problem, state)

    def candidate(self, problem: Problem, state: ADMMState) -> Candidate:
        """The centroids have the right sums; the projection mends their signs."""
        C, state.warm = problem.constraint.project(state.C, state.warm)
        return Candidate(C, state.Y, fused_labels(problem, state.scratch.fused), state.S)


# Least penalty on the signs over the largest eigenvalue of H; the same over the mean of that and
# the multipliers; and the most that the edges together may weigh against H at first.
_SIGNS, _MEAN, _MOST = 0.3, 0.15, 10.0
# First rho in units of the ratio of the dual, or of its balls, to the differences: of a warm start,
# and of a cold one.
_WARM, _COLD = 2.0, 4.0
# Every so many centroid steps, one is in double precision throughout; all, for so few entries.
_EXACT, _SMALL = 10, 10_000
# Iterations at which rho and tau may change, ever rarer, so that the method converges, and how many
# a warm start needs first; from which one on tau only falls; by how much at most at once, and at
# least.
_REBALANCE = frozenset([5, 10, 20, 30, 40, 60, 80, 110, 150, 200, 300, 500, 1000, 2000])
_SETTLING, _LATE, _CHANGE, _WORTH = 5, 60, 5.0, 1.2


def _first_rho(problem: Problem, Y: Array, Z: Array) -> float:
    """The size of the duals over that of the differences: of the start, or as far as one knows."""
    penalty = fusion_of(problem)
    dual, copies = _sizes(problem, Y, Z)
    dual *= _WARM
    if dual == 0.0:
        radius = penalty.edges.soft + penalty.edges.block
        dual = _COLD * float(np.sqrt(np.square(radius) @ (1.0 / penalty.edges.stiffness)))
    most = (
        _MOST * max(problem.fidelity.lipschitz, 1e-12) / (penalty.differences.norm_squared or 1.0)
    )
    return min(dual / copies, most) if dual > 0.0 and copies > 0.0 else most


def _sign_penalty(problem: Problem, S: Array, V: Array) -> float:
    """Penalty on the signs: the geometric mean of |H| and of multipliers over entries."""
    size = max(problem.fidelity.lipschitz, 1e-12)
    ratio = problem.shape[1] * _norm(S) / max(_norm(V), 1e-300)
    return max(_SIGNS * size, _MEAN * float(np.sqrt(size * ratio)))


def _balanced(rho: float, squares: tuple[float, float], sizes: tuple[float, float]) -> float:
    """Bring the primal residual |D C - Z| and the dual one rho |change of Z| together.

    Each counts relative to the size of its own variables, which differ by orders of magnitude.
    ``squares`` are those of the residuals but for rho, ``sizes`` those of the dual and of Z.
    """
    primal, dual = squares[0] ** 0.5 * sizes[0], rho * squares[1] ** 0.5 * sizes[1]
    if primal <= 0.0 and dual <= 0.0:
        return rho
    factor = min(max((primal / max(dual, 1e-300)) ** 0.5, 1.0 / _CHANGE), _CHANGE)
    return float(rho * factor)


def _alike(new: float, old: float) -> bool:
    """Whether a change of penalty is not worth its cost."""
    return 1.0 / _WORTH < new / old < _WORTH


def _norm(X: Array) -> float:
    return float(np.sqrt(np.vdot(X, X)))


def _sizes(problem: Problem, Y: Array, Z: Array) -> tuple[float, float]:
    """Norms of a dual and of copies of differences, by the stiffness of the edges."""
    stiffness = fusion_of(problem).edges.stiffness
    dual = np.einsum("ek,ek->e", Y, Y) @ (1.0 / stiffness)
    return float(np.sqrt(dual)), float(np.sqrt(np.einsum("ek,ek->e", Z, Z) @ stiffness))


def _pull(problem: Problem, state: ADMMState) -> None:
    """The right side D'(rho R Z - Y) + tau V - S afresh, after a change of rho."""
    penalty, sylvester = fusion_of(problem), state.sylvester
    n = state.C.shape[0]
    sums = edge_kernels.push(state.Y, state.Z, sylvester.rho, penalty.edges, n)
    state.right[:] = penalty.metric.represent(sums)
    if problem.constraint.nonnegative:
        state.right += sylvester.tau * state.V - state.S


class _Sylvester:
    """Solves C H + (rho D'D + tau I) C = R under the sum constraints, for one rho.

    In the eigenbases of H and D'D the equation is diagonal. A fixed row sum takes from every
    rotated row a multiple of one vector; fixed column sums fix the first rotated row.

    From one step to the next R changes little, and ever less: the answer to a change may be
    computed in single precision, at half the cost, without loss to the whole.
    """

    def __init__(self, problem: Problem, rho: float, tau: float, linear: bool) -> None:
        constraint = problem.constraint
        self.rho, self.tau, self.n_solved = rho, tau, 0
        self.Q: Array | None
        if linear:
            self.Q, kappa = None, np.full(problem.shape[1], problem.fidelity.lipschitz)
        else:
            self.Q, kappa = problem.fidelity.spectrum
        self.basis, self.inverse, gamma = fusion_of(problem).differences.spectrum
        stiffness = rho * gamma + tau * constraint.nonnegative
        self.weights = 1.0 / (kappa + stiffness[:, None])
        self.column_sums = constraint.column_sums
        self.sums = np.ones(kappa.size) if self.Q is None else self.Q.sum(axis=0)
        # The constant vector has norm one in the metric: its multiple is the root of N.
        self.top = float(self.inverse[0].sum())
        self.correction = None
        if constraint.row_sums:
            correction = self.weights * self.sums
            self.correction = correction / (correction @ self.sums)[:, None]

    def solve(self, R: Array) -> Array:
        """The centroids, O(N^3)."""
        rotated = self.inverse @ R if self.Q is None else self.inverse @ R @ self.Q
        self._scale(rotated, self.top)
        return self.basis @ rotated if self.Q is None else self.basis @ rotated @ self.Q.T

    def change(self, R: Array) -> Array:
        """By how much the centroids change with R, to single precision. O(N^3)."""
        basis, inverse, Q = self._single
        turned = inverse @ R.astype(np.float32)
        rotated = (turned if Q is None else turned @ Q).astype(np.float64)
        self._scale(rotated, 0.0)
        turned = basis @ rotated.astype(np.float32)
        return (turned if Q is None else turned @ Q.T).astype(np.float64)

    @cached_property
    def _single(self) -> tuple[Single, Single, Single | None]:
        Q = None if self.Q is None else self.Q.astype(np.float32)
        return self.basis.astype(np.float32), self.inverse.astype(np.float32), Q

    def _scale(self, rotated: Array, top: float) -> None:
        """Divide by the diagonal, then set the sums of rows and columns, in place."""
        rotated *= self.weights
        if self.correction is not None:
            excess = rotated @ self.sums
            excess[0] -= top
            rotated -= excess[:, None] * self.correction
            if self.column_sums:
                rotated[0] = self.sums * (top / self.top**2)
