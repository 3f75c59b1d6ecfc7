"""Move small branches that split off above large splits to the nearest large branch below."""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import ArrayLike

from convexhc._checks import checked_count
from convexhc._types import BoolArray, FloatArray, IntArray
from convexhc.tree.binary import BinaryTree, checked_features, reordered_rows


def regraft_small_branches(tree: BinaryTree, features: ArrayLike, min_size: int) -> BinaryTree:
    """Tree in which no small branch splits off above a large split.

    A split is large if both branches have at least ``min_size`` leaves. A smaller branch that
    splits off above a large split descends into its sibling: at every large split to the child
    whose mean (in ``tree``) is nearer to its own, the left one if equally near. It is attached on
    top of the first branch without a large split; of several, those from further up come higher.

    The large splits, and all branches below them, are kept. A row that attaches a moved branch
    keeps the height at which the branch split off and is flagged ``resolved``. O(n r + n log n)
    time, and O(r) per moved branch and large split it passes.
    """
    n, min_size = tree.n_leaves, checked_count("min_size", min_size)
    means = tree.subtree_sums(checked_features(features, n)) / tree.size[:, None]
    pairs = np.column_stack([tree.left, tree.right])
    sizes = tree.size[pairs]
    is_large = sizes.min(axis=1) >= min_size
    # Whether each node contains a large split, its own included.
    contains_large = tree.subtree_sums(np.zeros(n), is_large.astype(np.float64)) > 0
    moved = contains_large[n:] & ~is_large
    swapped = moved & (sizes[:, 0] < sizes[:, 1])
    pairs[swapped] = pairs[swapped, ::-1]
    replacement = _attach(pairs, means, contains_large, moved)
    pairs[is_large] = replacement[pairs[is_large]]
    order = _topological_order(pairs)
    resolved = (tree.resolved | moved)[order]
    return BinaryTree.from_rows(reordered_rows(pairs, order), tree.height[order], resolved)


def _attach(
    pairs: IntArray, means: FloatArray, contains_large: BoolArray, moved: BoolArray
) -> IntArray:
    """Attach every moved branch, changing ``pairs``; return the node that replaces each node.

    Row t of ``moved`` has the small branch in ``pairs[t, 1]`` and becomes the row that attaches it.
    """
    n = len(pairs) + 1
    replacement = np.arange(2 * n - 1)
    # Pairs of a node and the rows whose branches descend into it, from the highest down.
    stack: list[tuple[int, IntArray]] = [(2 * n - 2, np.empty(0, dtype=np.int64))]
    while stack:
        node, descending = stack.pop()
        end, passed = node, []
        while end >= n and moved[end - n]:
            passed.append(end - n)
            end = int(pairs[end - n, 0])
        descending = np.concatenate([descending, np.array(passed, dtype=np.int64)])
        if contains_large[end]:
            a, b = pairs[end - n].tolist()
            middle, axis = (means[a] + means[b]) / 2, means[a] - means[b]
            nearer_a = (means[pairs[descending, 1]] - middle) @ axis >= 0
            stack += [(a, descending[nearer_a]), (b, descending[~nearer_a])]
        elif descending.size:
            # From the lowest up, each on top of the one before it.
            upwards = descending[::-1]
            pairs[upwards, 0] = np.append(end, n + upwards[:-1])
            end = n + int(upwards[-1])
        replacement[node] = end
    return replacement


def _topological_order(pairs: IntArray) -> IntArray:
    """Order of the rows with children before parents; of all such, the lexicographically first."""
    n = len(pairs) + 1
    parent = np.full(2 * n - 1, -1, dtype=np.int64)
    parent[pairs] = np.arange(n - 1)[:, None]
    n_missing = (pairs >= n).sum(axis=1).tolist()
    ready, order = [row for row, count in enumerate(n_missing) if count == 0], []
    while ready:
        order.append(heapq.heappop(ready))
        above = int(parent[n + order[-1]])
        if above >= 0:
            n_missing[above] -= 1
            if n_missing[above] == 0:
                heapq.heappush(ready, above)
    return np.array(order, dtype=np.int64)
