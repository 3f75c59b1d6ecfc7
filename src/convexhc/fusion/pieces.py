"""Connected pieces of a graph: groups to start from where whole components would be large."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from convexhc._types import Labels
from convexhc.graph import Graph


def pieces(graph: Graph, n_pieces: int) -> Labels:
    """Nodes by the nearest of ``n_pieces`` seeds; those that no seed reaches by component.

    The length of an edge is the inverse of its weight. Every piece is connected, by shortest paths
    to its seed. O(E log N).

    Examples
    --------
    >>> chain = np.diag(np.ones(5), 1)
    >>> pieces(Graph.from_matrix(chain + chain.T), 2)
    array([0, 0, 0, 1, 1, 1])
    """
    seeds = np.linspace(0, graph.n - 1, n_pieces).astype(np.int64)
    length = csr_array((1.0 / graph.weight, (graph.tail, graph.head)), shape=(graph.n, graph.n))
    found = dijkstra(length, directed=False, indices=seeds, min_only=True, return_predecessors=True)
    component = graph.components()[1]
    seed = np.where(found[2] < 0, -1 - component, found[2])
    return np.asarray(np.unique(seed, return_inverse=True)[1])


def neighbouring_pieces(graph: Graph, n_pieces: int) -> int:
    """Number of pairs of `pieces` that are joined by an edge.

    Examples
    --------
    >>> chain = np.diag(np.ones(5), 1)
    >>> neighbouring_pieces(Graph.from_matrix(chain + chain.T), 2)
    1
    """
    piece = pieces(graph, n_pieces)
    ends = np.sort(np.stack([piece[graph.tail], piece[graph.head]]), axis=0)
    return int(np.unique(ends[:, ends[0] != ends[1]], axis=1).shape[1])
