"""Where everything goes: leaf order, binary linkage, drawing coordinates, join heights."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from convexhc._types import FloatArray, IntArray
from convexhc.tree.build import checked_linkage
from convexhc.tree.nodes import Nodes
from convexhc.tree.records import Layout


def leaf_places(nodes: Nodes) -> IntArray:
    """Place of the first leaf of each node when leaves are laid out with clusters contiguous.

    Children follow each other in the order of their first leaves.
    """
    place = [0] * nodes.parent.size
    size = nodes.size.tolist()
    for merge in range(nodes.n_merges - 1, -1, -1):
        at = place[nodes.n_leaves + merge]
        for child in nodes.children[merge]:
            place[child] = at
            at += size[child]
    return np.array(place, dtype=np.int64)


def leaf_order(nodes: Nodes) -> IntArray:
    """Leaves from left to right."""
    order = np.empty(nodes.n_leaves, dtype=np.int64)
    order[leaf_places(nodes)[: nodes.n_leaves]] = np.arange(nodes.n_leaves)
    return order


def linkage(nodes: Nodes) -> FloatArray:
    """Binary linkage of a tree in scipy's form, (n - 1, 4), several children at equal heights.

    Neighbouring children are paired, then the pairs, and so on: k children need a depth of only
    log2(k), which keeps recursive readers of a linkage alive. The child with the smaller leaf
    comes first, so leaf orders read off the linkage agree with :func:`leaf_order`.
    """
    n = nodes.n_leaves
    made = list(range(nodes.parent.size))
    sizes = [1] * n
    heights = nodes.height.tolist()
    rows: list[tuple[int, int, float, int]] = []
    for merge, children in enumerate(nodes.children):
        height = heights[n + merge]
        line = [made[child] for child in children]
        while len(line) > 1:
            paired = []
            for a, b in zip(line[::2], line[1::2], strict=False):
                paired.append(n + len(rows))
                sizes.append(sizes[a] + sizes[b])
                rows.append((a, b, height, sizes[-1]))
            line = paired + line[2 * len(paired) :]
        made[n + merge] = line[0]
    return np.array(rows, dtype=np.float64).reshape(n - 1, 4)


def dendrogram_layout(Z: ArrayLike) -> Layout:
    """Coordinates to draw a linkage as a dendrogram, without recursion.

    Leaves stand at 0, 1, ..., n - 1 in the order of scipy's ``leaves_list``: the first node of a
    row goes to the left. A node stands in the middle of its two children.

    Parameters
    ----------
    Z : (n - 1, 4) array
        Linkage in scipy's form whose heights never fall. Leaf counts are not read.

    Returns
    -------
    Layout
        Leaf order, node positions and one bracket per row; O(n) time.

    Raises
    ------
    ValueError
        Not such a linkage.

    Examples
    --------
    >>> layout = dendrogram_layout([[1, 2, 1.0, 2], [0, 3, 2.0, 3]])
    >>> layout.leaf_order, layout.icoord[1], layout.dcoord[1]
    (array([0, 1, 2]), array([0. , 0. , 1.5, 1.5]), array([0., 2., 2., 1.]))
    """
    rows = checked_linkage(Z)
    n = rows.shape[0] + 1
    ids = rows[:, :2].astype(np.int64)
    pairs = ids.tolist()
    size = [1] * n
    for a, b in pairs:
        size.append(size[a] + size[b])
    place = [0] * (2 * n - 1)
    for node in range(2 * n - 2, n - 1, -1):
        a, b = pairs[node - n]
        place[a] = place[node]
        place[b] = place[node] + size[a]
    x = [float(at) for at in place[:n]]
    for a, b in pairs:
        x.append((x[a] + x[b]) / 2)
    order = np.empty(n, dtype=np.int64)
    order[place[:n]] = np.arange(n)
    across = np.array(x)
    height = np.concatenate([np.zeros(n), rows[:, 2]])
    a_ids, b_ids = ids.T
    return Layout(
        leaf_order=order,
        x=across,
        height=height,
        icoord=np.column_stack([across[a_ids], across[a_ids], across[b_ids], across[b_ids]]),
        dcoord=np.column_stack([height[a_ids], rows[:, 2], rows[:, 2], height[b_ids]]),
    )


def cophenetic(nodes: Nodes) -> FloatArray:
    """Height at which each pair of leaves joins, condensed as scipy's ``pdist``.

    With the leaves in their order, a pair joins at the largest of the heights at which the
    neighbours between them join; one running maximum per leaf, O(n^2) in all.
    """
    n = nodes.n_leaves
    places = leaf_places(nodes)
    gap = np.zeros(n)
    inner = np.arange(nodes.parent.size - 1)
    # The gap before a child that is not the first of its parent closes at the parent's height.
    inner = inner[places[inner] > places[nodes.parent[inner]]]
    gap[places[inner]] = nodes.height[nodes.parent[inner]]
    order = leaf_order(nodes)
    joined = np.empty(n * (n - 1) // 2)
    for place in range(n - 1):
        leaf, others = order[place], order[place + 1 :]
        low, high = np.minimum(leaf, others), np.maximum(leaf, others)
        where = n * low - low * (low + 1) // 2 + high - low - 1
        joined[where] = np.maximum.accumulate(gap[place + 1 :])
    return joined
