"""The smooth model (appendix D): its projected gradient method, and its closed form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexhc.io import as_graph
from convexhc.problem import Problem, smooth_problem
from convexhc.similarity import require_psd
from convexhc.solvers.loop import Candidate, Solution
from convexhc.solvers.momentum import Momentum
from convexhc.solvers.options import checked_number
from convexhc.terms.penalty import SquaredFusion

Array = NDArray[np.float64]


@dataclass
class ProjectedGradientState:
    """Centroids, their extrapolation, and the multipliers of the last projection."""

    C: Array
    X: Array
    momentum: Momentum
    warm: tuple[Array, Array] | None = None


@dataclass(frozen=True)
class ProjectedGradient:
    """Accelerated projected gradient on the whole objective, with the right gradient.

    C+ = Proj(X - (M X K - K) / (|M| |K|)) with M = I + 2 lam L. Momentum is dropped when it points
    uphill. It is the iterative road to `resolvent`, kept for comparison.
    """

    name: str = "projected_gradient"

    def init(self, problem: Problem, start: Solution | None) -> ProjectedGradientState:
        """Start from the identity, or from an earlier solution."""
        C = np.eye(problem.shape[0]) if start is None else start.centroids.copy()
        return ProjectedGradientState(C, C, Momentum())

    def step(self, problem: Problem, state: ProjectedGradientState) -> None:
        """One gradient step and one projection."""
        penalty = _squared(problem)
        top = 1.0 + 4.0 * penalty.lam * float(penalty.laplacian.diagonal().max())
        slope = problem.fidelity.evaluate(state.X)[1] + penalty.gradient(state.X)
        move = state.X - slope / (top * problem.fidelity.lipschitz)
        C, state.warm = problem.constraint.project(move, state.warm)
        if np.vdot(slope, C - state.C) > 0.0:
            state.momentum.reset()
        state.X = C + state.momentum.advance() * (C - state.C)
        state.C = C

    def candidate(self, problem: Problem, state: ProjectedGradientState) -> Candidate:
        """The iterate; nothing fuses, so every node stands alone, and there is no edge dual."""
        return Candidate(state.C, np.empty((0, 0)), np.arange(problem.shape[0]))


def _squared(problem: Problem) -> SquaredFusion:
    if not isinstance(problem.penalty, SquaredFusion):
        raise TypeError(
            "the projected gradient method needs the squared penalty, the problem has "
            f"{type(problem.penalty).__name__}: use dual_fista, admm or primal_dual."
        )
    return problem.penalty


@dataclass(frozen=True, eq=False)
class SmoothPath:
    """The whole path of the smooth model, in closed form: pi(lam) = (I + 2 lam L)^-1.

    For a positive definite K it minimises the smooth objective with or without the doubly
    stochastic constraint, which it satisfies by itself. It never fuses exactly.

    Parameters
    ----------
    lambdas : (L,) ndarray
        The strengths asked for.
    gamma : (n,) ndarray
        Eigenvalues of L.
    vectors : (n, n) ndarray
        Its eigenvectors, in columns.
    names : tuple
        Names of the nodes.
    """

    lambdas: Array
    gamma: Array
    vectors: Array
    names: tuple[object, ...]

    def pi(self, lam: float) -> Array:
        """The minimiser at any lam, symmetric. One product, O(n^3)."""
        return (self.vectors / (1.0 + 2.0 * lam * self.gamma)) @ self.vectors.T

    def __iter__(self) -> Iterator[Array]:
        """Minimisers at `lambdas`, in turn."""
        return (self.pi(lam) for lam in self.lambdas)


def smooth_path(K: Any, lambdas: Iterable[float]) -> SmoothPath:
    """Solve the smooth model (appendix D) at every lam, in closed form.

    min Tr[pi'K pi - 2 K pi] + lam sum_ij K_ij |Phi (pi_i - pi_j)|^2 has the minimiser
    (I + 2 lam L)^-1, with K = Phi'Phi and L the Laplacian of the off-diagonal of K.

    Parameters
    ----------
    K : graph or (n, n) similarity
        As for `convexhc.solve`.
    lambdas : iterable of float
        Strengths, zero or more.

    Returns
    -------
    SmoothPath
        One eigendecomposition, O(n^3), for all lam.

    Examples
    --------
    >>> import numpy as np
    >>> import convexhc
    >>> path = convexhc.smooth_path(np.ones((2, 2)) + np.eye(2), [0.25])
    >>> path.pi(0.25).round(3)
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    graph = as_graph(K)
    require_psd(graph)
    strengths = np.array([checked_number("every entry of lambdas", lam) for lam in lambdas])
    problem = smooth_problem(graph, 0.0)
    gamma, vectors = np.linalg.eigh(_squared(problem).laplacian.toarray())
    return SmoothPath(strengths, np.maximum(gamma, 0.0), vectors, graph.names)
