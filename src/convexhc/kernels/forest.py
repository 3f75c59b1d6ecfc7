"""Rooted forests: an order in which parents come first, and sums over subtrees."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from convexhc._types import FloatArray, IntArray
from convexhc.kernels.compile import compiled


class Forest(NamedTuple):
    """Nodes with parents first; parent and edge to it, both -1 for roots; the root of each."""

    order: IntArray
    parent: IntArray
    edge: IntArray
    root: IntArray


def rooted_forest(n: int, tail: IntArray, head: IntArray) -> Forest:
    """Root a forest on n nodes, each tree at its first node. O(n).

    Examples
    --------
    >>> forest = rooted_forest(3, np.array([2]), np.array([0]))
    >>> forest.parent, forest.edge, forest.root
    (array([-1, -1,  0]), array([-1, -1,  0]), array([0, 1, 0]))
    """
    ends = np.concatenate([tail, head]).astype(np.int64)
    neighbor = np.concatenate([head, tail]).astype(np.int64)
    number = np.tile(np.arange(tail.size), 2)
    by_end = np.argsort(ends, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=n))]).astype(np.int64)
    out = Forest(*(np.full(n, -1, np.int64) for _ in range(4)))
    _traverse(start, neighbor[by_end], number[by_end], out.order, out.parent, out.edge, out.root)
    return out


@compiled()
def _traverse(
    start: IntArray,
    neighbor: IntArray,
    number: IntArray,
    order: IntArray,
    parent: IntArray,
    edge: IntArray,
    root: IntArray,
) -> None:
    reached, looked = 0, 0
    for first in range(root.size):
        if root[first] >= 0:
            continue
        root[first] = first
        order[reached] = first
        reached += 1
        while looked < reached:
            i = order[looked]
            looked += 1
            for p in range(start[i], start[i + 1]):
                j = neighbor[p]
                if root[j] < 0:
                    root[j], parent[j], edge[j] = first, i, number[p]
                    order[reached] = j
                    reached += 1


@compiled()
def subtree_sums(order: IntArray, parent: IntArray, X: FloatArray) -> FloatArray:
    """Sum of the rows of X over the subtree under every node. O(n m)."""
    out = X.copy()
    for p in range(order.size - 1, -1, -1):
        i = order[p]
        if parent[i] >= 0:
            for k in range(X.shape[1]):
                out[parent[i], k] += out[i, k]
    return out
