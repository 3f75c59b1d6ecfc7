"""Nearest neighbours of points: weights of the penalty, a connected graph, a similarity, densities.

The distance to a fixed neighbour is the local unit of length, as in self-tuning spectral clustering
(Zelnik-Manor and Perona 2004).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from convexhc._checks import checked_count
from convexhc._types import FloatArray, IntArray
from convexhc.graph import Graph
from convexhc.similarity.point_kernels import nearest_neighbors, neighbor_matrix, read_points
from convexhc.similarity.result import Shift, Similarity
from convexhc.similarity.spectral import from_graph

# Neighbours per point: a common choice for graph-based clustering.
N_NEIGHBORS = 15
# Fewest neighbours per point by default, on small tables.
MIN_NEIGHBORS = 3
# Neighbour whose distance is the local unit of length for densities and multiscale weights.
LOCAL_NEIGHBOR = 7


def neighbor_weights(X: Any, *, n_neighbors: int = N_NEIGHBORS) -> Graph:
    """Gaussian weights between nearest neighbours, for the penalty of the points model.

    ``w_ij = exp(-|x_i - x_j|^2 / (2 h_ij^2))`` if i is among the nearest neighbours of j or j among
    those of i. The bandwidth h_ij is the largest of three distances: from i and from j to their
    nearest neighbour, and the median over the points of the distance to the last neighbour. An
    outlier thus has weights of the usual size, and fuses at a lam of the same order.

    Parameters
    ----------
    X : (n, d) array or DataFrame
        One point per row; the index of a DataFrame names them.
    n_neighbors : int
        Neighbours of each point, itself not counted; capped at ``n - 1``.

    Returns
    -------
    Graph
        At most ``n * n_neighbors`` edges, O(n (n_neighbors + d)) memory. Ties in distance are
        broken by the neighbour search.

    Raises
    ------
    ValueError, TypeError
        X is not a table of finite numbers, or n_neighbors is below one.

    Examples
    --------
    >>> neighbor_weights([[0.0], [1.0], [9.0]], n_neighbors=1).weight
    array([0.607, 0.607])
    """
    points, names = read_points(X)
    k = min(checked_count("n_neighbors", n_neighbors), len(points) - 1)
    distance, index = nearest_neighbors(points, k)
    nearest = distance.min(axis=1, initial=np.inf)
    last = distance.max(axis=1, initial=0.0)
    width = np.maximum(np.maximum(nearest[:, None], nearest[index]), np.median(last))
    # Points that all coincide have weight one.
    scaled = distance / np.where(width > 0.0, width, 1.0)
    return neighbor_matrix(index, np.exp(-0.5 * np.square(scaled)), names)


def neighbor_graph(X: Any, *, n_neighbors: int | None = None) -> Graph:
    """Connected graph of nearest neighbours.

    ``w_ij = 1 / (1 + |x_i - x_j|^2 / (s_i s_j))`` if i is among the nearest neighbours of j or j
    among those of i; s_i is the distance from i to its last neighbour. If this graph is not
    connected, the ``n_neighbors`` shortest links out of each component are added, repeatedly until
    it is. The weights decay polynomially, so distances between remote groups still determine the
    order in which these merge.

    Parameters
    ----------
    X
        As for `neighbor_weights`, which raises the same errors.
    n_neighbors : int, optional
        Neighbours of each point, itself not counted. By default 15, or a fifth of the points if
        that is less, but at least 3.

    Returns
    -------
    Graph
        At most ``2 n n_neighbors`` edges. Connecting the components takes one neighbour search per
        component among all other points.

    Examples
    --------
    >>> graph = neighbor_graph([[0.0], [1.0], [9.0], [10.0]], n_neighbors=1)
    >>> graph.n_edges, graph.components()[0]
    (3, 1)
    """
    points, names = read_points(X)
    n = len(points)
    if n_neighbors is None:
        n_neighbors = min(N_NEIGHBORS, max(MIN_NEIGHBORS, n // 5))
    k = min(checked_count("n_neighbors", n_neighbors), n - 1)
    if k == 0:
        return Graph.from_edges(n, [], [], names=names)
    distance, index = nearest_neighbors(points, k)
    unit = _positive(distance[:, -1])
    links = [(np.repeat(np.arange(n), k), index.ravel(), distance.ravel())]
    while True:
        tail, head, length = (np.concatenate(part) for part in zip(*links, strict=True))
        # Cut off, so that the weight of very long links does not underflow to zero.
        scaled = [np.minimum(length / unit[end], 1e100) for end in (tail, head)]
        weight = 1.0 / (1.0 + scaled[0] * scaled[1])
        matrix = sparse.coo_array((weight, (tail, head)), shape=(n, n))
        graph = Graph.from_matrix(matrix, names=names, symmetrize="max")
        count, component = graph.components()
        if count == 1:
            return graph
        links.append(_links_between(points, component, k))


def _links_between(
    points: FloatArray, component: IntArray, k: int
) -> tuple[IntArray, IntArray, FloatArray]:
    """The k shortest links out of each component: ends inside, ends outside, lengths."""
    from sklearn.neighbors import NearestNeighbors

    tails, heads, lengths = [], [], []
    for label in range(int(component.max()) + 1):
        inside, outside = np.flatnonzero(component == label), np.flatnonzero(component != label)
        search = NearestNeighbors(n_neighbors=1).fit(points[outside])
        distance, index = search.kneighbors(points[inside])
        shortest = np.argsort(distance[:, 0], kind="stable")[:k]
        tails.append(inside[shortest])
        heads.append(outside[index[shortest, 0]])
        lengths.append(distance[shortest, 0])
    return np.concatenate(tails), np.concatenate(heads), np.concatenate(lengths)


def from_points(X: Any, *, n_neighbors: int | None = None, shift: Shift = 0.0) -> Similarity:
    """Default similarity of points: `from_graph` of their `neighbor_graph`.

    Parameters
    ----------
    X, n_neighbors
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
    given = {} if n_neighbors is None else {"n_neighbors": int(n_neighbors)}
    return replace(made, parameters={**made.parameters, **given})


