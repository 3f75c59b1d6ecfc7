"""Leaf order and drawing coordinates of a dendrogram."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from convexhc._types import FloatArray, IntArray
from convexhc.tree.binary import BinaryTree
from convexhc.tree.nodes import Nodes


@dataclass(frozen=True, eq=False)
class Layout:
    """Coordinates of a dendrogram of n leaves; leaves are one unit apart.

    Parameters
    ----------
    leaf_order : (n,) int64 array
        Leaves from left to right.
    x, height : (2n - 1,) float64 arrays
        Position of each node: leaves first, then one node per row of the linkage.
    icoord, dcoord : (n - 1, 4) float64 arrays
        Horizontal and vertical coordinates of the bracket of each row, as in scipy.
    """

    leaf_order: IntArray
    x: FloatArray
    height: FloatArray
    icoord: FloatArray
    dcoord: FloatArray


def leaf_places(nodes: Nodes) -> IntArray:
    """Position in the leaf order of the first leaf of each node.

    Clusters are contiguous; children are ordered by their smallest leaves.
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
    return np.argsort(leaf_places(nodes)[: nodes.n_leaves])


def dendrogram_layout(Z: ArrayLike) -> Layout:
    """Coordinates to draw a linkage as a dendrogram, without recursion.

    Leaves stand at 0, 1, ..., n - 1 in the order of scipy's ``leaves_list``: the first node of a
    row is on the left. A node stands in the middle of its two children.

    Parameters
    ----------
    Z : (n - 1, 4) array
        Linkage in scipy's form whose heights never fall. Leaf counts are not read.

    Returns
    -------
    Layout
        Leaf order, node positions and one bracket per row; O(n log n) time.

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
    tree = BinaryTree.from_linkage(Z)
    positions = tree.start[: tree.n_leaves].astype(np.float64).tolist()
    for a, b in tree.rows:
        positions.append((positions[a] + positions[b]) / 2)
    x = np.array(positions)
    height = np.concatenate([np.zeros(tree.n_leaves), tree.height])
    left, right = tree.left, tree.right
    return Layout(
        leaf_order=tree.leaf_order,
        x=x,
        height=height,
        icoord=np.column_stack([x[left], x[left], x[right], x[right]]),
        dcoord=np.column_stack([height[left], tree.height, tree.height, height[right]]),
    )
