"""Prunings of a binary tree: the best k branches for every k, after small branches are moved."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from convexhc._types import BoolArray, FloatArray, IntArray
from convexhc.graph import Graph
from convexhc.kernels.labels import numbered_by_first
from convexhc.tree.binary import BinaryTree, checked_features, reordered_rows

# Entry ``k - 2`` is one less than the number of clusters, out of k, in the smaller branch of a row;
# None if that number is always 1.
Choice = NDArray[np.unsignedinteger] | None


def within_cost(tree: BinaryTree, features: ArrayLike) -> FloatArray:
    """Within-cluster sum of squares of each node, (2n - 1,): ``sum_i |x_i - mean|^2`` over leaves.

    A row that joins sizes a, b with means x, y adds ``a b / (a + b) |x - y|^2`` to the costs of its
    two nodes. Nothing is subtracted, so nothing cancels and no cost is negative.
    """
    size = tree.size.astype(np.float64)
    means = tree.subtree_sums(checked_features(features, tree.n_leaves)) / size[:, None]
    gap = means[tree.left] - means[tree.right]
    share = size[tree.left] * size[tree.right] / size[tree.n_leaves :]
    return tree.subtree_sums(np.zeros(tree.n_leaves), share * np.einsum("ij,ij->i", gap, gap))


@dataclass(frozen=True, eq=False)
class Prunings:
    """The best pruning of a tree into k clusters, for every k; see :func:`best_prunings`."""

    tree: BinaryTree
    cost: FloatArray  # (max_clusters,): least total cost; entry ``k - 1`` is that of k clusters
    choices: Sequence[Choice]  # how each row distributes its clusters over its two branches

    @property
    def max_clusters(self) -> int:
        """Largest number of clusters in the table."""
        return self.cost.size

    def branches(self, k: int) -> IntArray:
        """Nodes whose leaves are the k clusters, from left to right; O(k log k) time."""
        n = self.tree.n_leaves
        stack, found = [(2 * n - 2, k)], []
        while stack:
            node, count = stack.pop()
            if count == 1:
                found.append(node)
                continue
            choice = self.choices[node - n]
            few = 1 if choice is None else 1 + int(choice[count - 2])
            small, large = _smaller_first(self.tree, node - n)
            stack += [(small, few), (large, count - few)]
        nodes = np.array(found, dtype=np.int64)
        return nodes[np.argsort(self.tree.nodes.place[nodes])]

    def labels(self, k: int) -> IntArray:
        """Cluster of each leaf, (n,), numbered in order of first occurrence."""
        nodes = self.branches(k)
        labels = np.empty(self.tree.n_leaves, dtype=np.int64)
        labels[self.tree.leaf_order] = np.repeat(np.arange(nodes.size), self.tree.size[nodes])
        return numbered_by_first(labels)


def best_prunings(tree: BinaryTree, cost: FloatArray, max_clusters: int) -> Prunings:
    """For every k up to a largest, the k branches that partition the leaves at least cost.

    Dynamic programming: ``best(v, 1) = cost[v]``, and ``best(v, k) = min_j best(a, j) + best(b, k -
    j)`` for a node v that joins a and b. Ties go to fewer clusters in the branch with fewer leaves,
    or in the left one of two equally large branches. ``cost`` is a finite number of any sign per
    node. O(n min(n, max_clusters)) time, and at most as many bytes.
    """
    most = min(max_clusters, tree.n_leaves)
    # Costs per number of clusters, only for nodes that no row has joined yet.
    best = dict(enumerate(cost[: tree.n_leaves, None]))
    choices: list[Choice] = []
    for row in range(tree.n_leaves - 1):
        small, large = _smaller_first(tree, row)
        least, choice = _min_plus(best.pop(small), best.pop(large), most)
        choices.append(choice)
        node = tree.n_leaves + row
        best[node] = np.concatenate([cost[node : node + 1], least])
    return Prunings(tree, best[2 * tree.n_leaves - 2], choices)


def inner_weight(tree: BinaryTree, graph: Graph) -> FloatArray:
    """Total weight of the edges with both ends under each node, (2n - 1,).

    Every edge counts once, from the row that joins its ends upwards; a self-loop, the diagonal of
    the graph, from its leaf upwards. O((n + E) log n) time.
    """
    n = tree.n_leaves
    joined = tree.joining_rows(graph.tail, graph.head)
    crossing = np.bincount(joined, weights=graph.weight, minlength=n - 1)
    return tree.subtree_sums(graph.diagonal, crossing.astype(np.float64))


def modularity_terms(tree: BinaryTree, graph: Graph) -> FloatArray:
    """Contribution of each node, as a cluster, to modularity, (2n - 1,): ``w / W - (d / 2W)^2``.

    w is the weight inside, d the sum of the degrees and W the total weight. A self-loop counts once
    in a weight and twice in a degree, as in networkx. Zero if the graph has no edges.
    """
    inside = inner_weight(tree, graph)
    total = inside[-1]
    if total == 0:
        return np.zeros(inside.size)
    degree = 2.0 * graph.diagonal
    degree += np.bincount(graph.tail, weights=graph.weight, minlength=graph.n)
    degree += np.bincount(graph.head, weights=graph.weight, minlength=graph.n)
    return np.asarray(inside / total - (tree.subtree_sums(degree) / (2.0 * total)) ** 2)


def modularities(prunings: Prunings, graph: Graph) -> FloatArray:
    """Modularity of every pruning, (max_clusters,); entry ``k - 1`` is that of k clusters."""
    terms = modularity_terms(prunings.tree, graph)
    counts = range(1, prunings.max_clusters + 1)
    return np.array([terms[prunings.branches(k)].sum() for k in counts])


def _smaller_first(tree: BinaryTree, row: int) -> tuple[int, int]:
    """The two nodes of a row, the one with fewer leaves first."""
    a, b = tree.rows[row]
    return (a, b) if tree.size[a] <= tree.size[b] else (b, a)


def _min_plus(few: FloatArray, many: FloatArray, most: int) -> tuple[FloatArray, Choice]:
    """Min-plus convolution: least ``few[i] + many[j]`` for i + j = 0 .. ``most - 2``, and its i."""
    if few.size == 1:
        return few[0] + many[: most - 1], None
    width = few.size + many.size
    sums = np.full((few.size, width), np.inf)
    np.add(few[:, None], many, out=sums[:, : many.size])
    # Reading the memory with rows one entry shorter shifts row i by i places to the right.
    skewed = sums.ravel()[: few.size * (width - 1)].reshape(few.size, width - 1)[:, : most - 1]
    first = skewed.argmin(axis=0)
    least = skewed[first, np.arange(first.size)]
    return least, first.astype(np.min_scalar_type(few.size - 1))


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
    n = tree.n_leaves
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
