"""Concordant less discordant pairs of many rankings: the numerators of Kendall's tau."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from convexhc.kernels.compile import compiled


@compiled()
def _excess(
    order: NDArray[np.int64], x: NDArray[np.int64], y: NDArray[np.int64], tree: NDArray[np.int64]
) -> int:
    """Concordant less discordant pairs of two dense rankings; ``order`` sorts x.

    ``tree`` counts the values of y seen so far, as a binary indexed tree. Entries tied in x are
    counted before any of them is added, so that they are no pairs.
    """
    n, size = order.size, tree.size
    tree[:] = 0
    excess = 0
    start = 0
    while start < n:
        stop = start + 1
        while stop < n and x[order[stop]] == x[order[start]]:
            stop += 1
        for place in range(start, stop):
            value = y[order[place]]
            below = 0
            at = value
            while at > 0:
                below += tree[at - 1]
                at -= at & -at
            not_above = 0
            at = value + 1
            while at > 0:
                not_above += tree[at - 1]
                at -= at & -at
            excess += below - (start - not_above)
        for place in range(start, stop):
            at = y[order[place]] + 1
            while at <= size:
                tree[at - 1] += 1
                at += at & -at
        start = stop
    return excess


@compiled()
def concordance(ranks: NDArray[np.int64], orders: NDArray[np.int64]) -> NDArray[np.int64]:
    """Concordant less discordant pairs of every two of s rankings, (s, s); O(s^2 m log m).

    ``ranks`` are (s, m): one dense ranking per row, 0, 1, ... without gaps, ties equal; ``orders``
    the permutations that sort the rows. The diagonal is zero.
    """
    s = ranks.shape[0]
    found = np.zeros((s, s), dtype=np.int64)
    for j in range(s):
        tree = np.zeros(ranks[j].max() + 1, dtype=np.int64)
        for i in range(j):
            found[i, j] = _excess(orders[i], ranks[i], ranks[j], tree)
            found[j, i] = found[i, j]
    return found
