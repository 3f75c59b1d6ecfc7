"""Connected components by union and find."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from convexhc._types import IntArray
from convexhc.kernels.compile import compiled


@compiled()
def _root(parent: IntArray, node: int) -> int:
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


@compiled()
def _labels(parent: IntArray, tail: IntArray, head: IntArray) -> IntArray:
    """Labels of the components of a forest after joining the ends of every edge."""
    for e in range(tail.size):
        a, b = _root(parent, tail[e]), _root(parent, head[e])
        parent[max(a, b)] = min(a, b)
    n = parent.size
    labels = np.empty(n, np.int64)
    count = 0
    for i in range(n):
        first = _root(parent, i)
        if first == i:
            labels[i] = count
            count += 1
        else:
            labels[i] = labels[first]
    return labels


def components(n: int, tail: IntArray, head: IntArray, joined: NDArray[np.bool_]) -> IntArray:
    """Components of n nodes under the edges marked ``joined``, numbered by first occurrence.

    The smaller root always wins, so a component is named by its first node. O(n + E), nearly.

    Examples
    --------
    >>> components(4, np.array([1, 0]), np.array([3, 2]), np.array([True, False]))
    array([0, 1, 2, 1])
    """
    return np.asarray(_labels(np.arange(n), tail[joined], head[joined]))
