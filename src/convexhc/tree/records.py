"""What a tree reports: fusions, splits, plateaus, and the coordinates of its drawing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Merge:
    """Two or more clusters become one.

    Parameters
    ----------
    lam : float
        Height of the fusion.
    children : tuple of int
        Nodes that meet, in the order of their first leaves: ``0 .. n - 1`` are the leaves,
        ``n + t`` is the parent of merge ``t``.
    parent : int
        The node they become.
    artificial : bool
        True where the path never showed this fusion, and the tree was only closed at the top.
    """

    lam: float
    children: tuple[int, ...]
    parent: int
    artificial: bool


@dataclass(frozen=True)
class Split:
    """A cluster at one computed lam whose members are no longer all together at the next.

    Parameters
    ----------
    level : int
        Row of the partitions in which the cluster is whole; it is broken in row ``level + 1``.
    lam_from, lam_to : float
        The two neighbouring values of lam.
    cluster : int
        Smallest member, which identifies the cluster in row ``level``.
    size, n_pieces : int
        Number of members, and of clusters of row ``level + 1`` that they are spread over.
    parted : tuple of int
        Members outside the largest piece (of equal ones, the one with the smallest member), in
        increasing order. The rest stayed together, and listing it would cost n per split.
    """

    level: int
    lam_from: float
    lam_to: float
    cluster: int
    size: int
    n_pieces: int
    parted: tuple[int, ...]


@dataclass(frozen=True)
class Plateau:
    """A range of lam over which the partition does not change.

    Parameters
    ----------
    n_clusters : int
        Number of clusters.
    lam_from, lam_to : float
        Where the partition appears, and where it changes or the path ends.
    log_width : float
        Natural logarithm of ``lam_to / lam_from``, with the smallest positive lam of the path
        in the place of a zero, so that it is always finite.
    """

    n_clusters: int
    lam_from: float
    lam_to: float
    log_width: float


@dataclass(frozen=True, eq=False)
class Layout:
    """Coordinates of a dendrogram of n leaves, ready to be drawn; leaves are one unit apart.

    Parameters
    ----------
    leaf_order : (n,) int64 array
        Leaves from left to right.
    x, height : (2n - 1,) float64 arrays
        Position of each node: leaves first, then one node per row of the linkage.
    icoord, dcoord : (n - 1, 4) float64 arrays
        Corners of the bracket of each row: across, and up.
    """

    leaf_order: NDArray[np.int64]
    x: NDArray[np.float64]
    height: NDArray[np.float64]
    icoord: NDArray[np.float64]
    dcoord: NDArray[np.float64]
