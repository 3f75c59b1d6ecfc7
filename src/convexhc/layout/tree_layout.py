"""Coordinates of a tree: branches of a dendrogram, whole or truncated, and nested rectangles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from convexhc._types import FloatArray, IntArray, Labels
from convexhc.tree import Tree
from convexhc.tree.cut import merges_for, roots_after


@dataclass(frozen=True, eq=False)
class Branches:
    """The part of a tree that a dendrogram shows; nodes are numbered as in ``tree.merges``."""

    leaves: IntArray  # nodes drawn as leaves, in leaf order; merges represent their subtrees
    merges: IntArray  # merges drawn with their children, children before parents
    children: list[list[int]]  # children of each drawn merge, in leaf order
    # Coordinate of each node along the leaf axis: 0, 1, ... for leaves, the midpoint of the
    # outermost children for a merge, NaN for nodes that are not drawn.
    position: FloatArray


def tree_branches(tree: Tree, *, max_leaves: int | None = None) -> Branches:
    """Lay out a tree, truncated to at most ``max_leaves`` leaves if given.

    A truncated tree starts at the finest level with at most ``max_leaves`` clusters; each of them
    becomes a leaf. O(n log n), without recursion.
    """
    nodes = tree.nodes
    n = nodes.n_leaves
    hidden = 0
    if max_leaves is not None and max_leaves < n:
        hidden = merges_for(nodes, max_leaves)
    leaves = np.unique(roots_after(nodes, hidden))
    leaves = leaves[np.argsort(nodes.place[leaves], kind="stable")]
    position = np.full(nodes.parent.size, np.nan)
    position[leaves] = np.arange(leaves.size)
    children = nodes.children[hidden:]
    for merge, below in enumerate(children, start=n + hidden):
        position[merge] = (position[below[0]] + position[below[-1]]) / 2.0
    return Branches(leaves, np.arange(n + hidden, nodes.parent.size), children, position)


@dataclass(frozen=True, eq=False)
class Rectangles:
    """Nested rectangles of a tree, one per node, leaves first, as in ``tree.merges``."""

    start: FloatArray  # range along the leaf axis, one unit per leaf
    stop: FloatArray
    lam_from: FloatArray  # range of lam over which the cluster exists; 0 for leaves
    lam_to: FloatArray  # infinity for the root


def tree_rectangles(tree: Tree) -> Rectangles:
    """Rectangles of an icicle plot; those that exist at any one lam tile the leaves. O(n)."""
    nodes = tree.nodes
    start = nodes.place.astype(np.float64)
    lam_to = np.append(nodes.height[nodes.parent[:-1]], np.inf)
    return Rectangles(start, start + nodes.size, nodes.height, lam_to)


def enclosing_cluster(tree: Tree, labels: Labels) -> IntArray:
    """Cluster of a cut or a pruning that contains each node; -1 above the clusters."""
    nodes = tree.nodes
    cluster = labels.tolist() + [None] * nodes.n_merges
    for node, parent in enumerate(nodes.parent[:-1].tolist()):
        known = cluster[parent]
        cluster[parent] = cluster[node] if known in (None, cluster[node]) else -1
    return np.array(cluster, dtype=np.int64)
