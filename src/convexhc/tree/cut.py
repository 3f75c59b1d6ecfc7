"""Flat clusters of a tree: plain cuts, condensed cuts, and the plateaus between them."""

from __future__ import annotations

from typing import Literal, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from convexhc._checks import check_one_of, checked_count, checked_number
from convexhc._types import FloatArray, IntArray
from convexhc.kernels.labels import numbered_by_first
from convexhc.tree.build import checked_linkage
from convexhc.tree.nodes import Nodes, follow
from convexhc.tree.records import Plateau

Small = Literal["nearest", "noise"]


def cut_linkage(
    Z: ArrayLike, *, n_clusters: SupportsIndex | None = None, height: float | None = None
) -> IntArray:
    """Flat clusters of a linkage, by number or by height, without recursion.

    By height: the rows with ``Z[i, 2] <= height`` are done. By number: rows are done until at
    most ``n_clusters`` clusters are left, and rows of equal height are done together, so ties
    are never broken by the order of the nodes.

    Parameters
    ----------
    Z : (n - 1, 4) array
        Linkage in scipy's form whose heights never fall. Leaf counts are not read.
    n_clusters : int, optional
        The largest number of clusters wanted.
    height : float, optional
        The height to cut at, nonnegative. Give either this or ``n_clusters``.

    Returns
    -------
    (n,) int64 array
        Labels 0, 1, ... in the order in which they first occur. O(n log n) time.

    Raises
    ------
    ValueError
        Both or none of the two given, one of them out of range, or not such a linkage.

    Examples
    --------
    >>> cut_linkage([[0, 1, 1.0, 2], [2, 3, 2.0, 3]], n_clusters=2)
    array([0, 0, 1])
    """
    rows = checked_linkage(Z)
    n_rows = rows.shape[0]
    check_one_of("n_clusters", n_clusters, "height", height)
    if n_clusters is not None:
        done = max(n_rows + 1 - checked_count("n_clusters", n_clusters), 0)
        if done:
            done = int(np.searchsorted(rows[:, 2], rows[done - 1, 2], side="right"))
    else:
        top = checked_number("height", height, finite=False)
        done = int(np.searchsorted(rows[:, 2], top, side="right"))
    pointer = np.arange(n_rows + 1 + done)
    ids = rows[:done, :2].astype(np.int64)
    pointer[ids] = pointer[n_rows + 1 :, None]
    return numbered_by_first(follow(pointer)[: n_rows + 1])


def merges_up_to(nodes: Nodes, lam: float) -> int:
    """Number of merges that the path showed up to lam, itself included."""
    shown = nodes.height[nodes.n_leaves : nodes.n_leaves + nodes.n_real]
    return int(np.searchsorted(shown, lam, side="right"))


def merges_for(nodes: Nodes, n_clusters: int) -> int:
    """Number of merges at the finest level with at most ``n_clusters`` clusters."""
    return int(nodes.level_ends[np.argmax(nodes.level_counts <= n_clusters)])


def merges_for_large(nodes: Nodes, n_clusters: int, min_size: int) -> int:
    """Number of merges at the level with ``n_clusters`` clusters of ``min_size`` or more.

    Of all levels with the largest such number up to ``n_clusters``, the coarsest, which leaves
    the fewest nodes in small clusters. Levels that only close the tree are used when the path
    has none to offer: when it ends with more large clusters than asked for (finer levels would
    come closer only by dissolving some of them), or never forms a large one.
    """
    if min_size > nodes.n_leaves:
        raise ValueError(
            f"min_cluster_size must be at most the number of nodes, {nodes.n_leaves}; "
            f"got {min_size}."
        )
    counts = large_counts(nodes, min_size)
    shown = nodes.level_ends <= nodes.n_real
    allowed = shown & (counts >= 1) & (counts <= n_clusters)
    if counts[shown][-1] > n_clusters or not allowed.any():
        allowed = ~shown & (counts >= 1) & (counts <= n_clusters)
    best = np.flatnonzero(allowed & (counts == counts[allowed].max()))
    return int(nodes.level_ends[best[-1]])


