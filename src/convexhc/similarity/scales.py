"""Scales of a graph: partitions into 2, 3, 4, 6, 8, 11, ... groups, refined by a block model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from scipy import sparse

from convexhc._checks import TIE
from convexhc._types import FloatArray, Labels
from convexhc.kernels.block_model import update_memberships
from convexhc.kernels.labels import numbered


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
    """The first memberships of largest modularity, up to round-off, which varies with order."""
    scores = np.array([modularity(adjacency, hard_labels(q)) for q in candidates])
    return candidates[int(np.argmax(scores >= scores.max() - TIE))]


def hard_labels(q: sparse.csr_array) -> Labels:
    """Group of largest membership of each node, the first of several."""
    q.sort_indices()
    count = np.diff(q.indptr)
    row = np.repeat(np.arange(count.size), count)
    filled = np.flatnonzero(count)
    largest = np.zeros(count.size)
    largest[filled] = np.maximum.reduceat(q.data, q.indptr[filled])
    at = np.flatnonzero(q.data == largest[row])[::-1]
    labels = np.zeros(count.size, np.int64)
    # The first of a row is written last.
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


@dataclass(frozen=True)
class BlockModelSettings:
    """Parameters of the mean-field iteration of `memberships`."""

    damping: float = 0.5  # share of the old memberships kept: parallel updates oscillate without
    max_updates: int = 60  # most partitions converge within twenty
    tol: float = 1e-3  # largest change of a membership at convergence; smaller ones are dropped
    min_density: float = 1e-6  # lower bound on a density, for a finite logarithm
    dense_entries: int = 1_000_000  # nodes times groups up to which all memberships are updated


BLOCK_MODEL = BlockModelSettings()


def memberships(adjacency: sparse.csr_array, labels: Labels) -> sparse.csr_array:
    """Soft group memberships (n, k) under a degree-corrected block model, refined from a partition.

    Edges are Poisson with mean ``d_i d_j w / (2m)``, where w is ``w_g`` if both ends are in group g
    and ``w_out`` otherwise (Karrer and Newman 2011, with one density between all groups); weights,
    relative to their mean, count as numbers of edges. Damped mean-field updates of all nodes at
    once:

        q_ig  proportional to  exp( log(w_g / w_out) (A q)_ig - (w_g - w_out) d_i vol_g / (2m) ),

    with the densities estimated from q before each update. The initial partition if its groups
    contain no more edges than expected by chance; groups may become empty. O(E k) per update; above
    a million entries only groups that a node has edges to are considered.
    """
    n, k = adjacency.shape[0], int(labels.max()) + 1
    mean = float(adjacency.data.mean()) if adjacency.nnz else 1.0
    scaled, degree = sparse.csr_array(adjacency / mean), np.asarray(adjacency.sum(axis=1)) / mean
    total = float(degree.sum())
    q: Any = sparse.csr_array((np.ones(n), (np.arange(n), labels)), shape=(n, k))
    dense = n * k <= BLOCK_MODEL.dense_entries
    if dense:
        q = q.toarray()
    for _ in range(BLOCK_MODEL.max_updates):
        links, volume = scaled @ q, np.asarray(degree @ q)
        edges = np.einsum("ig,ig->g", q, links) if dense else (q * links).sum(axis=0)
        inside, outside = _densities(np.asarray(edges), volume, total)
        if inside is None:
            break
        gain, cost = np.log(inside / outside), volume * (inside - outside) / total
        if dense:
            change = update_memberships(links, degree, gain, cost, BLOCK_MODEL.damping, q)
        else:
            new = _updated(q, sparse.csr_array(links), degree, gain, cost)
            change, q = float(np.abs((new - q).data).max(initial=0.0)), new
        if change < BLOCK_MODEL.tol:
            break
    if dense:
        q[q < BLOCK_MODEL.tol] = 0.0
    return sparse.csr_array(q)


def _updated(
    q: sparse.csr_array,
    links: sparse.csr_array,
    degree: FloatArray,
    gain: FloatArray,
    cost: FloatArray,
) -> sparse.csr_array:
    """One update among the groups to which a node has edges; small memberships are dropped."""
    count, group = np.diff(links.indptr), links.indices
    score = links.data * gain[group] - np.repeat(degree, count) * cost[group]
    # A node without edges keeps its group.
    linked = np.flatnonzero(count)
    first, count = links.indptr[linked], count[linked]
    weight = np.exp(score - np.repeat(np.maximum.reduceat(score, first), count))
    weight /= np.repeat(np.add.reduceat(weight, first), count)
    links.data = (1.0 - BLOCK_MODEL.damping) * weight
    share = np.ones(degree.size)
    share[linked] = BLOCK_MODEL.damping
    new = sparse.csr_array(sparse.diags_array(share) @ q + links)
    new.data[new.data < BLOCK_MODEL.tol] = 0.0
    new.eliminate_zeros()
    return new


def _densities(
    edges: FloatArray, volume: FloatArray, total: float
) -> tuple[FloatArray | None, float]:
    """Observed over expected edges inside each group, counted from both ends, and between groups.

    The first is None if the groups contain no more edges than expected, or cover everything.
    """
    chance = np.square(volume) / max(total, 1e-300)
    between, expected = total - edges.sum(), total - chance.sum()
    if expected <= 0.0 or chance.sum() <= 0.0:
        return None, 0.0
    common = edges.sum() / chance.sum()
    outside = max(between / expected, BLOCK_MODEL.min_density)
    if common <= outside:
        return None, outside
    # One more expected edge per group, of the common density: a small group is not extreme.
    inside = (edges + common) / (chance + 1.0)
    return np.maximum(inside, BLOCK_MODEL.min_density), outside


def modularity(adjacency: sparse.csr_array, labels: Labels) -> float:
    """Newman's modularity: weight share inside groups minus its expectation given the degrees."""
    entries = adjacency.tocoo()
    row, column = entries.coords
    total = float(entries.data.sum())
    if total <= 0.0:
        return 0.0
    inside = float(entries.data[labels[row] == labels[column]].sum())
    volume = np.bincount(labels[row], entries.data)
    return inside / total - float(np.square(volume / total).sum())


def merged_groups(adjacency: sparse.csr_array, labels: Labels, counts: list[int]) -> list[Labels]:
    """The partition after merging groups pairwise, at each of some numbers of groups.

    The pair of largest ``e_ab / (d_a d_b)``, observed over expected edges, is merged first (Paris,
    Bonald et al. 2018). O(E + k^3) time.
    """
    group = numbered(labels)
    k = int(group.max()) + 1
    member = sparse.csr_array((np.ones(group.size), (np.arange(group.size), group)))
    between = (member.T @ (adjacency @ member)).toarray()
    volume = between.sum(axis=1)
    np.fill_diagonal(between, 0.0)
    # Merged groups share the number of the first of them.
    root, found = np.arange(k), {}
    for n_left in range(k, 0, -1):
        if n_left in counts:
            found[n_left] = numbered(root[group])
        if n_left == 1:
            break
        alive = np.unique(root)
        expected = np.outer(volume[alive], volume[alive])
        ratio = between[np.ix_(alive, alive)] / np.maximum(expected, np.finfo(float).tiny)
        np.fill_diagonal(ratio, -1.0)
        a, b = (int(alive[at]) for at in divmod(int(ratio.argmax()), n_left))
        between[a] += between[b]
        between[:, a] += between[:, b]
        between[a, a] = 0.0
        volume[a] += volume[b]
        root[root == b] = a
    return [found[count] for count in counts]
