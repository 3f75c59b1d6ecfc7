"""Rooted forests: an order in which parents come first, and sums over subtrees."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from convexhc._types import FloatArray, IntArray


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
    trees, member = connected_components(coo_array((np.ones(tail.size), (tail, head)), (n, n)))
    first = np.unique(member, return_index=True)[1]
    # One more node, joined to all roots, is the root of everything.
    ends = np.concatenate([tail, np.full(trees, n)]), np.concatenate([head, first])
    whole = csr_array((np.ones(ends[0].size), ends), shape=(n + 1, n + 1))
    order, parent = breadth_first_order(whole, n, directed=False)
    above = np.where(parent[:n] == n, -1, parent[:n]).astype(np.int64)
    edge = np.full(n, -1)
    edge[np.where(above[head] == tail, head, tail)] = np.arange(tail.size)
    return Forest(order[1:].astype(np.int64), above, edge, first[member])


def subtree_sums(order: IntArray, parent: IntArray, X: FloatArray) -> FloatArray:
    """Sum of the rows of X over the subtree under every node. O(n m).

    In an order by breadth first, the children of a node follow each other, and so do the levels.
    """
    out, above = X.copy(), parent[order]
    # The place of every node in the order; -1 for the parent of a root.
    place = np.full(order.size + 1, -1)
    place[order] = np.arange(order.size)
    borders = [int(np.searchsorted(place[above], 0))]
    while borders[-1] < order.size:
        borders.append(int(np.searchsorted(place[above], borders[-1])))
    for start, stop in reversed(list(pairwise(borders))):
        parents = above[start:stop]
        child = np.flatnonzero(np.diff(parents, prepend=-1))
        out[parents[child]] += np.add.reduceat(out[order[start:stop]], child)
    return out
