"""A binary tree on n leaves, stored as the two children of each row."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from convexhc._types import BoolArray, FloatArray, IntArray
from convexhc.tree.linkage import checked_linkage, first_leaves


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
        """Verify and freeze the arrays."""
        types = {"left": np.int64, "right": np.int64, "height": np.float64, "resolved": np.bool_}
        for name, dtype in types.items():
            array: NDArray[np.generic] = np.array(getattr(self, name), dtype=dtype)
            array.setflags(write=False)
            object.__setattr__(self, name, array)
            if array.shape != (self.left.size,):
                raise ValueError(f"{name} must be of shape ({self.left.size},); got {array.shape}.")
        ids = np.concatenate([self.left, self.right])
        known = (ids >= 0) & (ids < np.tile(np.arange(self.n_leaves, 2 * self.n_leaves - 1), 2))
        if not known.all() or (np.bincount(ids, minlength=ids.size) != 1).any():
            raise ValueError(
                "Row i must join two nodes below n + i, each of them joined once in all rows; got "
                "other ids. Leaves are 0 .. n - 1, and row i makes node n + i."
            )

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
    def size(self) -> IntArray:
        """Number of leaves under each node, (2n - 1,)."""
        size = [1] * self.n_leaves
        for a, b in self.rows:
            size.append(size[a] + size[b])
        return np.array(size, dtype=np.int64)

    @cached_property
    def start(self) -> IntArray:
        """Position in the leaf order of the first leaf of each node, (2n - 1,)."""
        start, size = [0] * (2 * self.n_leaves - 1), self.size.tolist()
        for row in range(self.n_leaves - 2, -1, -1):
            a, b = self.rows[row]
            start[a] = start[self.n_leaves + row]
            start[b] = start[a] + size[a]
        return np.array(start, dtype=np.int64)

    @cached_property
    def leaf_order(self) -> IntArray:
        """Leaves from left to right; those of a node are contiguous."""
        return np.argsort(self.start[: self.n_leaves])

    def subtree_sums(
        self, leaf_values: FloatArray, row_values: FloatArray | None = None
    ) -> FloatArray:
        """Sum over the subtree of each node, for (n,) or (n, r) values of the leaves; O(n r).

        ``row_values`` adds one value per row; it requires one value per leaf.
        """
        if leaf_values.ndim == 1:
            total: list[float] = leaf_values.tolist()
            own = np.zeros(self.left.size) if row_values is None else row_values
            for (a, b), added in zip(self.rows, own.tolist(), strict=True):
                total.append(total[a] + total[b] + added)
            return np.array(total, dtype=np.float64)
        sums = np.concatenate([leaf_values, np.empty((self.left.size, leaf_values.shape[1]))])
        for (a, b), out in zip(self.rows, sums[self.n_leaves :], strict=True):
            np.add(sums[a], sums[b], out=out)
        return sums

    def joining_rows(self, i: IntArray, j: IntArray) -> IntArray:
        """Row that joins leaves ``i[e]`` and ``j[e]``: their lowest common ancestor less n.

        It is the last of the rows that join neighbours of the leaf order between them: a range
        maximum, the larger of two over ranges whose length is a power of two. O((n + E) log n)
        time.
        """
        n = self.n_leaves
        ends = self.start[np.array([i, j])]
        low, high = ends.min(axis=0), ends.max(axis=0)
        latest = np.empty(n - 1, dtype=np.int64)
        latest[self.start[self.right] - 1] = np.arange(n - 1)
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
