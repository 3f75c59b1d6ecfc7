"""Solve the graph problem at one lam with one centroid per group of nodes.

Groups are a guess of what is fused, for instance the clusters at a neighbouring lam. The contracted
problem costs O(c N) for c groups. A flow inside every group then proves that its solution solves
the full problem, or the group is split and the problem solved again. Groups that are too fine do no
harm, since the solver fuses them; groups that are too coarse are detected. Nothing of size N^2 or
N E is stored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from convexhc._types import Labels
from convexhc.fusion.conductances import Conductances
from convexhc.fusion.contraction import Contraction, contract
from convexhc.fusion.graph_flows import Split, complete_dual
from convexhc.kernels.components import components
from convexhc.kernels.rows import interpolate_rows
from convexhc.model.problem import FusionProblem
from convexhc.model.proof import Proof
from convexhc.solvers.loop import Doubt, Enough, Method, run
from convexhc.solvers.solution import Solution, Status

Chooser = Callable[[FusionProblem], Method[FusionProblem, Any]]

# Largest share of the gap left to the contracted solve: flows that do not quite fit need the rest.
_MOST_SHARE = 0.9
# Least such share.
_LEAST_SHARE = 0.05
# The share is this multiple of nodes and edges of the contracted problem over the edges of the
# whole one times its mean degree: where graphs are dense and groups few, iterations are cheap
# beside proofs, and what is left of the gap overloads flows that would fit.
_SHARE_PER_SIZE = 3000.0
# New groups are wanted twice as often at every split at one lam, up to one for this many groups:
# most groups would otherwise lose a node at a time.
_MOST_GROWTH = 8
# Splits at one lam after which as many are wanted as there are: the group falls apart.
_PATIENT_SPLITS = 10


@dataclass(frozen=True, eq=False)
class ContractedSolution:
    """A solution of the full problem with one centroid per group."""

    contraction: Contraction  # the groups, and the problem on them
    # Solution of the contracted problem. Its certificate holds for the full problem.
    small: Solution
    # Conductances of the flows that prove it: a warm start for the next lam.
    conductances: Conductances | None = None
    # Which clusters are those of the exact minimiser, once that was examined.
    proof: Proof | None = None

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
        """Cluster of every node. Several groups may share a cluster."""
        return self.small.labels[self.groups]

    @property
    def n_clusters(self) -> int:
        """Number of distinct centroids."""
        return self.small.n_clusters


def solve_graph(
    problem: FusionProblem,
    groups: Labels,
    choose: Chooser,
    *,
    start: ContractedSolution | None = None,
    second: ContractedSolution | None = None,
    tol: float,
    max_iter: int,
    max_groups: int | None = None,
    enough: Enough[FusionProblem] | None = None,
    doubt: Callable[[int], Doubt] | None = None,
) -> ContractedSolution | None:
    """Minimise a problem, starting from a guess of what is fused.

    ``groups`` is the guess, and ``choose`` returns the method for a contracted problem. ``start``
    is a warm start on any groups and at any lam; with a ``second`` solution the first warm start is
    taken on the line through both. ``tol`` and ``max_iter`` are for every contracted solve, and
    ``enough`` is that of `run`, and so is what ``doubt`` returns for every contracted solve.

    The groups of the result are connected, as fine as the guess or finer, and numbered by first
    occurrence; None if there would be more than ``max_groups``.
    """
    n_iter, seconds, splits = 0, 0.0, 0
    known = None if start is None else start.conductances
    conductances = Conductances.of(problem) if known is None else known.copy()
    groups, split = connected(problem, groups), None
    while True:
        # The same groups keep their contraction, with its caches.
        same = start is not None and np.array_equal(start.groups, groups)
        contraction = start.contraction if start and same else contract(problem, groups)
        small_problem = contraction.problem.at(problem.lam)
        first = None if start is None else transfer(problem, start, contraction, split)
        if first is not None and second is not None and second.lam != first.lam:
            first = _on_line_through(problem, first, second, contraction)
            second = None
        method = choose(small_problem)
        share = contracted_share(problem, small_problem)
        small = run(
            small_problem,
            method,
            start=first,
            tol=share * tol,
            max_iter=max_iter,
            enough=enough,
            doubt=None if doubt is None else doubt(splits),
        )
        n_iter, seconds = n_iter + small.n_iter, seconds + small.seconds
        small = replace(small, n_iter=n_iter, seconds=seconds)
        proof = small.certificate
        if enough is not None:
            tol = max(tol, small.relative_gap / share)
        budget = max(tol * proof.scale - max(proof.gap, 0.0), 0.0)
        split, cost = complete_dual(
            problem,
            contraction,
            small.dual,
            budget=budget,
            conductances=conductances,
            wanted=_wanted(splits, small_problem.shape[0]),
            max_groups=max_groups,
        )
        small = replace(small, certificate=proof._replace(gap=proof.gap + cost))
        start = ContractedSolution(contraction, small, conductances)
        if split is None:
            lost = small.status is Status.SOLVED and small.relative_gap > tol * (1.0 + 1e-9)
            return replace(start, small=replace(small, status=Status.ROUND_OFF)) if lost else start
        groups, splits = split.groups, splits + 1
        if max_groups is not None and groups.max() >= max_groups:
            return None


def contracted_share(problem: FusionProblem, small: FusionProblem) -> float:
    """Share of the tolerance to which a contracted problem is solved."""
    n, count = problem.shape[0], problem.penalty.n_edges
    if small.shape[0] == n:
        return 1.0
    size = (small.shape[0] + small.penalty.n_edges) / max(2.0 * count**2 / n, 1.0)
    return min(max(_SHARE_PER_SIZE * size, _LEAST_SHARE), _MOST_SHARE)


def _wanted(splits: int, n_groups: int) -> int:
    """New groups wanted at the next split at one lam, after some ``splits``."""
    if splits >= _PATIENT_SPLITS:
        return n_groups
    return int(min(2**splits, 1 + n_groups // _MOST_GROWTH))


def _on_line_through(
    problem: FusionProblem, first: Solution, second: ContractedSolution, contraction: Contraction
) -> Solution:
    """Interpolate or extrapolate two solutions linearly to the lam of the problem. O(c N).

    Duals of edges inside the groups of the second solution are unknown there and left as they are.
    """
    other, small = transfer(problem, second, contraction), contraction.problem
    along = (problem.lam - first.lam) / (second.lam - first.lam)
    edges = small.penalty.edges
    group = second.groups[np.unique(contraction.labels, return_index=True)[1]]
    known = along * (group[edges.tail] != group[edges.head])
    everywhere = np.full(group.size, along)
    C = interpolate_rows(first.centroids, other.centroids, everywhere)
    multipliers = None
    if first.nonneg_dual is not None and other.nonneg_dual is not None:
        multipliers = interpolate_rows(first.nonneg_dual, other.nonneg_dual, everywhere)
        np.minimum(multipliers, 0.0, out=multipliers)
    return replace(
        first,
        centroids=C if 0.0 <= along <= 1.0 else small.constraint.project(C).C,
        dual=interpolate_rows(first.dual, other.dual, known),
        nonneg_dual=multipliers,
    )


def unpenalized_solution(problem: FusionProblem) -> ContractedSolution:
    """The solution at lam = 0: every node is its own centroid, every dual is zero."""
    n, alone = problem.shape[0], problem.at(0.0)
    C, Y = np.eye(n), np.zeros((problem.penalty.n_edges, n))
    solution = Solution(
        C,
        Y,
        np.arange(n),
        alone.certify(C, Y),
        Status.SOLVED,
        0,
        0.0,
        "closed form",
        nonneg_dual=np.zeros((n, n)),
    )
    return ContractedSolution(contract(problem, np.arange(n)), solution)


def connected(problem: FusionProblem, groups: Labels) -> Labels:
    """Split every group into its connected components. O(N + E)."""
    edges = problem.penalty.edges
    inside = groups[edges.tail] == groups[edges.head]
    return components(groups.size, edges.tail, edges.head, inside)


def transfer(
    problem: FusionProblem,
    start: ContractedSolution,
    contraction: Contraction,
    split: Split | None = None,
) -> Solution:
    """Rewrite a solution on some groups for the groups of another contraction. O(c N).

    Centroids are averaged over the new groups. The dual of an edge between nodes is its share of
    the dual between the old groups, or its flow where a group was split; duals of all edges
    between two new groups are summed. Labels are those of the first member.
    """
    old = start.small
    if split is None and np.array_equal(start.groups, contraction.labels):
        return old
    member = csr_array(
        (np.ones(start.groups.size), (np.arange(start.groups.size), start.groups)),
        shape=(start.groups.size, old.centroids.shape[0]),
    )
    before = start.contraction
    shared = csr_array(contraction.sums.multiply(before.share[None, :]))
    dual = np.asarray((shared @ before.sums.T) @ old.dual)
    if split is not None:
        dual += contraction.sums[:, split.edges] @ split.flow
    average = contraction.mean @ member
    return replace(
        old,
        centroids=np.asarray(average @ old.centroids),
        dual=dual,
        nonneg_dual=None if old.nonneg_dual is None else np.asarray(average @ old.nonneg_dual),
        labels=start.labels[np.unique(contraction.labels, return_index=True)[1]],
    )
