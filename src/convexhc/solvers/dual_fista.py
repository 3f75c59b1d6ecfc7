"""The paper's method, corrected: accelerated gradient steps with FISTA on the edge dual inside."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from convexhc._types import FloatArray, Labels
from convexhc.kernels import edges as edge_kernels
from convexhc.kernels.edges import Scratch
from convexhc.model.fidelity import Proximity
from convexhc.model.problem import FusionProblem
from convexhc.solvers.loop import Candidate, Solution, run
from convexhc.solvers.solution import Status
from convexhc.solvers.warm_start import fused_labels, starting_point


@dataclass
class Momentum:
    """The sequence t -> (1 + sqrt(1 + 4 t^2)) / 2 and the weights (t_old - 1) / t_new it gives."""

    t: float = 1.0

    def advance(self) -> float:
        """Weight of the next extrapolation."""
        old, self.t = self.t, 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * self.t * self.t))
        return (old - 1.0) / self.t

    def reset(self) -> None:
        """Restart: the next weight is zero."""
        self.t = 1.0


@dataclass
class DualAscentState:
    """Dual Y, its extrapolation X with the sums D'X, and the centroids."""

    C: FloatArray
    Y: FloatArray
    X: FloatArray
    sums: FloatArray
    scratch: Scratch
    momentum: Momentum
    warm: tuple[FloatArray, FloatArray] | None = None
    value: float = -np.inf


@dataclass(frozen=True)
class DualAscent:
    """FISTA on the edge dual of a squared-distance problem (eq. 6 of the paper, one dual).

    max over Y in the dual balls of min_Q 1/2 |Q - B|^2 + <D'Y, Q>; the inner minimiser is
    Q(Y) = Proj(B - D'Y), the gradient D Q(Y), its Lipschitz constant |D|^2. The momentum restarts
    whenever the dual value decreases. One projection and one edge pass per iteration.
    """

    name: str = "dual_fista"
    needs: ClassVar = FusionProblem

    def init(self, problem: FusionProblem, start: Solution | None) -> DualAscentState:
        """Start from a zero dual, or from that of an earlier solution."""
        C, Y, scratch = starting_point(problem, start)
        scratch.total[:] = edge_kernels.adjoint(Y, problem.penalty.edges, C.shape[0])
        return DualAscentState(C, Y, Y.copy(), scratch.total.copy(), scratch, Momentum())

    def step(self, problem: FusionProblem, state: DualAscentState) -> None:
        """Projected gradient step from the extrapolated dual, then extrapolate."""
        penalty, fidelity = problem.penalty, problem.fidelity
        pull = penalty.metric.represent(state.sums)
        C, state.warm = problem.constraint.project(fidelity.target - pull, state.warm)
        value = fidelity.evaluate(C)[0] + penalty.metric.inner(pull, C)
        if value < state.value:
            state.momentum.reset()
        state.C, state.value = C, value
        rate = 1.0 / max(penalty.differences.norm_squared, 1e-12)
        previous = state.scratch.total.copy()
        edge_kernels.ascend(C, state.X, rate, penalty.edges, state.scratch)
        weight = state.momentum.advance()
        edge_kernels.extrapolate(state.X, state.Y, weight)
        # D' is linear: the sums of the extrapolation need no pass over the edges.
        np.subtract(state.scratch.total, previous, out=state.sums)
        state.sums *= weight
        state.sums += state.scratch.total

    def candidate(self, problem: FusionProblem, state: DualAscentState) -> Candidate:
        """The last projection and the dual before extrapolation."""
        return Candidate(state.C, state.Y, fused_labels(problem, state.scratch.fused))


@dataclass
class DualFISTAState:
    """Centroids, their extrapolation, and the last inner solution."""

    C: FloatArray
    X: FloatArray
    Y: FloatArray
    labels: Labels
    momentum: Momentum
    inner_iter: int
    inner: Solution | None = None
    moved: float = np.inf
    objective: float = np.inf


@dataclass(frozen=True)
class DualFISTA:
    """Accelerated proximal gradient: a gradient step on the kernel, then a denoising problem.

    C+ = argmin_Q L/2 |Q - (X - grad f(X) / L)|^2 + penalty(Q), L the largest eigenvalue of K, with
    Nesterov's extrapolation X, restarted whenever the objective increases. The inner problem is
    solved on its dual, by the same loop and to the same certificate; its gap must be a fraction of
    the outer progress.
    """

    # Inner gap allowed, as a fraction of the last outer step 1/2 |C+ - C|^2.
    inner_share: float = 0.05
    # Fewest inner iterations; most in the first step, doubled after every step in which they were
    # too few; most in any step. The momentum starts anew in every step: where the inner dual
    # converges slowly, many short runs take far longer than a few long ones.
    inner_least: int = 3
    inner_iter: int = 200
    inner_most: int = 20_000
    name: str = "dual_fista"
    needs: ClassVar = FusionProblem

    def init(self, problem: FusionProblem, start: Solution | None) -> DualFISTAState:
        """Start from the identity, or from an earlier solution."""
        C, Y, _ = starting_point(problem, start)
        if start is None:
            return DualFISTAState(C, C, Y, np.arange(C.shape[0]), Momentum(), self.inner_iter)
        inner = replace(start, dual=start.dual / _curvature(problem))
        return DualFISTAState(C, C, Y, start.labels, Momentum(), self.inner_iter, inner)

    def step(self, problem: FusionProblem, state: DualFISTAState) -> None:
        """One gradient step on the kernel and one inner solve."""
        L = _curvature(problem)
        gradient = problem.fidelity.gradient(state.X)
        inner = FusionProblem(
            Proximity(state.X - gradient / L), problem.penalty, problem.constraint
        ).at(problem.lam / L)
        gap_tol = self.inner_share * min(state.moved, 1.0)
        state.inner = run(
            inner,
            DualAscent(),
            start=state.inner,
            tol=0.0,
            gap_tol=max(gap_tol, 1e-14 * inner.fidelity.scale),
            # Near convergence the warm start is within the tolerance: force some progress.
            min_iter=self.inner_least,
            max_iter=state.inner_iter,
        )
        if state.inner.status is Status.MAX_ITER:
            state.inner_iter = min(2 * state.inner_iter, self.inner_most)
        C = state.inner.centroids
        state.moved = 0.5 * float(np.square(C - state.C).sum())
        objective = problem.objective(C)
        if objective > state.objective:
            state.momentum.reset()
        state.X = C + state.momentum.advance() * (C - state.C)
        state.C, state.objective = C, objective
        state.Y, state.labels = L * state.inner.dual, state.inner.labels

    def candidate(self, problem: FusionProblem, state: DualFISTAState) -> Candidate:
        """The inner solution, which is feasible, and its dual times L."""
        return Candidate(state.C, state.Y, state.labels)


def _curvature(problem: FusionProblem) -> float:
    """Largest eigenvalue of the quadratic; any positive number if that is zero."""
    return problem.fidelity.lipschitz or problem.lam or 1.0
