"""Solve for one centroid a group of nodes, and part the groups that may not stay together.

Groups are a guess at what is fused: the clusters of a neighbouring lam, or any others. The
contracted problem is solved in O(c N) for c groups; a flow inside every group then proves that its
solution solves the full problem, or the group is parted and solved anew. Too many groups are no
harm, since the solver fuses them again; too few are found out. Nothing of the size N^2 or N E is
held.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from convexhc.kernels.components import components
from convexhc.problem import Labels, Problem
from convexhc.solvers.contraction import Contraction, contract
from convexhc.solvers.flows import Parting, Ways, parted
from convexhc.solvers.loop import Method, run
from convexhc.solvers.solution import Solution
from convexhc.solvers.start import fusion_of
from convexhc.terms.metric import averaging

Array = NDArray[np.float64]
Chooser = Callable[[Problem], Method[Any]]

_PART = 0.5


@dataclass(frozen=True, eq=False)
class Fused:
    """A solution of the full problem, written with one centroid a group.

    Parameters
    ----------
    groups : (N,) ndarray of int
        Group of every node.
    small : Solution
        Solution of the contracted problem, whose certificate holds for the full one.
    ways : Ways or None
        Those of the flows that prove it: where to start from at the next lam.
    """

    groups: Labels
    small: Solution
    ways: Ways | None = None

    @property
    def lam(self) -> float:
        """Strength of the penalty."""
        return self.small.lam

    @cached_property
    def labels(self) -> Labels:
        """Cluster of every node; groups may have fused into one."""
        return self.small.labels[self.groups]

    @property
    def n_clusters(self) -> int:
        """Number of distinct centroids."""
        return self.small.n_clusters


def solve_fused(
    problem: Problem,
    groups: Labels,
    choose: Chooser,
    *,
    start: Fused | None = None,
    tol: float,
    max_iter: int,
    most: int | None = None,
) -> Fused | None:
    """Minimise a problem from a guess of what is fused.

    Parameters
    ----------
    problem : Problem
        The full problem, with a fusion penalty.
    groups : (N,) ndarray of int
        First guess.
    choose : callable
        The method for a contracted problem.
    start : Fused, optional
        Warm start on any groups, at any lam.
    tol, max_iter
        Relative gap and budget of iterations of every contracted solve.
    most : int, optional
        Number of groups above which to give up.

    Returns
    -------
    Fused or None
        Its groups are those given, or finer: connected, numbered by first occurrence. None if there
        would have to be more of them than ``most``.
    """
    n_iter, seconds = 0, 0.0
    ways = Ways.of(problem) if start is None or start.ways is None else start.ways.copy()
    groups, parting = connected(problem, groups), None
    while True:
        contraction = contract(problem, groups)
        first = None if start is None else carried(problem, start, contraction, parting)
        method = choose(contraction.problem)
        # Part of the gap is left to flows that do not quite fit.
        part = 1.0 if contraction.problem.shape[0] == groups.size else _PART
        small = run(contraction.problem, method, start=first, tol=part * tol, max_iter=max_iter)
        n_iter, seconds = n_iter + small.n_iter, seconds + small.seconds
        small = replace(small, n_iter=n_iter, seconds=seconds)
        proof = small.certificate
        spare = max(tol * abs(proof.objective) - max(proof.gap, 0.0), 0.0)
        parting, price = parted(problem, contraction, small.dual, spare=spare, ways=ways)
        small = replace(small, certificate=proof._replace(gap=proof.gap + price))
        start = Fused(groups, small, ways)
        if parting is None:
            return start
        groups = parting.groups
        if most is not None and groups.max() >= most:
            return None


def connected(problem: Problem, groups: Labels) -> Labels:
    """The connected pieces of every group. O(N + E)."""
    edges = fusion_of(problem).edges
    inside = groups[edges.tail] == groups[edges.head]
    return components(groups.size, edges.tail, edges.head, inside)


def carried(
    problem: Problem, start: Fused, contraction: Contraction, parting: Parting | None = None
) -> Solution:
    """A solution on some groups, written for those of another contraction. O(c N).

    Centroids are averaged over the new groups; the dual of an edge of nodes is its share of the
    dual between the old groups, or its flow where a group was parted, and duals of all edges
    between two new groups are added. Labels are those of the first member.
    """
    old = start.small
    member = csr_array(
        (np.ones(start.groups.size), (np.arange(start.groups.size), start.groups)),
        shape=(start.groups.size, old.centroids.shape[0]),
    )
    before = contract(problem, start.groups)
    shared = csr_array(contraction.sums.multiply(before.share[None, :]))
    dual = np.asarray((shared @ before.sums.T) @ old.dual)
    if parting is not None:
        dual += contraction.sums[:, parting.edges] @ parting.flow
    return replace(
        old,
        centroids=np.asarray(averaging(contraction.labels) @ member @ old.centroids),
        dual=dual,
        labels=start.labels[np.unique(contraction.labels, return_index=True)[1]],
    )
