"""Multiscale representations of brain scans, and their similarity within subjects.

A representation is the matrix of distances between the 70 regions: between their centroids for the
convex path, cophenetic for a linkage. All scores depend only on the order of the distances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import squareform
from scipy.stats import rankdata

from convexhc._types import FloatArray, IntArray
from convexhc.api import solve_path
from convexhc.metrics import centroid_distances, cophenetic_distances, discriminability, kendall
from convexhc.similarity import two_hop
from experiments.paper.linkages import linkage_trees
from experiments.paper.neighbors import neighbors_that_differ
from experiments.results import FINE_GAP, Row, require_certified

# Two-hop similarities may be singular; this makes the minimiser unique.
SHIFT = 1e-3


@dataclass(frozen=True)
class Setting:
    """How streamline counts become a similarity, and which of its edges enter the penalty.

    ``strongest`` is the number of neighbours whose edges are kept, 0 for all.
    """

    name: str
    logarithm: bool = True
    strongest: int = 0


def represent(
    counts: FloatArray, logarithm: bool, strongest: int, lambdas: Sequence[float]
) -> list[dict[str, Any]]:
    """Every representation of one scan, its distances as dense ranks of the upper triangle."""
    K = two_hop(np.log1p(counts) if logarithm else counts, shift=SHIFT)
    path = solve_path(K, lambdas, weights=strongest or None, tol=FINE_GAP, keep="all")
    require_certified(path, "a scan", tol=FINE_GAP)
    found: list[dict[str, Any]] = [
        {
            "method": "convex",
            "lam": point.lam,
            "n_clusters": point.n_clusters,
            "effective_rank": point.effective_rank,
            "relative_gap": point.relative_gap,
            "ranks": _ranks(centroid_distances(path.centroids(point.lam), K.matrix)),
        }
        for point in path.levels
    ]
    for linkage, Z in linkage_trees(K).items():
        found.append({"method": linkage, "lam": 0.0, "ranks": _ranks(cophenetic_distances(Z))})
    return found


def compare(ranks: IntArray, k: int) -> dict[str, Any]:
    """Kendall correlations, and differing neighbours, between all scans in one representation.

    ``ranks`` has one row per scan. No correlations if a scan is fused into one point.
    """
    distances = [squareform(row).astype(np.float64) for row in ranks]
    return {"tau": correlations(distances), "differ": neighbors_that_differ(distances, k)}


def correlations(
    first: Sequence[FloatArray], second: Sequence[FloatArray] | None = None
) -> FloatArray:
    """Kendall correlation of every pair of distance matrices, of one kind or of two."""
    if second is not None:
        return np.array([[kendall(a, b) for b in second] for a in first])
    tau = np.eye(len(first))
    for i, a in enumerate(first):
        for j in range(i):
            tau[i, j] = tau[j, i] = kendall(a, first[j])
    return tau


def cross(first: IntArray, second: IntArray) -> FloatArray:
    """Kendall correlation between every scan in one representation and every scan in another."""
    return correlations(
        *([squareform(row).astype(np.float64) for row in ranks] for ranks in (first, second))
    )


class Draws(NamedTuple):
    """A statistic of the scans, and of resampled scans."""

    value: float
    draws: FloatArray

    def interval(self) -> tuple[float, float]:
        """Percentile interval of 95 %; NaN without values."""
        if np.isnan(self.draws).any():
            return float("nan"), float("nan")
        low, high = np.quantile(self.draws, [0.025, 0.975])
        return float(low), float(high)


def session_draws(subject: IntArray, n_draws: int, seed: int = 0) -> IntArray:
    """Counts of each scan when the scans of every subject are resampled with replacement.

    A subject with copies of a single scan has no pairs and is resampled.

    Returns
    -------
    (n_draws, m) array
        Rows sum to m, and to the number of scans of each subject over its scans.

    Examples
    --------
    >>> session_draws(np.array([1, 1, 2]), 2).sum(axis=1)
    array([3, 3])
    """
    rng = np.random.default_rng(seed)
    times = np.zeros((n_draws, subject.size), dtype=np.int64)
    for one in np.unique(subject):
        mine = np.flatnonzero(subject == one)
        share = np.full(mine.size, 1 / mine.size)
        drawn = rng.multinomial(mine.size, share, n_draws)
        while mine.size > 1 and (copies := (drawn > 0).sum(axis=1) == 1).any():
            drawn[copies] = rng.multinomial(mine.size, share, int(copies.sum()))
        times[:, mine] = drawn
    return times


def told_apart(distance: FloatArray, subject: IntArray, times: IntArray) -> Draws:
    """Discriminability, and the same with every scan counted ``times`` times.

    Two copies of one scan are not a pair: their distance is zero for any method.
    """
    if np.isnan(distance).any():
        return Draws(float("nan"), np.full(len(times), np.nan))
    same = subject[:, None] == subject[None, :]
    pairs = same & ~np.eye(subject.size, dtype=bool)
    closer = distance[:, :, None] < distance[:, None, :]
    tied = distance[:, :, None] == distance[:, None, :]
    # Entry (i, j, k): i and j of one subject, k of another; a tie counts half.
    won = (closer + 0.5 * tied) * pairs[:, :, None] * ~same[:, None, :]
    others = times @ ~same
    wins = np.einsum("bi,bj,ijk,bk->b", times / others, times, won, times, optimize=True)
    total = np.einsum("bi,bj,ij->b", times, times, pairs, optimize=True)
    return Draws(discriminability(distance, subject), wins / total)


def pair_mean(value: FloatArray, chosen: NDArray[np.bool_], times: IntArray) -> Draws:
    """Mean over the chosen pairs of scans, and the same with scans counted ``times`` times."""
    pairs = chosen & ~np.eye(len(value), dtype=bool)
    total = np.einsum("bi,bj,ij->b", times, times, pairs, optimize=True)
    sums = np.einsum("bi,bj,ij->b", times, times, value * pairs, optimize=True)
    return Draws(float(value[pairs].mean()), sums / total)


def summary(
    found: dict[str, Any], reference: dict[str, Any], subject: IntArray, times: IntArray
) -> Row:
    """Within and between subjects, discriminability, and the difference to single linkage."""
    same = subject[:, None] == subject[None, :]
    row: Row = {}
    both = []
    for matrices in (found, reference):
        tau, differ = (np.asarray(matrices[name]) for name in ("tau", "differ"))
        both.append(
            {
                "tau_within": pair_mean(tau, same, times),
                "tau_between": pair_mean(tau, ~same, times),
                "discriminability": told_apart(1.0 - tau, subject, times),
                "differ_within": pair_mean(differ, same, times),
                "differ_between": pair_mean(differ, ~same, times),
            }
        )
    for name, ours in both[0].items():
        row[name] = ours.value
        row[f"{name}_low"], row[f"{name}_high"] = ours.interval()
        theirs = both[1][name]
        gap = Draws(ours.value - theirs.value, ours.draws - theirs.draws)
        row[f"{name}_minus_single"] = gap.value
        row[f"{name}_minus_single_low"], row[f"{name}_minus_single_high"] = gap.interval()
    return row


def _ranks(distance: FloatArray) -> IntArray:
    return rankdata(squareform(distance, checks=False), method="dense").astype(np.int64)
