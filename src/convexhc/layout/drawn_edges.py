"""Which edges of a large graph are drawn."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from convexhc._types import IntArray
from convexhc.graph import Graph


def strongest_edges(graph: Graph, max_edges: int) -> IntArray:
    """Indices of a maximum spanning forest and of the strongest other edges, ascending.

    The forest keeps components connected in the drawing, even if it alone exceeds ``max_edges``.
    Among edges of equal weight the choice is random, with a fixed seed, so that every part of an
    unweighted graph keeps the same share of its edges. O(E log E).

    Examples
    --------
    >>> strongest_edges(Graph.from_edges(3, [0, 0, 1], [1, 2, 2], [3.0, 1.0, 2.0]), 2)
    array([0, 2])
    """
    if graph.n_edges <= max_edges:
        return np.arange(graph.n_edges)
    shuffled = np.random.default_rng(0).permutation(graph.n_edges)
    rank = np.argsort(np.lexsort((shuffled, -np.abs(graph.weight))))
    ranked = sparse.coo_array((rank + 1.0, (graph.tail, graph.head)), shape=(graph.n, graph.n))
    forest = csgraph.minimum_spanning_tree(ranked.tocsr()).data.astype(np.int64) - 1
    priority = np.where(np.isin(rank, forest), -1, rank)
    return np.sort(np.argsort(priority, kind="stable")[: max(max_edges, forest.size)])
