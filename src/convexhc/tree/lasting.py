"""Prunings of a tree that last: the range of lam over which its cuts show them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexhc._types import FloatArray, IntArray, Labels
from convexhc.tree.cut import large_counts, roots_after
from convexhc.tree.nodes import Nodes
from convexhc.tree.plateaus import Plateau, plateaus


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
