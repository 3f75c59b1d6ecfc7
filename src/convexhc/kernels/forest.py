"""Sums over both sides of every edge of a forest."""

from __future__ import annotations

import numpy as np

from convexhc._types import FloatArray, IntArray
from convexhc.kernels.compile import compiled
from convexhc.kernels.components import components


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
