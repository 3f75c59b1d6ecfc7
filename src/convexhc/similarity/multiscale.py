"""Edge weights by the number of scales at which two nodes are in different groups.

The scales are partitions into 2, 3, 4, 6, ... groups (`refined_scales`). Each scale that separates
two nodes lowers their weight by the same factor. At every scale each node keeps edges that leave
its group, so the last merges do not depend on a few arbitrary edges.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from convexhc._checks import TIE
from convexhc._types import BLOCK_ENTRIES, FloatArray, IntArray, Labels
from convexhc.graph import Graph
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
