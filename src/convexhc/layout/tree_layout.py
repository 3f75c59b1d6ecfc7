"""Coordinates of a tree: a dendrogram, nested rectangles, and small trees that are drawn alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from convexhc._types import FloatArray, IntArray, Labels
from convexhc.tree import Tree
from convexhc.tree.cut import merges_for, roots_after
from convexhc.tree.nodes import Nodes

# Room below the first merge, for the leaves, and above the last that the path reached.
_MARGIN = 0.06


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


@dataclass(frozen=True, eq=False)
class SmallTree:
    """A tree whose leaves follow a common order as far as its clades allow."""

    place: IntArray  # first place of each of the n + m nodes along the leaf axis, as in `Nodes`
    height: FloatArray  # 0 for leaves, else log lam, scaled to 1 at the last merge
    purity: FloatArray  # largest share of the leaves below that one cluster of the reference has
    cluster: IntArray  # that cluster


def small_tree(nodes: Nodes, rank: FloatArray, clusters: Labels) -> SmallTree:
    """Lay out a tree after a reference: children in the order of the mean ``rank`` of their leaves.

    ``clusters`` are those of the reference, for the colours. O((n + m) c) for c of them.
    """
    counts = nodes.subtree_sums(np.eye(int(clusters.max()) + 1)[clusters])
    mean = (nodes.subtree_sums(np.asarray(rank, dtype=np.float64)) / nodes.size).tolist()
    return SmallTree(
        nodes.places([sorted(below, key=mean.__getitem__) for below in nodes.children]),
        relative_heights(nodes),
        counts.max(axis=1) / nodes.size,
        counts.argmax(axis=1),
    )


def relative_heights(nodes: Nodes) -> FloatArray:
    """Heights from 0 to 1, on a logarithmic scale of lam; see `SmallTree`."""
    n = nodes.n_leaves
    found = np.zeros(nodes.parent.size)
    found[n + nodes.n_real :] = 1.0
    real = nodes.height[n : n + nodes.n_real]
    positive = real[real > 0]
    if positive.size:
        low, high = np.log(positive[0]), np.log(positive[-1])
        logs = np.log(np.maximum(real, positive[0]))
        share = (logs - low) / (high - low) if high > low else np.ones(real.size)
        found[n : n + nodes.n_real] = _MARGIN + (1.0 - 2.0 * _MARGIN) * share
    return found


def depth_heights(nodes: Nodes) -> FloatArray:
    """Heights from 0 to 1 by depth alone: leaves at 0, the root at 1."""
    depth = [0] * nodes.parent.size
    for node, parent in enumerate(nodes.parent[:-1].tolist()):
        depth[parent] = max(depth[parent], depth[node] + 1)
    return np.array(depth, dtype=np.float64) / max(depth[-1], 1)
