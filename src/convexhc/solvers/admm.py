"""ADMM with a closed-form centroid step (appendix C, without its inner loop)."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate
from typing import ClassVar

import numpy as np

from convexhc._types import FloatArray
from convexhc.kernels import edges as edge_kernels
from convexhc.kernels import nonnegativity
from convexhc.kernels.edges import Scratch
from convexhc.kernels.linear_combinations import add_descent
from convexhc.model.problem import FusionProblem
from convexhc.solvers.centroid_step import CentroidStep, centroid_step
from convexhc.solvers.loop import Candidate, Solution
from convexhc.solvers.penalty_search import HillClimb
from convexhc.solvers.warm_start import fused_labels, starting_point


@dataclass
class ADMMState:
    """Centroids C; copies Z = D C (edges) and V = C >= 0 with their duals Y and S.

    ``right`` is the right side of the next centroid step, but for the data; ``last`` that of the
    step before, with them. Residuals mean nothing for the first iterations, ``settling`` of them.
    """

    C: FloatArray
    Y: FloatArray
    Z: FloatArray
    V: FloatArray
    S: FloatArray
    scratch: Scratch
    right: FloatArray
    last: FloatArray
    solver: CentroidStep
    settling: int
    warm: tuple[FloatArray, FloatArray] | None = None
    climb: HillClimb = field(default_factory=lambda: HillClimb(_MEASURED))
    n_iter: int = 0


@dataclass(frozen=True)
class ADMM:
    """Split edge differences and signs from the quadratic; its step is a Sylvester equation.

    C H + (rho D'D + tau I) C = R with fixed row and column sums is diagonal in the eigenbases of H
    and D'D: four N^3 products an iteration and nothing to refactor when rho changes. The penalty
    tau on the signs follows their multipliers and is no less than a share of |H|; in a long run it
    climbs to where moves fall fastest. rho on the edges balances residuals.

    With ``linear``, the quadratic is replaced by its tangent plus |H| / 2 |C - C_last|^2: no
    eigenvectors of H, and one product by H an iteration beside a solve with a sparse factor, or two
    products by the basis of D'D. There are hardly more iterations while H is well conditioned.

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
    needs: ClassVar = FusionProblem

    def init(self, problem: FusionProblem, start: Solution | None) -> ADMMState:
        """Start from the identity (or the data), or from an earlier solution."""
        edges = problem.penalty.edges
        C, Y, scratch = starting_point(problem, start)
        Z = edge_kernels.differences(C, edges)
        S = np.zeros_like(C)
        if start is not None and start.nonneg_dual is not None:
            S[:] = start.nonneg_dual
        tau = _sign_penalty(problem, S, C)
        solver = centroid_step(problem, _first_rho(problem, Y, Z), tau, linear=self.linear)
        right, last = np.empty_like(C), np.empty_like(C)
        settling = 0 if start is None else _SETTLING
        state = ADMMState(C, Y, Z, C.copy(), S, scratch, right, last, solver, settling)
        _pull(problem, state)
        return state

    def step(self, problem: FusionProblem, state: ADMMState) -> float:
        """Centroids, then both copies and both duals; then perhaps another rho."""
        fidelity, solver = problem.fidelity, state.solver
        R = state.right
        if self.linear:
            add_descent(R, state.C, fidelity.gradient(state.C), fidelity.lipschitz)
        else:
            R += fidelity.target
        if solver.n_solved % _EXACT == 0 or R.size < _SMALL:
            state.C = solver.solve(R)
        else:
            state.C = state.C + solver.change(R - state.last)
        state.last, state.right = state.right, state.last
        solver.n_solved += 1
        penalty = problem.penalty
        rho, tau = solver.rho, solver.tau
        edges = edge_kernels.z_and_dual_update(
            state.C, state.Y, state.Z, rho, self.relax, penalty.edges, state.scratch
        )
        state.right[:] = penalty.metric.represent(state.scratch.total)
        signs = (0.0, 0.0)
        if problem.constraint.nonnegative:
            signs = nonnegativity.z_and_dual_update(
                state.C, state.V, state.S, tau, self.relax, state.right
            )
        state.n_iter += 1
        move = rho * sum(edges) + tau * sum(signs)
        state.climb.observe(state.n_iter, move)
        if state.n_iter in _REBALANCE and state.n_iter > state.settling:
            rho = _balanced(rho, edges, _sizes(problem, state.Y, state.Z))
            if state.n_iter < _LATE:
                tau = _sign_penalty(problem, state.S, state.V)
            else:
                tau = state.climb.changed(tau, state.n_iter, move)
            if not (_alike(rho, solver.rho) and _alike(tau, solver.tau)):
                state.solver = solver.at(rho, tau)
                _pull(problem, state)
        return move

    def candidate(self, problem: FusionProblem, state: ADMMState) -> Candidate:
        """The centroids have the right sums; the projection mends their signs."""
        C, state.warm = problem.constraint.project(state.C, state.warm)
        return Candidate(C, state.Y, fused_labels(problem, state.scratch.fused), state.S)


# Least penalty on the signs, relative to the largest eigenvalue of H.
_SIGNS = 0.3
# Least penalty on the signs, relative to the mean of that eigenvalue and the multipliers.
_MEAN = 0.15
# Largest initial weight of all edges together, relative to H.
_MOST = 10.0
# First rho of a warm start, in units of the ratio of the dual to the differences.
_WARM = 2.0
# First rho of a cold start, in units of the ratio of the dual balls to the differences.
_COLD = 4.0
# One centroid step in this many is in double precision throughout.
_EXACT = 30
# Up to this many entries every centroid step is in double precision.
_SMALL = 10_000
# Iteration from which tau adapts.
_LATE: int = 60
# Iteration from which rates under the first tau are measured.
_MEASURED: int = 48
# Later iterations at which rho and tau may change: intervals grow by a fifth.
_LATER = accumulate(range(30), lambda last, _: max(last + 16, last * 6 // 5), initial=_LATE)
# All iterations at which rho and tau may change: finitely many, so that the method converges.
_REBALANCE = frozenset([5, 10, 20, 30, 40, *_LATER])
# Iterations of a warm start before rho may change.
_SETTLING = 5
# Largest factor of one change of rho.
_CHANGE = 5.0
# Smallest factor worth a change of rho.
_WORTH = 1.2


def _first_rho(problem: FusionProblem, Y: FloatArray, Z: FloatArray) -> float:
    """The size of the duals over that of the differences: of the start, or as far as one knows."""
    penalty = problem.penalty
    dual, copies = _sizes(problem, Y, Z)
    dual *= _WARM
    if dual == 0.0:
        radius = penalty.edges.soft + penalty.edges.block
        dual = _COLD * float(np.sqrt(np.square(radius) @ (1.0 / penalty.edges.stiffness)))
    most = (
        _MOST * max(problem.fidelity.lipschitz, 1e-12) / (penalty.differences.norm_squared or 1.0)
    )
    return min(dual / copies, most) if dual > 0.0 and copies > 0.0 else most


def _sign_penalty(problem: FusionProblem, S: FloatArray, V: FloatArray) -> float:
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


def _norm(X: FloatArray) -> float:
    return float(np.sqrt(np.vdot(X, X)))


def _sizes(problem: FusionProblem, Y: FloatArray, Z: FloatArray) -> tuple[float, float]:
    """Norms of a dual and of copies of differences, by the stiffness of the edges."""
    return edge_kernels.sizes(Y, Z, problem.penalty.edges.stiffness)


def _pull(problem: FusionProblem, state: ADMMState) -> None:
    """The right side D'(rho R Z - Y) + tau V - S afresh, after a change of rho."""
    penalty, solver = problem.penalty, state.solver
    n = state.C.shape[0]
    sums = edge_kernels.right_hand_side(state.Y, state.Z, solver.rho, penalty.edges, n)
    state.right[:] = penalty.metric.represent(sums)
    if problem.constraint.nonnegative:
        state.right += solver.tau * state.V - state.S
