"""When the labels of a solution are settled: a smaller gap would most likely not change them.

Objectives converge before clusters do. Labels are still in doubt where a cluster is held together
by edges whose duals almost reach the boundary of their balls, where centroids of two clusters are
close, or where the labels changed of late. None of this is a proof (`graph_proof`): it decides how
accurately to solve.

On large graphs some edge is always in doubt, and a certificate costs as much as several iterations.
There labels are settled once they have not changed while the step lengths fell (`Unsteady`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from convexhc._types import FloatArray, Labels
from convexhc.fusion.graph_proof import proven_apart
from convexhc.fusion.partition_proof import widest_tree
from convexhc.kernels.dual_errors import ball_slack
from convexhc.model.problem import Certificate, FusionProblem
from convexhc.solvers.loop import Candidate
from convexhc.solvers.schedule import predicted_ratio


@dataclass(frozen=True)
class SettlingSettings:
    """Margins below which labels are in doubt, chosen on 800 partitions of random graphs."""

    # Least slack of the edges that hold a cluster together, relative to the radii of their balls,
    # in units of the root of the relative gap: errors of the dual are proportional to it.
    slack: float = 5.0
    # Least distance of clusters, as a share of that from which they are proven apart.
    distance: float = 0.3
    # Factor by which the gap must have fallen since the labels changed.
    fall: float = 0.1
    # The same for labels observed at every iteration, by the gap that step lengths predict.
    steady_fall: float = 0.02
    # Most further iterations for that, and as a share of those before.
    iterations: int = 75
    share: float = 0.5


SETTINGS = SettlingSettings()


class Settling:
    """A stopping rule: the labels are settled.

    Parameters
    ----------
    labels : (c,) ndarray of int
        Clusters of the groups at the start.
    tol : float
        Relative gap above which no labels are settled.
    """

    def __init__(self, labels: Labels, tol: float) -> None:
        self.labels, self.tol, self.changed_at = labels, tol, np.inf

    def __call__(self, problem: FusionProblem, point: Candidate, certificate: Certificate) -> bool:
        """Whether the labels are settled at a point with equal rows in every cluster."""
        if not np.array_equal(self.labels, point.labels):
            self.labels, self.changed_at = point.labels.copy(), certificate.gap
        if certificate.relative_gap > self.tol:
            return False
        steady = certificate.gap <= SETTINGS.fall * self.changed_at
        return steady and clear(problem, point.C, point.Y, point.labels, certificate)


class Unsteady:
    """Doubt about the clusters of a run: they changed of late, by the gap its steps predict.

    ``n_splits`` is how often groups were split since the first run at this lam: less and less is
    left to be settled.
    """

    def __init__(self, n_splits: int = 0) -> None:
        self.labels: Labels | None = None
        self.most = SETTINGS.iterations / 2.0**n_splits
        # Largest step length since the labels changed, and when doubt ends in any case.
        self.largest, self.end = 0.0, np.inf

    def observe(self, labels: Labels, move: float) -> None:
        """The clusters and the squared step length of an iteration."""
        if self.labels is None or not np.array_equal(self.labels, labels):
            self.labels, self.largest = labels, move
        self.largest = max(self.largest, move)

    def remains(self, n_iter: int, move: float) -> bool:
        """Whether to go on; the first call tells when the run came within its tolerance."""
        self.end = min(self.end, n_iter + self.most + SETTINGS.share * n_iter)
        steady = predicted_ratio(move, self.largest) <= SETTINGS.steady_fall
        return n_iter < self.end and not (steady and self.labels is not None)


def clear(
    problem: FusionProblem, C: FloatArray, Y: FloatArray, labels: Labels, certificate: Certificate
) -> bool:
    """Whether clusters hold together, and are apart, by a margin above the errors. O(E m)."""
    edges = problem.penalty.edges
    inside = np.flatnonzero(labels[edges.tail] == labels[edges.head])
    if inside.size:
        inner = edges.at(inside)
        radius = inner.soft + inner.block
        slack = ball_slack(Y[inside], inner.soft, inner.block)
        slack = np.divide(slack, radius, out=np.zeros(radius.size), where=radius > 0.0)
        least = slack[widest_tree(labels.size, inner, slack)].min()
        if least < SETTINGS.slack * np.sqrt(certificate.relative_gap):
            return False
    between = edges.at(np.flatnonzero(labels[edges.tail] != labels[edges.head]))
    gap = SETTINGS.distance**2 * max(certificate.gap, 0.0)
    return bool(proven_apart(problem.fidelity, C, between.tail, between.head, gap).all())
