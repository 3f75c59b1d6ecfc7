"""Fewer edges: the strongest neighbours of each node."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexhc.graph import Graph
from convexhc.io import as_graph


def sparsify(K: Any, n_neighbors: int, *, connected: bool = False) -> Graph:
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
    connected : bool
        Keep together what the positive entries of K join: where the edges kept fall into pieces,
        those among the ``n_neighbors`` heaviest that leave a piece stay too, and so on until the
        pieces are the components of K. Without it, a tight group of more than ``n_neighbors``
        nodes loses every edge to the others, and with them its place in the hierarchy.

    Returns
    -------
    Graph
        The edges kept, with their weights, and a zero diagonal. O(E log E), times log n at most
        if they have to be connected.

    Examples
    --------
    >>> sparsify([[1, 5, 2], [5, 1, 3], [2, 3, 1]], 1).weight
    array([5., 3.])
    >>> pairs = [[1, 5, 1, 2], [5, 1, 1, 1], [1, 1, 1, 5], [2, 1, 5, 1]]
    >>> sparsify(pairs, 1).weight, sparsify(pairs, 1, connected=True).weight
    (array([5., 5.]), array([5., 2., 5.]))
    """
    whole = isinstance(n_neighbors, int | np.integer) and not isinstance(n_neighbors, bool)
    if not whole or n_neighbors < 1:
        raise ValueError(f"n_neighbors must be a whole number, one or more, got {n_neighbors!r}")
    graph = as_graph(K, signed=True)
    kept = _strongest(graph, np.arange(graph.n), int(n_neighbors))
    if connected:
        count, piece = _part(graph, kept).components()
        goal, _ = positive_part(graph).components()
        while count > goal:
            kept |= _strongest(graph, piece, int(n_neighbors))
            count, piece = _part(graph, kept).components()
    return _part(graph, kept)


def positive_part(graph: Graph) -> Graph:
    """The edges of positive weight, without self-loops."""
    return _part(graph, graph.weight > 0.0)


def _strongest(graph: Graph, piece: NDArray[np.int64], k: int) -> NDArray[np.bool_]:
    """Which positive edges between two pieces are among the k heaviest that leave one of them."""
    tail, head = piece[graph.tail], piece[graph.head]
    leaving = np.flatnonzero(tail != head)
    owner = np.concatenate([tail[leaving], head[leaving]])
    weight = np.concatenate([graph.weight[leaving], graph.weight[leaving]])
    order = np.lexsort((-weight, owner))
    n_pieces = int(piece.max()) + 1
    first = np.searchsorted(owner[order], np.arange(n_pieces))
    rank = np.arange(len(order)) - first[owner[order]]
    last = order[rank == k - 1]
    cut = np.zeros(n_pieces)
    cut[owner[last]] = np.maximum(weight[last] * (1 - 1e-9), 0.0)
    heavy = graph.weight >= np.minimum(cut[tail], cut[head])
    chosen: NDArray[np.bool_] = heavy & (graph.weight > 0) & (tail != head)
    return chosen


def _part(graph: Graph, kept: NDArray[np.bool_]) -> Graph:
    """Some of the edges, without the diagonal."""
    return Graph(
        graph.n,
        graph.tail[kept],
        graph.head[kept],
        graph.weight[kept],
        np.zeros(graph.n),
        graph.names,
    )
