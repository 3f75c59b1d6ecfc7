"""Plateaus of a path: ranges of lam without a change, the best of them, and prunings that last.

The score of a plateau is its width in log lam times its informative fraction: the fraction of nodes
that are neither singletons nor in the largest cluster. It is zero for all nodes apart, for one
cluster, and for one giant cluster surrounded by singletons, however wide these plateaus are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from convexhc._checks import TIE
from convexhc._types import FloatArray, IntArray, Labels
from convexhc.tree.cut import labels_after, large_counts, merges_for, roots_after
from convexhc.tree.nodes import Nodes


@dataclass(frozen=True)
class Plateau:
    """A range of lam over which the partition does not change.

    Parameters
    ----------
    n_clusters : int
        Number of clusters.
    lam_from, lam_to : float
        Where the partition appears, and where it changes or the path ends.
    log_width : float
        ``log(lam_to / lam_from)``, with the smallest positive lam of the path in place of a zero,
        so that it is always finite.
    """

    n_clusters: int
    lam_from: float
    lam_to: float
    log_width: float


class Candidate(NamedTuple):
    """A plateau, the number of merges at its coarse end, and its informative fraction."""

    plateau: Plateau
    merges: int
    informative: float

    @property
    def score(self) -> float:
        """Width in log lam times informative fraction."""
        return self.plateau.log_width * self.informative


def plateaus(nodes: Nodes, lambdas: FloatArray) -> tuple[Plateau, ...]:
    """Every range of lam without a change, from fine to coarse; see :meth:`Tree.plateaus`."""
    real_ends = nodes.level_ends[nodes.level_ends <= nodes.n_real]
    counts = nodes.level_counts[: real_ends.size]
    starts = np.append(lambdas[0], nodes.height[nodes.n_leaves + real_ends[1:] - 1])
    stops = np.append(starts[1:], lambdas[-1])
    positive = lambdas[lambdas > 0]
    floor = positive[0] if positive.size else 1.0
    widths = np.log(np.maximum(stops, floor)) - np.log(np.maximum(starts, floor))
    # If nodes are merged at the first lam already, the path has no level with all nodes apart.
    skipped = int(real_ends.size > 1 and starts[1] == lambdas[0])
    return tuple(
        Plateau(int(counts[at]), float(starts[at]), float(stops[at]), float(widths[at]))
        for at in range(skipped, real_ends.size)
    )


def suggest(nodes: Nodes, lambdas: FloatArray, min_size: int) -> tuple[Plateau, IntArray]:
    """The plateau with the largest score, and its labels; see :meth:`Tree.suggest`."""
    candidates = _candidates(nodes, lambdas, min_size)
    ranked = _ranked(candidates, nodes.n_leaves, lambdas[0])
    chosen = ranked[0] if ranked else candidates[-1]
    merges = chosen.merges
    if chosen.plateau.n_clusters == 0:
        # Every component is small: only the artificial merges form a large cluster.
        merges = merges_for(nodes, 1, min_size)
    return chosen.plateau, labels_after(nodes, merges, min_size, "nearest")


def notable_plateaus(nodes: Nodes, lambdas: FloatArray, count: int) -> tuple[Plateau, ...]:
    """The plateaus with the largest scores; see :meth:`Tree.notable_plateaus`."""
    ranked = _ranked(_candidates(nodes, lambdas, 1), nodes.n_leaves, lambdas[0])
    threshold = ranked[0].score / 2.0 if ranked else 0.0
    kept = [candidate.plateau for candidate in ranked[:count] if candidate.score > threshold]
    return tuple(sorted(kept, key=lambda plateau: plateau.lam_from))


def informative_fractions(nodes: Nodes) -> FloatArray:
    """Fraction of the leaves that are neither singletons nor in the largest cluster, per level."""
    first_merge = nodes.parent[:-1][: nodes.n_leaves] - nodes.n_leaves
    n_merged = np.cumsum(np.bincount(first_merge, minlength=nodes.n_merges))
    largest = np.maximum.accumulate(nodes.size[nodes.n_leaves :])
    informative = np.append(0, n_merged - largest)[nodes.level_ends]
    return np.asarray(informative / nodes.n_leaves, dtype=np.float64)


def _candidates(nodes: Nodes, lambdas: FloatArray, min_size: int) -> list[Candidate]:
    """Ranges of lam over which the number of clusters of ``min_size`` or more does not change.

    Small clusters that merge into large ones do not end a range; its partition is the coarsest.
    """
    found = plateaus(nodes, lambdas)
    n_levels = int(np.count_nonzero(nodes.level_ends <= nodes.n_real))
    levels = np.arange(n_levels - len(found), n_levels)
    counts = large_counts(nodes, min_size)[levels]
    fractions = informative_fractions(nodes)[levels]
    candidates = []
    for start, stop in _runs(counts):
        width = _width(found[start:stop])
        count, merges = int(counts[start]), int(nodes.level_ends[levels[stop - 1]])
        plateau = Plateau(count, found[start].lam_from, found[stop - 1].lam_to, width)
        informative = float(fractions[stop - 1])
        if min_size > 1:
            informative = 0.0
            if count > 1:
                sizes = np.bincount(labels_after(nodes, merges, min_size, "nearest"))
                # Every cluster is large here, so there are no singletons.
                informative = float((nodes.n_leaves - sizes.max()) / nodes.n_leaves)
        candidates.append(Candidate(plateau, merges, informative))
    return candidates


def _ranked(candidates: list[Candidate], n_leaves: int, first: float) -> list[Candidate]:
    """Candidates with 1 < n_clusters < n, best first; ties for the best go to the coarsest."""
    proper = [one for one in candidates if 1 < one.plateau.n_clusters < n_leaves]
    # A plateau that is there at the first lam has no known beginning, hence no known width.
    proper = [one for one in proper if one.plateau.lam_from > first] or proper
    scores = np.array([one.score for one in proper])
    if not scores.any():
        # Only singletons around one giant cluster: take the widest plateau.
        scores = np.array([one.plateau.log_width for one in proper])
    order = np.lexsort((-np.arange(scores.size), -scores)).tolist()
    if order:
        best = int(np.flatnonzero(scores >= scores.max() * (1 - TIE))[-1])
        order = [best, *(at for at in order if at != best)]
    return [proper[at] for at in order]


def lasting_prunings(
    nodes: Nodes,
    lambdas: FloatArray,
    pruning: Callable[[int], Labels],
    min_size: int,
    min_log_width: float,
) -> list[tuple[Plateau, Labels]]:
    """The widest plateau and the labels of every pruning that lasts, the widest first.

    Clusters of ``min_size`` or more count. A cut shows a pruning into k clusters if k clusters of
    the cut count, hold most of the nodes and lie in different clusters of the pruning. A plateau of
    the pruning is a range of lam over which every cut shows it: fewer and smaller clusters, which
    are there before its own have formed, are none of it. O(n log n) for each level with a number of
    clusters that lasts, and the prunings.
    """
    found = plateaus(nodes, lambdas)
    levels = np.flatnonzero(nodes.level_ends <= nodes.n_real)[-len(found) :]
    counts = large_counts(nodes, min_size)[levels]
    widest: dict[int, tuple[Plateau, Labels]] = {}
    for start, stop in _runs(counts):
        count = int(counts[start])
        if not 1 < count < nodes.n_leaves or _width(found[start:stop]) < min_log_width:
            continue
        labels = pruning(count)
        merges = nodes.level_ends[levels[start:stop]].tolist()
        shown = np.array([_shows(nodes, end, labels, min_size) for end in merges])
        for first, last in _runs(shown):
            part = found[start + first : start + last]
            best = widest[count][0].log_width if count in widest else 0.0
            if shown[first] and _width(part) >= max(min_log_width, best):
                plateau = Plateau(count, part[0].lam_from, part[-1].lam_to, _width(part))
                widest[count] = (plateau, labels)
    return sorted(widest.values(), key=lambda one: -one[0].log_width)


def _runs(values: NDArray[Any]) -> list[tuple[int, int]]:
    """Start and stop of every range of equal values."""
    changes = np.flatnonzero(values[1:] != values[:-1]) + 1
    return list(pairwise([0, *changes.tolist(), values.size]))


def _width(part: tuple[Plateau, ...]) -> float:
    return sum(plateau.log_width for plateau in part)


def _shows(nodes: Nodes, merges: int, labels: IntArray, min_size: int) -> bool:
    """Whether the cut after so many merges shows the partition; see `lasting_prunings`."""
    root = roots_after(nodes, merges)
    counted = nodes.size[root] >= min_size
    if 2 * np.count_nonzero(counted) <= nodes.n_leaves:
        return False
    count = int(labels.max()) + 1
    root, labels = root[counted], labels[counted]
    pairs = np.unique(root * count + labels)
    # As many pairs as clusters on either side: each cluster of one meets one of the other.
    return pairs.size == count == np.unique(root).size == np.unique(labels).size
