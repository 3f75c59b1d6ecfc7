"""ADMM with a closed-form centroid step (appendix C, without its inner loop)."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from convexhc._types import FloatArray, Labels
from convexhc.kernels.admm import (
    EdgeCopies,
    Step,
    Tangent,
    edge_update,
    nonnegativity_update,
    rescale_copies,
    rescale_edges,
    right_hand_side,
)
from convexhc.kernels.edges import separations
from convexhc.model.problem import FusionProblem
from convexhc.solvers.centroid_step import CentroidStep, centroid_step
from convexhc.solvers.loop import Candidate, Solution
from convexhc.solvers.penalty_search import HillClimb
from convexhc.solvers.warm_start import fused_labels, starting_point

Real = NDArray[Any]


# Iterations at which rho and tau follow their residuals and multipliers.
_EARLY = (5, 10, 20, 30, 40)
# Iteration from which tau follows the hill climb instead.
_CLIMB_FROM = 60


def _adaptation_iterations() -> frozenset[int]:
    """Iterations at which rho and tau may change: finitely many, so that the method converges.

    Early ones, then at intervals of at least 16 that grow by a fifth.
    """
    later = accumulate(
        range(30), lambda last, _: max(last + 16, last * 6 // 5), initial=_CLIMB_FROM
    )
    return frozenset([*_EARLY, *later])


@dataclass(frozen=True)
class ADMMSettings:
    """Constants of the method, chosen by timing it on graphs and points of all sizes."""

    # Least tau, relative to the largest eigenvalue of H.
    tau_eigenvalue: float = 0.3
    # Least tau, relative to the geometric mean of that eigenvalue and the size of the multipliers.
    tau_multipliers: float = 0.15
    # Largest first rho |D|^2, relative to the largest eigenvalue of H.
    max_first_rho: float = 10.0
    # Largest rho |D|^2 at any time, in the same unit: where nearly all edges are fused, residuals
    # would raise it without end, and single precision with it to nonsense.
    max_rho: float = 1000.0
    # First rho, relative to the ratio of the dual, or of its radii if there is none, to the
    # differences.
    first_rho: float = 2.0
    # One centroid step in this many is in double precision: it removes accumulated round-off.
    double_every: int = 30
    # Up to this many entries all arrays are in double precision, which is then as fast.
    double_entries: int = 10_000
    # Relative step length at which single precision no longer suffices: the gap is then 1e-6.
    round_off: float = 8e-6
    # Largest factor of one change of rho.
    max_change: float = 5.0
    # Smallest factor for which a new factorisation pays.
    min_change: float = 1.2


SETTINGS = ADMMSettings()
_ADAPT_AT = _adaptation_iterations()


@dataclass
class ADMMState:
    """Centroids C, edge copies X = Y + rho R Z, and copies W = S + tau V of the centroids.

    ``target`` are the data in the precision of the arrays, ``last`` is the right-hand side of the
    previous centroid step, ``unit_rho`` the largest eigenvalue of H over that of D'D.
    """

    C: Real
    copies: EdgeCopies
    W: Real
    target: Real
    solver: CentroidStep
    unit_rho: float
    last: Real | None = None
    warm: tuple[FloatArray, FloatArray] | None = None
    dual: FloatArray | None = None
    climb: HillClimb = field(default_factory=lambda: HillClimb(_EARLY[-1] + HillClimb.wait))
    n_iter: int = 0

    def astype(self, precision: type[np.floating[Any]]) -> None:
        """Change the precision of all arrays."""
        self.copies = self.copies.astype(precision)
        self.C, self.W = self.C.astype(precision), self.W.astype(precision)
        self.target, self.last = self.target.astype(precision), None


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
    of the system or a product with its inverse. It takes hardly more iterations while H is well
    conditioned.

    All arrays are in single precision until its round-off is felt. Certificates are in double.
    """

    relax: float = 1.7  # over-relaxation, between 1 and 2
    linear: bool = False  # whether the quadratic is linearised
    name: str = "admm"
    needs: ClassVar = FusionProblem

    def init(self, problem: FusionProblem, start: Solution | None) -> ADMMState:
        """Start from the identity (or the data), or warm-start from an earlier solution."""
        edges = problem.penalty.edges
        C, Y, _ = starting_point(problem, start)
        S = None if start is None else start.nonneg_dual
        tau = _tau(problem, _norm(S) if S is not None else 0.0, _norm(C))
        dual, apart = np.sqrt(np.einsum("ek,ek->e", Y, Y)), separations(C, edges)[0]
        solver = centroid_step(problem, _first_rho(problem, dual, apart), tau, linear=self.linear)
        single = C.size > SETTINGS.double_entries
        precision = np.float32 if single else np.float64
        W = tau * C
        if S is not None:
            W += S
        if not problem.constraint.nonnegative:
            W[:] = 0.0
        copies = EdgeCopies.of(Y, edges, len(C), precision)
        C = C.astype(precision)
        edge_update(C, copies, solver.rho, 1.0, edges.stiffness)
        target, unit = problem.fidelity.target.astype(precision), _unit_rho(problem)
        return ADMMState(C, copies, W.astype(precision), target, solver, unit)

    def step(self, problem: FusionProblem, state: ADMMState) -> float:
        """One centroid step, z-update and dual update; adapts rho and tau at some iterations."""
        self._centroid_step(problem, state)
        solver, constraint = state.solver, problem.constraint
        rho, tau = solver.rho, solver.tau
        stiffness = problem.penalty.edges.stiffness
        edges = edge_update(state.C, state.copies, rho, self.relax, stiffness)
        entries = Step(0.0, 0.0, 0.0, 1.0)
        if constraint.nonnegative:
            entries = nonnegativity_update(state.C, state.W, tau, self.relax)
        state.n_iter += 1
        move = rho * (edges.apart + edges.moved) + tau * (entries.apart + entries.moved)
        size = rho * edges.copies + tau * entries.copies
        if state.C.dtype == np.float32 and move < SETTINGS.round_off**2 * size:
            state.astype(np.float64)
        state.climb.observe(state.n_iter, move)
        if state.n_iter in _ADAPT_AT:
            rho = min(_balanced_rho(rho, edges), SETTINGS.max_rho * state.unit_rho)
            if state.n_iter < _CLIMB_FROM:
                tau = _tau(problem, entries.dual**0.5, entries.copies**0.5)
            else:
                tau = state.climb.update(tau, state.n_iter, move)
            if not (_close(rho, solver.rho) and _close(tau, solver.tau)):
                rescale_edges(state.copies, rho / solver.rho)
                rescale_copies(state.W, tau / solver.tau)
                state.solver, state.last = solver.at(rho, tau), None
        return move

    def _centroid_step(self, problem: FusionProblem, state: ADMMState) -> None:
        """Solve for the centroids; in double precision mostly for their change, in single."""
        fidelity, solver = problem.fidelity, state.solver
        tangent = None
        if self.linear:
            tangent = Tangent(state.C, fidelity.product(state.C), fidelity.lipschitz)
        mass = problem.penalty.metric.mass
        R = right_hand_side(state.copies.total, mass, state.W, state.target, tangent)
        small = R.dtype == np.float32 or R.size < SETTINGS.double_entries
        if state.last is None or small or solver.n_solved % SETTINGS.double_every == 0:
            state.C = solver.solve(R)
        else:
            state.C = state.C + solver.change(R - state.last)
        solver.n_solved += 1
        state.last = R

    def current_labels(self, problem: FusionProblem, state: ADMMState) -> Labels:
        """Clusters of the last step."""
        return fused_labels(problem, state.copies.fused)

    def candidate(self, problem: FusionProblem, state: ADMMState) -> Candidate:
        """The projection of the centroids: their sums are right, some entries may be negative."""
        C, state.warm = problem.constraint.project(state.C.astype(np.float64), state.warm)
        labels = self.current_labels(problem, state)
        S = np.minimum(state.W, 0.0, dtype=np.float64)
        state.dual = problem.penalty.feasible_dual(state.copies.X, out=state.dual)
        return Candidate(C, state.dual, labels, S)


