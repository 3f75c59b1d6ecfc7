"""Multiscale representations of brain scans, and their similarity within subjects.

A representation is the matrix of distances between the 70 regions: between their centroids for the
convex path, cophenetic for a linkage. All scores depend only on the order of the distances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from convexhc import Cohort
from convexhc._types import FloatArray, IntArray
from convexhc.cohort.distances import node_distances
from convexhc.metrics import cophenetic_distances, kendall_matrix, neighbor_matrix
from convexhc.metrics.repeated import Draws, discriminability_draws, mean_draws
from convexhc.similarity import Similarity, two_hop
from experiments.paper.linkages import LINKAGES, linkage_trees
from experiments.results import Row

# Two-hop similarities may be singular; this makes the minimiser unique.
SHIFT = 1e-3

Name = tuple[str, float]


@dataclass(frozen=True)
class Setting:
    """How streamline counts become a similarity, and which of its edges enter the penalty.

    ``strongest`` is the number of neighbours whose edges are kept, 0 for all.
    """

    name: str
    logarithm: bool = True
    strongest: int = 0

    def similarity(self, counts: FloatArray) -> Similarity:
        """The two-hop similarity of a scan."""
        return two_hop(np.log1p(counts) if self.logarithm else counts, shift=SHIFT)


class Compared(NamedTuple):
    """Kendall correlations and differing neighbours between all scans in one representation."""

    tau: FloatArray
    differ: FloatArray


def compare_paths(cohort: Cohort, lambdas: Sequence[float], k: int) -> dict[Name, Compared]:
    """All scans compared by their centroids, at every lam."""
    return {
        ("convex", lam): Compared(
            1.0 - cohort.distances("centroid", lam=lam).matrix,
            cohort.distances("neighbors", lam=lam, n_neighbors=k).matrix,
        )
        for lam in lambdas
    }


def compare_linkages(similarities: Sequence[Similarity], k: int) -> dict[Name, Compared]:
    """All scans compared by the cophenetic distances of every linkage."""
    trees = [linkage_trees(K) for K in similarities]
    found: dict[Name, Compared] = {}
    for linkage in LINKAGES:
        distances = [cophenetic_distances(each[linkage]) for each in trees]
        tau = kendall_matrix([upper_triangle(each) for each in distances])
        found[linkage, 0.0] = Compared(tau, neighbor_matrix(distances, k))
    return found


def cross(cohort: Cohort, lam: float, similarities: Sequence[Similarity]) -> FloatArray:
    """Correlation between every scan on the convex path and every scan in single linkage."""
    convex = [upper_triangle(node_distances(path, lam)) for path in cohort.paths.values()]
    single = [
        upper_triangle(cophenetic_distances(linkage_trees(K)["single"])) for K in similarities
    ]
    return kendall_matrix([*convex, *single])[: len(convex), len(convex) :]


def upper_triangle(distance: FloatArray) -> FloatArray:
    """The distances of all pairs."""
    return distance[np.triu_indices(len(distance), 1)]


def summary(found: Compared, reference: Compared, subject: IntArray, times: IntArray) -> Row:
    """Within and between subjects, discriminability, and the difference to single linkage."""
    same = subject[:, None] == subject[None, :]
    row: Row = {}
    ours, theirs = (
        {
            "tau_within": mean_draws(tau, same, times),
            "tau_between": mean_draws(tau, ~same, times),
            "discriminability": discriminability_draws(1.0 - tau, subject, times),
            "differ_within": mean_draws(differ, same, times),
            "differ_between": mean_draws(differ, ~same, times),
        }
        for tau, differ in (found, reference)
    )
    for name, own in ours.items():
        row[name] = own.value
        row[f"{name}_low"], row[f"{name}_high"] = own.interval()
        gap = Draws(own.value - theirs[name].value, own.draws - theirs[name].draws)
        row[f"{name}_minus_single"] = gap.value
        row[f"{name}_minus_single_low"], row[f"{name}_minus_single_high"] = gap.interval()
    return row
