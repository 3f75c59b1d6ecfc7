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
from scipy.sparse import csr_array

from convexhc._types import Labels
from convexhc.fusion.contraction import Contraction, contract
from convexhc.fusion.graph_flows import Conductances, Parting, parted
from convexhc.kernels.components import components
from convexhc.kernels.rows import interpolate_rows
from convexhc.model.problem import FusionProblem
from convexhc.solvers.loop import Method, run
from convexhc.solvers.solution import Solution, Status

Chooser = Callable[[FusionProblem], Method[FusionProblem, Any]]

# What the contracted solve may use of the gap, the rest being left to flows that do not quite fit.
_PART = 0.9


@dataclass(frozen=True, eq=False)
class ContractedSolution:
    """A solution of the full problem, written with one centroid a group.

    Parameters
    ----------
    contraction : Contraction
        The groups, and the problem on them.
    small : Solution
        Solution of the contracted problem, whose certificate holds for the full one.
    ways : Conductances or None
        Those of the flows that prove it: where to start from at the next lam.
    """

    contraction: Contraction
    small: Solution
    ways: Conductances | None = None

    @property
    def groups(self) -> Labels:
        """Group of every node."""
        return self.contraction.labels

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
    problem: FusionProblem,
    groups: Labels,
    choose: Chooser,
    *,
    start: ContractedSolution | None = None,
    beside: ContractedSolution | None = None,
    tol: float,
    max_iter: int,
    most: int | None = None,
) -> ContractedSolution | None:
    """Minimise a problem from a guess of what is fused.

    Parameters
    ----------
    problem : FusionProblem
        The full problem, with a fusion penalty.
    groups : (N,) ndarray of int
        First guess.
    choose : callable
        The method for a contracted problem.
    start : ContractedSolution, optional
        Warm start on any groups, at any lam.
    beside : ContractedSolution, optional
        A solution at yet another lam: the first start is then taken on the line through both.
    tol, max_iter
        Relative gap and budget of iterations of every contracted solve.
    most : int, optional
        Number of groups above which to give up.

    Returns
    -------
    ContractedSolution or None
        Its groups are those given, or finer: connected, numbered by first occurrence. None if there
        would have to be more of them than ``most``.
    """
    n_iter, seconds = 0, 0.0
    ways = Conductances.of(problem) if start is None or start.ways is None else start.ways.copy()
    groups, parting = connected(problem, groups), None
    while True:
        contraction = _contraction(problem, groups, start)
        small_problem = contraction.problem.at(problem.lam)
        first = None if start is None else carried(problem, start, contraction, parting)
        if first is not None and beside is not None and beside.lam != first.lam:
            first = _on_the_line(problem, first, beside, contraction)
            beside = None
        method = choose(small_problem)
        part = 1.0 if small_problem.shape[0] == groups.size else _PART
        small = run(small_problem, method, start=first, tol=part * tol, max_iter=max_iter)
        n_iter, seconds = n_iter + small.n_iter, seconds + small.seconds
        small = replace(small, n_iter=n_iter, seconds=seconds)
        proof = small.certificate
        spare = max(tol * abs(proof.objective) - max(proof.gap, 0.0), 0.0)
        parting, price = parted(problem, contraction, small.dual, spare=spare, ways=ways)
        small = replace(small, certificate=proof._replace(gap=proof.gap + price))
        start = ContractedSolution(contraction, small, ways)
        if parting is None:
            lost = small.status is Status.SOLVED and small.relative_gap > tol * (1.0 + 1e-9)
            return replace(start, small=replace(small, status=Status.ROUND_OFF)) if lost else start
        groups = parting.groups
        if most is not None and groups.max() >= most:
            return None


def _contraction(
    problem: FusionProblem, groups: Labels, start: ContractedSolution | None
) -> Contraction:
    """That of the start, if its groups are these: what was computed for it is of use again."""
    if start is not None and np.array_equal(start.groups, groups):
        return start.contraction
    return contract(problem, groups)


def _on_the_line(
    problem: FusionProblem, first: Solution, beside: ContractedSolution, contraction: Contraction
) -> Solution:
    """A start at the lam of the problem, as if solutions were straight between two lam. O(c N).

    Duals that the other solution does not have, inside its groups, are left as they are.
    """
    other, small = carried(problem, beside, contraction), contraction.problem
    along = (problem.lam - first.lam) / (beside.lam - first.lam)
    edges = small.penalty.edges
    group = beside.groups[np.unique(contraction.labels, return_index=True)[1]]
    known = along * (group[edges.tail] != group[edges.head])
    everywhere = np.full(group.size, along)
    C = interpolate_rows(first.centroids, other.centroids, everywhere)
    signs = None
    if first.nonneg_dual is not None and other.nonneg_dual is not None:
        signs = interpolate_rows(first.nonneg_dual, other.nonneg_dual, everywhere)
        np.minimum(signs, 0.0, out=signs)
    return replace(
        first,
        centroids=C if 0.0 <= along <= 1.0 else small.constraint.project(C).C,
        dual=interpolate_rows(first.dual, other.dual, known),
        nonneg_dual=signs,
    )


def at_rest(problem: FusionProblem) -> ContractedSolution:
    """The solution without penalty, lam = 0: every node its own centroid, every dual zero."""
    n, still = problem.shape[0], problem.at(0.0)
    C, Y = np.eye(n), np.zeros((problem.penalty.n_edges, n))
    proof = still.certify(C, Y)
    alone = Solution(
        C, Y, np.arange(n), proof, Status.SOLVED, 0, 0.0, "rest", nonneg_dual=np.zeros((n, n))
    )
    return ContractedSolution(contract(problem, np.arange(n)), alone)


def connected(problem: FusionProblem, groups: Labels) -> Labels:
    """The connected pieces of every group. O(N + E)."""
    edges = problem.penalty.edges
    inside = groups[edges.tail] == groups[edges.head]
    return components(groups.size, edges.tail, edges.head, inside)


def carried(
    problem: FusionProblem,
    start: ContractedSolution,
    contraction: Contraction,
    parting: Parting | None = None,
) -> Solution:
    """A solution on some groups, written for those of another contraction. O(c N).

    Centroids are averaged over the new groups; the dual of an edge of nodes is its share of the
    dual between the old groups, or its flow where a group was parted, and duals of all edges
    between two new groups are added. Labels are those of the first member.
    """
    old = start.small
    if parting is None and np.array_equal(start.groups, contraction.labels):
        return old
    member = csr_array(
        (np.ones(start.groups.size), (np.arange(start.groups.size), start.groups)),
        shape=(start.groups.size, old.centroids.shape[0]),
    )
    before = start.contraction
    shared = csr_array(contraction.sums.multiply(before.share[None, :]))
    dual = np.asarray((shared @ before.sums.T) @ old.dual)
    if parting is not None:
        dual += contraction.sums[:, parting.edges] @ parting.flow
    average = contraction.mean @ member
    return replace(
        old,
        centroids=np.asarray(average @ old.centroids),
        dual=dual,
        nonneg_dual=None if old.nonneg_dual is None else np.asarray(average @ old.nonneg_dual),
        labels=start.labels[np.unique(contraction.labels, return_index=True)[1]],
    )
