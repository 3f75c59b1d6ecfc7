"""An order of the nodes in which neighbours are near one another in memory."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array, csr_array

from convexhc._types import FloatArray, Labels
from convexhc.kernels.propagation import propagate

# Passes of label propagation per round: more make fewer, not better groups.
PASSES = 4
# Groups few enough that their order no longer matters.
FEW = 64


def local_order(weights: csr_array) -> Labels:
    """Order of the nodes by groups of groups, found by label propagation.

    A product with a sparse matrix in random order waits for memory once per entry; among nodes of
    one group it finds most rows in the cache. O(entries) per round; each round merges groups.
    """
    graph, place = weights, np.arange(weights.shape[0])
    keys: list[Labels] = []
    while True:
        n = graph.shape[0]
        label, total = np.arange(n, dtype=np.int32), np.zeros(n)
        for seed in range(PASSES):
            propagate(graph.indptr, graph.indices, graph.data, label, total, seed)
        names, group = np.unique(label, return_inverse=True)
        place = group[place]
        keys.append(place)
        if names.size <= FEW or names.size > n // 2:
            return np.lexsort(keys)
        graph = _contracted(graph, group, names.size)


def _contracted(graph: csr_array, group: Labels, count: int) -> csr_array:
    """The weights between groups."""
    entries = graph.tocoo()
    one, other = group[entries.row], group[entries.col]
    apart = one != other
    values: FloatArray = entries.data[apart]
    return coo_array((values, (one[apart], other[apart])), shape=(count, count)).tocsr()
