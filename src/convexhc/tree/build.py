"""Checked input to nodes: from partitions, and from a linkage."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from convexhc._types import FloatArray, IntArray
from convexhc.tree.meet import Labels, first_members, lasting_joins
from convexhc.tree.nodes import Nodes, follow
from convexhc.tree.records import Split

# Two heights above the last lam, each a tenth higher, must still be finite.
LARGEST_LAM = 1e300


def checked_lambdas(lambdas: ArrayLike) -> FloatArray:
    """Verify that lam is finite, nonnegative and strictly increasing; return a frozen copy."""
    values = np.array(lambdas, dtype=np.float64)
    if values.ndim != 1 or values.size == 0:
        raise ValueError(
            f"lambdas must be a list of at least one number; got shape {values.shape}."
        )
    if not np.isfinite(values).all() or values.min() < 0 or values.max() > LARGEST_LAM:
        raise ValueError(
            f"lambdas must be finite numbers between 0 and {LARGEST_LAM:g}; got values from "
            f"{values.min()} to {values.max()}."
        )
    falls = np.flatnonzero(np.diff(values) <= 0)
    if falls.size:
        at = int(falls[0])
        raise ValueError(
            f"lambdas must be strictly increasing; got {values[at]} followed by {values[at + 1]} "
            f"at place {at}. Sort them, with their partitions, and drop repeated values."
        )
    # Minus zero would be printed as such in every height.
    values += 0.0
    values.setflags(write=False)
    return values


def checked_labels(labels: ArrayLike, name: str, shape: tuple[int | None, ...]) -> Labels:
    """Verify nonnegative integer labels of the given shape; None stands for any length."""
    array = np.asarray(labels)
    fits = array.ndim == len(shape) and all(
        want is None or want == got for want, got in zip(shape, array.shape, strict=True)
    )
    if not fits or array.size == 0:
        wanted = " x ".join("n" if want is None else str(want) for want in shape)
        raise ValueError(f"{name} must have shape {wanted}, n >= 1; got shape {array.shape}.")
    if not np.issubdtype(array.dtype, np.integer):
        raise TypeError(f"{name} must hold integer labels; got dtype {array.dtype}.")
    if array.min() < 0:
        raise ValueError(
            f"{name} must hold labels >= 0; got {array.min()}. A node that belongs to no cluster "
            "needs a label of its own."
        )
    return array


def nodes_from_partitions(
    lambdas: FloatArray, partitions: Labels, components: Labels | None
) -> tuple[Nodes, tuple[Split, ...]]:
    """Tree of the meet of the partitions, and their splits; O(n L + n log n)."""
    if components is not None:
        _check_components(lambdas, partitions, components)
    anchor, height, splits = lasting_joins(lambdas, partitions, components)
    left, right, sorted_height = _rows(anchor, height)
    return _nodes(left, right, sorted_height, float(lambdas[-1])), splits


def nodes_from_linkage(Z: ArrayLike, root_joins: int) -> tuple[Nodes, FloatArray]:
    """Tree of a linkage, and its heights in the place of lam; O(n log n)."""
    rows = checked_linkage(Z)
    n_rows = rows.shape[0]
    if not 0 <= root_joins <= n_rows:
        raise ValueError(
            f"root_joins must be between 0 and the {n_rows} rows of the linkage; got {root_joins}."
        )
    height = rows[:, 2]
    real = height[: n_rows - root_joins]
    last = float(real[-1]) if real.size else 0.0
    if root_joins and height[n_rows - root_joins] <= last:
        raise ValueError(
            f"The last {root_joins} rows are said to close the tree, but the first of them is at "
            f"{height[n_rows - root_joins]}, not above the fusions before it ({last})."
        )
    lambdas = np.unique(np.append(real, 0.0))
    lambdas.setflags(write=False)
    ids = rows[:, :2].astype(np.int64)
    return _nodes(ids[:, 0], ids[:, 1], height, last), lambdas


def checked_linkage(Z: ArrayLike) -> FloatArray:
    """Verify a linkage in scipy's form: n - 1 rows of two ids, a height and a leaf count."""
    rows = np.array(Z, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != 4:
        raise ValueError(f"A linkage has n - 1 rows of 4 numbers; got shape {rows.shape}.")
    n = rows.shape[0] + 1
    ids, height = rows[:, :2], rows[:, 2]
    if not np.isfinite(rows).all() or (height < 0).any() or (np.diff(height) < 0).any():
        raise ValueError(
            "The heights of a linkage must be finite, nonnegative and never fall from one row to "
            "the next. Centroid and median linkages fall: use another method."
        )
    own_id = np.arange(n, 2 * n - 1)[:, None]
    known = (ids >= 0) & (ids < own_id) & (ids == np.floor(ids))
    if not known.all() or np.unique(ids).size != ids.size:
        raise ValueError(
            "Row i of a linkage must join two nodes below n + i, each of them joined only once in "
            "all rows; got other ids. Leaves are 0 .. n - 1, and row i makes node n + i."
        )
    # Minus zero would be printed as such in every height.
    rows[:, 2] += 0.0
    return rows


def _check_components(lambdas: FloatArray, partitions: Labels, components: Labels) -> None:
    """Refuse a cluster that reaches over two components: no edge could have fused it."""
    for lam, labels in zip(lambdas, partitions, strict=True):
        first = first_members(labels)
        crossing = np.flatnonzero(components != components[first])
        if crossing.size:
            node = int(crossing[0])
            raise ValueError(
                f"Nodes {first[node]} and {node} share a cluster at lam = {lam} but are in "
                "different components. Check that components and partitions list the nodes in "
                "the same order."
            )


def _rows(anchor: IntArray, height: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Linkage rows of n - 1 edges: union-find in the order of height, then of the node."""
    n = anchor.size
    order = np.argsort(height[1:], kind="stable") + 1
    leader = list(range(n))
    made = list(range(n))
    left, right = [], []
    for row, (node, other) in enumerate(zip(order.tolist(), anchor[order].tolist(), strict=True)):
        while leader[other] != other:
            leader[other] = leader[leader[other]]
            other = leader[other]
        # A node's own join is higher than every join to it, so it still leads its cluster.
        left.append(made[other])
        right.append(made[node])
        leader[node] = other
        made[other] = n + row
    return np.array(left, dtype=np.int64), np.array(right, dtype=np.int64), height[order]


def _nodes(left: IntArray, right: IntArray, height: FloatArray, last: float) -> Nodes:
    """Nodes of linkage rows: a row at the height of the row above it is the same fusion."""
    n_rows = height.size
    n = n_rows + 1
    ids = np.arange(n + n_rows)
    parent = np.full(n + n_rows, -1, dtype=np.int64)
    parent[left] = parent[right] = ids[n:]
    level = np.concatenate([np.zeros(n), height])
    inner = (ids >= n) & (parent >= 0) & (level == level[parent])
    fusion = follow(np.where(inner, parent, ids))
    kept = ids[n:][~inner[n:]]
    kept = kept[np.lexsort((_first_leaf(left, right)[kept], level[kept]))]
    renumbered = np.empty(n + n_rows, dtype=np.int64)
    renumbered[:n] = ids[:n]
    renumbered[kept] = n + np.arange(kept.size)
    listed = np.concatenate([ids[:n], kept])
    above = parent[listed]
    return Nodes(
        parent=np.where(above >= 0, renumbered[fusion[above]], -1),
        height=level[listed],
        n_leaves=n,
        n_artificial=int(np.count_nonzero(level[kept] > last)),
    )


def _first_leaf(left: IntArray, right: IntArray) -> IntArray:
    """Smallest leaf under each node of a linkage."""
    first = list(range(left.size + 1))
    for a, b in zip(left.tolist(), right.tolist(), strict=True):
        first.append(min(first[a], first[b]))
    return np.array(first, dtype=np.int64)
