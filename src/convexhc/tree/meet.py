"""Partitions along lam to the fusions that last, and to the splits.

A partition is held as ``first``: the smallest member of each node's cluster. That form is unique,
so two partitions are equal when the arrays are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexhc._types import FloatArray, IntArray
from convexhc.tree.records import Split

Labels = NDArray[np.integer[Any]]


def first_members(labels: Labels) -> IntArray:
    """Smallest member of the cluster of each node; O(n) for labels not far above n."""
    n = labels.size
    if labels.max() > 4 * n:
        labels = np.unique(labels, return_inverse=True)[1]
    first = np.empty(int(labels.max()) + 1, dtype=np.int64)
    # Of several writes to one place the last one stays, hence from the last node to the first.
    first[labels[::-1]] = np.arange(n - 1, -1, -1)
    return first[labels]


def refine(coarse: IntArray, other: IntArray) -> IntArray:
    """Meet of two partitions: together where both say together.

    Clusters of ``coarse`` that lie inside one cluster of ``other`` are left alone, so the cost is
    O(n) plus a sort of the members of the clusters that break. Returns ``coarse`` itself when none
    does.
    """
    breaks = np.zeros(coarse.size, dtype=bool)
    breaks[coarse[other != other[coarse]]] = True
    members = np.flatnonzero(breaks[coarse])
    if members.size == 0:
        return coarse
    pairs = coarse[members] * coarse.size + other[members]
    _, at, piece = np.unique(pairs, return_index=True, return_inverse=True)
    finer = coarse.copy()
    finer[members] = members[at[piece]]
    return finer


def lasting_joins(
    lambdas: FloatArray, partitions: Labels, components: Labels | None
) -> tuple[IntArray, FloatArray, tuple[Split, ...]]:
    """Fusions that are never undone, as n - 1 edges with heights, and the splits.

    With ``M_L = P_L`` and ``M_l = M_{l+1} meet P_l``, i and j join at the smallest lam_l with both
    in one cluster of ``M_l``. Read from the top down, a cluster of ``M_{l+1}`` that breaks sends
    out pieces, and the first member of each new piece remembers whom it left and at which height:
    these edges are a minimum spanning tree of the join heights, whatever L is.

    Parameters
    ----------
    lambdas : (L,) float64 array
        Strictly increasing.
    partitions : (L, n) integer array
        Labels, row by row.
    components : (n,) integer array, optional
        Labels of the connected components.

    Returns
    -------
    anchor : (n,) int64 array
        The node that each node joins, smaller than itself; entry 0 means nothing.
    height : (n,) float64 array
        The height of that join; above ``lambdas[-1]`` where it only closes the tree.
    splits : tuple of Split
        In the order of lam, then of the smallest member. O(n L) time, O(n) memory.
    """
    nodes = np.arange(partitions.shape[1])
    above = meet = first_members(partitions[-1])
    anchor, height = _top_joins(meet, components, float(lambdas[-1]))
    splits: list[list[Split]] = []
    for level in range(lambdas.size - 2, -1, -1):
        below = first_members(partitions[level])
        splits.append(_splits_between(below, above, level, lambdas))
        finer = refine(meet, below)
        leaves_now = (finer == nodes) & (meet != nodes)
        anchor[leaves_now] = meet[leaves_now]
        height[leaves_now] = lambdas[level + 1]
        above, meet = below, finer
    fused_at_start = meet != nodes
    anchor[fused_at_start] = meet[fused_at_start]
    height[fused_at_start] = lambdas[0]
    return anchor, height, tuple(split for found in reversed(splits) for split in found)


def _top_joins(
    first: IntArray, components: Labels | None, lam: float
) -> tuple[IntArray, FloatArray]:
    """Close the tree: the clusters left in each component first, then the components."""
    nodes = np.arange(first.size)
    group = np.zeros_like(first) if components is None else first_members(components)
    anchor = np.zeros_like(first)
    height = np.zeros(first.size)
    top = _above(lam)
    inside = (first == nodes) & (group != nodes)
    if inside.any():
        anchor[inside] = group[inside]
        height[inside] = top
        top = _above(top)
    height[(group == nodes) & (nodes > 0)] = top
    return anchor, height


def _above(lam: float) -> float:
    """A finite height above lam; the next float guards the tiniest values."""
    return 1.0 if lam == 0 else max(1.1 * lam, float(np.nextafter(lam, np.inf)))


def _splits_between(
    below: IntArray, above: IntArray, level: int, lambdas: FloatArray
) -> list[Split]:
    """Clusters of row ``level`` that are not whole in the next row."""
    pieces = refine(below, above)
    if pieces is below:
        return []
    breaks = np.zeros(below.size, dtype=bool)
    breaks[below[pieces != below]] = True
    members = np.flatnonzero(breaks[below])
    members = members[np.argsort(below[members], kind="stable")]
    borders = np.flatnonzero(np.diff(below[members])) + 1
    found = []
    for cluster in np.split(members, borders):
        heads, sizes = np.unique(pieces[cluster], return_counts=True)
        parted = cluster[pieces[cluster] != heads[np.argmax(sizes)]]
        found.append(
            Split(
                level=level,
                lam_from=float(lambdas[level]),
                lam_to=float(lambdas[level + 1]),
                cluster=int(cluster[0]),
                size=cluster.size,
                n_pieces=heads.size,
                parted=tuple(parted.tolist()),
            )
        )
    return found
