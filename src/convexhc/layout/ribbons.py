"""A flow between partitions: bars for their clusters, ribbons for the nodes they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from convexhc._types import FloatArray, IntArray

# Share of the height that all gaps of a level take together.
_ALL_GAPS = 0.25
# Largest single gap, as a share of the height.
_GAP = 0.02


@dataclass(frozen=True, eq=False)
class Bars:
    """Clusters of one level, in order: number, size, and range along the unit interval."""

    cluster: IntArray
    size: IntArray
    start: FloatArray
    stop: FloatArray


@dataclass(frozen=True, eq=False)
class Ribbons:
    """Nodes shared by clusters of two neighbouring levels.

    Parameters
    ----------
    source, target : (r,) int64 arrays
        Cluster on the left, and on the right.
    size : (r,) int64 array
        Number of nodes.
    left, right : (r,) float64 arrays
        Where each ribbon starts on either side.
    width : (r,) float64 array
        Its width, the same on both sides.
    """

    source: IntArray
    target: IntArray
    size: IntArray
    left: FloatArray
    right: FloatArray
    width: FloatArray


def partition_flow(
    partitions: Sequence[IntArray], order: IntArray
) -> tuple[list[Bars], list[Ribbons]]:
    """Bars and ribbons of some partitions, from the first to the last.

    Clusters stand in the order of the mean place of their nodes, and so do the ribbons of a
    cluster: in tree order, nested partitions cross nowhere.

    Parameters
    ----------
    partitions : sequence of (n,) int arrays
        Labels from 0 up.
    order : (n,) int array
        The node that stands in each place.

    Returns
    -------
    bars : list of Bars
        One for each partition; heights in proportion to sizes.
    ribbons : list of Ribbons
        One for each pair of neighbours. O(n log n) each.

    Examples
    --------
    >>> fine, coarse = np.array([0, 0, 1, 2]), np.array([0, 0, 0, 1])
    >>> bars, ribbons = partition_flow([fine, coarse], np.arange(4))
    >>> ribbons[0].source, ribbons[0].target, ribbons[0].size
    (array([0, 1, 2]), array([0, 0, 1]), array([2, 1, 1]))
    """
    place = np.empty(order.size, dtype=np.int64)
    place[order] = np.arange(order.size)
    most = max(int(labels.max()) + 1 for labels in partitions)
    # One scale for all levels, so that a ribbon is as wide on its left as on its right.
    gaps = min(_GAP * (most - 1), _ALL_GAPS)
    bars = [_bars(labels, place, gaps) for labels in partitions]
    flows = [
        _ribbons(partitions[at], partitions[at + 1], bars[at], bars[at + 1])
        for at in range(len(partitions) - 1)
    ]
    return bars, flows


def _bars(labels: IntArray, place: IntArray, gaps: float) -> Bars:
    size = np.bincount(labels)
    cluster = np.argsort(np.bincount(labels, weights=place) / size, kind="stable")
    size = size[cluster]
    height = size / labels.size * (1.0 - gaps)
    gap = min(gaps / max(cluster.size - 1, 1), _GAP)
    start = np.concatenate([[0.0], np.cumsum(height + gap)[:-1]])
    # A level with fewer gaps is shorter: it stands in the middle.
    start += (1.0 - (start[-1] + height[-1])) / 2.0
    return Bars(cluster, size, start, start + height)


def _ribbons(one: IntArray, other: IntArray, left: Bars, right: Bars) -> Ribbons:
    rank_one, rank_other = np.argsort(left.cluster), np.argsort(right.cluster)
    k = right.cluster.size
    # Sorted by the place on the left, then by that on the right.
    pair, size = np.unique(rank_one[one] * k + rank_other[other], return_counts=True)
    a, b = pair // k, pair % k
    width = size * ((left.stop - left.start)[0] / left.size[0])
    before = np.cumsum(width) - width
    at_left = left.start[a] + before - before[np.searchsorted(a, a)]
    by_right = np.lexsort((a, b))
    before = np.cumsum(width[by_right]) - width[by_right]
    at_right = np.empty(width.size)
    sorted_b = b[by_right]
    at_right[by_right] = (
        right.start[sorted_b] + before - before[np.searchsorted(sorted_b, sorted_b)]
    )
    return Ribbons(left.cluster[a], right.cluster[b], size, at_left, at_right, width)
