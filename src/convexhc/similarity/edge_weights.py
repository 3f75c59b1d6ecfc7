"""Edge weights of the penalty: the heaviest of a graph, or by the scales that separate two nodes.

The scales are partitions into 2, 3, 4, 6, ... groups (`refined_scales`). Each scale that separates
two nodes lowers their weight by the same factor. At every scale each node keeps edges that leave
its group, so the last merges do not depend on a few arbitrary edges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from convexhc._checks import TIE, checked_count
from convexhc._types import BLOCK_ENTRIES, BoolArray, FloatArray, IntArray, Labels
from convexhc.graph import Graph
from convexhc.io import as_graph
from convexhc.similarity.neighbors import LOCAL_NEIGHBOR
from convexhc.similarity.scales import Scales, refined_scales


@dataclass(frozen=True)
class MultiscaleSettings:
    """Parameters of `multiscale_weights`."""

    partners: int = 4  # edges per node: the heaviest, and the heaviest out of its group per scale
    decay: float = 6.0  # a pair that all scales separate has weight exp(-decay)
    local_share: float = 0.5  # factor of the local squared distance in the exponent
    local_limit: float = 3.0  # limit of the local squared distance: beyond, the scales decide


SETTINGS = MultiscaleSettings()


def multiscale_weights(
    adjacency: sparse.csr_array, features: FloatArray, *, scales: Scales | None = None
) -> Graph:
    """Weights of the fusion penalty that decay with the number of scales separating two nodes.

    ``w_ij = exp(-6 a_ij - b_ij / 2)``. Here a_ij is the mean over the scales of the probability
    that i and j are in different groups, and ``b = 3 d / (3 + d)`` with
    ``d = |x_i - x_j|^2 / (s_i s_j)``, x the features and s_i the distance to the 7th neighbour, is
    a local squared distance bounded by 3. Each node keeps its 4 heaviest edges, and for each scale
    the 4 heaviest edges out of its group, inside its component of the graph.

    Parameters
    ----------
    adjacency : (n, n) sparse array
        Symmetric, nonnegative.
    features : (n, r) array
        One row per node.
    scales : Scales, optional
        By default `refined_scales` of the adjacency and the features.

    Returns
    -------
    Graph
        With the components of the adjacency. O(n^2 (r + L)) time for L scales, in blocks of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> A = sparse.csr_array(np.kron(np.eye(4), np.ones((5, 5))) + 0.1)
    >>> W = multiscale_weights(A, np.kron(np.eye(4), np.ones((5, 1))))
    >>> bool(W.dense()[0, 1] > 10 * W.dense()[0, 5] > 0)
    True
    """
    if scales is None:
        scales = refined_scales(adjacency, features)
    n = len(features)
    if n == 1:
        return Graph.from_edges(1, [], [])
    component = connected_components(adjacency, directed=False)[1].astype(np.int64)
    groups = [scales.labels(scale) for scale in range(len(scales.n_groups))]
    square = np.einsum("ij,ij->i", features, features)
    step = max(1, BLOCK_ENTRIES // n)
    blocks = [slice(start, min(start + step, n)) for start in range(0, n, step)]
    unit = np.concatenate([_local_unit(features, square, rows) for rows in blocks])
    entries = [
        _heaviest(_log_weights(features, square, unit, scales, rows), rows, component, groups)
        for rows in blocks
    ]
    tail, head, logs = (np.concatenate(part) for part in zip(*entries, strict=True))
    kept = sparse.coo_array((np.exp(logs), (tail, head)), shape=(n, n))
    return Graph.from_matrix(kept, symmetrize="max")


def _squared_distances(features: FloatArray, square: FloatArray, rows: slice) -> FloatArray:
    """Squared distances from some rows to all rows; infinite from a row to itself."""
    found = square[rows, None] + square - 2.0 * (features[rows] @ features.T)
    np.maximum(found, 0.0, out=found)
    row = np.arange(*rows.indices(len(features)))
    found[np.arange(row.size), row] = np.inf
    return found


def _local_unit(features: FloatArray, square: FloatArray, rows: slice) -> FloatArray:
    """Distance from some rows to their 7th neighbour."""
    k = min(LOCAL_NEIGHBOR, len(features) - 1) - 1
    near = np.partition(_squared_distances(features, square, rows), k, axis=1)[:, k]
    return np.sqrt(near)


def _log_weights(
    features: FloatArray, square: FloatArray, unit: FloatArray, scales: Scales, rows: slice
) -> FloatArray:
    """Logarithms of the weights between some rows and all rows."""
    distance = _squared_distances(features, square, rows)
    # Coinciding nodes have unit zero: every other node is infinitely far in that unit.
    scale = np.maximum(np.outer(unit[rows], unit), np.finfo(float).tiny)
    local, limit = distance / scale, SETTINGS.local_limit
    local *= limit / (limit + np.where(np.isfinite(local), local, 0.0))
    apart = 1.0 - scales.co_membership(rows) if scales.n_groups else 0.0
    return np.asarray(-SETTINGS.decay * apart - SETTINGS.local_share * local)


def _heaviest(
    logs: FloatArray, rows: slice, component: Labels, groups: list[Labels]
) -> tuple[IntArray, IntArray, FloatArray]:
    """Heaviest edges of some rows, overall and out of their group at each scale."""
    row = np.arange(*rows.indices(component.size))
    logs[component[row, None] != component] = -np.inf
    logs[np.arange(row.size), row] = -np.inf
    chosen = np.zeros(logs.shape, dtype=bool)
    k = logs.shape[1] - min(SETTINGS.partners, logs.shape[1])
    for group in [None, *groups]:
        rest = logs if group is None else np.where(group[row, None] == group, -np.inf, logs)
        last = np.partition(rest, k, axis=1)[:, k, None]
        chosen |= rest >= last - TIE
    i, column = np.nonzero(chosen & np.isfinite(logs))
    return row[i], column, logs[i, column]


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
