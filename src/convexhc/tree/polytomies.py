"""Resolve merges of more than two children (polytomies) into binary ones by Ward's criterion."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np
import scipy
from numpy.typing import ArrayLike

from convexhc._types import BLOCK_ENTRIES, FloatArray, IntArray
from convexhc.tree.binary import BinaryTree, checked_features, reordered_rows
from convexhc.tree.nodes import Nodes

Row = Sequence[int]

# Ward's table of 2^11 = 2048 children fills a block; more children are bisected 11 times first.
N_BISECTIONS = BLOCK_ENTRIES.bit_length() // 2


def resolve_polytomies(nodes: Nodes, features: ArrayLike | None) -> BinaryTree:
    """Binary tree in which every merge of more than two children is resolved by Ward's criterion.

    The pair whose union increases the within-cluster sum of squares least is joined first: ``a b /
    (a + b) |x - y|^2`` for sizes a, b and means x, y. More than 2048 children are first bisected
    eleven times, each piece along the feature with the largest variance, at the widest gap in the
    middle half. Without features the two smallest clusters are joined first; ties go to the
    smallest leaves. Every cluster of ``nodes`` is a node of the result. Rows are sorted by height,
    then by merge, then by criterion. O(n r) time, and O(m^2 r) for each merge of m children.
    """
    n, size = nodes.n_leaves, nodes.size
    sums = None if features is None else nodes.subtree_sums(checked_features(features, n))
    binary_id = list(range(nodes.parent.size))
    rows: list[Row] = []
    for merge, children in enumerate(nodes.children):
        ids = [binary_id[child] for child in children]
        if len(ids) == 2:
            local: Sequence[Row] = [(0, 1)]
        elif sums is None:
            local = smallest_first_rows(size[children].tolist())
        else:
            local = ward_rows(sums[children] / size[children, None], size[children])
        binary_id[n + merge] = _append_rows(rows, ids, local, n)
    counts = nodes.n_children - 1
    resolved = np.ones(n - 1, dtype=np.bool_)
    resolved[np.cumsum(counts) - 1] = False
    return BinaryTree.from_rows(rows, np.repeat(nodes.height[n:], counts), resolved)


def ward_rows(means: FloatArray, sizes: IntArray) -> list[Row]:
    """Rows that join m clusters by Ward's criterion; row i joins two ids below m + i into m + i."""
    m = sizes.size
    if m <= 2**N_BISECTIONS:
        return _nearest_neighbor_chain(means, sizes)
    pieces = [np.arange(m)]
    for _ in range(N_BISECTIONS):
        pieces = [half for piece in pieces for half in _bisected(piece, means)]
    rows: list[Row] = []
    tops = [
        _append_rows(rows, p.tolist(), _nearest_neighbor_chain(means[p], sizes[p]), m)
        for p in pieces
    ]
    piece_sizes = np.array([sizes[p].sum() for p in pieces])
    sums = np.array([sizes[p] @ means[p] for p in pieces])
    top_rows = _nearest_neighbor_chain(sums / piece_sizes[:, None], piece_sizes)
    _append_rows(rows, tops, top_rows, m)
    return rows


def smallest_first_rows(sizes: list[int]) -> list[Row]:
    """Rows that always join the two smallest clusters; ties go to the smaller id."""
    heap = sorted(zip(sizes, range(len(sizes)), strict=True))
    rows: list[Row] = []
    while len(heap) > 1:
        (a_size, a), (b_size, b) = heapq.heappop(heap), heapq.heappop(heap)
        heapq.heappush(heap, (a_size + b_size, len(sizes) + len(rows)))
        rows.append((a, b))
    return rows


def _nearest_neighbor_chain(means: FloatArray, sizes: IntArray) -> list[Row]:
    """Ward's linkage of weighted points by nearest-neighbour chains, rows sorted by criterion.

    A chain moves from a cluster to its nearest neighbour until two are each other's nearest, which
    are joined. The table is symmetric to the last bit, so a chain never revisits a cluster.
    """
    m, size = sizes.size, sizes.astype(np.float64)
    # One spare column: with rows a power of two long, a column would map to few cache lines.
    table = np.empty((m, m + 1))[:, :m]
    between = scipy.spatial.distance
    table[:] = between.squareform(between.pdist(means, "sqeuclidean"))
    table *= size[:, None] * size / (size[:, None] + size)
    np.fill_diagonal(table, np.inf)
    cluster_id, criterion, removed = list(range(m)), [0.0] * m, np.zeros(m)
    rows: list[Row] = []
    chain: list[int] = []
    while len(rows) < m - 1:
        chain = chain or [int(removed.argmin())]
        a = chain[-1]
        b = int((table[a] + removed).argmin())
        if len(chain) == 1 or table[a, b] < table[a, chain[-2]]:
            chain.append(b)
            continue
        a, b = chain.pop(), chain.pop()
        rows.append((cluster_id[b], cluster_id[a]))
        # Rounding must not put a union below its parts.
        criterion.append(max(table[a, b], criterion[cluster_id[a]], criterion[cluster_id[b]]))
        # The Lance-Williams update of Ward's criterion.
        union = size[a] + size[b]
        joined = (size[a] + size) * table[a] + (size[b] + size) * table[b] - size * table[a, b]
        table[b] = table[:, b] = joined / (union + size)
        table[b, b] = removed[a] = np.inf
        cluster_id[b], size[b] = m + len(rows) - 1, union
    order = np.argsort(criterion[m:], kind="stable")
    return list(reordered_rows(np.array(rows, dtype=np.int64).reshape(-1, 2), order).tolist())


def _bisected(piece: IntArray, means: FloatArray) -> list[IntArray]:
    """Two parts of a set of clusters, divided at a gap of the feature with the largest variance."""
    if piece.size == 1:
        return [piece]
    values = means[piece]
    values = values[:, values.var(axis=0).argmax()]
    order = np.argsort(values, kind="stable")
    quarter = max(piece.size // 4, 1)
    gaps = np.diff(values[order])[quarter - 1 : piece.size - quarter]
    return np.split(piece[order], [quarter + int(gaps.argmax())])


def _append_rows(rows: list[Row], ids: list[int], local: Sequence[Row], n: int) -> int:
    """Append rows that join the clusters ``ids``; return the node that the last of them makes."""
    for a, b in local:
        rows.append((ids[a], ids[b]))
        ids.append(n + len(rows) - 1)
    return ids[-1]
