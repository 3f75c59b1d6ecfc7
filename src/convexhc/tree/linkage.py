"""Linkage matrices in scipy's form: verify, convert to a multiway tree, and back."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from convexhc._types import FloatArray, IntArray
from convexhc.tree.nodes import Nodes, pointer_roots


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
    # Turns -0.0 into 0.0, so that no height is printed with a minus sign.
    rows[:, 2] += 0.0
    return rows


def nodes_from_linkage(Z: ArrayLike, root_joins: int) -> tuple[Nodes, FloatArray]:
    """Multiway tree of a linkage, and its distinct heights with 0; O(n log n)."""
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
    return multiway_nodes(ids[:, 0], ids[:, 1], height, last), lambdas


def multiway_nodes(left: IntArray, right: IntArray, height: FloatArray, last: float) -> Nodes:
    """Multiway tree of linkage rows: a row at the height of its parent row is the same merge.

    Merges above ``last`` are artificial.
    """
    n_rows = height.size
    n = n_rows + 1
    ids = np.arange(n + n_rows)
    parent = np.full(n + n_rows, -1, dtype=np.int64)
    parent[left] = parent[right] = ids[n:]
    node_height = np.concatenate([np.zeros(n), height])
    absorbed = (ids >= n) & (parent >= 0) & (node_height == node_height[parent])
    merge_of = pointer_roots(np.where(absorbed, parent, ids))
    kept = ids[n:][~absorbed[n:]]
    kept = kept[np.lexsort((first_leaves(left, right)[kept], node_height[kept]))]
    return numbered_nodes(np.where(parent >= 0, merge_of[parent], -1), node_height, n, kept, last)


def numbered_nodes(
    parent: IntArray, height: FloatArray, n: int, kept: IntArray, last: float
) -> Nodes:
    """Tree of n leaves and the inner nodes ``kept``, in this order; above ``last`` artificial."""
    old_id = np.concatenate([np.arange(n), kept])
    # The last entry is that of -1, the parent of the root.
    new_id = np.full(parent.size + 1, -1, dtype=np.int64)
    new_id[old_id] = np.arange(old_id.size)
    n_artificial = int(np.count_nonzero(height[kept] > last))
    return Nodes(new_id[parent[old_id]], height[old_id], n, n_artificial)


def linkage_from_nodes(nodes: Nodes) -> FloatArray:
    """Linkage of a multiway tree in scipy's form, (n - 1, 4), with ties for more than two children.

    Neighbouring children are paired, then the pairs, and so on: k children add a depth of only
    log2(k), which protects recursive readers. The child with the smaller leaf comes first.
    """
    n = nodes.n_leaves
    linkage_id = list(range(nodes.parent.size))
    sizes = [1] * n
    heights = nodes.height.tolist()
    rows: list[tuple[int, int, float, int]] = []
    for merge, children in enumerate(nodes.children):
        height = heights[n + merge]
        unpaired = [linkage_id[child] for child in children]
        while len(unpaired) > 1:
            paired = []
            for a, b in zip(unpaired[::2], unpaired[1::2], strict=False):
                paired.append(n + len(rows))
                sizes.append(sizes[a] + sizes[b])
                rows.append((a, b, height, sizes[-1]))
            unpaired = paired + unpaired[2 * len(paired) :]
        linkage_id[n + merge] = unpaired[0]
    return np.array(rows, dtype=np.float64).reshape(n - 1, 4)


def first_leaves(left: IntArray, right: IntArray) -> IntArray:
    """Smallest leaf under each of the 2n - 1 nodes of a linkage."""
    first = list(range(left.size + 1))
    for a, b in zip(left.tolist(), right.tolist(), strict=True):
        first.append(min(first[a], first[b]))
    return np.array(first, dtype=np.int64)
