"""ADMM with a closed-form centroid step (appendix C, without its inner loop)."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate
from typing import ClassVar

import numpy as np

from convexhc._types import FloatArray
from convexhc.kernels import edges as edge_kernels
from convexhc.kernels.admm import add_tangent, nonnegativity_update
from convexhc.kernels.edges import Scratch
from convexhc.model.problem import FusionProblem
from convexhc.solvers.centroid_step import CentroidStep, centroid_step
from convexhc.solvers.loop import Candidate, Solution
from convexhc.solvers.penalty_search import HillClimb
from convexhc.solvers.warm_start import fused_labels, starting_point


def _adaptation_iterations() -> frozenset[int]:
    """Iterations at which rho and tau may change: finitely many, so that the method converges.

    Five early ones, then from iteration 60 at intervals of at least 16 that grow by a fifth.
    """
    later = accumulate(range(30), lambda last, _: max(last + 16, last * 6 // 5), initial=60)
    return frozenset([5, 10, 20, 30, 40, *later])


@dataclass(frozen=True)
class ADMMSettings:
    """Constants of the method, chosen by timing it on graphs and points of all sizes."""

    # Least tau, relative to the largest eigenvalue of H.
    tau_eigenvalue: float = 0.3
    # Least tau, relative to the geometric mean of that eigenvalue and the size of the multipliers.
    tau_multipliers: float = 0.15
    # Largest first rho |D|^2, relative to the largest eigenvalue of H.
    max_first_rho: float = 10.0
    # First rho of a warm start, relative to the ratio of the dual to the differences.
    warm_rho: float = 2.0
    # First rho of a cold start, relative to the ratio of the dual radii to the differences.
    cold_rho: float = 4.0
    # One centroid step in this many is in double precision: it removes accumulated round-off.
    double_every: int = 30
    # Up to this many entries every centroid step is in double precision, which is then as fast.
    double_entries: int = 10_000
    # Iteration from which tau follows the hill climb instead of its multipliers.
    climb_from: int = 60
    # Iteration from which the rate under the first tau is measured.
    measure_from: int = 48
    # Iterations of a warm start before rho may change: the first residuals are meaningless.
    warm_delay: int = 5
    # Largest factor of one change of rho.
    max_change: float = 5.0
    # Smallest factor for which a new factorisation pays.
    min_change: float = 1.2
    # Iterations at which rho and tau may change.
    adapt_at: frozenset[int] = field(default_factory=_adaptation_iterations)


SETTINGS = ADMMSettings()


@dataclass
class ADMMState:
    """Centroids C, copies Z = D C with dual Y, and copies V = C >= 0 with dual S.

    ``right`` is the right-hand side of the next centroid step without the data, ``last`` that of
    the previous step with the data. rho does not change in the first ``delay`` iterations.
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
    delay: int
    warm: tuple[FloatArray, FloatArray] | None = None
    climb: HillClimb = field(default_factory=lambda: HillClimb(SETTINGS.measure_from))
    n_iter: int = 0


@dataclass(frozen=True)
class ADMM:
    """ADMM with copies Z = D C of the edge differences and V = C >= 0 of the centroids.

    The centroid step is the Sylvester equation C H + (rho D'D + tau I) C = R with fixed row and
    column sums. It is diagonal in the eigenbases of H and D'D: four N^3 products per iteration, and
    no factorisation when rho changes. The penalty parameter rho of the edges balances primal and
    dual residuals. The penalty parameter tau of C >= 0 follows its multipliers, and in long runs a
    hill climb on the rate of convergence.

    With ``linear``, the quadratic is replaced by its tangent plus |H| / 2 |C - C_last|^2. This
    needs no eigenvectors of H: one product with H per iteration, and a solve with a sparse factor
    or two products with the eigenbasis of D'D. It takes hardly more iterations while H is well
    conditioned.
    """

    relax: float = 1.6  # over-relaxation, between 1 and 2
    linear: bool = False  # whether the quadratic is linearised
    name: str = "admm"
    needs: ClassVar = FusionProblem

    def init(self, problem: FusionProblem, start: Solution | None) -> ADMMState:
        """Start from the identity (or the data), or warm-start from an earlier solution."""
        edges = problem.penalty.edges
        C, Y, scratch = starting_point(problem, start)
        Z = edge_kernels.differences(C, edges)
        S = np.zeros_like(C)
        if start is not None and start.nonneg_dual is not None:
            S[:] = start.nonneg_dual
        tau = _tau(problem, S, C)
        solver = centroid_step(problem, _first_rho(problem, Y, Z), tau, linear=self.linear)
        right, last = np.empty_like(C), np.empty_like(C)
        delay = 0 if start is None else SETTINGS.warm_delay
        state = ADMMState(C, Y, Z, C.copy(), S, scratch, right, last, solver, delay)
        _set_right_hand_side(problem, state)
        return state

    def step(self, problem: FusionProblem, state: ADMMState) -> float:
        """One centroid step, z-update and dual update; adapts rho and tau at some iterations."""
        fidelity, solver = problem.fidelity, state.solver
        R = state.right
        if self.linear:
            add_tangent(R, state.C, fidelity.gradient(state.C), fidelity.lipschitz)
        else:
            R += fidelity.target
        if solver.n_solved % SETTINGS.double_every == 0 or R.size < SETTINGS.double_entries:
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
        nonneg = (0.0, 0.0)
        if problem.constraint.nonnegative:
            nonneg = nonnegativity_update(state.C, state.V, state.S, tau, self.relax, state.right)
        state.n_iter += 1
        move = rho * sum(edges) + tau * sum(nonneg)
        state.climb.observe(state.n_iter, move)
        if state.n_iter in SETTINGS.adapt_at and state.n_iter > state.delay:
            rho = _balanced_rho(rho, edges, _sizes(problem, state.Y, state.Z))
            if state.n_iter < SETTINGS.climb_from:
                tau = _tau(problem, state.S, state.V)
            else:
                tau = state.climb.update(tau, state.n_iter, move)
            if not (_close(rho, solver.rho) and _close(tau, solver.tau)):
                state.solver = solver.at(rho, tau)
                _set_right_hand_side(problem, state)
        return move

    def candidate(self, problem: FusionProblem, state: ADMMState) -> Candidate:
        """The projection of the centroids: their sums are right, some entries may be negative."""
        C, state.warm = problem.constraint.project(state.C, state.warm)
        return Candidate(C, state.Y, fused_labels(problem, state.scratch.fused), state.S)


