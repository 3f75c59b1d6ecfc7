"""The points model at one lam: solve for the clusters, complete the dual inside them, certify.

Clusters of an earlier lam are contracted to one row each, and that small problem is solved far more
exactly than asked for, since its fusions are kept. Nothing is believed before the full problem has
certified it: the dual between clusters is known, and inside a cluster it is a flow that carries the
rest of the data to the centroid without leaving the dual balls. Where there is no such flow, the
search for it ends with the parts into which the cluster falls, and these are solved anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from convexhc.kernels import edges as edge_kernels
from convexhc.kernels.lines import on_line
from convexhc.kernels.newton import well_inside
from convexhc.problem import Certificate, Labels, Problem, fuse
from convexhc.solvers.contraction import Contraction, contract
from convexhc.solvers.loop import Solution, Status, run
from convexhc.solvers.newton import SemismoothNewton
from convexhc.solvers.point_flows import complete
from convexhc.solvers.start import fused_labels, fusion_of

Array = NDArray[np.float64]

# Shares of the gap asked for: of the contracted problem, before and after what has surely met in it
# is contracted too; of centroids that meet; and of the flows, which may not hide a small distance.
_ROUGH, _SHARP, _MEET, _FLOWS = 1e-4, 1e-9, 1e-3, 1e-11
# What is left of the share of centroids that meet whenever clusters have been parted.
_STRICTER = 0.3
# First penalty of the sharp run over that of the rough one: it starts close to its end, where a
# large one leaves few duals to take.
_BOLD = 100.0
# Iterations of the flows, which end in round-off.
_FLOW_ITER = 30
# Other runs end after so many iterations without a gap that is smaller by that factor: fusions for
# being near may stand in the way of a better one.
_PATIENCE, _BETTER = 10, 0.9
# Share of a dual ball inside which a dual tells of a fusion that is there to stay.
_WELL_INSIDE = 0.95
# How often clusters may be parted before the full problem is solved as it is.
_ROUNDS = 6


def solve_contracted(
    problem: Problem,
    *,
    start: Solution | None,
    before: Solution | None = None,
    tol: float,
    max_iter: int,
) -> Solution:
    """Minimise a points problem, from the clusters of ``start``, to a certified relative gap.

    Parameters
    ----------
    problem : Problem
        Squared distances, fusion penalty, no constraint.
    start : Solution or None
        A solution of the same problem at a lower lam, not altered.
    before : Solution, optional
        Another, at a lower one still: what is left to do then begins on the line through both.
    tol : float
        Relative duality gap of the full problem.
    max_iter : int
        Budget of iterations, each of several Newton steps, of every run.

    Returns
    -------
    Solution
        O(c d) work for c clusters, and O(E d) for the flows and the certificate.
    """
    scale = _scale(problem, start)
    newton = SemismoothNewton(allowance=_MEET * tol * scale)
    bold = replace(newton, boldness=_BOLD * newton.boldness)
    n_iter = 0
    if start is None:
        start = _run(problem, newton, None, _ROUGH * tol * scale, max_iter)
        n_iter = start.n_iter
    first = start if before is None else _ahead(problem.lam, start, before)
    for _ in range(_ROUNDS):
        rough = _between(problem, newton, start, first, _ROUGH * tol * scale, max_iter)
        settled = replace(rough, labels=_settled(problem, rough, start))
        found = _between(problem, bold, settled, settled, _SHARP * tol * scale, max_iter)
        n_iter += rough.n_iter + found.n_iter
        flows = complete(problem, found, gap_tol=_FLOWS * tol * scale, max_iter=_FLOW_ITER)
        n_iter += flows.n_iter
        certificate = problem.certify(found.centroids, flows.dual)
        found = replace(found, dual=flows.dual, certificate=certificate, n_iter=n_iter)
        whole = flows.n_clusters == found.n_clusters
        if whole and certificate.relative_gap <= tol:
            return replace(found, status=Status.SOLVED)
        if whole:
            break
        start = first = replace(found, centroids=flows.centroids, labels=flows.labels)
        # What has come apart may meet again, but not for being as near as it was.
        newton, bold = (replace(one, allowance=_STRICTER * one.allowance) for one in (newton, bold))
    solution = run(problem, newton, start=found, tol=tol, max_iter=max_iter, check_every=1)
    return replace(solution, n_iter=n_iter + solution.n_iter)


def _scale(problem: Problem, start: Solution | None) -> float:
    """A size of the least objective: at the start, or with every component one cluster."""
    X = problem.fidelity.target
    consensus = fuse(X, fusion_of(problem).differences.graph.components()[1])
    begin = X if start is None else start.centroids
    return min(problem.objective(begin), problem.objective(consensus))


def _run(
    problem: Problem,
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


def _ahead(lam: float, start: Solution, before: Solution) -> Solution:
    """Where the line through two solutions is at ``lam``; clusters are those of ``start``."""
    along = (lam - start.lam) / (before.lam - start.lam)
    return replace(
        start,
        centroids=on_line(start.centroids, before.centroids, np.full(len(start.centroids), along)),
        dual=on_line(start.dual, before.dual, np.full(len(start.dual), along)),
    )


def _between(
    problem: Problem,
    newton: SemismoothNewton,
    start: Solution,
    first: Solution,
    gap_tol: float,
    max_iter: int,
) -> Solution:
    """Solve for one centroid a cluster of ``start``, and write the answer for the full problem.

    From ``first``, whose clusters are the same; duals inside them are those of ``start``.
    """
    contraction = contract(problem, start.labels)
    small = _run(contraction.problem, newton, contraction.restrict(first), gap_tol, max_iter)
    return contraction.expand(small, _carried(problem, contraction, small, start))


def _settled(problem: Problem, rough: Solution, start: Solution) -> Labels:
    """Clusters of ``start``, and those of ``rough`` that will stay when the rest still moves.

    These are joined by edges whose dual is inside its ball by a margin.
    """
    edges = fusion_of(problem).edges
    fused = rough.labels[edges.tail] == rough.labels[edges.head]
    fused &= well_inside(rough.dual, edges, _WELL_INSIDE)
    return fused_labels(problem, fused | (start.labels[edges.tail] == start.labels[edges.head]))


def _carried(problem: Problem, contraction: Contraction, small: Solution, start: Solution) -> Array:
    """Duals of ``start`` inside its clusters, those of each times the factor that fits best.

    Flows inside a cluster grow about as lam does while it is pulled from outside, and stay as they
    are once it stands alone. One factor a cluster, at most the ratio of the two lam, keeps the dual
    in its balls.
    """
    penalty, labels = fusion_of(problem), contraction.labels
    edges, n = penalty.edges, labels.size
    apart = contraction.share > 0.0
    between = contraction.expand(small, np.zeros_like(start.dual))
    wanted = problem.fidelity.target - between.centroids - penalty.pull(between.dual)
    inside = np.where(apart[:, None], 0.0, start.dual)
    had = edge_kernels.adjoint(inside, edges, n)
    along = np.bincount(labels, np.einsum("ik,ik->i", wanted, had))
    length = np.bincount(labels, np.einsum("ik,ik->i", had, had))
    factor = np.divide(along, length, out=np.ones_like(along), where=length > 0.0)
    most = problem.lam / start.lam if start.lam > 0.0 else 1.0
    inside *= np.clip(factor, 0.0, most)[labels[edges.tail], None]
    return inside
