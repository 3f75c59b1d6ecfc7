"""Density of points by nearest-neighbour distances, at the points and along edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from convexhc._types import FloatArray
from convexhc.graph import Graph
from convexhc.similarity.neighbors import LOCAL_NEIGHBOR, N_NEIGHBORS
from convexhc.similarity.point_kernels import nearest_neighbors, read_points


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
