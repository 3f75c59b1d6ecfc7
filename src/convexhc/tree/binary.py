"""A multiway tree read as a binary one: wide merges resolved, small branches put in their place."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from convexhc._checks import checked_count
from convexhc._types import BoolArray, FloatArray, IntArray
from convexhc.tree.nodes import Nodes
from convexhc.tree.ward import Row, append_rows, renumbered, smallest_first, ward_rows


@dataclass(frozen=True, eq=False)
class BinaryTree:
    """A tree on n leaves in which every inner node has two children.

    Leaves are ``0 .. n - 1``; row i joins ``left[i]`` and ``right[i]`` into node ``n + i``, and
    children are made before their parents. Here the node with the smaller first leaf is put left.

    Parameters
    ----------
    left, right : (n - 1,) int64 arrays
        The two nodes that each row joins.
    height : (n - 1,) float64 array
        The lam of the merge that each row belongs to. They rise, until stragglers are re-placed.
    resolved : (n - 1,) bool array
        Whether a row only resolves a merge of more than two children or re-places a straggler.
        The last row of such a merge makes the cluster that the path shows, and is not flagged.

    Examples
    --------
    >>> tree = BinaryTree([1, 0], [2, 3], [1.0, 2.0], [False, False])
    >>> tree.size, tree.leaf_order
    (array([1, 1, 1, 2, 3]), array([0, 1, 2]))
    """

    left: IntArray
    right: IntArray
    height: FloatArray
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
        later = np.maximum(self.left, self.right) >= self.n_leaves + np.arange(self.left.size)
        if later.any() or not np.array_equal(np.sort(ids), np.arange(ids.size)):
            raise ValueError(
                "Row i must join two nodes below n + i, each of them joined once in all rows; got "
                "other ids. Leaves are 0 .. n - 1, and row i makes node n + i."
            )

    @property
    def n_leaves(self) -> int:
        """Number n of leaves."""
        return self.left.size + 1

    @cached_property
    def rows(self) -> list[tuple[int, int]]:
        """The two nodes of each row, as plain numbers for loops."""
        return list(zip(self.left.tolist(), self.right.tolist(), strict=True))

    @cached_property
    def size(self) -> IntArray:
        """Number of leaves under each node, (2n - 1,)."""
        return self.totals(np.ones(self.n_leaves)).astype(np.int64)

    @cached_property
    def start(self) -> IntArray:
        """Place of the first leaf of each node in the leaf order, (2n - 1,)."""
        place, size = [0] * (2 * self.n_leaves - 1), self.size.tolist()
        for row in range(self.n_leaves - 2, -1, -1):
            a, b = self.rows[row]
            place[a] = place[self.n_leaves + row]
            place[b] = place[a] + size[a]
        return np.array(place, dtype=np.int64)

    @cached_property
    def leaf_order(self) -> IntArray:
        """Leaves from left to right; those of a node are contiguous."""
        return np.argsort(self.start[: self.n_leaves])

    def totals(self, of_leaves: FloatArray, of_rows: FloatArray | None = None) -> FloatArray:
        """Sum over all that is under each node: (2n - 1,), or (2n - 1, r) for r values per leaf.

        ``of_rows``, allowed with one value per leaf, is what each row adds of its own. O(n r).
        """
        if of_leaves.ndim == 1:
            total: list[float] = of_leaves.tolist()
            own = np.zeros(self.left.size) if of_rows is None else of_rows
            for (a, b), added in zip(self.rows, own.tolist(), strict=True):
                total.append(total[a] + total[b] + added)
            return np.array(total, dtype=np.float64)
        sums = np.concatenate([of_leaves, np.empty((self.left.size, of_leaves.shape[1]))])
        for (a, b), out in zip(self.rows, sums[self.n_leaves :], strict=True):
            np.add(sums[a], sums[b], out=out)
        return sums


def refine(nodes: Nodes, features: ArrayLike | None) -> BinaryTree:
    """The binary tree that resolves every merge of more than two children.

    Ward's rule on the means of the children: the two whose union adds least to the within-cluster
    sum of squares, ``a b / (a + b) |x - y|^2`` for sizes a, b and means x, y, are joined first.
    Beyond 2048 children they are parted in two eleven times over, each piece along the feature
    that varies most in it, at the widest gap of its middle half; the rule then joins each small
    piece, and the pieces. Without features the two smallest are joined first, of equal ones those
    with the smallest first leaf.

    Parameters
    ----------
    nodes : Nodes
        The tree of a path. Joins that only close it at the top are merges like the others.
    features : (n, r) array or None
        One row of finite numbers per leaf.

    Returns
    -------
    BinaryTree
        Every cluster of ``nodes`` is a node of it. Rows are in the order of height, then of the
        merge, then of what they add. O(n r), and O(m^2 r) for each merge of m children. The
        order of the leaves matters only for exact ties.

    Raises
    ------
    ValueError
        Features of another shape, or not finite.

    Examples
    --------
    >>> nodes = Nodes(np.array([3, 3, 3, -1]), np.array([0, 0, 0, 1.0]), 3, 0)
    >>> tree = refine(nodes, [[0.0], [5.0], [6.0]])
    >>> tree.left, tree.right, tree.resolved
    (array([1, 0]), array([2, 3]), array([ True, False]))
    """
    n, size = nodes.n_leaves, nodes.size
    sums = None if features is None else _sums(nodes, checked_features(features, n))
    made = list(range(nodes.parent.size))
    rows: list[Row] = []
    for merge, children in enumerate(nodes.children):
        ids = [made[child] for child in children]
        if len(ids) == 2:
            local: Sequence[Row] = [(0, 1)]
        elif sums is None:
            local = smallest_first(size[children].tolist())
        else:
            local = ward_rows(sums[children] / size[children, None], size[children])
        made[n + merge] = append_rows(rows, ids, local, n)
    counts = nodes.n_children - 1
    resolved = np.ones(n - 1, dtype=np.bool_)
    resolved[np.cumsum(counts) - 1] = False
    return _ordered(rows, np.repeat(nodes.height[n:], counts), resolved)


def replace_stragglers(tree: BinaryTree, features: ArrayLike, min_size: int) -> BinaryTree:
    """The tree in which small branches no longer split off above large splits.

    A split is large if both branches have ``min_size`` leaves. A smaller branch that is split off
    above a large split goes down with the other side: at every large split to the branch whose
    mean (in ``tree``) is nearer to its own, of equal ones to the left. It is attached on top of
    the first branch without a large split; of several, those from further up come higher.

    Parameters
    ----------
    tree : BinaryTree
        The tree, which is not altered.
    features : (n, r) array
        One row of finite numbers per leaf.
    min_size : int
        Leaves that a branch needs to be split off near the top; 1 moves nothing.

    Returns
    -------
    BinaryTree
        The same leaves and large splits, and below them all branches as they were. A row that
        attaches a straggler keeps the height at which it was split off and is flagged
        ``resolved``. O(n r + n log n), and r for each straggler at each large split it passes.

    Raises
    ------
    ValueError
        Features of another shape, or not finite; ``min_size`` below 1.

    Examples
    --------
    >>> tree = BinaryTree([0, 2, 5, 4], [1, 3, 6, 7], [1.0, 1.0, 2.0, 3.0], [False] * 4)
    >>> new = replace_stragglers(tree, [[0.0], [1.0], [8.0], [9.0], [7.0]], min_size=2)
    >>> new.left, new.right, new.height
    (array([0, 2, 6, 5]), array([1, 3, 4, 7]), array([1., 1., 3., 2.]))
    """
    n, least = tree.n_leaves, checked_count("min_size", min_size)
    means = tree.totals(checked_features(features, n)) / tree.size[:, None]
    pairs = np.column_stack([tree.left, tree.right])
    sizes = tree.size[pairs]
    splits = sizes.min(axis=1) >= least
    # Whether there is a large split at each node or below it.
    above = tree.totals(np.zeros(n), splits.astype(np.float64)) > 0
    moved = above[n:] & ~splits
    swapped = moved & (sizes[:, 0] < sizes[:, 1])
    pairs[swapped] = pairs[swapped, ::-1]
    top = _hang(pairs, means, above, moved)
    pairs[splits] = top[pairs[splits]]
    order = _children_first(pairs)
    resolved = (tree.resolved | moved)[order]
    return _ordered(renumbered(pairs, order), tree.height[order], resolved)


def checked_features(features: ArrayLike, n: int) -> FloatArray:
    """Verify one row of finite numbers per leaf; return them with the mean of each column at 0."""
    table = np.asarray(features, dtype=np.float64)
    if table.ndim != 2 or len(table) != n or table.size == 0:
        raise ValueError(f"features must have a row for each of {n} leaves; got {table.shape}.")
    if not np.isfinite(table).all():
        raise ValueError("features must be finite; got NaN or infinity. Fill or drop them.")
    return np.asarray(table - table.mean(axis=0), dtype=np.float64)


def _sums(nodes: Nodes, features: FloatArray) -> FloatArray:
    """Sum of the features under each node of a multiway tree."""
    sums = np.concatenate([features, np.zeros((nodes.n_merges, features.shape[1]))])
    for node, above in enumerate(nodes.parent[:-1].tolist()):
        sums[above] += sums[node]
    return sums


def _ordered(rows: ArrayLike, height: FloatArray, resolved: BoolArray) -> BinaryTree:
    """The tree of some rows, the node with the smaller first leaf to the left."""
    pairs = np.array(rows, dtype=np.int64).reshape(-1, 2)
    first = list(range(len(pairs) + 1))
    for a, b in pairs.tolist():
        first.append(min(first[a], first[b]))
    leaf = np.array(first)[pairs]
    pairs = np.where((leaf[:, 0] > leaf[:, 1])[:, None], pairs[:, ::-1], pairs)
    return BinaryTree(pairs[:, 0], pairs[:, 1], height, resolved)


def _hang(pairs: IntArray, means: FloatArray, above: BoolArray, moved: BoolArray) -> IntArray:
    """Attach every straggler in place; return the node that stands where each one stood.

    Row t of ``moved`` has the straggler in ``pairs[t, 1]`` and becomes the row that attaches it.
    """
    n = len(pairs) + 1
    top = np.arange(2 * n - 1)
    todo: list[tuple[int, IntArray]] = [(2 * n - 2, np.empty(0, dtype=np.int64))]
    while todo:
        node, guests = todo.pop()
        end, passed = node, []
        while end >= n and moved[end - n]:
            passed.append(end - n)
            end = int(pairs[end - n, 0])
        guests = np.concatenate([guests, np.array(passed, dtype=np.int64)])
        if above[end]:
            a, b = pairs[end - n].tolist()
            middle, axis = (means[a] + means[b]) / 2, means[a] - means[b]
            nearer = (means[pairs[guests, 1]] - middle) @ axis >= 0
            todo += [(a, guests[nearer]), (b, guests[~nearer])]
        elif guests.size:
            # From the lowest up, each on top of the one before it.
            line = guests[::-1]
            pairs[line, 0] = np.append(end, n + line[:-1])
            end = n + int(line[-1])
        top[node] = end
    return top


def _children_first(pairs: IntArray) -> IntArray:
    """Order of the rows in which children come before parents, and else the first row first."""
    n = len(pairs) + 1
    parent = np.full(2 * n - 1, -1, dtype=np.int64)
    parent[pairs] = np.arange(n - 1)[:, None]
    waits = (pairs >= n).sum(axis=1).tolist()
    ready, order = [row for row, count in enumerate(waits) if count == 0], []
    while ready:
        order.append(heapq.heappop(ready))
        above = int(parent[n + order[-1]])
        if above >= 0:
            waits[above] -= 1
            if waits[above] == 0:
                heapq.heappush(ready, above)
    return np.array(order, dtype=np.int64)
