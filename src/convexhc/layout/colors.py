"""Which cluster wears which colour: the same one at every level of a path."""

from __future__ import annotations

import numpy as np

from convexhc._types import IntArray
from convexhc.layout.palette import neutral, palette
from convexhc.tree import Tree


def color_ranks(tree: Tree) -> IntArray:
    """Rank of each node in the queue for colours; a cluster wears that of its first member there.

    Where clusters fuse, the largest one (of equal ones, that with the smallest node) passes its
    colour on and the others give theirs up. Those that give it up last come first, so a cut in k
    clusters uses the first colours of the palette, and a cluster keeps its colour from level to
    level until a larger one takes it in. Nodes that are never the largest come last.

    Parameters
    ----------
    tree : Tree
        The tree of a path.

    Returns
    -------
    (n,) int64 array
        A permutation of ``0 .. n - 1``; see :func:`cluster_ranks`. O(n log n).

    Examples
    --------
    >>> tree = Tree.from_partitions([1.0, 2.0], [[0, 1, 1, 2, 2, 2], [0, 0, 0, 1, 1, 1]])
    >>> color_ranks(tree)
    array([2, 0, 3, 1, 4, 5])
    """
    nodes = tree.nodes
    n = nodes.n_leaves
    by_parent = np.lexsort((nodes.first_leaf[:-1], -nodes.size[:-1], nodes.parent[:-1]))
    starts = np.concatenate([[0], np.cumsum(nodes.n_children)[:-1]]).astype(np.int64)
    heavy = np.zeros(nodes.parent.size, dtype=bool)
    heavy[by_parent[starts] if nodes.n_merges else []] = True
    heavy[-1] = True
    # From the top down, each node learns the node where the colour it wears is given up.
    top = np.arange(nodes.parent.size)
    for node in range(nodes.parent.size - 2, -1, -1):
        if heavy[node]:
            top[node] = top[nodes.parent[node]]
    ends = top[:n]
    above = nodes.parent[ends]
    given_up = np.where(above >= 0, nodes.height[above], np.inf)
    alone = ends == np.arange(n)
    order = np.lexsort((nodes.first_leaf[ends], -nodes.size[ends], -given_up, alone))
    ranks = np.empty(n, dtype=np.int64)
    ranks[order] = np.arange(n)
    return ranks


def ranks_by_size(labels: IntArray) -> IntArray:
    """Queue for the colours of a single partition: large clusters first; O(n log n).

    Examples
    --------
    >>> ranks_by_size(np.array([0, 1, 1, 2]))
    array([2, 0, 1, 3])
    """
    _, inverse, counts = np.unique(labels, return_inverse=True, return_counts=True)
    order = np.lexsort((np.arange(labels.size), inverse, -counts[inverse]))
    ranks = np.empty(labels.size, dtype=np.int64)
    ranks[order] = np.arange(labels.size)
    return ranks


def cluster_ranks(labels: IntArray, ranks: IntArray) -> IntArray:
    """Place in the palette of each cluster of a partition; -1 for clusters of one node.

    Parameters
    ----------
    labels : (n,) int array
        Clusters 0, 1, ...; negative labels are noise and have no cluster.
    ranks : (n,) int array
        From :func:`color_ranks`, or :func:`ranks_by_size`.

    Returns
    -------
    (k,) int64 array
        The smallest rank among the members, so different clusters have different places,
        whether or not they are clusters of the tree. O(n).

    Examples
    --------
    >>> cluster_ranks(np.array([0, 0, 1, 2, 2]), np.array([4, 0, 2, 3, 1]))
    array([ 0, -1,  1])
    """
    inside = labels >= 0
    k = int(labels.max()) + 1 if inside.any() else 0
    found = np.full(k, labels.size, dtype=np.int64)
    np.minimum.at(found, labels[inside], ranks[inside])
    found[np.bincount(labels[inside], minlength=k) < 2] = -1
    return found


def node_colors(labels: IntArray, ranks: IntArray, *, dark: bool = False) -> list[str]:
    """Colour of every node: that of its cluster, neutral for single nodes and noise.

    Examples
    --------
    >>> node_colors(np.array([0, 0, 1]), np.arange(3))
    ['#0072b2', '#0072b2', '#9a9a9a']
    """
    worn = [*colors_of(cluster_ranks(labels, ranks), dark=dark), neutral(dark=dark)]
    return [worn[label] for label in np.maximum(labels, -1)]


def colors_of(places: IntArray, *, dark: bool = False) -> list[str]:
    """Colours at some places of the palette; neutral at -1."""
    worn = palette(int(places.max(initial=-1)) + 1, dark=dark)
    return [worn[at] if at >= 0 else neutral(dark=dark) for at in places]
