"""Comparison of nearest-neighbour graphs with ties broken at random."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from convexhc._types import FloatArray
from convexhc.metrics import knn_graph


def neighbors_that_differ(
    distances: Sequence[FloatArray], k: int, *, draws: int = 5, by_number: bool = False
) -> FloatArray:
    """Fraction of the k nearest neighbours that differ, for every pair of distance matrices.

    Trees and fused centroids have many equal distances. Ties broken by node index would make two
    graphs agree for no other reason, so they are broken at random, independently for every matrix,
    and the fraction is averaged over a few draws. It is the Hamming distance of the two graphs
    divided by its maximum ``2 n k``.

    Parameters
    ----------
    distances : sequence of m (n, n) arrays
        Distances between the same n nodes.
    k : int
        Number of neighbours.
    draws : int
        Number of random draws of the ties.
    by_number : bool
        Break ties by node index instead.

    Returns
    -------
    (m, m) array
        Between 0 and 1, with a zero diagonal. O(draws m n^2 (log n + m)).

    Examples
    --------
    >>> line = np.abs(np.subtract.outer([0.0, 1.0, 3.0], [0.0, 1.0, 3.0]))
    >>> neighbors_that_differ([line, line.max() - line], k=1)
    array([[0., 1.],
           [1., 0.]])
    """
    rng = np.random.default_rng(0)
    n, m = len(distances[0]), len(distances)
    total = np.zeros((m, m))
    repeats = 1 if by_number else draws
    for _ in range(repeats):
        orders = [np.arange(n) if by_number else rng.permutation(n) for _ in distances]
        graphs = np.array([_graph(d, order, k) for d, order in zip(distances, orders, strict=True)])
        # Both graphs have n k edges, so each contributes half of the Hamming distance.
        total += 1.0 - graphs @ graphs.T / (n * k)
    np.fill_diagonal(total, 0.0)
    return total / repeats


def _graph(distance: FloatArray, order: NDArray[np.int64], k: int) -> FloatArray:
    """Neighbour graph as one flat array; ties are broken by ``order``."""
    back = np.argsort(order)
    return knn_graph(distance[np.ix_(order, order)], k).toarray()[np.ix_(back, back)].ravel()
