"""Solve the points problem at one lam: contract the clusters, complete the dual, certify.

Clusters of an earlier lam are contracted to one row each. The contracted problem is solved far more
accurately than asked for, since its fusions are kept. The dual between clusters is then known, and
inside a cluster it is a flow that carries the remaining data to the centroid within the dual balls.
Where no such flow exists, the search for it ends with the parts into which the cluster splits, and
these are solved again. The full problem certifies the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from convexhc._types import FloatArray, IntArray, Labels
from convexhc.fusion.contraction import Contraction, contract
from convexhc.fusion.point_flows import SETTLED_LOAD, complete_point_dual
from convexhc.kernels.flows import gathered, scaled_inside, spread
from convexhc.kernels.newton import well_inside
from convexhc.kernels.rows import interpolate_rows
from convexhc.model.problem import Certificate, FusionProblem, cluster_means, fuse
from convexhc.solvers.loop import Solution, Status, run
from convexhc.solvers.newton import SemismoothNewton
from convexhc.solvers.warm_start import fused_labels


@dataclass(frozen=True)
class PointsSettings:
    """Tuning of `solve_points`. Tolerances are shares of ``tol``."""

    # Gap target after settled fusions are contracted.
    final_gap: float = 1e-9
    # Gap target before settled fusions are contracted, and cost below which centroids are merged.
    rough_gap: float = 1e-3
    # Factor on that cost after every split: what was split must come closer to merge again.
    merge_shrinkage: float = 0.3
    # Factor on the initial penalty parameter of the final run. It starts near the solution, where
    # a large one needs few dual updates.
    final_boldness: float = 100.0
    # Stop a run after this many iterations without a smaller gap: its fusions may bar one.
    patience: int = 10
    # How often clusters may be split before the full problem is solved without contraction.
    max_splits: int = 6


SETTINGS = PointsSettings()


def solve_points(
    problem: FusionProblem,
    *,
    start: Solution | None,
    second: Solution | None = None,
    tol: float,
    max_iter: int,
) -> Solution:
    """Minimise a points problem, from the clusters of ``start``, to a certified relative gap.

    ``start`` and ``second`` are solutions at other lam, not altered; with both, the warm start is
    taken on the line through them. ``max_iter`` is the budget of iterations, each of several Newton
    steps, of every run. O(c d) work for c clusters, and O(E d) for the flows and the certificate.
    """
    scale = max(_scale(problem, start), problem.floor)
    newton = SemismoothNewton(allowance=SETTINGS.rough_gap * tol * scale)
    final = replace(newton, boldness=SETTINGS.final_boldness * newton.boldness)
    n_iter = 0
    if start is None:
        start = _run(problem, newton, None, SETTINGS.rough_gap * tol * scale, max_iter)
        n_iter = start.n_iter
    for _ in range(SETTINGS.max_splits):
        found = _solve_contracted(
            problem,
            (newton, final),
            start,
            second,
            (SETTINGS.rough_gap * tol * scale, SETTINGS.final_gap * tol * scale),
            max_iter,
        )
        n_iter += found.n_iter
        flows = complete_point_dual(
            problem,
            found,
            allowance=SETTINGS.final_gap * tol * scale,
            max_iter=max_iter,
            on_check=_stagnation_check(),
        )
        n_iter += flows.n_iter
        certificate = problem.certify(found.centroids, flows.dual)
        found = replace(found, dual=flows.dual, certificate=certificate, n_iter=n_iter)
        whole = flows.n_clusters == found.n_clusters
        if whole and certificate.relative_gap <= tol:
            return replace(found, status=Status.SOLVED)
        if whole:
            break
        start, second = replace(found, centroids=flows.centroids, labels=flows.labels), None
        newton, final = (
            replace(one, allowance=SETTINGS.merge_shrinkage * one.allowance)
            for one in (newton, final)
        )
    solution = run(
        problem,
        newton,
        start=found,
        tol=tol,
        max_iter=max_iter,
        check_every=1,
    )
    return replace(solution, n_iter=n_iter + solution.n_iter)


def _scale(problem: FusionProblem, start: Solution | None) -> float:
    """Magnitude of the optimal objective: at the start, or with one cluster per component."""
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
    """Solve to an absolute gap."""
    return run(
        problem,
        newton,
        start=start,
        tol=0.0,
        gap_tol=gap_tol,
        max_iter=max_iter,
        on_check=_stagnation_check(),
        check_every=1,
    )


def _stagnation_check() -> Callable[[int, Certificate], bool]:
    """A callback that stops a run whose gap has not fallen for some iterations."""
    best, since = np.inf, 0

    def check(n_iter: int, certificate: Certificate) -> bool:
        nonlocal best, since
        if certificate.gap < best:
            best, since = certificate.gap, n_iter
        return n_iter - since >= SETTINGS.patience

    return check


@dataclass(frozen=True, eq=False)
class _EdgeMap:
    """Map from the edges of a problem to those of a contraction of it."""

    pair: IntArray  # edge of the contraction, -1 for edges inside clusters
    sign: FloatArray  # minus one where the two run in opposite directions
    share: FloatArray  # weight of the edge over that of its pair

    @classmethod
    def of(cls, contraction: Contraction) -> _EdgeMap:
        """The map from the edges of the full problem."""
        signs = contraction.sums.tocoo()
        pair, edge = signs.coords
        found = cls(
            np.full(contraction.share.size, -1), np.zeros(contraction.share.size), contraction.share
        )
        found.pair[edge], found.sign[edge] = pair, signs.data
        return found

    def then(self, other: _EdgeMap, count: int) -> _EdgeMap:
        """The map from the ``count`` edges of this contraction to those of a coarser one."""
        edge, some = np.flatnonzero(self.pair >= 0), np.empty(count, np.int64)
        # Any one edge of a pair determines sign and share.
        some[self.pair[edge]] = edge
        sign, share = self.sign[some] * other.sign[some], other.share[some] / self.share[some]
        return _EdgeMap(other.pair[some], sign, share)

    def restrict(
        self, dual: FloatArray, count: int, second: FloatArray | None = None, along: float = 0.0
    ) -> FloatArray:
        """Sum a dual over the pairs; with ``second``, one on the line through both duals."""
        other = dual if second is None else second
        return gathered(dual, other, along, self.pair, self.sign, count)

    def expand(self, dual: FloatArray, inside: FloatArray) -> FloatArray:
        """Distribute a dual of the pairs over their edges; ``inside`` is kept inside clusters."""
        return spread(dual, self.pair, self.sign * self.share, inside)


def _solve_contracted(
    problem: FusionProblem,
    methods: tuple[SemismoothNewton, SemismoothNewton],
    start: Solution,
    second: Solution | None,
    gap_tols: tuple[float, float],
    max_iter: int,
) -> Solution:
    """Solve with one centroid per cluster of ``start``, and expand to the full problem.

    Solved twice: roughly, and then accurately with the settled fusions contracted as well. Duals
    inside clusters are those of ``start``.
    """
    outer = contract(problem, start.labels)
    edge_map, count = _EdgeMap.of(outer), outer.problem.shape[0]
    first = _line_start(problem.lam, start, second, outer, edge_map)
    rough = _run(outer.problem, methods[0], first, gap_tols[0], max_iter)
    settled = _settled(outer.problem, rough)
    if settled.max() + 1 == count:
        found = _run(outer.problem, methods[1], rough, gap_tols[1], max_iter)
        dual, centroids, labels = found.dual, found.centroids, found.labels
    else:
        inner = contract(problem, settled[outer.labels])
        further = edge_map.then(_EdgeMap.of(inner), rough.dual.shape[0])
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
        dual=edge_map.expand(dual, start.dual),
        labels=labels[outer.labels],
        n_iter=rough.n_iter + found.n_iter,
    )
    _scale_inner_duals(problem, whole, start)
    return whole


def _line_start(
    lam: float,
    start: Solution,
    second: Solution | None,
    contraction: Contraction,
    edge_map: _EdgeMap,
) -> Solution:
    """The point at ``lam`` on the line through two solutions, on the clusters of ``start``."""
    C, along = start.centroids, 0.0
    if second is not None:
        along = (lam - start.lam) / (second.lam - start.lam)
        C = interpolate_rows(C, second.centroids, np.full(len(C), along))
    count = contraction.problem.penalty.n_edges
    return replace(
        start,
        centroids=cluster_means(C, contraction.labels),
        dual=edge_map.restrict(start.dual, count, None if second is None else second.dual, along),
        labels=np.arange(contraction.problem.shape[0]),
    )


def _settled(problem: FusionProblem, rough: Solution) -> Labels:
    """Clusters joined by edges whose dual is inside its ball by a margin: they will stay."""
    edges = problem.penalty.edges
    fused = rough.labels[edges.tail] == rough.labels[edges.head]
    return fused_labels(problem, fused & well_inside(rough.dual, edges, SETTLED_LOAD))


def _scale_inner_duals(problem: FusionProblem, found: Solution, start: Solution) -> None:
    """Rescale the duals inside the clusters of ``start`` in place, one factor per cluster.

    Flows inside a cluster grow about as lam does while edges pull on it, and are constant once it
    has none. A least-squares factor, at most the ratio of the two lam, keeps the dual in its balls.
    """
    edges, labels = problem.penalty.edges, start.labels
    wanted = problem.fidelity.target - found.centroids
    most = problem.lam / start.lam if start.lam > 0.0 else 1.0
    scaled_inside(found.dual, wanted, edges, labels, most)
