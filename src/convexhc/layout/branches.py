"""The tree as a drawing: branches of a dendrogram, whole or truncated, and nested rectangles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from convexhc._types import FloatArray, IntArray
from convexhc.tree import Tree
from convexhc.tree.cut import merges_for, roots_after
from convexhc.tree.dendrogram import leaf_places


@dataclass(frozen=True, eq=False)
class Branches:
    """What a dendrogram shows of a tree; nodes are numbered as in ``tree.merges``.

    Parameters
    ----------
    leaves : (p,) int64 array
        Nodes drawn as leaves, in order across; those that are merges stand for all below them.
    merges : (q,) int64 array
        Merges drawn as such, children before parents; the root, if any, is the last.
    children : list of q lists
        Children of each drawn merge, in order across.
    across : (n + m,) float64 array
        Position of each drawn node: 0, 1, ... for leaves, the middle of its children for a merge;
        NaN for what is not drawn.
    """

    leaves: IntArray
    merges: IntArray
    children: list[list[int]]
    across: FloatArray


def tree_branches(tree: Tree, *, max_leaves: int | None = None) -> Branches:
    """Lay out a tree, or its top when it has more leaves than can be drawn.

    The top is the finest level with at most ``max_leaves`` clusters; each becomes a leaf. Merges
    of many clusters stay one merge.

    Parameters
    ----------
    tree : Tree
        The tree of a path.
    max_leaves : int, optional
        At least 1; by default everything is shown.

    Returns
    -------
    Branches
        O(n log n), without recursion.

    Examples
    --------
    >>> tree = Tree.from_partitions([1.0, 2.0], [[0, 0, 1, 1, 2], [0, 0, 0, 0, 0]])
    >>> shown = tree_branches(tree, max_leaves=3)
    >>> shown.leaves, shown.children, shown.across[shown.merges]
    (array([5, 6, 4]), [[5, 6, 4]], array([1.]))
    """
    nodes = tree.nodes
    n = nodes.n_leaves
    hidden = 0
    if max_leaves is not None and max_leaves < n:
        hidden = merges_for(nodes, max_leaves)
    leaves = np.unique(roots_after(nodes, hidden))
    leaves = leaves[np.argsort(leaf_places(nodes)[leaves], kind="stable")]
    across = np.full(nodes.parent.size, np.nan)
    across[leaves] = np.arange(leaves.size)
    children = nodes.children[hidden:]
    for at, below in enumerate(children):
        across[n + hidden + at] = (across[below[0]] + across[below[-1]]) / 2.0
    return Branches(leaves, np.arange(n + hidden, nodes.parent.size), children, across)


@dataclass(frozen=True, eq=False)
class Rectangles:
    """Nested rectangles of a tree, one per node, leaves first, as in ``tree.merges``.

    Parameters
    ----------
    start, stop : (n + m,) float64 arrays
        Range across: one unit for each leaf.
    lam_from, lam_to : (n + m,) float64 arrays
        From the fusion that makes a cluster to the one that takes it in; 0 for leaves, and
        infinity for the root.
    """

    start: FloatArray
    stop: FloatArray
    lam_from: FloatArray
    lam_to: FloatArray


def tree_rectangles(tree: Tree) -> Rectangles:
    """Rectangles of an icicle: across its leaves, along the lam for which a cluster lives.

    Parameters
    ----------
    tree : Tree
        The tree of a path.

    Returns
    -------
    Rectangles
        O(n). Those that live at one lam tile the leaves.

    Examples
    --------
    >>> tree = Tree.from_partitions([1.0, 2.0], [[0, 0, 1], [0, 0, 0]])
    >>> tree_rectangles(tree).lam_to
    array([ 1.,  1.,  2.,  2., inf])
    """
    nodes = tree.nodes
    start = leaf_places(nodes).astype(np.float64)
    above = np.append(nodes.height[nodes.parent[:-1]], np.inf)
    return Rectangles(start, start + nodes.size, nodes.height, above)


def inside_cluster(tree: Tree, labels: IntArray) -> IntArray:
    """Cluster of a cut that each node of the tree lies in; -1 for what is above the cut.

    Parameters
    ----------
    tree : Tree
        The tree of a path.
    labels : (n,) int array
        A cut of that tree, labelled from 0 up.

    Returns
    -------
    (n + m,) int64 array
        O(n).

    Examples
    --------
    >>> tree = Tree.from_partitions([1.0, 2.0], [[0, 0, 1], [0, 0, 0]])
    >>> inside_cluster(tree, tree.labels(n_clusters=2))
    array([ 0,  0,  1,  0, -1])
    """
    nodes = tree.nodes
    cluster = labels[nodes.first_leaf]
    return np.where(nodes.size <= np.bincount(labels)[cluster], cluster, -1)
