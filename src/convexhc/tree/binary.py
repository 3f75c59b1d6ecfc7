"""Binary trees: the two children of each row, and Ward's criterion to resolve larger merges."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from convexhc._types import BLOCK_ENTRIES, BoolArray, FloatArray, IntArray
from convexhc.tree.linkage import checked_linkage, first_leaves
from convexhc.tree.nodes import Nodes

Row = Sequence[int]
# Ward's table of 2^11 = 2048 children fills a block; more children are bisected 11 times first.
N_BISECTIONS = BLOCK_ENTRIES.bit_length() // 2


@dataclass(frozen=True, eq=False)
class BinaryTree:
    """A tree on n leaves in which every inner node has two children.

    Leaves are ``0 .. n - 1``; row i joins ``left[i]`` and ``right[i]`` into node ``n + i``, and
    children come before their parents.
    """

    # (n - 1,): the two nodes that each row joins.
    left: IntArray
    right: IntArray
    # (n - 1,): the lam of the merge that each row belongs to. Nondecreasing unless branches were
    # regrafted.
    height: FloatArray
    # (n - 1,): true if a row only resolves a merge of more than two children or regrafts a
    # branch. The last row of a resolved merge creates the cluster of the path and is not flagged.
    resolved: BoolArray

    def __post_init__(self) -> None:
        """Convert and freeze the arrays."""
        types = {"left": np.int64, "right": np.int64, "height": np.float64, "resolved": np.bool_}
        for name, dtype in types.items():
            array: NDArray[np.generic] = np.array(getattr(self, name), dtype=dtype)
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @classmethod
    def from_linkage(cls, Z: ArrayLike) -> BinaryTree:
        """Tree of a linkage in scipy's form whose heights never fall; leaf counts are not read."""
        rows = checked_linkage(Z)
        left, right = rows[:, :2].astype(np.int64).T
        return cls(left, right, rows[:, 2], np.zeros(len(rows), dtype=np.bool_))

    @classmethod
    def from_rows(cls, rows: ArrayLike, height: FloatArray, resolved: BoolArray) -> BinaryTree:
        """Tree of rows of two nodes each; the node with the smaller leaf becomes the left child."""
        pairs = np.array(rows, dtype=np.int64).reshape(-1, 2)
        leaf = first_leaves(pairs[:, 0], pairs[:, 1])[pairs]
        pairs = np.where((leaf[:, 0] > leaf[:, 1])[:, None], pairs[:, ::-1], pairs)
        return cls(pairs[:, 0], pairs[:, 1], height, resolved)

    @property
    def n_leaves(self) -> int:
        """Number n of leaves."""
        return self.left.size + 1

    @cached_property
    def rows(self) -> list[tuple[int, int]]:
        """The two nodes of each row, as Python integers for loops."""
        return list(zip(self.left.tolist(), self.right.tolist(), strict=True))

    @cached_property
    def nodes(self) -> Nodes:
        """The same tree as a parent array, children in the order of their smallest leaves."""
        n = self.n_leaves
        parent = np.full(2 * n - 1, -1, dtype=np.int64)
        parent[self.left] = parent[self.right] = np.arange(n, 2 * n - 1)
        return Nodes(parent, np.concatenate([np.zeros(n), self.height]), n, 0)

    @property
    def size(self) -> IntArray:
        """Number of leaves under each node, (2n - 1,)."""
        return self.nodes.size

    @cached_property
    def leaf_order(self) -> IntArray:
        """Leaves from left to right; those of a node are contiguous."""
        return np.argsort(self.nodes.place[: self.n_leaves])

    def subtree_sums(
        self, leaf_values: FloatArray, row_values: FloatArray | None = None
    ) -> FloatArray:
        """Sum over the subtree of each node of (n,) or (n, r) values of leaves, and of rows."""
        none = np.zeros((self.left.size, *leaf_values.shape[1:]))
        sums = np.concatenate([leaf_values, none if row_values is None else row_values])
        for node, (a, b) in enumerate(self.rows, start=self.n_leaves):
            sums[node] += sums[a] + sums[b]
        return sums

    def joining_rows(self, i: IntArray, j: IntArray) -> IntArray:
        """Row that joins leaves ``i[e]`` and ``j[e]``: their lowest common ancestor less n.

        It is the last of the rows that join neighbours of the leaf order between them: a range
        maximum, the larger of two over ranges whose length is a power of two. O((n + E) log n)
        time.
        """
        n = self.n_leaves
        place = self.nodes.place
        ends = place[np.array([i, j])]
        low, high = ends.min(axis=0), ends.max(axis=0)
        latest = np.empty(n - 1, dtype=np.int64)
        latest[np.maximum(place[self.left], place[self.right]) - 1] = np.arange(n - 1)
        # Exponent of the largest power of two up to the distance of the two leaves.
        exponent = np.frexp(high - low)[1] - 1
        joined = np.empty(low.size, dtype=np.int64)
        for power in range(int(exponent.max(initial=-1)) + 1):
            now = np.flatnonzero(exponent == power)
            joined[now] = np.maximum(latest[low[now]], latest[high[now] - 2**power])
            latest = np.maximum(latest[: -(2**power)], latest[2**power :])
        return joined


def reordered_rows(pairs: IntArray, order: IntArray) -> IntArray:
    """The rows in another order, with the nodes they make renumbered accordingly."""
    n = len(pairs) + 1
    new_id = np.arange(2 * n - 1)
    new_id[n + order] = np.arange(n, 2 * n - 1)
    return new_id[pairs[order]]


def checked_features(features: ArrayLike, n: int) -> FloatArray:
    """Verify one row of finite numbers per leaf; return them with centred columns."""
    table = np.asarray(features, dtype=np.float64)
    if table.ndim != 2 or len(table) != n or table.size == 0:
        raise ValueError(f"features must have a row for each of {n} leaves; got {table.shape}.")
    if not np.isfinite(table).all():
        raise ValueError("features must be finite; got NaN or infinity. Fill or drop them.")
    return np.asarray(table - table.mean(axis=0), dtype=np.float64)


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
