"""Partitions of a graph by its edges: sharpened by their votes, merged, and judged."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from convexhc._types import Labels

Array = NDArray[np.float64]

# Share of the old memberships kept in each update: parallel updates oscillate without it.
DAMPING = 0.5
# Updates at most; most partitions settle within twenty.
MAX_UPDATES = 60
# Largest change of a membership that counts as settled.
SETTLED = 1e-3
# Edges of the common density that stand beside those observed inside each group.
PRIOR_EDGES = 1.0
# Memberships below this are dropped: they decide nothing and cost memory.
NEGLIGIBLE = 1e-3
# Smallest density ratio, so that its logarithm is finite.
LEAST_DENSITY = 1e-6


def memberships(adjacency: sparse.csr_array, labels: Labels) -> sparse.csr_array:
    """Soft group memberships under a degree-corrected block model, started from a partition.

    Edges are Poisson with mean ``d_i d_j w / (2m)``, where w is ``w_g`` if both ends lie in group g
    and ``w_out`` otherwise (Karrer and Newman 2011, with one density between all groups).
    Mean-field updates, all nodes at once and damped:

        q_ig  proportional to  exp( log(w_g / w_out) (A q)_ig - (w_g - w_out) d_i vol_g / (2m) ),

    with the densities estimated from q before each update. All nodes move together, so the result
    does not depend on the order of the nodes.

    Parameters
    ----------
    adjacency : (n, n) sparse array
        Symmetric, not negative; weights count as numbers of edges relative to their mean.
    labels : (n,) int64 array
        Groups to start from, 0 .. k - 1.

    Returns
    -------
    (n, k) sparse array
        Rows sum to one, up to dropped entries. Groups may end empty. If the groups hold no more
        edges than chance, the partition is returned as it came. O(E k) per update.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> A = sparse.csr_array(np.kron(np.eye(2), np.ones((5, 5))) - np.eye(10))
    >>> start = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 1])
    >>> memberships(A, start).argmax(axis=1)
    array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1])
    """
    n, k = adjacency.shape[0], int(labels.max()) + 1
    q = np.zeros((n, k))
    q[np.arange(n), labels] = 1.0
    mean = float(adjacency.data.mean()) if adjacency.nnz else 1.0
    degree = np.asarray(adjacency.sum(axis=1)) / mean
    total = float(degree.sum())
    for _ in range(MAX_UPDATES):
        votes = (adjacency @ q) / mean
        volume = degree @ q
        inside, outside = _densities(q, votes, volume, total)
        if inside is None:
            break
        field = votes * np.log(inside / outside) - np.outer(
            degree, volume * (inside - outside) / total
        )
        field -= field.max(axis=1, keepdims=True)
        new = np.exp(field)
        new /= new.sum(axis=1, keepdims=True)
        new = DAMPING * q + (1.0 - DAMPING) * new
        change = float(np.abs(new - q).max())
        q = new
        if change < SETTLED:
            break
    q[q < NEGLIGIBLE] = 0.0
    return sparse.csr_array(q)


def _densities(q: Array, votes: Array, volume: Array, total: float) -> tuple[Array | None, float]:
    """Edges over their number by chance: inside each group, and between groups.

    None when groups hold no more than chance, or when there is nothing between them.
    """
    edges, chance = np.einsum("ig,ig->g", q, votes), np.square(volume) / max(total, 1e-300)
    between, expected = total - edges.sum(), total - chance.sum()
    if expected <= 0.0 or chance.sum() <= 0.0:
        return None, 0.0
    common = edges.sum() / chance.sum()
    outside = max(between / expected, LEAST_DENSITY)
    if common <= outside:
        return None, outside
    inside = (edges + PRIOR_EDGES * common) / (chance + PRIOR_EDGES)
    return np.maximum(inside, LEAST_DENSITY), outside


def modularity(adjacency: sparse.csr_array, labels: NDArray[np.int64]) -> float:
    """Newman's modularity: share of the weight inside groups, less that expected by the degrees.

    Examples
    --------
    >>> A = sparse.csr_array(np.kron(np.eye(2), np.ones((3, 3))) - np.eye(6))
    >>> modularity(A, np.array([0, 0, 0, 1, 1, 1]))
    0.5
    """
    entries = adjacency.tocoo()
    row, column = entries.coords
    total = float(entries.data.sum())
    if total <= 0.0:
        return 0.0
    inside = float(entries.data[labels[row] == labels[column]].sum())
    volume = np.bincount(labels[row], entries.data)
    return inside / total - float(np.square(volume / total).sum())


def merged_groups(adjacency: sparse.csr_array, labels: Labels, counts: list[int]) -> list[Labels]:
    """Merge the groups of a partition pair by pair, and report it at some numbers of groups.

    Each time the pair with the most edges between it for its volumes, ``e_ab / (d_a d_b)``, is
    merged (Bonald et al. 2018, Paris): the ratio of the edges between a and b to those by chance.

    Parameters
    ----------
    adjacency : (n, n) sparse array
        Symmetric, not negative.
    labels : (n,) int64 array
        The partition to start from.
    counts : list of int
        Numbers of groups to report, each at most those of ``labels``.

    Returns
    -------
    list of (n,) int64 arrays
        One partition per count, labelled 0, 1, ... O(E + k^3) time for k groups.

    Examples
    --------
    >>> A = sparse.csr_array(np.kron(np.eye(2), np.ones((4, 4))) + 0.1)
    >>> merged_groups(A, np.arange(8) // 2, [2])[0]
    array([0, 0, 0, 0, 1, 1, 1, 1])
    """
    _, group = np.unique(labels, return_inverse=True)
    k = int(group.max()) + 1
    member = sparse.csr_array((np.ones(group.size), (np.arange(group.size), group)))
    between = (member.T @ (adjacency @ member)).toarray()
    volume = between.sum(axis=1)
    np.fill_diagonal(between, 0.0)
    place, found = np.arange(k), {}
    for left in range(k, 0, -1):
        if left in counts:
            found[left] = np.unique(place[group], return_inverse=True)[1].astype(np.int64)
        alive = np.unique(place)
        if left == 1:
            break
        ratio = between[np.ix_(alive, alive)] / np.maximum(
            np.outer(volume[alive], volume[alive]), np.finfo(float).tiny
        )
        np.fill_diagonal(ratio, -1.0)
        a, b = (int(alive[at]) for at in divmod(int(ratio.argmax()), left))
        between[a] += between[b]
        between[:, a] += between[:, b]
        between[a, a] = 0.0
        volume[a] += volume[b]
        place[place == b] = a
    return [found[count] for count in counts]
