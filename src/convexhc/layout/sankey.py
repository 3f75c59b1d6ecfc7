"""Geometry of a Sankey diagram: bars for the clusters, ribbons for the nodes they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from convexhc._types import FloatArray, IntArray, Labels


@dataclass(frozen=True, eq=False)
class Bars:
    """Clusters of one level, in order from top to bottom."""

    cluster: IntArray
    size: IntArray
    start: FloatArray  # range within the unit interval
    stop: FloatArray


@dataclass(frozen=True, eq=False)
class Ribbons:
    """Nodes shared by clusters of two neighbouring levels, one ribbon per pair of clusters."""

    source: IntArray  # cluster on the left
    target: IntArray  # cluster on the right
    size: IntArray  # number of shared nodes
    left: FloatArray  # start of the ribbon on the left
    right: FloatArray  # start of the ribbon on the right
    width: FloatArray  # the same on both sides


def partition_flow(
    partitions: Sequence[Labels], order: IntArray
) -> tuple[list[Bars], list[Ribbons]]:
    """Bars of each partition, and ribbons between neighbouring ones. O(n log n) each.

    Clusters are sorted by the mean position of their nodes in ``order``, and so are the ribbons of
    each cluster: in tree order, ribbons of nested partitions do not cross.
    """
    position = np.argsort(order)
    most_clusters = max(int(labels.max()) + 1 for labels in partitions)
    # Between two bars at most 2 % of the height, in all at most a quarter. All levels share one
    # scale, so that a ribbon has the same width at both ends.
    max_gap = 0.02
    total_gap = min(max_gap * (most_clusters - 1), 0.25)
    bars = [_bars(labels, position, total_gap, max_gap) for labels in partitions]
    ribbons = [
        _ribbons(partitions[at], partitions[at + 1], bars[at], bars[at + 1])
        for at in range(len(partitions) - 1)
    ]
    return bars, ribbons


def _bars(labels: Labels, position: IntArray, total_gap: float, max_gap: float) -> Bars:
    size = np.bincount(labels)
    cluster = np.argsort(np.bincount(labels, weights=position) / size, kind="stable")
    size = size[cluster]
    height = size / labels.size * (1.0 - total_gap)
    gap = min(total_gap / max(cluster.size - 1, 1), max_gap)
    start = np.concatenate([[0.0], np.cumsum(height + gap)[:-1]])
    # Levels with fewer gaps are shorter and are centred.
    start += (1.0 - (start[-1] + height[-1])) / 2.0
    return Bars(cluster, size, start, start + height)


def _ribbons(fine: Labels, coarse: Labels, left: Bars, right: Bars) -> Ribbons:
    left_rank, right_rank = np.argsort(left.cluster), np.argsort(right.cluster)
    k = right.cluster.size
    # Sorted by position on the left, then on the right.
    pair, size = np.unique(left_rank[fine] * k + right_rank[coarse], return_counts=True)
    a, b = pair // k, pair % k
    width = size * ((left.stop - left.start)[0] / left.size[0])
    by_right = np.lexsort((a, b))
    right_start = np.empty(width.size)
    right_start[by_right] = _stacked(right, b[by_right], width[by_right])
    return Ribbons(
        left.cluster[a], right.cluster[b], size, _stacked(left, a, width), right_start, width
    )


def _stacked(bars: Bars, bar: IntArray, width: FloatArray) -> FloatArray:
    """Start of each ribbon when the ribbons of each bar are stacked; ``bar`` is sorted."""
    before = np.cumsum(width) - width
    return np.asarray(bars.start[bar] + before - before[np.searchsorted(bar, bar)])
