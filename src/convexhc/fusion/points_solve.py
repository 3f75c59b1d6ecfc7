"""The points model at one lam: solve for the clusters, complete the dual inside them, certify.

Clusters of an earlier lam are contracted to one row each, and that small problem is solved far more
exactly than asked for, since its fusions are kept. Nothing is believed before the full problem has
certified it: the dual between clusters is known, and inside a cluster it is a flow that carries the
rest of the data to the centroid without leaving the dual balls. Where there is no such flow, the
search for it ends with the parts into which the cluster falls, and these are solved anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from convexhc._types import FloatArray, IntArray, Labels
from convexhc.fusion.contraction import Contraction, contract
from convexhc.fusion.point_flows import complete
from convexhc.kernels.flows import gathered, scaled_inside, spread
from convexhc.kernels.newton import well_inside
from convexhc.kernels.rows import interpolate_rows
from convexhc.model.problem import Certificate, FusionProblem, cluster_means, fuse
from convexhc.solvers.loop import Solution, Status, run
from convexhc.solvers.newton import SemismoothNewton
from convexhc.solvers.warm_start import fused_labels

# Gap target, as a share of tol, before settled fusions are contracted.
_ROUGH = 1e-4
# Gap target, as a share of tol, after settled fusions are contracted.
_SHARP = 1e-9
# Cost, as a share of tol, below which two centroids are merged.
_MEET = 1e-3
# Accuracy of the flows, as a share of tol: they may not hide a small distance.
_FLOWS = 1e-11
# What is left of the share of centroids that meet whenever clusters have been parted.
_STRICTER = 0.3
# First penalty of the sharp run over that of the rough one: it starts close to its end, where a
# large one leaves few duals to take.
_BOLD = 100.0
# Iterations of the flows, which end in round-off.
_FLOW_ITER = 30
# Iterations without progress after which a run stops: its fusions may bar a smaller gap.
_PATIENCE = 10
# Progress is a gap below this share of the best one.
_BETTER = 0.9
# Share of a dual ball inside which a dual tells of a fusion that is there to stay.
_WELL_INSIDE = 0.95
# How often clusters may be parted before the full problem is solved as it is.
_ROUNDS = 6


def solve_contracted(
    problem: FusionProblem,
    *,
    start: Solution | None,
    before: Solution | None = None,
    tol: float,
    max_iter: int,
    least: float = 0.0,
) -> Solution:
    """Minimise a points problem, from the clusters of ``start``, to a certified relative gap.

    Parameters
    ----------
    problem : FusionProblem
        Squared distances, fusion penalty, no constraint.
    start : Solution or None
        A solution of the same problem at a lower lam, not altered.
    before : Solution, optional
        Another, at a lower one still: what is left to do then begins on the line through both.
    tol : float
        Relative duality gap of the full problem.
    max_iter : int
        Budget of iterations, each of several Newton steps, of every run.
    least : float
        Gaps are relative to this where the objective is smaller: what counts as round-off.

    Returns
    -------
    Solution
        O(c d) work for c clusters, and O(E d) for the flows and the certificate.
    """
    scale = max(_scale(problem, start), least)
    newton = SemismoothNewton(allowance=_MEET * tol * scale)
    bold = replace(newton, boldness=_BOLD * newton.boldness)
    n_iter = 0
    if start is None:
        start = _run(problem, newton, None, _ROUGH * tol * scale, max_iter)
        n_iter = start.n_iter
    for _ in range(_ROUNDS):
        found = _between(
            problem,
            (newton, bold),
            start,
            before,
            (_ROUGH * tol * scale, _SHARP * tol * scale),
            max_iter,
        )
        n_iter += found.n_iter
        flows = complete(problem, found, gap_tol=_FLOWS * tol * scale, max_iter=_FLOW_ITER)
        n_iter += flows.n_iter
        certificate = problem.certify(found.centroids, flows.dual)
        found = replace(found, dual=flows.dual, certificate=certificate, n_iter=n_iter)
        whole = flows.n_clusters == found.n_clusters
        if whole and within(certificate, tol, least):
            return replace(found, status=Status.SOLVED)
        if whole:
            break
        start, before = replace(found, centroids=flows.centroids, labels=flows.labels), None
        # What has come apart may meet again, but not for being as near as it was.
        newton, bold = (replace(one, allowance=_STRICTER * one.allowance) for one in (newton, bold))
    solution = run(
        problem,
        newton,
        start=found,
        tol=tol,
        gap_tol=tol * least,
        max_iter=max_iter,
        check_every=1,
    )
    return replace(solution, n_iter=n_iter + solution.n_iter)


def within(certificate: Certificate, tol: float, least: float) -> bool:
    """Whether a gap is small enough, relative to the objective or to ``least``."""
    return certificate.relative_gap <= tol or certificate.gap <= tol * least


def _scale(problem: FusionProblem, start: Solution | None) -> float:
    """A size of the least objective: at the start, or with every component one cluster."""
    X = problem.fidelity.target
    consensus = fuse(X, problem.penalty.graph.components()[1])
    begin = X if start is None else start.centroids
    return min(problem.objective(begin), problem.objective(consensus))


def _run(
    problem: FusionProblem,
    newton: SemismoothNewton,
    start: Solution | None,
    gap_tol: float,
    max_iter: int,
) -> Solution:
    """Solve to an absolute gap: that of the full problem is what counts."""
    return run(
        problem,
        newton,
        start=start,
        tol=0.0,
        gap_tol=gap_tol,
        max_iter=max_iter,
        on_check=_standing_still(),
        check_every=1,
    )


def _standing_still() -> Callable[[int, Certificate], bool]:
    """Tells when certificates have not become better for a while."""
    best, since = np.inf, 0

    def check(n_iter: int, certificate: Certificate) -> bool:
        nonlocal best, since
        if certificate.gap < _BETTER * best:
            best, since = certificate.gap, n_iter
        return n_iter - since >= _PATIENCE

    return check


@dataclass(frozen=True, eq=False)
class _Links:
    """Which edge of a contracted problem stands for which edge of another one.

    Parameters
    ----------
    pair : ndarray of int
        Its number, -1 for edges inside clusters.
    sign : ndarray
        Minus one where they run in opposite directions.
    share : ndarray
        Weight of the one over that of the other.
    """

    pair: IntArray
    sign: FloatArray
    share: FloatArray

    @classmethod
    def of(cls, contraction: Contraction) -> _Links:
        """From the edges of the full problem."""
        signs = contraction.sums.tocoo()
        pair, edge = signs.coords
        found = cls(
            np.full(contraction.share.size, -1), np.zeros(contraction.share.size), contraction.share
        )
        found.pair[edge], found.sign[edge] = pair, signs.data
        return found

    def then(self, other: _Links, count: int) -> _Links:
        """From those of this contraction, ``count`` of them, to those of a coarser one."""
        edge, some = np.flatnonzero(self.pair >= 0), np.empty(count, np.int64)
        # Any edge between two clusters can tell.
        some[self.pair[edge]] = edge
        sign, share = self.sign[some] * other.sign[some], other.share[some] / self.share[some]
        return _Links(other.pair[some], sign, share)

    def restrict(
        self, dual: FloatArray, count: int, before: FloatArray | None = None, along: float = 0.0
    ) -> FloatArray:
        """A dual, or one on the line to another, written for the contracted problem."""
        other = dual if before is None else before
        return gathered(dual, other, along, self.pair, self.sign, count)

    def expand(self, dual: FloatArray, inside: FloatArray) -> FloatArray:
        """The way back, with duals ``inside`` clusters."""
        return spread(dual, self.pair, self.sign * self.share, inside)


def _between(
    problem: FusionProblem,
    methods: tuple[SemismoothNewton, SemismoothNewton],
    start: Solution,
    before: Solution | None,
    gap_tols: tuple[float, float],
    max_iter: int,
) -> Solution:
    """Solve for one centroid a cluster of ``start``, and write the answer for the full problem.

    Twice: roughly, and then exactly with what has surely met contracted, too. Duals inside clusters
    are those of ``start``.
    """
    outer = contract(problem, start.labels)
    links, count = _Links.of(outer), outer.problem.shape[0]
    first = _ahead(problem.lam, start, before, outer, links)
    rough = _run(outer.problem, methods[0], first, gap_tols[0], max_iter)
    settled = _settled(outer.problem, rough)
    if settled.max() + 1 == count:
        found = _run(outer.problem, methods[1], rough, gap_tols[1], max_iter)
        dual, centroids, labels = found.dual, found.centroids, found.labels
    else:
        inner = contract(problem, settled[outer.labels])
        further = links.then(_Links.of(inner), rough.dual.shape[0])
        second = replace(
            rough,
            centroids=cluster_means(rough.centroids, settled, outer.problem.fidelity.metric.mass),
            dual=further.restrict(rough.dual, inner.problem.penalty.n_edges),
            labels=np.arange(inner.problem.shape[0]),
        )
        found = _run(inner.problem, methods[1], second, gap_tols[1], max_iter)
        dual = further.expand(found.dual, rough.dual)
        centroids, labels = found.centroids[settled], found.labels[settled]
    whole = replace(
        found,
        centroids=centroids[outer.labels],
        dual=links.expand(dual, start.dual),
        labels=labels[outer.labels],
        n_iter=rough.n_iter + found.n_iter,
    )
    _carry(problem, whole, start)
    return whole


def _ahead(
    lam: float, start: Solution, before: Solution | None, contraction: Contraction, links: _Links
) -> Solution:
    """Where the line through two solutions is at ``lam``, written for the clusters of ``start``."""
    C, along = start.centroids, 0.0
    if before is not None:
        along = (lam - start.lam) / (before.lam - start.lam)
        C = interpolate_rows(C, before.centroids, np.full(len(C), along))
    count = contraction.problem.penalty.n_edges
    return replace(
        start,
        centroids=cluster_means(C, contraction.labels),
        dual=links.restrict(start.dual, count, None if before is None else before.dual, along),
        labels=np.arange(contraction.problem.shape[0]),
    )


def _settled(problem: FusionProblem, rough: Solution) -> Labels:
    """Clusters that will stay when the rest still moves.

    These are joined by edges whose dual is inside its ball by a margin.
    """
    edges = problem.penalty.edges
    fused = rough.labels[edges.tail] == rough.labels[edges.head]
    return fused_labels(problem, fused & well_inside(rough.dual, edges, _WELL_INSIDE))


def _carry(problem: FusionProblem, found: Solution, start: Solution) -> None:
    """Multiply duals inside the clusters of ``start``, those of each by what fits best, in place.

    Flows inside a cluster grow about as lam does while it is pulled from outside, and stay as they
    are once it stands alone. One factor a cluster, at most the ratio of the two lam, keeps the dual
    in its balls.
    """
    edges, labels = problem.penalty.edges, start.labels
    wanted = problem.fidelity.target - found.centroids
    inside = labels[edges.tail] == labels[edges.head]
    most = problem.lam / start.lam if start.lam > 0.0 else 1.0
    scaled_inside(found.dual, wanted, edges.tail, edges.head, inside, labels, most)
