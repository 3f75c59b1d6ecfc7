"""Nearest neighbours of points: as weights of the penalty, as a graph, as a similarity."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from convexhc.graph import Graph
from convexhc.similarity.diffusion_time import from_graph
from convexhc.similarity.point_kernels import read_points
from convexhc.similarity.result import Shift, Similarity

# Neighbours of a point in the graphs made here: a common choice for clustering by graphs.
N_NEIGHBORS = 15
# Neighbours of a point where there are few points.
FEWEST_NEIGHBORS = 3
# Distances in local units are cut off here: their weight may not fade to zero.
FARTHEST = 1e100


def neighbor_weights(X: Any, *, n_neighbors: int = N_NEIGHBORS) -> Graph:
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
    k = min(_checked_count(n_neighbors), n - 1)
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


def neighbor_graph(X: Any, *, n_neighbors: int | None = None) -> Graph:
    """Graph of nearest neighbours, in one piece.

    ``w_ij = 1 / (1 + |x_i - x_j|^2 / (s_i s_j))`` if i is among the nearest neighbours of j or j
    among those of i; s_i is the distance from i to its last neighbour. Where this graph falls into
    pieces, the ``n_neighbors`` shortest links that leave each piece join it to others, and so on
    until there is one: the distances between far groups decide how they join, not chance. The
    weight falls slowly, so that they still can be told apart there.

    Parameters
    ----------
    X : (n, d) array or DataFrame
        One point per row; the index of a DataFrame names them.
    n_neighbors : int, optional
        Neighbours of each point, itself not counted. By default 15, or a fifth of the points if
        that is less, but at least 3.

    Returns
    -------
    Graph
        At most ``2 n n_neighbors`` edges. Joining pieces searches the neighbours of each piece
        among all others.

    Raises
    ------
    ValueError, TypeError
        A table that is not one of finite numbers, or n_neighbors below one.

    Examples
    --------
    >>> graph = neighbor_graph([[0.0], [1.0], [9.0], [10.0]], n_neighbors=1)
    >>> graph.n_edges, graph.components()[0]
    (3, 1)
    """
    points, names = read_points(X)
    n = len(points)
    usual = min(N_NEIGHBORS, max(FEWEST_NEIGHBORS, n // 5))
    k = min(usual if n_neighbors is None else _checked_count(n_neighbors), n - 1)
    if k == 0:
        return Graph.from_edges(n, [], [], names=names)
    from sklearn.neighbors import NearestNeighbors

    distance, index = NearestNeighbors(n_neighbors=k).fit(points).kneighbors()
    unit = _positive(distance[:, -1])
    rows, columns = np.repeat(np.arange(n), k), index.ravel()
    links = [(rows, columns, distance.ravel())]
    while True:
        tail, head, length = (np.concatenate(part) for part in zip(*links, strict=True))
        far = [np.minimum(length / unit[end], FARTHEST) for end in (tail, head)]
        near = 1.0 / (1.0 + far[0] * far[1])
        found = sparse.coo_array((near, (tail, head)), shape=(n, n)).tocsr()
        # Links found from both ends are summed above; from_matrix takes the larger of the halves.
        found.data = np.minimum(found.data, 1.0)
        graph = Graph.from_matrix(found, names=names, symmetrize="max")
        count, piece = graph.components()
        if count == 1:
            return graph
        links.append(_links_between(points, piece, k))


def _links_between(points: Any, piece: Any, k: int) -> tuple[Any, Any, Any]:
    """The k shortest links that leave each piece."""
    from sklearn.neighbors import NearestNeighbors

    tails, heads, lengths = [], [], []
    for one in range(int(piece.max()) + 1):
        inside, outside = np.flatnonzero(piece == one), np.flatnonzero(piece != one)
        distance, index = (
            NearestNeighbors(n_neighbors=1).fit(points[outside]).kneighbors(points[inside])
        )
        shortest = np.argsort(distance[:, 0], kind="stable")[:k]
        tails.append(inside[shortest])
        heads.append(outside[index[shortest, 0]])
        lengths.append(distance[shortest, 0])
    return np.concatenate(tails), np.concatenate(heads), np.concatenate(lengths)


def from_points(X: Any, *, n_neighbors: int | None = None, shift: Shift = 0.0) -> Similarity:
    """Similarity of points of which nothing is known: `from_graph` of their `neighbor_graph`.

    Parameters
    ----------
    X : (n, d) array or DataFrame
        One point per row; the index of a DataFrame names them.
    n_neighbors : int, optional
        As for `neighbor_graph`.
    shift : float or "auto"
        Added to the diagonal; "auto" adds what makes K positive definite.

    Returns
    -------
    Similarity
        Of kind "diffusion"; ``n_neighbors`` is among its parameters if it was given.

    Examples
    --------
    >>> from_points([[0.0], [1.0], [9.0], [10.0]], n_neighbors=1).parameters["n_neighbors"]
    1
    """
    made = from_graph(neighbor_graph(X, n_neighbors=n_neighbors), shift=shift)
    said = {} if n_neighbors is None else {"n_neighbors": int(n_neighbors)}
    return replace(made, parameters={**made.parameters, **said})


def _positive(unit: Any) -> Any:
    """Local units of length; those of repeated points are the smallest of the others."""
    least = unit[unit > 0.0].min(initial=np.inf)
    return np.where(unit > 0.0, unit, least if np.isfinite(least) else 1.0)


def _checked_count(n_neighbors: Any) -> int:
    if isinstance(n_neighbors, bool) or not isinstance(n_neighbors, int | np.integer):
        raise TypeError(f"n_neighbors must be a whole number, received {n_neighbors!r}.")
    if n_neighbors < 1:
        raise ValueError(f"n_neighbors must be one or more, received {n_neighbors}.")
    return int(n_neighbors)
