"""Rows that join some clusters into one: by Ward's rule, or by size alone."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np
from scipy.spatial.distance import pdist, squareform

from convexhc._types import FloatArray, IntArray

Row = Sequence[int]

# A table of all pairs of 2^11 children takes 32 MB; more of them are parted first.
HALVINGS = 11
WIDEST_TABLE = 2**HALVINGS


def ward_rows(means: FloatArray, sizes: IntArray) -> list[Row]:
    """Rows that join m clusters by Ward's rule: each joins two of ``0 .. m - 1`` and rows before.

    O(m^2 r) time and a table of m^2 numbers up to 2048 clusters; see :func:`refine` for more.

    Examples
    --------
    >>> ward_rows(np.array([[0.0], [4.0], [6.0]]), np.array([1, 1, 9]))
    [[1, 2], [0, 3]]
    """
    m = sizes.size
    if m <= WIDEST_TABLE:
        return _chained(means, sizes)
    pieces = [np.arange(m)]
    for _ in range(HALVINGS):
        pieces = [half for piece in pieces for half in _halved(piece, means)]
    rows: list[Row] = []
    tops = [append_rows(rows, p.tolist(), _chained(means[p], sizes[p]), m) for p in pieces]
    mass = np.array([sizes[p].sum() for p in pieces])
    sums = np.array([sizes[p] @ means[p] for p in pieces])
    append_rows(rows, tops, _chained(sums / mass[:, None], mass), m)
    return rows


def _halved(piece: IntArray, means: FloatArray) -> list[IntArray]:
    """Two parts of some clusters: the widest gap in the middle half of the widest feature."""
    if piece.size == 1:
        return [piece]
    values = means[piece]
    values = values[:, values.var(axis=0).argmax()]
    order = np.argsort(values, kind="stable")
    least = max(piece.size // 4, 1)
    gaps = np.diff(values[order])[least - 1 : piece.size - least]
    return np.split(piece[order], [least + int(gaps.argmax())])


def _chained(means: FloatArray, sizes: IntArray) -> list[Row]:
    """Ward's rule by chains of nearest neighbours, rows in the order of what they add.

    From any cluster on, go to the nearest until two are nearest to each other: those are joined
    in Ward's tree too, for no union comes nearer to a third cluster than its parts were. The table
    is symmetric to the last bit, so a chain never returns to where it was.
    """
    m, size = sizes.size, sizes.astype(np.float64)
    # One column to spare: entries of a column a power of two apart evict each other from cache.
    table = np.empty((m, m + 1))[:, :m]
    table[:] = squareform(pdist(means, "sqeuclidean"))
    table *= size[:, None] * size / (size[:, None] + size)
    np.fill_diagonal(table, np.inf)
    made, level, gone = list(range(m)), [0.0] * m, np.zeros(m)
    rows: list[Row] = []
    chain: list[int] = []
    while len(rows) < m - 1:
        chain = chain or [int(gone.argmin())]
        a = chain[-1]
        b = int((table[a] + gone).argmin())
        if len(chain) == 1 or table[a, b] < table[a, chain[-2]]:
            chain.append(b)
            continue
        a, b = chain.pop(), chain.pop()
        rows.append((made[b], made[a]))
        # Rounding must not put a union below its parts.
        level.append(max(table[a, b], level[made[a]], level[made[b]]))
        both = size[a] + size[b]
        joined = (size[a] + size) * table[a] + (size[b] + size) * table[b] - size * table[a, b]
        table[b] = table[:, b] = joined / (both + size)
        table[b, b] = gone[a] = np.inf
        made[b], size[b] = m + len(rows) - 1, both
    order = np.argsort(level[m:], kind="stable")
    return list(renumbered(np.array(rows, dtype=np.int64).reshape(-1, 2), order).tolist())


def smallest_first(sizes: list[int]) -> list[Row]:
    """Rows that always join the two smallest clusters, of equal ones the first."""
    heap = sorted(zip(sizes, range(len(sizes)), strict=True))
    rows: list[Row] = []
    while len(heap) > 1:
        (a_size, a), (b_size, b) = heapq.heappop(heap), heapq.heappop(heap)
        heapq.heappush(heap, (a_size + b_size, len(sizes) + len(rows)))
        rows.append((a, b))
    return rows


def append_rows(rows: list[Row], ids: list[int], local: Sequence[Row], n: int) -> int:
    """Append rows between the clusters ``ids``; return the node that the last of them makes."""
    for a, b in local:
        rows.append((ids[a], ids[b]))
        ids.append(n + len(rows) - 1)
    return ids[-1]


def renumbered(pairs: IntArray, order: IntArray) -> IntArray:
    """The same rows in another order."""
    n = len(pairs) + 1
    rank = np.arange(2 * n - 1)
    rank[n + order] = np.arange(n, 2 * n - 1)
    return rank[pairs[order]]
