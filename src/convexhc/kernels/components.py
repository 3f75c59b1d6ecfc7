"""Connected components and spanning forests, by union and find, and sums over a forest."""

from __future__ import annotations

import numpy as np

from convexhc._types import BoolArray, FloatArray, IntArray
from convexhc.kernels.compile import compiled


def components(n: int, tail: IntArray, head: IntArray, joined: BoolArray) -> IntArray:
    """Components of n nodes under the edges marked ``joined``, numbered by first occurrence.

    O(n + E), nearly.

    Examples
    --------
    >>> components(4, np.array([1, 0]), np.array([3, 2]), np.array([True, False]))
    array([0, 1, 2, 1])
    """
    return _united(np.arange(n), _read_only(tail[joined]), _read_only(head[joined]))


def spanning_forest(n: int, tail: IntArray, head: IntArray, order: IntArray) -> IntArray:
    """Edges of the spanning forest that takes edges in this order, where they close no circle.

    The edges are returned in this order, too: Kruskal's algorithm. O(n + E), nearly.

    Examples
    --------
    >>> circle = np.array([0, 1, 2]), np.array([1, 2, 0])
    >>> spanning_forest(3, *circle, np.array([2, 0, 1]))
    array([2, 0])
    """
    joining = np.zeros(order.size, np.bool_)
    _mark_joining(np.arange(n), _read_only(tail), _read_only(head), order, joining)
    chosen: IntArray = order[joining]
    return chosen


def _read_only(ends: IntArray) -> IntArray:
    """The same numbers as the one type for which kernels are compiled."""
    view = np.ascontiguousarray(ends, np.int64).view()
    view.flags.writeable = False
    return view


@compiled(inline=True)
def _root(parent: IntArray, i: int) -> int:
    """The root of i; the path to it is halved."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@compiled()
def _united(parent: IntArray, tail: IntArray, head: IntArray) -> IntArray:
    """Unite the ends of the edges; the root of a component is its first node."""
    for e in range(tail.size):
        i, j = _root(parent, tail[e]), _root(parent, head[e])
        if i < j:
            parent[j] = i
        elif j < i:
            parent[i] = j
    count = 0
    for i in range(parent.size):
        if parent[i] == i:
            parent[i] = count
            count += 1
        else:
            # A parent comes before its children, so that it is a number already.
            parent[i] = parent[parent[i]]
    return parent


@compiled()
def _mark_joining(
    parent: IntArray, tail: IntArray, head: IntArray, order: IntArray, out: BoolArray
) -> None:
    """Mark the edges of the order that join two trees of those before them."""
    for p in range(order.size):
        i, j = _root(parent, tail[order[p]]), _root(parent, head[order[p]])
        if i < j:
            parent[j] = i
        elif j < i:
            parent[i] = j
        out[p] = i != j


def sums_beyond(tail: IntArray, head: IntArray, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sums of x over the nodes on one side of every edge, and over its whole tree. O(n).

    Examples
    --------
    >>> here, whole = sums_beyond(np.array([2, 1]), np.array([0, 2]), np.array([1.0, 2.0, 4.0]))
    >>> here, whole
    (array([1., 5.]), array([7., 7.]))
    """
    tree = components(x.size, tail, head, np.ones(tail.size, np.bool_))
    # Edges left at every node, and the sum of their numbers: the edge of a leaf.
    both, number = np.concatenate([tail, head]), np.tile(np.arange(tail.size), 2)
    degree, link = np.bincount(both, minlength=x.size), np.zeros(x.size, np.int64)
    np.add.at(link, both, number)
    here = np.empty(tail.size)
    _cut_leaves(tail + head, degree, link, x.copy(), here)
    total: FloatArray = np.bincount(tree, x).astype(np.float64)
    return here, total[tree[tail]]


@compiled()
def _cut_leaves(
    ends: IntArray, degree: IntArray, link: IntArray, x: FloatArray, here: FloatArray
) -> None:
    """Cut off leaves, each with what was cut off beyond it; ``ends`` is tail + head."""
    for first in range(x.size):
        i = first
        while degree[i] == 1:
            e = link[i]
            j = ends[e] - i
            here[e] = x[i]
            x[j] += x[i]
            degree[i] = 0
            degree[j] -= 1
            link[j] -= e
            i = j
