"""Density of points, where each of them lies and half-way between neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from convexhc._types import FloatArray
from convexhc.graph import Graph
from convexhc.similarity.point_kernels import read_points

# Neighbour whose distance is the local radius, as in the local units of `multiscale_weights`.
RADIUS_NEIGHBOR = 7
# Neighbours from whose distances the dimension is estimated.
DIMENSION_NEIGHBORS = 15


@dataclass(frozen=True, eq=False)
class Density:
    """Logarithms of the density at the nodes and along the edges of a graph of points.

    Both are known up to one constant.

    Attributes
    ----------
    nodes : (n,) float64 array
        At every point.
    edges : (E,) float64 array
        Half-way along every edge, in the order of the graph.
    """

    nodes: FloatArray
    edges: FloatArray


def point_density(X: Any, graph: Graph) -> Density:
    """Density of points by the distances to their nearest neighbours.

    ``-d log r`` with d the intrinsic dimension. At a point r is the distance to its 7th neighbour;
    half-way along an edge it is the largest of those of its ends and half the length of the edge.
    d is the maximum-likelihood estimate of Levina and Bickel (2005) from 15 neighbours, its inverse
    averaged over the points (MacKay and Ghahramani 2005).

    Parameters
    ----------
    X : (n, d) array or DataFrame
        One point per row.
    graph : Graph
        A graph on the points, such as `neighbor_graph`.

    Returns
    -------
    Density
        All zeros if all points coincide. The standard error is about ``1 / sqrt(7)``, whatever the
        dimension.

    Raises
    ------
    ValueError, TypeError
        A table that is not one of finite numbers, or has not one row per node.

    Examples
    --------
    >>> X = [[0.1 * i] for i in range(10)] + [[5.0], [9.0]]
    >>> found = point_density(X, Graph.from_edges(12, [0, 9], [1, 10]))
    >>> bool(found.nodes[1] > found.nodes[11]), bool(found.edges[0] > found.edges[1])
    (True, True)
    """
    points, _ = read_points(X)
    n = len(points)
    if n != graph.n:
        raise ValueError(f"points must have one row for each of the {graph.n} nodes, received {n}.")
    k = min(DIMENSION_NEIGHBORS, n - 1)
    flat = Density(np.zeros(n), np.zeros(graph.n_edges))
    if k == 0:
        return flat
    from sklearn.neighbors import NearestNeighbors

    distance, _ = NearestNeighbors(n_neighbors=k).fit(points).kneighbors()
    apart = distance[distance > 0.0]
    if not apart.size:
        return flat
    # Points that coincide are as dense as the closest two that do not.
    distance = np.maximum(distance, apart.min())
    radius = distance[:, min(RADIUS_NEIGHBOR, k) - 1]
    half = 0.5 * np.linalg.norm(points[graph.tail] - points[graph.head], axis=1)
    between = np.maximum(np.maximum(radius[graph.tail], radius[graph.head]), half)
    dimension = _dimension(distance, points.shape[1])
    return Density(-dimension * np.log(radius), -dimension * np.log(between))


def _dimension(distance: FloatArray, most: int) -> float:
    """Intrinsic dimension by the distances to the nearest neighbours, at most the columns."""
    nearer = distance[:, :-1]
    mean = float(np.log(distance[:, -1:] / nearer).mean()) if nearer.size else 0.0
    return min(1.0 / mean, float(most)) if mean > 0.0 else float(most)
