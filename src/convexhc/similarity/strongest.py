"""Sparsification: the heaviest edges of each node."""

from __future__ import annotations

from typing import Any

import numpy as np

from convexhc._checks import TIE, checked_count
from convexhc._types import BoolArray, IntArray
from convexhc.graph import Graph
from convexhc.io import as_graph


def sparsify(K: Any, n_neighbors: int, *, connected: bool = False) -> Graph:
    """Keep the heaviest edges of each node, as weights for the penalty.

    An edge is kept if it is among the ``n_neighbors`` heaviest at one of its ends. Ties, to
    rounding, are all kept, so the result does not depend on the order of the nodes.

    Parameters
    ----------
    K : anything :func:`convexhc.io.as_graph` reads
        Graph or similarity; negative entries are never kept.
    n_neighbors : int
        Edges to keep per node, at least one.
    connected : bool
        Preserve the components of the positive part of K: as long as the kept edges have more
        components, the ``n_neighbors`` heaviest edges out of each are added. Otherwise a dense
        group of more than ``n_neighbors`` nodes loses all edges to other groups, and the
        hierarchy above it.

    Returns
    -------
    Graph
        The kept edges, with their weights, and a zero diagonal. O(E log E), with
        ``connected`` at most log n times that.

    Examples
    --------
    >>> sparsify([[1, 5, 2], [5, 1, 3], [2, 3, 1]], 1).weight
    array([5., 3.])
    >>> pairs = [[1, 5, 1, 2], [5, 1, 1, 1], [1, 1, 1, 5], [2, 1, 5, 1]]
    >>> sparsify(pairs, 1).weight, sparsify(pairs, 1, connected=True).weight
    (array([5., 5.]), array([5., 2., 5.]))
    """
    k = checked_count("n_neighbors", n_neighbors)
    graph = as_graph(K, signed=True)
    kept = _heaviest_leaving(graph, np.arange(graph.n), k)
    if connected:
        n_components, component = _edge_subset(graph, kept).components()
        goal, _ = positive_part(graph).components()
        while n_components > goal:
            kept |= _heaviest_leaving(graph, component, k)
            n_components, component = _edge_subset(graph, kept).components()
    return _edge_subset(graph, kept)


def positive_part(graph: Graph) -> Graph:
    """Return the graph of the edges of positive weight, without self-loops."""
    return _edge_subset(graph, graph.weight > 0.0)


def _heaviest_leaving(graph: Graph, labels: IntArray, k: int) -> BoolArray:
    """Mask of the positive edges that are among the k heaviest out of the group of one end."""
    tail, head = labels[graph.tail], labels[graph.head]
    leaving = np.flatnonzero(tail != head)
    owner = np.concatenate([tail[leaving], head[leaving]])
    weight = np.concatenate([graph.weight[leaving], graph.weight[leaving]])
    order = np.lexsort((-weight, owner))
    n_groups = int(labels.max()) + 1
    first = np.searchsorted(owner[order], np.arange(n_groups))
    rank = np.arange(len(order)) - first[owner[order]]
    last = order[rank == k - 1]
    threshold = np.zeros(n_groups)
    threshold[owner[last]] = np.maximum(weight[last] * (1 - TIE), 0.0)
    heavy = graph.weight >= np.minimum(threshold[tail], threshold[head])
    chosen: BoolArray = heavy & (graph.weight > 0) & (tail != head)
    return chosen


def _edge_subset(graph: Graph, kept: BoolArray) -> Graph:
    """Graph of some of the edges, with a zero diagonal."""
    ends = graph.tail[kept], graph.head[kept]
    return Graph(graph.n, *ends, graph.weight[kept], np.zeros(graph.n), graph.names)
