"""Degree-corrected block model: sharpen a partition of a graph by the votes of its edges."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

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
