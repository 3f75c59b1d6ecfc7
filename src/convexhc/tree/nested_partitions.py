"""From the partitions of a path to nested merges, and the splits that break nesting.

A partition is stored as ``first``: the smallest member of each node's cluster. This form is unique,
so two partitions are equal exactly when the arrays are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from convexhc._types import FloatArray, IntArray
from convexhc.tree.linkage import multiway_nodes
from convexhc.tree.nodes import Nodes

# Labels as the user gives them, of any integer type.
AnyLabels = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class Split:
    """A cluster at one computed lam that is no longer whole at the next.

    Parameters
    ----------
    level : int
        Row of the partitions that contains the cluster; it is broken in row ``level + 1``.
    lam_from, lam_to : float
        The two neighbouring values of lam.
    cluster : int
        Smallest member, which identifies the cluster in row ``level``.
    size, n_pieces : int
        Number of members, and number of clusters of row ``level + 1`` that contain them.
    parted : tuple of int
        Members outside the largest piece (of equally large ones, that with the smallest member),
        in increasing order. The rest stays together; listing it would cost O(n) per split.
    """

    level: int
    lam_from: float
    lam_to: float
    cluster: int
    size: int
    n_pieces: int
    parted: tuple[int, ...]


def nodes_from_partitions(
    lambdas: FloatArray, partitions: AnyLabels, components: AnyLabels | None
) -> tuple[Nodes, tuple[Split, ...]]:
    """Tree of the permanent merges of a path, and its splits; O(n L + n log n)."""
    if components is not None:
        _check_components(lambdas, partitions, components)
    anchor, height, splits = permanent_merges(lambdas, partitions, components)
    left, right, sorted_height = _linkage_rows(anchor, height)
    return multiway_nodes(left, right, sorted_height, float(lambdas[-1])), splits


def permanent_merges(
    lambdas: FloatArray, partitions: AnyLabels, components: AnyLabels | None
) -> tuple[IntArray, FloatArray, tuple[Split, ...]]:
    """Merges that are never undone, as n - 1 edges with heights, and the splits; O(n L) time.

    With ``M_L = P_L`` and ``M_l`` the meet of ``M_{l+1}`` and ``P_l``, nodes i and j merge at the
    smallest lam_l with both in one cluster of ``M_l``. From the top down, when a cluster breaks,
    the smallest member of each new piece records that of the broken cluster and the height. These
    edges are a minimum spanning tree of the merge heights. Entry 0 of the edges is meaningless;
    heights above ``lambdas[-1]`` only complete the tree.
    """
    nodes = np.arange(partitions.shape[1])
    above = nested = first_members(partitions[-1])
    anchor, height = _top_merges(nested, components, float(lambdas[-1]))
    splits: list[list[Split]] = []
    for level in range(lambdas.size - 2, -1, -1):
        below = first_members(partitions[level])
        splits.append(_splits_between(below, above, level, lambdas))
        finer = meet(nested, below)
        new_pieces = (finer == nodes) & (nested != nodes)
        anchor[new_pieces] = nested[new_pieces]
        height[new_pieces] = lambdas[level + 1]
        above, nested = below, finer
    merged_at_start = nested != nodes
    anchor[merged_at_start] = nested[merged_at_start]
    height[merged_at_start] = lambdas[0]
    return anchor, height, tuple(split for found in reversed(splits) for split in found)


def first_members(labels: AnyLabels) -> IntArray:
    """Smallest member of each node's cluster; O(n) if the labels are not far above n."""
    n = labels.size
    if labels.max() > 4 * n:
        labels = np.unique(labels, return_inverse=True)[1]
    first = np.empty(int(labels.max()) + 1, dtype=np.int64)
    # With repeated indices numpy keeps the last write, so nodes are written in reverse.
    first[labels[::-1]] = np.arange(n - 1, -1, -1)
    return first[labels]


