"""Edge weights between points: Gaussian, between nearest neighbours, with no point left alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from convexhc.graph import Graph
from convexhc.similarity.point_kernels import read_points


def neighbor_weights(X: Any, *, n_neighbors: int = 15) -> Graph:
    """Gaussian weights between nearest neighbours, for the penalty of the points model.

    ``w_ij = exp(-|x_i - x_j|^2 / (2 h_ij^2))`` if i is among the nearest neighbours of j or j among
    those of i. The width h is the median over the points of the distance to their last neighbour,
    and h_ij is the largest of h and of the distances from i and from j to the neighbour next to
    them: an outlier is as near to its neighbours as others are to theirs, and fuses at a lam of
    the same order.

    Parameters
    ----------
    X : (n, d) array or DataFrame
        One point a row; the index of a DataFrame names them.
    n_neighbors : int
        Neighbours of each point, itself not counted; at most the ``n - 1`` there are.

    Returns
    -------
    Graph
        At most ``n * n_neighbors`` edges, O(n n_neighbors) memory. Neighbours at equal distance are
        taken as the search meets them.

    Raises
    ------
    ValueError, TypeError
        A table that is not one of finite numbers, or n_neighbors below one.

    Examples
    --------
    >>> neighbor_weights([[0.0], [1.0], [9.0]], n_neighbors=1).weight
    array([0.607, 0.607])
    """
    points, names = read_points(X)
    n = len(points)
    if isinstance(n_neighbors, bool) or not isinstance(n_neighbors, int | np.integer):
        raise TypeError(f"n_neighbors must be a whole number, received {n_neighbors!r}.")
    if n_neighbors < 1:
        raise ValueError(f"n_neighbors must be one or more, received {n_neighbors}.")
    k = min(int(n_neighbors), n - 1)
    if k == 0:
        return Graph.from_edges(n, [], [], names=names)
    from sklearn.neighbors import kneighbors_graph

    found = sparse.csr_array(kneighbors_graph(points, k, mode="distance"))
    distance = found.data.reshape(n, k)
    rows = np.repeat(np.arange(n), k)
    nearest = distance.min(axis=1)
    width = np.maximum(nearest[rows], nearest[found.indices])
    width = np.maximum(width, np.median(distance.max(axis=1)))
    # Points that are all equal have weight one, whatever the width.
    found.data = np.exp(-0.5 * np.square(found.data / np.where(width > 0.0, width, 1.0)))
    return Graph.from_matrix(found, names=names, symmetrize="max")
