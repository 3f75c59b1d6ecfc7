"""Condat-Vu primal-dual method with an adaptive balance between the two steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from convexhc._types import FloatArray, Labels
from convexhc.kernels import edges as edge_kernels
from convexhc.kernels.edges import Scratch
from convexhc.model.problem import FusionProblem
from convexhc.solvers.loop import Candidate, Solution
from convexhc.solvers.warm_start import fused_labels, starting_point


@dataclass
class PrimalDualState:
    """Centroids, edge dual, multipliers of the last projection, and the balance of the steps."""

    C: FloatArray
    Y: FloatArray
    scratch: Scratch
    weight: float
    bounds: tuple[float, float]
    warm: tuple[FloatArray, FloatArray] | None = None
    n_iter: int = 0
    moved_primal: float = 0.0
    moved_dual: float = 0.0


@dataclass(frozen=True)
class PrimalDual:
    """Condat-Vu primal-dual method: O(N (nnz(K) + E)) and one projection per iteration.

    C+ = Proj(C - tau (grad f(C) + D'Y)),  Y+ = P(Y + sigma D (2 C+ - C)),
    with 1/tau = L/2 + sigma |D|^2. The ratio of the step sizes adapts to the distances that
    C and Y travel, since the best one depends on lam. No factorisation, no inner loop.
    """

    name: str = "primal_dual"
    needs: ClassVar = FusionProblem

    def init(self, problem: FusionProblem, start: Solution | None) -> PrimalDualState:
        """Start from the identity (or the data), or from an earlier solution."""
        C, Y, scratch = starting_point(problem, start)
        scratch.total[:] = edge_kernels.adjoint(Y, problem.penalty.edges, C.shape[0])
        # The weight has the unit of the similarity, which makes the method invariant to its scale.
        # Duals are as large as small dual balls, and no larger than the gradients they balance.
        strongest = float(problem.penalty.graph.weight.max(initial=0.0))
        L = problem.fidelity.lipschitz
        balls = max(problem.lam * strongest, 1e-3 * L)
        weight = min(balls, L) if L > 0.0 else balls
        # The adaptation stays within a factor of twenty.
        return PrimalDualState(C, Y, scratch, weight, (weight / 20.0, weight * 20.0))

    def step(self, problem: FusionProblem, state: PrimalDualState) -> float:
        """One primal and one dual step."""
        penalty = problem.penalty
        norm = max(penalty.differences.norm_squared, 1e-12) ** 0.5
        sigma = state.weight / norm
        tau = 1.0 / (0.5 * problem.fidelity.lipschitz + state.weight * norm)
        gradient = problem.fidelity.gradient(state.C)
        gradient += penalty.metric.represent(state.scratch.total)
        gradient *= -tau
        gradient += state.C
        C, state.warm = problem.constraint.project(gradient, state.warm)
        moved = C - state.C
        primal = float(np.vdot(moved, moved)) / tau
        moved += C
        dual = edge_kernels.ascend(moved, state.Y, sigma, penalty.edges, state.scratch) / sigma
        state.moved_primal += primal
        state.moved_dual += dual
        state.C = C
        state.n_iter += 1
        if state.n_iter % 20 == 0:
            _rebalance(state)
        return float(primal + dual)

    def current_labels(self, problem: FusionProblem, state: PrimalDualState) -> Labels:
        """Clusters of the last step."""
        return fused_labels(problem, state.scratch.fused)

    def candidate(self, problem: FusionProblem, state: PrimalDualState) -> Candidate:
        """The iterate, which is feasible."""
        return Candidate(state.C, state.Y, self.current_labels(problem, state))


def _rebalance(state: PrimalDualState) -> None:
    """Adapt the weight to equal distances travelled, with decreasing changes so that it converges.

    Bounded: a dual on the boundary of its balls does not move, whatever the weight.
    """
    if state.moved_primal > 0.0 and state.moved_dual > 0.0:
        ratio = state.moved_dual / state.moved_primal
        damping = 0.5 / (1.0 + state.n_iter / 200.0)
        low, high = state.bounds
        state.weight = min(max(state.weight * ratio**damping, low), high)
    state.moved_primal = state.moved_dual = 0.0
