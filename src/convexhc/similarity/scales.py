"""A ladder of partitions of a graph, from two groups to many: its scales."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist

from convexhc._types import Labels
from convexhc.similarity.block_model import memberships, merged_groups, modularity

Array = NDArray[np.float64]

# Ratio of the numbers of groups at neighbouring scales of the ladder.
LADDER_RATIO = 2.0**0.5
# Nodes per group, on average, at the finest scale.
FINEST_SIZE = 5
# In small graphs groups may have three nodes, as long as there are no more groups than this.
FEWEST_NODES = 3
FEW_GROUPS = 10
# Groups at the finest scale at most: memory of a scale is n times this.
MOST_GROUPS = 200
# Lazy steps after which the features are looked at again, for groups of groups.
MORE_STEPS = (16, 64, 256)
# Above so many nodes Ward's tree is built along nearest neighbours: memory n, not n^2.
DENSE_NODES = 4000
# Neighbours of a node along which Ward's tree is built there.
TREE_NEIGHBORS = 14


@dataclass(frozen=True, eq=False)
class Scales:
    """A ladder of partitions of a graph, from coarse to fine, with soft memberships."""

    n_groups: tuple[int, ...]
    memberships: tuple[sparse.csr_array, ...]

    def labels(self, scale: int) -> Labels:
        """Group of largest membership of every node at one scale."""
        return hard_labels(self.memberships[scale])

    def together(self, rows: slice) -> Array:
        """Mean over the scales of the probability that some rows and all nodes share a group."""
        shared: Array = sum((q[rows] @ q.T).toarray() for q in self.memberships)
        return shared / max(len(self.memberships), 1)


def refined_scales(
    adjacency: sparse.csr_array, features: Array, *, thorough: bool = True
) -> Scales:
    """Partitions of a graph into 2, 3, 4, 6, 8, 11, ... groups, each sharpened by the edges.

    Three starts for each number of groups: a cut of Ward's tree of the features; the same after the
    features have diffused further, which shows groups of groups; and the finest partition merged by
    the edges between its groups (`merged_groups`). All are sharpened by a block model
    (`memberships`), and the one of largest modularity stays.

    Parameters
    ----------
    adjacency : (n, n) sparse array
        Symmetric, not negative.
    features : (n, r) array
        One row per node.
    thorough : bool
        Try all three starts, not the first alone.

    Returns
    -------
    Scales
        O(n^2) memory for Ward's tree up to 4000 nodes, then O(n); O(E k) time for k groups.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> A = sparse.csr_array(np.kron(np.eye(4), np.ones((5, 5))) + 0.1)
    >>> refined_scales(A, np.kron(np.eye(4), np.ones((5, 1)))).n_groups
    (2, 3, 4, 6)
    """
    counts = _ladder(len(features))
    if not counts:
        return Scales((), ())
    first = [memberships(adjacency, labels) for labels in _cuts(features, counts)]
    if not thorough:
        return Scales(tuple(counts), tuple(first))
    starts = [_cuts(_in_the_long_run(adjacency, features), counts)]
    starts.append(_merged(adjacency, hard_labels(first[-1]), counts))
    found = [first, *([memberships(adjacency, labels) for labels in cuts] for cuts in starts)]
    best = [
        max(tried, key=lambda q: modularity(adjacency, hard_labels(q)))
        for tried in zip(*found, strict=True)
    ]
    return Scales(tuple(counts), tuple(best))


def hard_labels(q: sparse.csr_array) -> Labels:
    """Group of largest membership of every node."""
    return np.asarray(q.argmax(axis=1), dtype=np.int64)


def _merged(adjacency: sparse.csr_array, finest: Labels, counts: list[int]) -> list[Labels]:
    """The finest partition merged to each number of groups; as it is where it has fewer."""
    most = np.unique(finest).size
    return merged_groups(adjacency, finest, [min(count, most) for count in counts])


def _ladder(n: int) -> list[int]:
    """Numbers of groups, each the square root of two times the one before."""
    most = min(max(n / FINEST_SIZE, min(n / FEWEST_NODES, FEW_GROUPS)), MOST_GROUPS)
    if most < 2:
        return []
    steps = int(np.log(most / 2.0) / np.log(LADDER_RATIO) + 1e-9)
    return sorted({round(2.0 * LADDER_RATIO**step) for step in range(steps + 1)})


def _cuts(features: Array, counts: list[int]) -> list[Labels]:
    """Ward's tree cut into some numbers of groups."""
    tree = _ward(features)
    return [fcluster(tree, k, criterion="maxclust").astype(np.int64) - 1 for k in counts]


def _in_the_long_run(adjacency: sparse.csr_array, features: Array) -> Array:
    """The features, and beside them what 16, 64 and 256 more lazy steps make of them."""
    degree = np.asarray(adjacency.sum(axis=1), dtype=np.float64)
    shrink = sparse.diags_array(1.0 / np.sqrt(np.where(degree > 0.0, degree, 1.0)))
    walk = sparse.csr_array(shrink @ adjacency @ shrink)
    now, taken, stages = features, 0, [features]
    for steps in MORE_STEPS:
        for _ in range(steps - taken):
            now = 0.5 * (now + walk @ now)
        taken = steps
        length = np.linalg.norm(now, axis=1, keepdims=True)
        stages.append(now / np.where(length > 0.0, length, 1.0))
    return np.hstack(stages)


def _ward(features: Array) -> Array:
    if len(features) <= DENSE_NODES:
        return np.asarray(linkage(pdist(features), "ward"))
    from sklearn.cluster import ward_tree
    from sklearn.neighbors import kneighbors_graph

    near = kneighbors_graph(features, TREE_NEIGHBORS, include_self=False)
    children, _, n, _, height = ward_tree(
        features, connectivity=near.maximum(near.T), return_distance=True
    )
    size = np.concatenate([np.ones(n), np.zeros(n - 1)])
    for row, (a, b) in enumerate(children):
        size[n + row] = size[a] + size[b]
    return np.column_stack([children, np.maximum.accumulate(height), size[n:]]).astype(float)
