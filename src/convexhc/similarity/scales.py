"""Scales of a graph: partitions into 2, 3, 4, 6, 8, 11, ... groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from scipy import sparse

from convexhc._checks import TIE
from convexhc._types import FloatArray, Labels
from convexhc.similarity.block_model import memberships, merged_groups, modularity


@dataclass(frozen=True)
class ScaleSettings:
    """Parameters of `refined_scales`."""

    ratio: float = 2.0**0.5  # between the numbers of groups at consecutive scales
    mean_size: int = 5  # nodes per group, on average, at the finest scale
    small_mean_size: int = 3  # the same on small graphs, ...
    small_groups: int = 10  # ... for at most this many groups
    max_groups: int = 200  # at the finest scale: the memory of a scale is n times this
    extra_steps: tuple[int, ...] = (16, 64, 256)  # of diffusion, which merge groups of groups
    dense_nodes: int = 4000  # largest n for Ward's tree on all distances, O(n^2) memory
    tree_neighbors: int = 14  # neighbours per node in Ward's tree above that size


SETTINGS = ScaleSettings()


@dataclass(frozen=True, eq=False)
class Scales:
    """Partitions of a graph from coarse to fine, with soft memberships (n, k) per scale."""

    n_groups: tuple[int, ...]
    memberships: tuple[sparse.csr_array, ...]

    def labels(self, scale: int) -> Labels:
        """Group of largest membership of each node at one scale."""
        return hard_labels(self.memberships[scale])

    def co_membership(self, rows: slice) -> FloatArray:
        """Mean over the scales of the probability that a row and a node share a group."""
        shared: FloatArray = sum((q[rows] @ q.T).toarray() for q in self.memberships)
        return shared / max(len(self.memberships), 1)


def refined_scales(
    adjacency: sparse.csr_array, features: FloatArray, *, thorough: bool = True
) -> Scales:
    """Partition a graph into 2, 3, 4, 6, 8, 11, ... groups.

    Three initial partitions per number of groups, or if not ``thorough`` the first of them: Ward's
    tree of the features; Ward's tree of features that have diffused further, which shows groups of
    groups; and the finest partition with groups merged by the edges between them. Each is refined
    by a block model, and the one of largest modularity is kept. O(n^2) memory for Ward's tree up to
    4000 nodes, then O(n); O(E k) time for k groups.
    """
    counts = _group_counts(len(features))
    if not counts:
        return Scales((), ())
    first = [memberships(adjacency, labels) for labels in _ward_partitions(features, counts)]
    if not thorough:
        return Scales(tuple(counts), tuple(first))
    finest = hard_labels(first[-1])
    n_finest = np.unique(finest).size
    starts = [
        _ward_partitions(_diffused(adjacency, features), counts),
        merged_groups(adjacency, finest, [min(count, n_finest) for count in counts]),
    ]
    found = [first, *([memberships(adjacency, labels) for labels in start] for start in starts)]
    best = [_best_candidate(adjacency, candidates) for candidates in zip(*found, strict=True)]
    return Scales(tuple(counts), tuple(best))


def _best_candidate(
    adjacency: sparse.csr_array, candidates: Sequence[sparse.csr_array]
) -> sparse.csr_array:
    """The first memberships of largest modularity, up to round-off: that depends on the order."""
    scores = np.array([modularity(adjacency, hard_labels(q)) for q in candidates])
    return candidates[int(np.argmax(scores >= scores.max() - TIE))]


def hard_labels(q: sparse.csr_array) -> Labels:
    """Group of largest membership of each node, the first of several."""
    row = np.repeat(np.arange(q.shape[0]), np.diff(q.indptr))
    # The entry that wins is written last.
    at = np.lexsort((-q.indices, q.data))
    labels = np.zeros(q.shape[0], np.int64)
    labels[row[at]] = q.indices[at]
    return labels


def _group_counts(n: int) -> list[int]:
    """Numbers of groups, each sqrt(2) times the one before; none for fewer than six nodes."""
    few = min(n / SETTINGS.small_mean_size, SETTINGS.small_groups)
    most = min(max(n / SETTINGS.mean_size, few), SETTINGS.max_groups)
    if most < 2:
        return []
    steps = int(np.log(most / 2.0) / np.log(SETTINGS.ratio) + 1e-9)
    return sorted({round(2.0 * SETTINGS.ratio**step) for step in range(steps + 1)})


def _ward_partitions(features: FloatArray, counts: list[int]) -> list[Labels]:
    """Ward's tree cut into each number of groups."""
    tree = _ward(features)
    cut = scipy.cluster.hierarchy.fcluster
    return [cut(tree, k, criterion="maxclust").astype(np.int64) - 1 for k in counts]


def _diffused(adjacency: sparse.csr_array, features: FloatArray) -> FloatArray:
    """Features, side by side with themselves after 16, 64 and 256 more lazy steps."""
    degree = np.asarray(adjacency.sum(axis=1), dtype=np.float64)
    scale = sparse.diags_array(1.0 / np.sqrt(np.where(degree > 0.0, degree, 1.0)))
    walk = sparse.csr_array(scale @ adjacency @ scale)
    current, taken, stages = features, 0, [features]
    for steps in SETTINGS.extra_steps:
        for _ in range(steps - taken):
            current = 0.5 * (current + walk @ current)
        taken = steps
        length = np.linalg.norm(current, axis=1, keepdims=True)
        stages.append(current / np.where(length > 0.0, length, 1.0))
    return np.hstack(stages)


def _ward(features: FloatArray) -> FloatArray:
    """Linkage matrix of Ward's tree, restricted to neighbours on large tables."""
    if len(features) <= SETTINGS.dense_nodes:
        # Distances, as scipy warns of tables that look like a matrix of distances.
        distances = scipy.spatial.distance.pdist(features)
        return np.asarray(scipy.cluster.hierarchy.linkage(distances, "ward"))
    from sklearn.cluster import ward_tree
    from sklearn.neighbors import kneighbors_graph

    near = kneighbors_graph(features, SETTINGS.tree_neighbors, include_self=False)
    children, _, n, _, height = ward_tree(
        features, connectivity=near.maximum(near.T), return_distance=True
    )
    size = np.concatenate([np.ones(n), np.zeros(n - 1)])
    for row, (a, b) in enumerate(children):
        size[n + row] = size[a] + size[b]
    return np.column_stack([children, np.maximum.accumulate(height), size[n:]]).astype(float)