def _first_rho(problem: FusionProblem, dual: FloatArray, apart: FloatArray) -> float:
    """First rho: norm of the dual over norm of the differences, bounded relative to H.

    ``dual`` and ``apart`` are the norms of every edge.
    """
    edges = problem.penalty.edges
    root = np.sqrt(edges.stiffness)
    size, copies = SETTINGS.first_rho * _norm(dual / root), _norm(root * apart)
    if size == 0.0:
        size = SETTINGS.first_rho * _norm((edges.soft + edges.block) / root)
    most = SETTINGS.max_first_rho * _unit_rho(problem)
    return min(size / copies, most) if size > 0.0 and copies > 0.0 else most


def _unit_rho(problem: FusionProblem) -> float:
    """The rho for which rho D'D is about as large as H."""
    largest = problem.penalty.differences.norm_squared
    return max(problem.fidelity.lipschitz, 1e-12) / (largest or 1.0)


def _tau(problem: FusionProblem, multipliers: float, entries: float) -> float:
    """Penalty parameter tau: the geometric mean of |H| and of multipliers over entries."""
    size = max(problem.fidelity.lipschitz, 1e-12)
    ratio = problem.shape[1] * multipliers / max(entries, 1e-300)
    return max(
        SETTINGS.tau_eigenvalue * size, SETTINGS.tau_multipliers * float(np.sqrt(size * ratio))
    )


def _balanced_rho(rho: float, step: Step) -> float:
    """Balance the primal residual |D C - Z| and the dual residual rho |change of Z|.

    Each is relative to the norm of its own variables, which differ by orders of magnitude.
    Where both vanish there is nothing to balance; where one does, as at the consensus, rho moves to
    its bound.
    """
    primal = (step.apart * step.dual) ** 0.5
    dual = rho * (step.moved * step.copies) ** 0.5
    if primal <= 0.0 and dual <= 0.0:
        return rho
    most = SETTINGS.max_change
    return float(rho * min(max((primal / max(dual, 1e-300)) ** 0.5, 1.0 / most), most))


def _close(new: float, old: float) -> bool:
    """Whether a change of a penalty parameter is too small to be worth its cost."""
    return 1.0 / SETTINGS.min_change < new / old < SETTINGS.min_change


def _norm(X: FloatArray) -> float:
    return float(np.sqrt(np.vdot(X, X)))