def meet(partition: IntArray, other: IntArray) -> IntArray:
    """Coarsest common refinement: nodes share a cluster if they do in both partitions.

    O(n) plus a sort of the members of the clusters that break; ``partition`` itself if none does.
    """
    breaks = np.zeros(partition.size, dtype=bool)
    breaks[partition[other != other[partition]]] = True
    members = np.flatnonzero(breaks[partition])
    if members.size == 0:
        return partition
    pairs = partition[members] * partition.size + other[members]
    _, at, piece = np.unique(pairs, return_index=True, return_inverse=True)
    finer = partition.copy()
    finer[members] = members[at[piece]]
    return finer


def checked_lambdas(lambdas: ArrayLike) -> FloatArray:
    """Verify that lam is finite, nonnegative and strictly increasing; return a frozen copy."""
    values = np.array(lambdas, dtype=np.float64)
    if values.ndim != 1 or values.size == 0:
        raise ValueError(
            f"lambdas must be a list of at least one number; got shape {values.shape}."
        )
    # The tree may be completed at 1.1^2 times the largest, which must stay finite.
    largest = float(np.finfo(np.float64).max) / 1.3
    if not (values.min() >= 0 and values.max() <= largest):
        raise ValueError(
            f"lambdas must be finite numbers between 0 and {largest:g}; got values from "
            f"{values.min()} to {values.max()}."
        )
    falls = np.flatnonzero(np.diff(values) <= 0)
    if falls.size:
        at = int(falls[0])
        raise ValueError(
            f"lambdas must be strictly increasing; got {values[at]} followed by {values[at + 1]} "
            f"at place {at}. Sort them, with their partitions, and drop repeated values."
        )
    # Turns -0.0 into 0.0, so that no height is printed with a minus sign.
    values += 0.0
    values.setflags(write=False)
    return values


def checked_labels(labels: ArrayLike, name: str, shape: tuple[int | None, ...]) -> AnyLabels:
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


def _check_components(lambdas: FloatArray, partitions: AnyLabels, components: AnyLabels) -> None:
    """Refuse a cluster with nodes of two components, which no edge connects."""
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


def _top_merges(
    first: IntArray, components: AnyLabels | None, lam: float
) -> tuple[IntArray, FloatArray]:
    """Complete the tree: merge the clusters within each component, then the components."""
    nodes = np.arange(first.size)
    group = np.zeros_like(first) if components is None else first_members(components)
    anchor = np.zeros_like(first)
    height = np.zeros(first.size)
    top = _height_above(lam)
    inside = (first == nodes) & (group != nodes)
    if inside.any():
        anchor[inside] = group[inside]
        height[inside] = top
        top = _height_above(top)
    height[(group == nodes) & (nodes > 0)] = top
    return anchor, height


def _height_above(lam: float) -> float:
    """1.1 lam, or 1 for lam = 0; at least the next float, since 1.1 lam may round to lam."""
    return 1.0 if lam == 0 else max(1.1 * lam, float(np.nextafter(lam, np.inf)))


def _splits_between(
    below: IntArray, above: IntArray, level: int, lambdas: FloatArray
) -> list[Split]:
    """Clusters of row ``level`` that are not whole in the next row."""
    pieces = meet(below, above)
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


def _linkage_rows(anchor: IntArray, height: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Linkage rows of n - 1 edges, by union-find in order of height, then of node."""
    n = anchor.size
    order = np.argsort(height[1:], kind="stable") + 1
    leader = list(range(n))
    cluster_id = list(range(n))
    left, right = [], []
    for row, (node, other) in enumerate(zip(order.tolist(), anchor[order].tolist(), strict=True)):
        while leader[other] != other:
            leader[other] = leader[leader[other]]
            other = leader[other]
        # A node's own edge is higher than every edge to it, so it still leads its cluster.
        left.append(cluster_id[other])
        right.append(cluster_id[node])
        leader[node] = other
        cluster_id[other] = n + row
    return np.array(left, dtype=np.int64), np.array(right, dtype=np.int64), height[order]
