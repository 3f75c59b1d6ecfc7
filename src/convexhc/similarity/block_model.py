"""Partitions of a graph by a block model: refinement, agglomeration, modularity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from convexhc._types import FloatArray, Labels
from convexhc.kernels.block_model import update_memberships
from convexhc.kernels.labels import numbered


@dataclass(frozen=True)
class BlockModelSettings:
    """Parameters of the mean-field iteration of `memberships`."""

    damping: float = 0.5  # share of the old memberships kept: parallel updates oscillate without
    max_updates: int = 60  # most partitions converge within twenty
    tol: float = 1e-3  # largest change of a membership at convergence; smaller ones are dropped
    min_density: float = 1e-6  # lower bound on a density, for a finite logarithm
    dense_entries: int = 1_000_000  # nodes times groups up to which all memberships are updated


SETTINGS = BlockModelSettings()


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
    dense = n * k <= SETTINGS.dense_entries
    if dense:
        q = q.toarray()
    for _ in range(SETTINGS.max_updates):
        links, volume = scaled @ q, np.asarray(degree @ q)
        edges = np.einsum("ig,ig->g", q, links) if dense else (q * links).sum(axis=0)
        inside, outside = _densities(np.asarray(edges), volume, total)
        if inside is None:
            break
        gain, cost = np.log(inside / outside), volume * (inside - outside) / total
        if dense:
            change = update_memberships(links, degree, gain, cost, SETTINGS.damping, q)
        else:
            new = _updated(q, sparse.csr_array(links), degree, gain, cost)
            change, q = float(np.abs((new - q).data).max(initial=0.0)), new
        if change < SETTINGS.tol:
            break
    if dense:
        q[q < SETTINGS.tol] = 0.0
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
    links.data = (1.0 - SETTINGS.damping) * weight
    share = np.ones(degree.size)
    share[linked] = SETTINGS.damping
    new = sparse.csr_array(sparse.diags_array(share) @ q + links)
    new.data[new.data < SETTINGS.tol] = 0.0
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
    outside = max(between / expected, SETTINGS.min_density)
    if common <= outside:
        return None, outside
    # One more expected edge per group, of the common density: a small group is not extreme.
    inside = (edges + common) / (chance + 1.0)
    return np.maximum(inside, SETTINGS.min_density), outside


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
