"""The algorithm as printed in the paper: Algorithms 1 and 2 with their constants.

Donnat and Holmes solve a denoising problem by FISTA on two duals, p and q (Algorithm 1), inside a
gradient step on the kernel, and project by alternating two steps (Algorithm 2). Two points are
interpreted: the denoising strength is the one that solves eq. 4 (lam / L with L = 2 |K|_2, where
the text has 2 lam / L), and the centroids of an inner step belong to its own extrapolated duals.
Everything else is as printed. It is slow for two reasons: the dual step size is far smaller than
necessary, and Algorithm 2 is not a projection.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from convexhc._types import FloatArray
from convexhc.kernels import edges as edge_kernels
from convexhc.model.problem import FusionProblem
from convexhc.solvers.dual_fista import Momentum
from convexhc.solvers.loop import Candidate, Solution


def alternate(Y: FloatArray, *, passes: int = 50, tol: float = 1e-6) -> FloatArray:
    """Algorithm 2: rows and columns made to sum to one, then max(., 0), over and over.

    It converges to a doubly stochastic matrix, but not to the nearest one: without Dykstra's
    correction, alternating projections find some common point of two sets.

    Examples
    --------
    >>> alternate(np.array([[2.0, 0.0], [0.0, 0.0]]))
    array([[1., 0.],
           [0., 1.]])
    """
    P = Y
    n = len(Y)
    for _ in range(passes):
        rows, columns = P.sum(axis=1, keepdims=True), P.sum(axis=0, keepdims=True)
        affine = P + (1.0 / n + P.sum() / n**2) - rows / n - columns / n
        after = np.maximum(affine, 0.0)
        moved = float(np.abs(after - P).max())
        P = after
        if moved <= tol:
            break
    return P


@dataclass
class PrintedState:
    """Centroids, their extrapolation, and the two duals of the last inner problem."""

    C: FloatArray
    X: FloatArray
    p: FloatArray
    q: FloatArray
    momentum: Momentum


@dataclass(frozen=True)
class PrintedFISTA:
    """The paper's two-level FISTA; a step is one gradient step with its inner problem.

    Parameters
    ----------
    inner_iter : int
        Iterations of Algorithm 1 for every gradient step; it starts from zero each time.
    """

    inner_iter: int = 100
    name: str = "printed"
    needs: ClassVar = FusionProblem

    def init(self, problem: FusionProblem, start: Solution | None) -> PrintedState:
        """Start from the identity; the method has no warm start."""
        n = problem.shape[0]
        zero = np.zeros((problem.penalty.n_edges, n))
        return PrintedState(np.eye(n), np.eye(n), zero, zero, Momentum())

    def step(self, problem: FusionProblem, state: PrintedState) -> None:
        """One gradient step on the kernel, then Algorithm 1."""
        B = state.X - problem.fidelity.gradient(state.X) / problem.fidelity.lipschitz
        C, state.p, state.q = self._denoise(problem, B)
        state.X = C + state.momentum.advance() * (C - state.C)
        state.C = C

    def _denoise(
        self, problem: FusionProblem, B: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Algorithm 1 on 1/2 |C - B|^2 + lam / L sum_ij K_ij Pen(C_i - C_j)."""
        penalty = problem.penalty
        alpha, weight = 1.0 - penalty.l1_ratio, penalty.differences.graph.weight[:, None]
        strength = problem.lam / (2.0 * problem.fidelity.lipschitz)
        rows = np.square(problem.fidelity.target).sum(axis=1).max()
        rate = 1.0 / (8.0 * strength * max(alpha, 1.0 - alpha) ** 2 * rows)
        p = np.zeros((penalty.n_edges, B.shape[1]))
        q, r, s = p, p, p
        momentum, C = Momentum(), B
        for _ in range(self.inner_iter):
            # Ordered pairs, as in the paper: every edge counts twice.
            pull = 2.0 * strength * weight * (alpha * r + (1.0 - alpha) * s)
            C = alternate(B - edge_kernels.adjoint(pull, penalty.edges, len(B)))
            apart = weight * edge_kernels.differences(C, penalty.edges)
            before = p, q
            p = r + rate * alpha * apart
            p = p / np.maximum(1.0, np.linalg.norm(p, axis=1, keepdims=True))
            q = s + rate * (1.0 - alpha) * apart
            q = q / np.maximum(1.0, np.abs(q))
            push = momentum.advance()
            r, s = p + push * (p - before[0]), q + push * (q - before[1])
        return C, p, q

    def candidate(self, problem: FusionProblem, state: PrintedState) -> Candidate:
        """The exact projection of the centroids, and both duals as one."""
        penalty = problem.penalty
        weight = problem.lam * penalty.differences.graph.weight[:, None]
        Y = weight * ((1.0 - penalty.l1_ratio) * state.p + penalty.l1_ratio * state.q)
        C = problem.constraint.project(state.C)[0]
        return Candidate(C, Y, np.arange(len(C)))
