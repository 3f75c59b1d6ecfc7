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
from convexhc.kernels.edges import Edges
from convexhc.kernels.newton import (
    Response,
    descend,
    lengths,
    near,
    newton_direction,
    respond,
    response,
)
from convexhc.model.constraint import Free
from convexhc.model.factorization import SPATIAL, definite_factor
from convexhc.model.fidelity import Proximity
from convexhc.model.problem import FusionProblem
from convexhc.solvers.loop import Candidate, Solution
from convexhc.solvers.warm_start import fused_labels, starting_point

# A subproblem is solved until its error is this share of what the next dual can mend.
_SHARE = 0.25
# Newton steps per subproblem.
_NEWTON_STEPS = 50
# Halvings of a step in the line search.
_HALVINGS = 15
# Conjugate gradient iterations per Newton step.
_CG_STEPS = 500
# Relative residual at which conjugate gradients stop.
_CG_TOL = 0.05
# Where a factor is sparse, conjugate gradients are given up after so many steps without groups, and
# so many with them.
_CG_PATIENCE = 20, 150
# Share of the distances in the data that counts as a distance between centroids.
_DATA = 0.01
# Factor by which sigma grows.
_GROWTH = 3.0
# sigma grows when the dual residual is above this share of the primal one.
_LAG = 0.1
# Errors below this share of the objective are round-off.
_ROUND_OFF = 1e-16
# Differences below this share of the objective cannot be seen in it.
_BLIND = 1e-11


@dataclass
class NewtonState:
    """Centroids C, dual Y, and the response of the dual to C at penalty sigma.

    ``value`` is the augmented Lagrangian at C, G its gradient. The duality gap of (C, response) is
    the sum of ``inner``, which Newton steps reduce, and ``outer``, which new duals do; the latter
    is ``lagging`` when it is large enough for sigma to grow.
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


@dataclass(frozen=True)
class SemismoothNewton:
    """Few, accurate iterations: the method for the points model (eq. 1).

    With copies Z = D C and their dual Y, the augmented Lagrangian minimised over Z is smooth in C:

        Phi(C) = 1/2 |C - X|^2 + sum_e env_e(Y_e + sigma (C_i - C_j)),
        grad Phi(C) = C - X + D'P(Y + sigma D C),

    P the projection on the dual balls. Its generalised Hessian I + sigma D'J D is sparse, and
    Newton steps, with a line search, converge superlinearly. One iteration minimises Phi and takes
    the new dual Y <- P(Y + sigma D C). After Sun, Toh and Yuan, Convex clustering: model,
    theoretical guarantee and efficient algorithm (2021).

    Parameters
    ----------
    boldness : float
        First sigma, in units of dual radius over distance between neighbours. A large one needs
        few duals and harder subproblems.
    allowance : float
        Edges count as fused too if it costs at most this, shared out among all edges, to fuse
        their ends: their penalty, and what it takes to move both to their mean. Steps are so
        accurate that centroids can meet to the last digits before their dual has settled inside
        its ball; the loop certifies the fused point as it does any other.
    """

    boldness: float = 10.0
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
            response(edges.tail.size, n, m, round_balls=round_balls),
            np.empty_like(C),
        )
        _evaluate(problem, state, C)
        return state

    def step(self, problem: FusionProblem, state: NewtonState) -> None:
        """Minimise the augmented Lagrangian, then take the new dual."""
        for _ in range(_NEWTON_STEPS):
            if state.inner <= max(_SHARE * state.outer, _ROUND_OFF * abs(state.value)):
                break
            if not _newton_step(problem, state):
                # Too stiff for the precision of numbers.
                state.sigma /= _GROWTH * _GROWTH
                state.lagging = False
                break
        state.Y, state.at = state.at.Y, state.at.into(state.Y)
        # What lagged behind will do so again: sigma grows before and not after it is seen.
        grown = state.lagging
        state.sigma *= _GROWTH if grown else 1.0
        _evaluate(problem, state, state.C)
        state.lagging = state.outer > _LAG * state.inner
        if state.lagging and not grown:
            state.sigma *= _GROWTH
            _evaluate(problem, state, state.C)

    def candidate(self, problem: FusionProblem, state: NewtonState) -> Candidate:
        """The centroids and the response of the dual, which is feasible."""
        fused, penalty = state.at.fused, problem.penalty
        if self.allowance > 0.0:
            each = self.allowance / max(fused.size, 1)
            fused = fused | near(state.C, state.mass, penalty.edges, each)
        return Candidate(state.C, state.at.Y, fused_labels(problem, fused))


def _natural_sigma(problem: FusionProblem, C: FloatArray) -> float:
    """Radius of a dual ball over the distance between its two centroids, for a middling edge."""
    edges = problem.penalty.edges
    radius = edges.soft + edges.block
    # Centroids that have met tell nothing; the data behind them do.
    apart = lengths(C, edges) + _DATA * lengths(problem.fidelity.target, edges)
    usable = (apart > 0.0) & (radius > 0.0)
    return float(np.median(radius[usable] / apart[usable])) if usable.any() else 1.0


def _evaluate(problem: FusionProblem, state: NewtonState, C: FloatArray) -> None:
    """Bring everything in the state to C. One pass over the edges."""
    edges = problem.penalty.edges
    smoothed, state.outer = respond(C, state.Y, state.sigma, edges, state.at)
    data = problem.fidelity.target
    fidelity, state.inner = descend(C, data, state.mass, state.at.total, state.G)
    state.C, state.value = C, fidelity + smoothed


def _direction(edges: Edges, state: NewtonState) -> FloatArray:
    """Solve for the Newton step: by conjugate gradients, or by a factor where they are slow."""
    system = state.sigma, state.mass, edges, state.at
    if state.C.shape[1] > SPATIAL:
        return newton_direction(state.G, *system, _CG_TOL, _CG_STEPS)[0]
    at, groups = blocks(*system), no_groups(state.G.shape[1])
    for patience in _CG_PATIENCE:
        direction, accurate = block_direction(
            state.G, state.mass, edges, at, groups, _CG_TOL, patience
        )
        if accurate:
            return direction
        groups = stiff_groups(state.mass, edges, state.at, at)
    row, column, value = entries(edges, at)
    hessian = csc_array((value, (row, column)), shape=(state.G.size, state.G.size))
    try:
        return -definite_factor(hessian).solve(state.G.ravel()).reshape(state.G.shape)
    except RuntimeError:
        # Singular in the precision of numbers: what conjugate gradients have found is a descent.
        return direction


def _newton_step(problem: FusionProblem, state: NewtonState) -> bool:
    """One step with a line search; False when round-off leaves nothing to gain."""
    edges = problem.penalty.edges
    direction = _direction(edges, state)
    C, value, inner = state.C, state.value, state.inner
    slope = float(np.vdot(direction, state.G))
    # Too close to the minimum for the value to tell, the gradient does.
    blind = -slope <= _BLIND * abs(value)
    length = 1.0
    for _ in range(_HALVINGS):
        _evaluate(problem, state, C + length * direction)
        if state.inner < inner if blind else state.value <= value + 1e-4 * length * slope:
            return True
        length *= 0.5
    _evaluate(problem, state, C)
    return False
