"""Clades of trees on the same leaves: support, transfer distance, majority-rule consensus.

A clade is the set of leaves below an internal node. A merge of more than two children is one node,
so a polytomy has no clades but its own. The clades of a tree are intervals of its leaf order, hence
the sizes of all intersections of two trees' clades are differences of cumulative sums.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from convexhc._checks import checked_number
from convexhc._types import BLOCK_ENTRIES, BoolArray, FloatArray, IntArray
from convexhc.tree.linkage import numbered_nodes
from convexhc.tree.nodes import Nodes
from convexhc.tree.tree import Tree


@dataclass(frozen=True, eq=False)
class Consensus:
    """The majority-rule consensus of trees."""

    tree: Tree  # the clades that most trees have; heights are relative: see `majority_consensus`
    share: FloatArray = field(repr=False)  # fraction of the trees with the same clade, per merge
    n_trees: int


def clades(tree: Tree) -> BoolArray:
    """The clades of a tree as masks: one row per merge, one column per leaf; O(n m)."""
    start, stop = _intervals(tree.nodes)
    place = tree.nodes.place[: tree.n_leaves]
    return np.asarray((place >= start[:, None]) & (place < stop[:, None]))


def transfer_distances(reference: Tree, other: Tree) -> IntArray:
    """For every clade of a tree, the fewest leaves to add or drop to make it one of another tree.

    The transfer distance of Lemoine et al. (2018) for rooted trees: the minimum of |A - B| + |B -
    A| over the clades B of ``other``, a tree of the same names in any order. Single leaves and the
    set of all count as clades, so it is at most ``min(|A| - 1, n - |A|)``. O(n m) time, blocks of
    16 MB.
    """
    size = reference.nodes.size[reference.n_leaves :]
    distance = np.minimum(size - 1, reference.n_leaves - size)
    other_size = other.nodes.size[other.n_leaves :]
    for rows, common in common_leaves(reference, other):
        apart = size[rows, None] + other_size - 2 * common
        np.minimum(distance[rows], apart.min(axis=1), out=distance[rows])
    return distance


def transfer_support(reference: Tree, other: Tree) -> FloatArray:
    """Support of every clade A by another tree: ``1 - transfer distance / min(|A| - 1, n - |A|)``.

    1 if the other tree has the clade, 0 if no clade is nearer than a single leaf or the set of all
    leaves. It hardly changes if few leaves of a large clade move.
    """
    size = reference.nodes.size[reference.n_leaves :]
    largest = np.maximum(np.minimum(size - 1, reference.n_leaves - size), 1)
    return np.asarray(1.0 - transfer_distances(reference, other) / largest)


def majority_consensus(trees: Iterable[Tree], threshold: float = 0.5) -> Consensus:
    """The tree of the clades that more than half, or a share ``threshold``, of the trees have.

    Two such clades are in one tree, so one contains the other or they are disjoint; the root is
    always among them. ``threshold = 1`` gives the strict consensus.

    The height of a clade is the median, over the trees that have it, of the lam of its merge
    relative to the last lam that merges clusters in that tree: trees of different graphs have
    different scales of lam. A clade that would not be below its parent is moved just below it.
    Heights above 1 are merges that only complete the trees.

    The trees have the same names, in any order, and are read one at a time; the result has the
    order of the first. O(n m) for each tree of m merges; memory for one number per different clade
    and tree that has it. ValueError without trees, for one with other names, or a threshold out of
    range.
    """
    least = checked_number("threshold", threshold, upper=1.0)
    if least < 0.5:
        raise ValueError(f"threshold must be between 0.5 and 1, received {threshold!r}.")
    remaining = iter(trees)
    first = next(remaining, None)
    if first is None:
        raise ValueError("trees must have at least one tree; got none.")
    n, n_trees = first.n_leaves, 0
    heights: dict[bytes, list[float]] = {}
    for tree in chain([first], remaining):
        n_trees += 1
        packed = np.packbits(clades(tree)[:, leaves_in_order(first, tree)], axis=1)
        for row, height in zip(packed, _relative_heights(tree.nodes).tolist(), strict=True):
            heights.setdefault(row.tobytes(), []).append(height)
    kept = {
        key: found
        for key, found in heights.items()
        if 2 * len(found) > n_trees and len(found) >= least * n_trees
    }
    rows = np.frombuffer(b"".join(kept), dtype=np.uint8).reshape(len(kept), (n + 7) // 8)
    masks = np.unpackbits(rows, axis=1, count=n).astype(np.bool_)
    nodes, order = nodes_from_clades(masks, np.array([np.median(h) for h in kept.values()]))
    lambdas = np.unique(np.append(nodes.height[n : n + nodes.n_real], 0.0))
    lambdas.setflags(write=False)
    share = np.array([len(found) / n_trees for found in kept.values()])
    return Consensus(Tree(nodes, lambdas, first.names), share[order], n_trees)


def common_leaves(reference: Tree, other: Tree) -> Iterator[tuple[slice, IntArray]]:
    """Blocks of rows: how many leaves each clade of one tree shares with each of another."""
    start, stop = _intervals(reference.nodes)
    other_start, other_stop = _intervals(other.nodes)
    # Places in the order of the reference of the leaves of the other, in the other's order.
    place = np.empty(other.n_leaves, dtype=np.int64)
    own_place = reference.nodes.place[: reference.n_leaves]
    other_place = other.nodes.place[: other.n_leaves]
    place[other_place[leaves_in_order(reference, other)]] = own_place
    block = max(BLOCK_ENTRIES // (reference.n_leaves + 1), 1)
    for low in range(0, start.size, block):
        rows = slice(low, min(low + block, start.size))
        inside = (place >= start[rows, None]) & (place < stop[rows, None])
        total = np.zeros((inside.shape[0], inside.shape[1] + 1), dtype=np.int32)
        np.cumsum(inside, axis=1, out=total[:, 1:])
        yield rows, (total[:, other_stop] - total[:, other_start]).astype(np.int64)


def leaves_in_order(reference: Tree, other: Tree) -> IntArray:
    """The leaf of ``other`` with the name of each leaf of ``reference``, in their order."""
    if reference.names == other.names:
        return np.arange(reference.n_leaves)
    leaf = {name: at for at, name in enumerate(other.names)}
    missing = [name for name in reference.names if name not in leaf]
    if missing or len(leaf) != len(other.names) or len(leaf) != len(reference.names):
        reason = f"{missing[0]!r} is missing" if missing else "some names differ or are repeated"
        raise ValueError(
            f"the trees must have the same {reference.n_leaves} names; in one of {other.n_leaves} "
            f"leaves {reason}. Keep the nodes that all trees have, and name each once."
        )
    return np.array([leaf[name] for name in reference.names], dtype=np.int64)


def nodes_from_clades(masks: BoolArray, height: FloatArray) -> tuple[Nodes, IntArray]:
    """The tree of nested or disjoint clades, (m, n) masks, and the clade of each of its merges.

    The set of all leaves is among them if n > 1. A clade whose height is not below that of its
    parent is moved just below it; heights above 1 are artificial.
    """
    m, n = masks.shape
    by_size = np.argsort(masks.sum(axis=1), kind="stable")
    # Node above which each leaf has no parent yet; nodes in the order of their sizes.
    top, parent = np.arange(n), np.full(n + m, -1, dtype=np.int64)
    for node, row in enumerate(by_size.tolist(), start=n):
        parent[top[masks[row]]] = node
        top[masks[row]] = node
    level = np.concatenate([np.zeros(n), height[by_size]])
    for node in range(n + m - 2, n - 1, -1):
        above = level[parent[node]]
        level[node] = min(level[node], max(np.nextafter(above, -np.inf), 0.0))
    first_leaf = masks[by_size].argmax(axis=1) if m else np.zeros(0, dtype=np.int64)
    # Sizes precede the smallest leaf: children come before their parents at equal heights, too.
    size = masks[by_size].sum(axis=1)
    order = np.lexsort((first_leaf, size, level[n:]))
    return numbered_nodes(parent, level, n, n + order, 1.0), by_size[order]


def _intervals(nodes: Nodes) -> tuple[IntArray, IntArray]:
    """First place in the leaf order of each clade, and the place after its last."""
    start = nodes.place[nodes.n_leaves :]
    return start, start + nodes.size[nodes.n_leaves :]


def _relative_heights(nodes: Nodes) -> FloatArray:
    """Heights of the merges relative to the last one that the path reached."""
    height = nodes.height[nodes.n_leaves :]
    last = float(height[nodes.n_real - 1]) if nodes.n_real else 0.0
    if last > 0:
        return np.asarray(height / last)
    # No merge has a scale: what only completes the tree is above, the rest below.
    return np.where(np.arange(height.size) < nodes.n_real, 1.0, 1.1)