def _positive(unit: FloatArray) -> FloatArray:
    """Local units of length; zeros, of coinciding points, are replaced by the smallest positive."""
    least = unit[unit > 0.0].min(initial=np.inf)
    return np.where(unit > 0.0, unit, least if np.isfinite(least) else 1.0)


@dataclass(frozen=True, eq=False)
class Density:
    """Log-density at the nodes and along the edges of a graph of points, up to one constant."""

    nodes: FloatArray  # (n,): at each point
    edges: FloatArray  # (E,): at the midpoint of each edge, in the order of the graph


def point_density(X: Any, graph: Graph) -> Density:
    """Nearest-neighbour estimate of the log-density, ``-d log r`` with d the intrinsic dimension.

    At a point r is the distance to its 7th neighbour; at the midpoint of an edge the largest of r
    at both ends and half the length of the edge. d is the maximum-likelihood estimate of Levina and
    Bickel (2005) from 15 neighbours, its inverse averaged over the points (MacKay and Ghahramani
    2005). All zeros if all points coincide. The standard error is about ``1 / sqrt(7)``.
    """
    points, _ = read_points(X)
    n = len(points)
    if n != graph.n:
        raise ValueError(f"points must have one row for each of the {graph.n} nodes, received {n}.")
    distance, _ = nearest_neighbors(points, min(N_NEIGHBORS, n - 1))
    positive = distance[distance > 0.0]
    if not positive.size:
        return Density(np.zeros(n), np.zeros(graph.n_edges))
    # Coinciding points get the density of the closest pair of distinct points.
    distance = np.maximum(distance, positive.min())
    radius = distance[:, :LOCAL_NEIGHBOR][:, -1]
    half = 0.5 * np.linalg.norm(points[graph.tail] - points[graph.head], axis=1)
    midpoint = np.maximum(np.maximum(radius[graph.tail], radius[graph.head]), half)
    dimension = _dimension(distance, points.shape[1])
    return Density(-dimension * np.log(radius), -dimension * np.log(midpoint))


def _dimension(distance: FloatArray, upper: int) -> float:
    """Intrinsic dimension from the distances to the nearest neighbours, at most ``upper``."""
    nearer = distance[:, :-1]
    mean = float(np.log(distance[:, -1:] / nearer).mean()) if nearer.size else 0.0
    return min(1.0 / mean, float(upper)) if mean > 0.0 else float(upper)
