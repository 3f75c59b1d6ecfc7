"""The solver loop, and the protocol of the methods it runs."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np

from convexhc._types import FloatArray, Labels
from convexhc.kernels.threads import threads_for
from convexhc.model.problem import Certificate, Problem, fuse
from convexhc.solvers.schedule import Schedule
from convexhc.solvers.solution import Solution, Status

State = TypeVar("State")
ProblemT = TypeVar("ProblemT", bound=Problem)
ProblemT_contra = TypeVar("ProblemT_contra", bound=Problem, contravariant=True)

# Fewest iterations after which a run may count as stagnated. Even the slowest methods halve the gap
# while the iterations double.
_PATIENCE = 1000
# A run has stagnated if the smallest gap fell by less than this share while iterations doubled.
_LEAST_PROGRESS = 0.05

# Largest violation of the constraint at a solution: certificates hold up to this residual.
MAX_RESIDUAL = 1e-6

__all__ = ["MAX_RESIDUAL", "Candidate", "Enough", "Method", "OnCheck", "Solution", "Status", "run"]


class Candidate(NamedTuple):
    """A feasible C, a feasible dual Y and the clusters, for certification.

    Methods that have the multipliers of C >= 0 add them, for a later warm start. The arrays may be
    views of the state.
    """

    C: FloatArray
    Y: FloatArray
    labels: Labels
    nonneg_dual: FloatArray | None = None


class Method(Protocol[ProblemT_contra, State]):
    """A solver: an initial state and a step. The loop does the rest.

    The first type parameter is the kind of problem it solves.
    """

    @property
    def name(self) -> str:
        """Name of the method in results."""

    @property
    def needs(self) -> type[Problem]:
        """The kind of problem it solves."""

    def init(self, problem: ProblemT_contra, start: Solution | None) -> State:
        """Initial state, cold or from an earlier solution, which is not altered."""

    def step(self, problem: ProblemT_contra, state: State) -> float | None:
        """One iteration, in place; returns its squared step length, if the method measures it.

        It must vanish at a solution and have the unit of the objective.
        """

    def candidate(self, problem: ProblemT_contra, state: State) -> Candidate:
        """The point to certify."""


@runtime_checkable
class ReportsLabels(Protocol):
    """A method whose clusters are known after every step, and which measures its steps."""

    def current_labels(self, problem: Any, state: Any) -> Labels:
        """Clusters of the last step. O(N + E), nearly."""


class Doubt(Protocol):
    """Doubt about the clusters of a run, for which it goes on although it is within tolerance."""

    def observe(self, labels: Labels, move: float) -> None:
        """The clusters and the squared step length of an iteration."""

    def remains(self, n_iter: int, move: float) -> bool:
        """Whether to go on after ``n_iter`` iterations, ``move`` the last step length."""


OnCheck = Callable[[int, Certificate], object]
# Whether a candidate, with equal rows in every cluster, will do although its gap is too large.
Enough = Callable[[ProblemT, Candidate, Certificate], bool]


def run(
    problem: ProblemT,
    method: Method[ProblemT, State],
    *,
    start: Solution | None = None,
    tol: float = 1e-4,
    gap_tol: float = 0.0,
    min_iter: int = 0,
    max_iter: int = 20_000,
    on_check: OnCheck | None = None,
    check_every: int = 10,
    enough: Enough[ProblemT] | None = None,
    doubt: Doubt | None = None,
) -> Solution:
    """Iterate until the certificate of an exactly fused point is below the tolerance.

    Rows that the method reports as fused are replaced by their mean before certification, so the
    certificate holds for the returned clusters. A certificate costs about as much as a few steps:
    it is computed when recent step lengths predict success, otherwise at growing intervals (see
    `Schedule`), the first at most ``check_every`` iterations long and after ``min_iter``.

    The loop stops when the relative gap is at most ``tol`` or the gap at most ``gap_tol``, at a
    point that satisfies the constraint; when ``on_check(n_iter, certificate)`` is true; or when
    ``max_iter`` iterations are spent. ``enough(problem, candidate, certificate)`` may accept a
    candidate while the gap is above the tolerance. ``doubt`` may go on within the tolerance, if the
    method reports labels. ``start`` is of the same shape, and not altered.
    """
    if not isinstance(problem, method.needs):
        raise TypeError(
            f"{method.name} solves a {method.needs.__name__}, the problem is a "
            f"{type(problem).__name__} with the penalty {type(problem.penalty).__name__}: use "
            "another method."
        )
    began = perf_counter()
    with threads_for(problem.shape, dense=problem.fidelity.dense_products):
        state = method.init(problem, start)
        n_iter, move, within = 0, 0.0, False
        reporting = method if isinstance(method, ReportsLabels) else None
        doubt = None if reporting is None else doubt
        guide = None if start is None or _may_be_solved(problem, start, tol, gap_tol) else start
        schedule = Schedule.of(
            guide, tol=tol, gap_tol=gap_tol, min_iter=min_iter, check_every=check_every
        )
        progress = _Progress()
        while True:
            due = schedule.due(n_iter, move)
            if doubt is not None and (within or schedule.predicts(n_iter, move)):
                # It would be within the tolerance: certify once the clusters are settled as well.
                due = not doubt.remains(n_iter, move)
            if due or n_iter >= max_iter:
                candidate = method.candidate(problem, state)
                C = fuse(candidate.C, candidate.labels, problem.fidelity.metric.mass)
                certificate = problem.certify(C, candidate.Y)
                stopped = on_check is not None and bool(on_check(n_iter, certificate))
                within = certificate.relative_gap <= tol or certificate.gap <= gap_tol
                if enough is not None and not within:
                    within = enough(problem, candidate._replace(C=C), certificate)
                within = within and certificate.residual <= MAX_RESIDUAL
                open_ = within and doubt is not None and doubt.remains(n_iter, move)
                if within and not (open_ and n_iter < max_iter):
                    status = Status.SOLVED
                    break
                if stopped or n_iter >= max_iter:
                    status = Status.STOPPED if stopped else Status.MAX_ITER
                    break
                if progress.stagnates(n_iter, certificate.gap):
                    status = Status.STAGNATED
                    break
                if not within:
                    schedule.record(n_iter, move, certificate)
            move = method.step(problem, state) or 0.0
            n_iter += 1
            if doubt is not None and reporting is not None:
                doubt.observe(reporting.current_labels(problem, state), move)
    return Solution(
        C,
        candidate.Y,
        candidate.labels.copy(),
        certificate,
        status,
        n_iter,
        problem.lam,
        method.name,
        nonneg_dual=candidate.nonneg_dual,
        move=move,
        seconds=perf_counter() - began,
    )


def _may_be_solved(problem: Problem, start: Solution, tol: float, gap_tol: float) -> bool:
    """Whether a start may be the solution: it is at the same lam, and within the tolerance."""
    certificate = start.certificate
    within = certificate.relative_gap <= tol or certificate.gap <= gap_tol
    return start.lam == problem.lam and within


class _Progress:
    """The smallest gap so far, and what it was about half the iterations ago."""

    def __init__(self) -> None:
        self.best = self.earlier = np.inf
        self.since = 0

    def stagnates(self, n_iter: int, gap: float) -> bool:
        """Whether the smallest gap has hardly fallen since about half the iterations ago."""
        self.best = min(self.best, gap)
        if n_iter < 2 * max(self.since, _PATIENCE):
            return False
        stagnates = self.best > (1.0 - _LEAST_PROGRESS) * self.earlier
        self.earlier, self.since = self.best, n_iter
        return stagnates
