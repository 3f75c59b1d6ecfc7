"""Semismooth Newton inside an augmented Lagrangian, for squared distances without constraint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.sparse import csc_array

from convexhc._types import FloatArray
from convexhc.kernels.block_newton import (
    block_direction,
    blocks,
    entries,
    no_groups,
    stiff_groups,
)
from convexhc.kernels.edges import Edges, separations
from convexhc.kernels.newton import (
    Response,
    allocate_response,
    cheap_to_fuse,
    dual_response,
    fidelity_gradient,
    newton_direction,
)
from convexhc.model.constraint import Free
from convexhc.model.factorization import SPATIAL, definite_factor
from convexhc.model.fidelity import Proximity
from convexhc.model.problem import FusionProblem
from convexhc.solvers.loop import Candidate, Solution
from convexhc.solvers.round_newton import round_direction
from convexhc.solvers.warm_start import fused_labels, starting_point

_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class NewtonSettings:
    """Constants of the method."""

    # A subproblem is solved until its error is this fraction of the outer one, and sigma grows when
    # the outer error is above this fraction of the inner one.
    balance: float = 0.25
    # Newton steps of a subproblem, and step halvings of a line search: neither is often reached.
    max_steps: int = 50
    # Conjugate gradient iterations per Newton step.
    max_cg: int = 500
    # Iterations before a system of many columns counts as stiff.
    max_plain_cg: int = 8
    # Relative residual at which conjugate gradients stop.
    cg_tol: float = 0.05
    # Iterations without and with groups before a system of few columns is factored instead.
    max_block_cg: tuple[int, int] = (20, 150)
    # Fraction of the distances in the data that is added to distances between centroids.
    data_fraction: float = 0.01
    # Factor by which sigma grows.
    sigma_growth: float = 3.0
    # Decreases below this fraction of the objective are invisible in it.
    visible: float = 1e-11


SETTINGS = NewtonSettings()


@dataclass
class NewtonState:
    """Centroids C, dual Y, and the response of the dual to C at penalty sigma.

    ``value`` is the augmented Lagrangian at C, G its gradient. The duality gap of (C, response) is
    the sum of ``inner``, which Newton steps reduce, and ``outer``, which dual updates reduce.
    ``lagging`` tells that ``outer`` is large enough for sigma to grow, ``stiff`` that a system was
    too stiff for plain conjugate gradients; later ones, with a larger sigma, will be.
    """

    C: FloatArray
    Y: FloatArray
    mass: FloatArray
    sigma: float
    at: Response
    G: FloatArray
    value: float = np.inf
    inner: float = np.inf
    outer: float = np.inf
    lagging: bool = False
    stiff: bool = False


@dataclass(frozen=True)
class SemismoothNewton:
    """Semismooth Newton augmented Lagrangian method for the points model (eq. 1).

    With copies Z = D C and their dual Y, the augmented Lagrangian minimised over Z is smooth in C:

        Phi(C) = 1/2 |C - X|^2 + sum_e env_e(Y_e + sigma (C_i - C_j)),
        grad Phi(C) = C - X + D'P(Y + sigma D C),

    P the projection on the dual balls. Its generalised Hessian I + sigma D'J D is sparse, and
    Newton steps with a line search converge superlinearly. One iteration minimises Phi and updates
    the dual, Y <- P(Y + sigma D C). After Sun, Toh and Yuan, Convex clustering: model,
    theoretical guarantee and efficient algorithm (2021).
    """

    # First sigma, in units of dual radius over distance between neighbours. A large value needs
    # few dual updates and harder subproblems.
    boldness: float = 10.0
    # An edge also counts as fused if fusing its ends costs at most this divided by the number of
    # edges: its penalty plus the cost of moving both ends to their mean. Centroids can agree to
    # the last digits before their dual has settled inside its ball. The loop certifies the fused
    # point as any other.
    allowance: float = 0.0
    name: str = "newton"
    needs: ClassVar = FusionProblem

    def init(self, problem: FusionProblem, start: Solution | None) -> NewtonState:
        """Start from the data, or from an earlier solution."""
        if not isinstance(problem.fidelity, Proximity) or not isinstance(problem.constraint, Free):
            raise TypeError(
                "the Newton method needs squared distances and no constraint, the problem has "
                f"{type(problem.fidelity).__name__} and {type(problem.constraint).__name__}: "
                "use dual_fista, admm or primal_dual."
            )
        C, Y, _ = starting_point(problem, start)
        n, m = C.shape
        mass, edges = problem.fidelity.metric.mass, problem.penalty.edges
        round_balls = m > SPATIAL and not edges.soft.any()
        state = NewtonState(
            C,
            Y,
            np.ones(n) if mass is None else mass,
            self.boldness * _natural_sigma(problem, C),
            allocate_response(edges.tail.size, n, m, round_balls=round_balls),
            np.empty_like(C),
        )
        _evaluate(problem, state, C)
        return state

    def step(self, problem: FusionProblem, state: NewtonState) -> None:
        """Minimise the augmented Lagrangian, then update the dual and sigma."""
        for _ in range(SETTINGS.max_steps):
            if state.inner <= max(SETTINGS.balance * state.outer, _EPS * abs(state.value)):
                break
            if not _newton_step(problem, state):
                # Too stiff for double precision.
                state.sigma /= SETTINGS.sigma_growth**2
                state.lagging = False
                break
        state.Y, state.at = state.at.Y, state.at.into(state.Y)
        # An error that lagged will lag again: sigma grows at once, which saves an evaluation.
        grown = state.lagging
        state.sigma *= SETTINGS.sigma_growth if grown else 1.0
        _evaluate(problem, state, state.C)
        state.lagging = state.outer > SETTINGS.balance * state.inner
        if state.lagging and not grown:
            state.sigma *= SETTINGS.sigma_growth
            _evaluate(problem, state, state.C)

    def candidate(self, problem: FusionProblem, state: NewtonState) -> Candidate:
        """The centroids and the dual response, which is feasible."""
        fused, penalty = state.at.fused, problem.penalty
        if self.allowance > 0.0:
            each = self.allowance / max(fused.size, 1)
            fused = fused | cheap_to_fuse(state.C, state.mass, penalty.edges, each)
        return Candidate(state.C, state.at.Y, fused_labels(problem, fused))


def _natural_sigma(problem: FusionProblem, C: FloatArray) -> float:
    """Median over the edges of the dual radius over the distance between the two centroids."""
    edges = problem.penalty.edges
    radius = edges.soft + edges.block
    # The distance in the data stands in for that of centroids that have fused.
    centroids, data = (separations(X, edges)[0] for X in (C, problem.fidelity.target))
    apart = centroids + SETTINGS.data_fraction * data
    usable = (apart > 0.0) & (radius > 0.0)
    return float(np.median(radius[usable] / apart[usable])) if usable.any() else 1.0


def _evaluate(problem: FusionProblem, state: NewtonState, C: FloatArray) -> None:
    """Evaluate everything in the state at C. One pass over the edges."""
    edges = problem.penalty.edges
    smoothed, state.outer = dual_response(C, state.Y, state.sigma, edges, state.at)
    data = problem.fidelity.target
    fidelity, state.inner = fidelity_gradient(C, data, state.mass, state.at.total, state.G)
    state.C, state.value = C, fidelity + smoothed


def _direction(edges: Edges, state: NewtonState) -> FloatArray:
    """Newton direction: by conjugate gradients, or by a sparse factor where they are slow."""
    system = state.sigma, state.mass, edges, state.at
    if state.C.shape[1] > SPATIAL:
        return _direction_of_many_columns(edges, state)
    at, groups = blocks(*system), no_groups(state.G.shape[1])
    for max_iter in SETTINGS.max_block_cg:
        direction, accurate = block_direction(
            state.G, state.mass, edges, at, groups, SETTINGS.cg_tol, max_iter
        )
        if accurate:
            return direction
        groups = stiff_groups(state.mass, edges, state.at, at)
    row, column, value = entries(edges, at)
    hessian = csc_array((value, (row, column)), shape=(state.G.size, state.G.size))
    try:
        return -definite_factor(hessian).solve(state.G.ravel()).reshape(state.G.shape)
    except RuntimeError:
        # Singular in double precision: the last iterate of conjugate gradients is a descent.
        return direction


def _direction_of_many_columns(edges: Edges, state: NewtonState) -> FloatArray:
    """Newton direction by conjugate gradients, with groups of nodes once a system needed them."""
    system = state.sigma, state.mass, edges, state.at
    if not state.at.round:
        return newton_direction(state.G, *system, SETTINGS.cg_tol, SETTINGS.max_cg)[0]
    direction, state.stiff = round_direction(
        state.G,
        *system,
        tol=SETTINGS.cg_tol,
        max_plain=0 if state.stiff else SETTINGS.max_plain_cg,
        max_iter=SETTINGS.max_cg,
    )
    return direction


def _newton_step(problem: FusionProblem, state: NewtonState) -> bool:
    """One Newton step with a line search; False when it cannot reduce the value."""
    edges = problem.penalty.edges
    direction = _direction(edges, state)
    C, value, inner = state.C, state.value, state.inner
    slope = float(np.vdot(direction, state.G))
    # Near the minimum the value does not resolve a decrease; the gradient does.
    invisible = -slope <= SETTINGS.visible * abs(value)
    length = 1.0
    for _ in range(SETTINGS.max_steps):
        _evaluate(problem, state, C + length * direction)
        if state.inner < inner if invisible else state.value <= value + 1e-4 * length * slope:
            return True
        length *= 0.5
    _evaluate(problem, state, C)
    return False
