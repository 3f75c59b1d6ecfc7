"""ADMM with a closed-form centroid step (appendix C, without its inner loop)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from convexhc.kernels import edges as edge_kernels
from convexhc.kernels.edges import Scratch
from convexhc.problem import Problem
from convexhc.solvers.loop import Candidate, Solution
from convexhc.solvers.start import fused_labels, fusion_of, starting_point

Array = NDArray[np.float64]


@dataclass
class ADMMState:
    """Centroids C; copies Z = D C (edges) and V = C >= 0 with their duals Y and S."""

    C: Array
    Y: Array
    Z: Array
    V: Array
    S: Array
    scratch: Scratch
    sylvester: _Sylvester
    warm: tuple[Array, Array] | None = None
    n_iter: int = 0

    @property
    def rho(self) -> float:
        """Present penalty on the copies."""
        return self.sylvester.rho

    @property
    def share(self) -> float:
        """Penalty on the copies of the edges over that on the copies of the centroids."""
        return self.sylvester.share


@dataclass(frozen=True)
class ADMM:
    """Split edge differences and signs from the quadratic; its step is a Sylvester equation.

    C H + rho (D'D + I) C = R with fixed row and column sums is diagonal in the eigenbases of H and
    D'D: four N^3 products an iteration and nothing to refactor when rho changes.

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
        rho = 0.1 * max(problem.fidelity.lipschitz, 1e-12)
        sums = edge_kernels.adjoint(Z, edges, C.shape[0])
        scratch.total[:] = rho * edge_share(problem) * sums - scratch.total
        sylvester = _Sylvester(problem, rho, self.linear)
        return ADMMState(C, Y, Z, C.copy(), np.zeros_like(C), scratch, sylvester)

    def step(self, problem: Problem, state: ADMMState) -> None:
        """Centroids, then both copies and both duals; then perhaps another rho."""
        edges = fusion_of(problem).edges
        signs = problem.constraint.nonnegative
        R = fusion_of(problem).metric.represent(state.scratch.total)
        if self.linear:
            _, gradient = problem.fidelity.evaluate(state.C)
            R = R + (problem.fidelity.lipschitz * state.C - gradient)
        else:
            R = R + problem.fidelity.target
        if signs:
            R += state.rho * state.V - state.S
        state.C = state.sylvester.solve(R)
        apart, moved = edge_kernels.exchange(
            state.C, state.Y, state.Z, state.rho * state.share, self.relax, edges, state.scratch
        )
        apart, moved = state.share * apart, state.share * moved
        if signs:
            X = self.relax * state.C + (1.0 - self.relax) * state.V + state.S / state.rho
            V = np.maximum(X, 0.0)
            state.S = state.rho * (X - V)
            apart += float(np.square(state.C - V).sum())
            moved += float(np.square(V - state.V).sum())
            state.V = V
        state.n_iter += 1
        if state.n_iter in _REBALANCE:
            _rebalance(problem, state, apart**0.5, moved**0.5, self.linear)

    def candidate(self, problem: Problem, state: ADMMState) -> Candidate:
        """The centroids have the right sums; the projection mends their signs."""
        C, state.warm = problem.constraint.project(state.C, state.warm)
        return Candidate(C, state.Y, fused_labels(problem, state.scratch.fused))


# |D|^2 from which on edges count like centroids, that of a graph of ordinary degrees.
_EDGE_NORM = 30.0
# Iterations at which rho may change: ever rarer, so that the method converges.
_REBALANCE = frozenset([5, 10, 15, 20, 30, 40, 60, 80, 110, 150, 200, 300, 500, 1000, 2000])


def _rebalance(
    problem: Problem, state: ADMMState, apart: float, moved: float, linear: bool
) -> None:
    """Bring the primal residual |C - copies| and the dual one rho |change| together.

    Each counts relative to the size of its own variables, which differ by orders of magnitude.
    """
    root = state.share**0.5
    primal = apart * _size(state.Y / root, state.S)
    dual = state.rho * moved * _size(root * state.Z, state.V)
    if primal <= 0.0 or dual <= 0.0:
        return
    rho = state.rho * min(max((primal / dual) ** 0.5, 0.2), 5.0)
    edges, n = fusion_of(problem).edges, state.C.shape[0]
    # D'(rho Z - Y) changes with rho by (rho' - rho) D'Z.
    step = (rho - state.rho) * state.share
    state.scratch.total[:] += step * edge_kernels.adjoint(state.Z, edges, n)
    state.sylvester = _Sylvester(problem, rho, linear)


def _size(edges: Array, nodes: Array) -> float:
    return float(np.sqrt(np.vdot(edges, edges) + np.vdot(nodes, nodes)))


def edge_share(problem: Problem) -> float:
    """How much more the copies of edges are held to than those of centroids.

    In the metric of heavy rows the differences are small: without it edges would hardly count.
    """
    return max(1.0, _EDGE_NORM / max(fusion_of(problem).differences.norm_squared, 1e-12))


class _Sylvester:
    """Solves C H + rho (D'D + I) C = R under the sum constraints, for one rho.

    In the eigenbases of H and D'D the equation is diagonal. A fixed row sum takes from every
    rotated row a multiple of one vector; fixed column sums fix the first rotated row.
    """

    def __init__(self, problem: Problem, rho: float, linear: bool) -> None:
        constraint = problem.constraint
        self.rho = rho
        self.Q: Array | None
        if linear:
            self.Q, kappa = None, np.full(problem.shape[1], problem.fidelity.lipschitz)
        else:
            self.Q, kappa = problem.fidelity.spectrum
        self.basis, self.inverse, gamma = fusion_of(problem).differences.spectrum
        self.share = edge_share(problem)
        stiffness = self.share * gamma + constraint.nonnegative
        self.weights = 1.0 / (kappa + rho * stiffness[:, None])
        self.column_sums = constraint.column_sums
        self.sums = np.ones(kappa.size) if self.Q is None else self.Q.sum(axis=0)
        self.correction = None
        if constraint.row_sums:
            correction = self.weights * self.sums
            self.correction = correction / (correction @ self.sums)[:, None]

    def solve(self, R: Array) -> Array:
        """The centroids, O(N^3)."""
        rotated = self.inverse @ R if self.Q is None else self.inverse @ R @ self.Q
        rotated *= self.weights
        if self.correction is not None:
            # The constant vector has norm one in the metric: its multiple is the root of N.
            top = float(self.inverse[0].sum())
            excess = rotated @ self.sums
            excess[0] -= top
            rotated -= excess[:, None] * self.correction
            if self.column_sums:
                rotated[0] = self.sums / top
        return self.basis @ rotated if self.Q is None else self.basis @ rotated @ self.Q.T
