"""Fewer edges: the strongest neighbours of each node."""

from __future__ import annotations

from typing import Any

import numpy as np

from convexhc.graph import Graph
from convexhc.io import as_graph


def sparsify(K: Any, n_neighbors: int) -> Graph:
    """Keep the strongest edges of each node, as weights for the penalty.

    An edge stays if it is among the ``n_neighbors`` heaviest of one of its ends. Edges as heavy
    as the last one kept, to rounding, stay too, so the answer does not depend on the order of
    the nodes.

    Parameters
    ----------
    K : anything :func:`convexhc.io.as_graph` reads
        Graph or similarity; negative entries are never kept.
    n_neighbors : int
        Edges to keep for each node, one or more.

    Returns
    -------
    Graph
        The edges kept, with their weights, and a zero diagonal. O(E log E).

    Examples
    --------
    >>> sparsify([[1, 5, 2], [5, 1, 3], [2, 3, 1]], 1).weight
    array([5., 3.])
    """
    whole = isinstance(n_neighbors, int | np.integer) and not isinstance(n_neighbors, bool)
    if not whole or n_neighbors < 1:
        raise ValueError(f"n_neighbors must be a whole number, one or more, got {n_neighbors!r}")
    graph = as_graph(K, signed=True)
    node = np.concatenate([graph.tail, graph.head])
    weight = np.concatenate([graph.weight, graph.weight])
    order = np.lexsort((-weight, node))
    first = np.searchsorted(node[order], np.arange(graph.n))
    rank = np.arange(len(order)) - first[node[order]]
    last = order[rank == n_neighbors - 1]
    cut = np.zeros(graph.n)
    cut[node[last]] = np.maximum(weight[last] * (1 - 1e-9), 0.0)
    kept = (graph.weight >= np.minimum(cut[graph.tail], cut[graph.head])) & (graph.weight > 0)
    return Graph(
        graph.n,
        graph.tail[kept],
        graph.head[kept],
        graph.weight[kept],
        np.zeros(graph.n),
        graph.names,
    )
