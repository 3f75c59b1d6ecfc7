"""Sums over both sides of every edge of a forest."""

from __future__ import annotations

import numpy as np

from convexhc._types import FloatArray, IntArray
from convexhc.kernels.compile import compiled


def sums_beyond(
    tail: IntArray, head: IntArray, X: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Sums of the rows of X over the nodes on one side of every edge, and over its whole tree.

    Leaves are cut off one by one, each with what was cut off beyond it. O(n m).

    Examples
    --------
    >>> here, whole = sums_beyond(np.array([2, 1]), np.array([0, 2]), np.array([[1.0], [2.0], [4.0]]))
    >>> here.ravel(), whole.ravel()
    (array([1., 5.]), array([7., 7.]))
    """
    # Edges left at every node, and the sum of their numbers: the edge of a leaf.
    both, number = np.concatenate([tail, head]), np.tile(np.arange(tail.size), 2)
    degree, link = np.bincount(both, minlength=len(X)), np.zeros(len(X), np.int64)
    np.add.at(link, both, number)
    here, whole = np.empty((2, tail.size, X.shape[1]))
    _cut_leaves(tail + head, degree, link, X.copy(), here, whole)
    return here, whole


@compiled()
def _cut_leaves(
    ends: IntArray,
    degree: IntArray,
    link: IntArray,
    X: FloatArray,
    here: FloatArray,
    whole: FloatArray,
) -> None:
    """``ends`` is the sum of the ends of every edge."""
    n, m = X.shape
    leaves, count = np.empty(ends.size, np.int64), 0
    for first in range(n):
        i = first
        while degree[i] == 1:
            e = link[i]
            j = ends[e] - i
            for k in range(m):
                here[e, k] = X[i, k]
                X[j, k] += X[i, k]
            degree[i] = 0
            degree[j] -= 1
            link[j] -= e
            leaves[count] = i
            count += 1
            i = j
    # From the roots back, whose sums are those of their trees.
    for at in range(count - 1, -1, -1):
        i = leaves[at]
        e = link[i]
        for k in range(m):
            X[i, k] = X[ends[e] - i, k]
            whole[e, k] = X[i, k]
