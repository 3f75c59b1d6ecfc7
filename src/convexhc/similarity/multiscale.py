"""Edge weights that keep every scale: how many scales keep two nodes apart, and how near they are.

A ladder of partitions, from two groups to many small ones, shows the graph at its scales
(`refined_scales`). The weight of a pair falls by the same
factor for every scale at which its nodes are apart. Each node keeps partners beyond its own group
at every scale of the ladder, so no handful of arbitrary edges decides the last joins.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from convexhc._types import Labels
from convexhc.graph import Graph
from convexhc.similarity.scales import Scales, refined_scales

Array = NDArray[np.float64]

# Partners of a node: overall, and beyond its group at each scale.
PARTNERS = 4
# Decay of the weights from pairs that no scale parts to pairs that every scale parts: exp(-6).
DECAY = 6.0
# Neighbour whose distance is the local unit of length (Zelnik-Manor and Perona 2004).
LOCAL_NEIGHBOR = 7
# Share of the local squared distance in the exponent.
LOCAL_SHARE = 0.5
# Where the local squared distance levels off: beyond, the scales decide.
LOCAL_CUT = 3.0
# Logarithms of weights that differ by less are equal: partners as heavy as the last one stay too,
# so that the choice does not depend on the order of the nodes.
TIE = 1e-9
# Numbers of a block of rows by columns that is held at a time.
BLOCK = 4_000_000


def multiscale_weights(
    adjacency: sparse.csr_array, features: Array, *, scales: Scales | None = None
) -> Graph:
    """Weights of the fusion penalty that fall with the number of scales that part two nodes.

    ``w_ij = exp(-6 a_ij - b_ij / 2)``. Here a is the mean over the ladder of the probability that i
    and j are in different groups, and ``b = 3 d / (3 + d)`` with ``d = |x_i - x_j|^2 / (s_i s_j)``,
    x the features and s_i the distance to the 7th neighbour, levels off where the scales decide.
    Each node keeps its 4 heaviest partners, and for every scale the 4 heaviest outside its group of
    that scale, inside its component of the graph.

    Parameters
    ----------
    adjacency : (n, n) sparse array
        Symmetric, not negative.
    features : (n, r) array
        One row per node.
    scales : Scales, optional
        The ladder, if it is known already.

    Returns
    -------
    Graph
        As connected as the adjacency. O(n^2 (r + L)) time for L scales, in blocks of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> A = sparse.csr_array(np.kron(np.eye(4), np.ones((5, 5))) + 0.1)
    >>> W = multiscale_weights(A, np.kron(np.eye(4), np.ones((5, 1))))
    >>> bool(W.dense()[0, 1] > 10 * W.dense()[0, 5] > 0)
    True
    """
    ladder = refined_scales(adjacency, features) if scales is None else scales
    n = len(features)
    if n == 1:
        return Graph.from_edges(1, [], [])
    piece = connected_components(adjacency, directed=False)[1].astype(np.int64)
    groups = [ladder.labels(scale) for scale in range(len(ladder.n_groups))]
    square = np.einsum("ij,ij->i", features, features)
    step = max(1, BLOCK // n)
    blocks = [slice(start, min(start + step, n)) for start in range(0, n, step)]
    unit = np.concatenate([_local_unit(features, square, rows) for rows in blocks])
    entries = [
        _heaviest(_log_weights(features, square, unit, ladder, rows), rows, piece, groups)
        for rows in blocks
    ]
    tail, head, logs = (np.concatenate(part) for part in zip(*entries, strict=True))
    kept = sparse.coo_array((np.exp(logs), (tail, head)), shape=(n, n)).tocsr()
    return Graph.from_matrix(kept, symmetrize="max")


def _squared_distances(features: Array, square: Array, rows: slice) -> Array:
    """Squared distances of some rows to all; those of the rows to themselves are infinite."""
    found = square[rows, None] + square - 2.0 * (features[rows] @ features.T)
    np.maximum(found, 0.0, out=found)
    here = np.arange(*rows.indices(len(features)))
    found[np.arange(here.size), here] = np.inf
    return found


def _local_unit(features: Array, square: Array, rows: slice) -> Array:
    k = min(LOCAL_NEIGHBOR, len(features) - 1) - 1
    near = np.partition(_squared_distances(features, square, rows), k, axis=1)[:, k]
    return np.sqrt(near)


def _log_weights(features: Array, square: Array, unit: Array, ladder: Scales, rows: slice) -> Array:
    distance = _squared_distances(features, square, rows)
    # Twins have unit zero: they are as near as can be, and everything else is far.
    scale = np.maximum(np.outer(unit[rows], unit), np.finfo(float).tiny)
    local = distance / scale
    local *= LOCAL_CUT / (LOCAL_CUT + np.where(np.isfinite(local), local, 0.0))
    apart = 1.0 - ladder.together(rows) if ladder.n_groups else 0.0
    return np.asarray(-DECAY * apart - LOCAL_SHARE * local)


def _heaviest(
    logs: Array, rows: slice, piece: Labels, groups: list[Labels]
) -> tuple[Labels, Labels, Array]:
    """Heaviest partners of some rows: overall, and outside their own group at every scale."""
    here = np.arange(*rows.indices(piece.size))
    logs[piece[here, None] != piece] = -np.inf
    logs[np.arange(here.size), here] = -np.inf
    chosen = np.zeros(logs.shape, dtype=bool)
    for group in [None, *groups]:
        rest = logs if group is None else np.where(group[here, None] == group, -np.inf, logs)
        k = logs.shape[1] - min(PARTNERS, logs.shape[1])
        least = np.partition(rest, k, axis=1)[:, k, None]
        chosen |= rest >= least - TIE
    row, column = np.nonzero(chosen & np.isfinite(logs))
    return here[row], column, logs[row, column]