def _first_rho(problem: FusionProblem, Y: FloatArray, Z: FloatArray) -> float:
    """First rho: norm of the dual over norm of the differences, bounded relative to H."""
    penalty = problem.penalty
    dual, copies = _sizes(problem, Y, Z)
    dual *= SETTINGS.warm_rho
    if dual == 0.0:
        radius = penalty.edges.soft + penalty.edges.block
        dual = SETTINGS.cold_rho * float(
            np.sqrt(np.square(radius) @ (1.0 / penalty.edges.stiffness))
        )
    most = (
        SETTINGS.max_first_rho
        * max(problem.fidelity.lipschitz, 1e-12)
        / (penalty.differences.norm_squared or 1.0)
    )
    return min(dual / copies, most) if dual > 0.0 and copies > 0.0 else most


def _tau(problem: FusionProblem, S: FloatArray, V: FloatArray) -> float:
    """Penalty parameter tau: the geometric mean of |H| and of multipliers over entries."""
    size = max(problem.fidelity.lipschitz, 1e-12)
    ratio = problem.shape[1] * _norm(S) / max(_norm(V), 1e-300)
    return max(
        SETTINGS.tau_eigenvalue * size, SETTINGS.tau_multipliers * float(np.sqrt(size * ratio))
    )


def _balanced_rho(rho: float, squares: tuple[float, float], sizes: tuple[float, float]) -> float:
    """Balance the primal residual |D C - Z| and the dual residual rho |change of Z|.

    Each is relative to the norm of its own variables, which differ by orders of magnitude.
    ``squares`` are the squared residuals without rho, ``sizes`` the norms of the dual and of Z.
    Where one of them vanishes, as at the consensus, there is nothing to balance.
    """
    primal, dual = squares[0] ** 0.5 * sizes[0], rho * squares[1] ** 0.5 * sizes[1]
    if primal <= 0.0 or dual <= 0.0:
        return rho
    most = SETTINGS.max_change
    return float(rho * min(max((primal / max(dual, 1e-300)) ** 0.5, 1.0 / most), most))


def _close(new: float, old: float) -> bool:
    """Whether a change of a penalty parameter is too small to be worth its cost."""
    return 1.0 / SETTINGS.min_change < new / old < SETTINGS.min_change


def _norm(X: FloatArray) -> float:
    return float(np.sqrt(np.vdot(X, X)))


def _sizes(problem: FusionProblem, Y: FloatArray, Z: FloatArray) -> tuple[float, float]:
    """Norms of the dual and of Z, weighted by the stiffness of the edges."""
    return edge_kernels.sizes(Y, Z, problem.penalty.edges.stiffness)


def _set_right_hand_side(problem: FusionProblem, state: ADMMState) -> None:
    """Compute D'(rho R Z - Y) + tau V - S, which depends on the penalty parameters."""
    penalty, solver = problem.penalty, state.solver
    n = state.C.shape[0]
    sums = edge_kernels.right_hand_side(state.Y, state.Z, solver.rho, penalty.edges, n)
    state.right[:] = penalty.metric.represent(sums)
    if problem.constraint.nonnegative:
        state.right += solver.tau * state.V - state.S
