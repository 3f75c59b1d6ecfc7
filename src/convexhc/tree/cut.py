"""Horizontal cuts of a tree, with or without a minimum cluster size."""

from __future__ import annotations

from typing import Literal

import numpy as np

from convexhc._types import BoolArray, IntArray
from convexhc.kernels.labels import numbered_by_first
from convexhc.tree.nodes import Nodes, pointer_roots

Small = Literal["nearest", "noise"]


def merges_up_to(nodes: Nodes, lam: float) -> int:
    """Number of merges of the path up to and including lam; artificial ones do not count."""
    real = nodes.height[nodes.n_leaves : nodes.n_leaves + nodes.n_real]
    return int(np.searchsorted(real, lam, side="right"))


def merges_for(nodes: Nodes, n_clusters: int, min_size: int = 1) -> int:
    """Number of merges at the level with ``n_clusters`` clusters of ``min_size`` or more.

    With ``min_size = 1``, the finest level with at most ``n_clusters`` clusters. In general, the
    coarsest of all levels with the largest such number up to ``n_clusters``. Artificial levels are
    used only if the path never forms a large cluster, or ends with more than ``n_clusters`` of
    them.
    """
    if min_size > nodes.n_leaves:
        raise ValueError(
            f"min_cluster_size must be at most the number of nodes, {nodes.n_leaves}; "
            f"got {min_size}."
        )
    counts = large_counts(nodes, min_size)
    real = nodes.level_ends <= nodes.n_real
    in_range = (counts >= 1) & (counts <= n_clusters)
    allowed = real & in_range
    if counts[real][-1] > n_clusters or not allowed.any():
        allowed = ~real & in_range
    best = np.flatnonzero(allowed & (counts == counts[allowed].max()))
    return int(nodes.level_ends[best[-1]])


def large_counts(nodes: Nodes, min_size: int) -> IntArray:
    """Number of clusters of ``min_size`` or more at each level."""
    if min_size == 1:
        return nodes.level_counts
    large = (nodes.size >= min_size).astype(np.int64)
    large_children = np.bincount(
        nodes.parent[:-1] - nodes.n_leaves, weights=large[:-1], minlength=nodes.n_merges
    ).astype(np.int64)
    gained = np.cumsum(large[nodes.n_leaves :] - large_children)
    start = int(large[: nodes.n_leaves].sum())
    return np.asarray(start + np.concatenate([[0], gained])[nodes.level_ends], dtype=np.int64)


def roots_after(nodes: Nodes, merges: int) -> IntArray:
    """Root of each leaf after the first ``merges`` merges: the node of its cluster."""
    stop = nodes.n_leaves + merges
    parent = nodes.parent[:stop]
    merged = (parent >= 0) & (parent < stop)
    return pointer_roots(np.where(merged, parent, np.arange(stop)))[: nodes.n_leaves]


def labels_after(nodes: Nodes, merges: int, min_size: int, small: Small) -> IntArray:
    """Labels after the first ``merges`` merges; clusters below ``min_size`` become -1 or join."""
    root = roots_after(nodes, merges)
    if min_size == 1:
        return numbered_by_first(root)
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


def _nearest_large(nodes: Nodes, merges: int, root: IntArray, is_large: BoolArray) -> IntArray:
    """Rank of the large cluster that each node is assigned to.

    A small cluster joins the largest under its first ancestor that has any, of equal ones that with
    the smallest leaf.
    """
    stop = nodes.n_leaves + merges
    large = np.unique(root[is_large])
    large = large[np.lexsort((-nodes.first_leaf[large], nodes.size[large]))]
    rank = np.full(nodes.parent.size, -1, dtype=np.int64)
    rank[large] = np.arange(large.size)
    assigned, parent = rank.tolist(), nodes.parent.tolist()
    above_cut = [node for node in range(len(parent) - 1) if parent[node] >= stop]
    for node in above_cut:
        if assigned[node] > assigned[parent[node]]:
            assigned[parent[node]] = assigned[node]
    for node in reversed(above_cut):
        if assigned[node] < 0:
            assigned[node] = assigned[parent[node]]
    return np.array(assigned, dtype=np.int64)
