"""Accelerated projected gradient for the smooth model (appendix D)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from convexhc._types import FloatArray
from convexhc.model.problem import SmoothProblem
from convexhc.solvers.dual_fista import Momentum
from convexhc.solvers.loop import Candidate, Solution


@dataclass
class ProjectedGradientState:
    """Centroids, their extrapolation, and the multipliers of the last projection."""

    C: FloatArray
    X: FloatArray
    momentum: Momentum
    warm: tuple[FloatArray, FloatArray] | None = None


@dataclass(frozen=True)
class ProjectedGradient:
    """Accelerated projected gradient on the whole objective.

    C+ = Proj(X - (M X K - K) / (|M| |K|)) with M = I + 2 lam L. The momentum restarts when it
    points uphill. An iterative alternative to the closed form, for comparison.
    """

    name: str = "projected_gradient"
    needs: ClassVar = SmoothProblem

    def init(self, problem: SmoothProblem, start: Solution | None) -> ProjectedGradientState:
        """Start from the identity, or from an earlier solution."""
        C = np.eye(problem.shape[0]) if start is None else start.centroids.copy()
        return ProjectedGradientState(C, C, Momentum())

    def step(self, problem: SmoothProblem, state: ProjectedGradientState) -> None:
        """One gradient step and one projection."""
        penalty = problem.penalty
        top = 1.0 + 4.0 * penalty.lam * float(penalty.laplacian.diagonal().max())
        slope = problem.fidelity.gradient(state.X) + penalty.gradient(state.X)
        move = state.X - slope / (top * problem.fidelity.lipschitz)
        C, state.warm = problem.constraint.project(move, state.warm)
        if np.vdot(slope, C - state.C) > 0.0:
            state.momentum.reset()
        state.X = C + state.momentum.advance() * (C - state.C)
        state.C = C

    def candidate(self, problem: SmoothProblem, state: ProjectedGradientState) -> Candidate:
        """The iterate; there are no fusions and no edge dual."""
        return Candidate(state.C, np.empty((0, 0)), np.arange(problem.shape[0]))
