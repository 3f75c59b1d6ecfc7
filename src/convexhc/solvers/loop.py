"""The one loop that drives every solver, and what it returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from convexhc.problem import Certificate, Labels, Problem, fuse

Array = NDArray[np.float64]
State = TypeVar("State")


class Status(Enum):
    """Why a solver stopped; the value is advice."""

    SOLVED = "The certificate is below the tolerance."
    MAX_ITER = (
        "Iteration budget spent before the certificate reached the tolerance: "
        "raise max_iter or loosen tol."
    )
    STOPPED = "Stopped by on_check before the certificate reached the tolerance."


class Candidate(NamedTuple):
    """What a method offers for certification: a feasible C, a feasible dual Y, the clusters.

    Y and labels may be views of the state; the loop copies what it returns.
    """

    C: Array
    Y: Array
    labels: Labels


class Method(Protocol[State]):
    """A solver is a first state and a step; the loop does the rest."""

    @property
    def name(self) -> str:
        """How results call it."""

    def init(self, problem: Problem, start: Solution | None) -> State:
        """First state, from nothing or from an earlier solution, which is not altered."""

    def step(self, problem: Problem, state: State) -> None:
        """One iteration, in place."""

    def candidate(self, problem: Problem, state: State) -> Candidate:
        """The point to certify."""


@dataclass(frozen=True, eq=False)
class Solution:
    """A certified solution at one strength of the penalty.

    Attributes
    ----------
    centroids : (n, m) ndarray
        One centroid a row; rows of one cluster are equal to the last bit.
    dual : (E, m) ndarray
        Edge dual that proves the gap.
    labels : (n,) ndarray of int
        Cluster of every node, numbered by first occurrence.
    certificate : Certificate
        Halved objective, duality gap, residual of the constraint.
    status : Status
        Why the solver stopped.
    n_iter : int
        Iterations used.
    lam : float
        Strength of the penalty.
    method : str
        Name of the solver.
    names : tuple
        Names of the nodes, empty when they have none.
    """

    centroids: Array = field(repr=False)
    dual: Array = field(repr=False)
    labels: Labels = field(repr=False)
    certificate: Certificate
    status: Status
    n_iter: int
    lam: float
    method: str
    names: tuple[object, ...] = field(default=(), repr=False)

    @property
    def pi(self) -> Array:
        """The paper's matrix: column i is the centroid of node i."""
        return self.centroids.T

    @property
    def n_clusters(self) -> int:
        """Number of distinct centroids."""
        return int(self.labels.max()) + 1

    @property
    def objective(self) -> float:
        """Objective in the paper's scale (eq. 4): twice the halved one."""
        return 2.0 * self.certificate.objective

    @property
    def relative_gap(self) -> float:
        """Duality gap over the size of the objective."""
        return self.certificate.relative_gap


OnCheck = Callable[[int, Certificate], object]


def run(
    problem: Problem,
    method: Method[State],
    *,
    start: Solution | None = None,
    tol: float = 1e-4,
    gap_tol: float = 0.0,
    max_iter: int = 20_000,
    on_check: OnCheck | None = None,
    check_every: int = 10,
) -> Solution:
    """Iterate until the certificate of an exactly fused point is below the tolerance.

    Rows that the method calls fused are replaced by their mean before they are certified, so the
    clusters of the answer are part of what the certificate proves. The certificate costs about as
    much as a few steps: it is taken at iteration 0, then at intervals that grow by a tenth.

    Parameters
    ----------
    problem : Problem
        What to minimise.
    method : Method
        How.
    start : Solution, optional
        Warm start of the same shape, not altered.
    tol, gap_tol : float
        Stop when the relative gap is at most ``tol`` or the gap at most ``gap_tol``.
    max_iter : int
        Iteration budget.
    on_check : callable, optional
        Called as ``on_check(n_iter, certificate)``; a true answer stops the loop.
    check_every : int
        Fewest iterations between two certificates: less for methods of few, costly iterations.

    Returns
    -------
    Solution
        Always, whatever the status.
    """
    state = method.init(problem, start)
    n_iter, next_check = 0, 0
    while True:
        if n_iter >= next_check or n_iter >= max_iter:
            candidate = method.candidate(problem, state)
            C = fuse(candidate.C, candidate.labels)
            certificate = problem.certify(C, candidate.Y)
            stopped = on_check is not None and bool(on_check(n_iter, certificate))
            if certificate.relative_gap <= tol or certificate.gap <= gap_tol:
                status = Status.SOLVED
                break
            if stopped or n_iter >= max_iter:
                status = Status.STOPPED if stopped else Status.MAX_ITER
                break
            next_check = n_iter + max(check_every, n_iter // 10)
        method.step(problem, state)
        n_iter += 1
    return Solution(
        C.copy() if C is candidate.C else C,
        candidate.Y.copy(),
        candidate.labels.copy(),
        certificate,
        status,
        n_iter,
        problem.lam,
        method.name,
    )