def large_counts(nodes: Nodes, min_size: int) -> IntArray:
    """Number of clusters of ``min_size`` or more at each level."""
    large = (nodes.size >= min_size).astype(np.int64)
    inside = np.bincount(
        nodes.parent[:-1] - nodes.n_leaves, weights=large[:-1], minlength=nodes.n_merges
    ).astype(np.int64)
    gained = np.cumsum(large[nodes.n_leaves :] - inside)
    start = int(large[: nodes.n_leaves].sum())
    return np.asarray(start + np.concatenate([[0], gained])[nodes.level_ends], dtype=np.int64)


def roots_after(nodes: Nodes, merges: int) -> IntArray:
    """The node that stands for the cluster of each leaf once the first ``merges`` are done."""
    stop = nodes.n_leaves + merges
    above = nodes.parent[:stop]
    joined = (above >= 0) & (above < stop)
    return follow(np.where(joined, above, np.arange(stop)))[: nodes.n_leaves]


def large_labels(nodes: Nodes, merges: int, min_size: int, small: Small) -> IntArray:
    """Labels after some merges, with the clusters below ``min_size`` marked -1 or handed on."""
    root = roots_after(nodes, merges)
    is_large = nodes.size[root] >= min_size
    if small == "nearest":
        if not is_large.any():
            raise ValueError(
                f"No cluster has {min_size} or more members here, so the small ones have none to "
                'join. Raise lam, lower min_cluster_size, or take small="noise".'
            )
        return numbered_by_first(_nearest_large(nodes, merges, root, is_large)[root])
    labels = np.full(nodes.n_leaves, -1, dtype=np.int64)
    labels[is_large] = numbered_by_first(root[is_large])
    return labels


def _nearest_large(
    nodes: Nodes, merges: int, root: IntArray, is_large: NDArray[np.bool_]
) -> IntArray:
    """Rank of the large cluster that each node goes to.

    A small cluster climbs to the first ancestor with a large cluster under it, and goes to the
    largest of those it meets there (of equal ones, the one with the smallest leaf).
    """
    stop = nodes.n_leaves + merges
    large = np.unique(root[is_large])
    large = large[np.lexsort((-nodes.first_leaf[large], nodes.size[large]))]
    rank = np.full(nodes.parent.size, -1, dtype=np.int64)
    rank[large] = np.arange(large.size)
    goes_to, parent = rank.tolist(), nodes.parent.tolist()
    above_cut = [node for node in range(len(parent) - 1) if parent[node] >= stop]
    for node in above_cut:
        if goes_to[node] > goes_to[parent[node]]:
            goes_to[parent[node]] = goes_to[node]
    for node in reversed(above_cut):
        if goes_to[node] < 0:
            goes_to[node] = goes_to[parent[node]]
    return np.array(goes_to, dtype=np.int64)


def plateaus(nodes: Nodes, lambdas: FloatArray) -> tuple[Plateau, ...]:
    """Every range of lam without a change, from fine to coarse; see :meth:`Tree.plateaus`."""
    shown = nodes.level_ends[nodes.level_ends <= nodes.n_real]
    counts = nodes.level_counts[: shown.size]
    starts = np.append(lambdas[0], nodes.height[nodes.n_leaves + shown[1:] - 1])
    stops = np.append(starts[1:], lambdas[-1])
    positive = lambdas[lambdas > 0]
    floor = positive[0] if positive.size else 1.0
    widths = np.log(np.maximum(stops, floor)) - np.log(np.maximum(starts, floor))
    # The leaves are a level of the tree, but of the path only if it once showed them apart.
    skipped = int(shown.size > 1 and starts[1] == lambdas[0])
    return tuple(
        Plateau(int(counts[at]), float(starts[at]), float(stops[at]), float(widths[at]))
        for at in range(skipped, shown.size)
    )
