"""Connected components by union and find."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Index = NDArray[np.int64]


@njit(cache=True, nogil=True)
def _root(parent: Index, node: int) -> int:
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


@njit(cache=True, nogil=True)
def _numbered(parent: Index) -> Index:
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


@njit(cache=True, nogil=True)
def components(n: int, tail: Index, head: Index, joined: NDArray[np.bool_]) -> Index:
    """Components of n nodes under the edges marked ``joined``, numbered by first occurrence.

    The smaller root always wins, so a component is named by its first node. O(n + E), nearly.

    Examples
    --------
    >>> components(4, np.array([1, 0]), np.array([3, 2]), np.array([True, False]))
    array([0, 1, 2, 1])
    """
    parent = np.arange(n)
    for e in range(tail.size):
        if joined[e]:
            a, b = _root(parent, tail[e]), _root(parent, head[e])
            parent[max(a, b)] = min(a, b)
    return _numbered(parent)


@njit(cache=True, nogil=True)
def bounded_groups(n: int, tail: Index, head: Index, most: int) -> Index:
    """Groups of at most ``most`` nodes, joined along the edges in the order given.

    Numbered by first occurrence, each connected. O(n + E), nearly.

    Examples
    --------
    >>> bounded_groups(4, np.array([1, 0, 2]), np.array([2, 1, 3]), 2)
    array([0, 1, 1, 2])
    """
    parent, size = np.arange(n), np.ones(n, np.int64)
    for e in range(tail.size):
        a, b = _root(parent, tail[e]), _root(parent, head[e])
        if a != b and size[a] + size[b] <= most:
            parent[max(a, b)] = min(a, b)
            size[min(a, b)] = size[a] + size[b]
    return _numbered(parent)
