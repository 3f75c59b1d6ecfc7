"""Valleys of density between clusters: what tells a gap from a cut through the middle."""

from __future__ import annotations

import numpy as np

from convexhc._types import IntArray
from convexhc.graph import Graph
from convexhc.similarity.density import Density


def valley_depth(graph: Graph, labels: IntArray, density: Density) -> float:
    """How much sparser the points are between clusters than inside them.

    For an edge between two clusters, the logarithm of the ratio between the median density of the
    sparser cluster and the density half-way along the edge; the median over all such edges. A cut
    through the middle of a cloud is as dense as the cloud, and has depth about zero.

    Parameters
    ----------
    graph : Graph
        A graph on the points, in one piece.
    labels : (n,) int64 array
        The clusters, 0 .. k - 1, none of them empty.
    density : Density
        Of the points and edges of the graph.

    Returns
    -------
    float
        Infinite if no edge leaves a cluster. O(n log n + E) time.

    Examples
    --------
    >>> graph = Graph.from_edges(5, [0, 1, 2, 3], [1, 2, 3, 4])
    >>> density = Density(np.array([3.0, 3.0, 3.0, 4.0, 4.0]), np.array([3.0, 3.0, 1.0, 4.0]))
    >>> valley_depth(graph, np.array([0, 0, 0, 1, 1]), density)
    2.0
    """
    between = labels[graph.tail] != labels[graph.head]
    if not between.any():
        return float("inf")
    order = np.lexsort((density.nodes, labels))
    size = np.bincount(labels)
    start = np.cumsum(size) - size
    ranked = density.nodes[order]
    middle = 0.5 * (ranked[start + (size - 1) // 2] + ranked[start + size // 2])
    ends = labels[graph.tail[between]], labels[graph.head[between]]
    return float(np.median(np.minimum(middle[ends[0]], middle[ends[1]]) - density.edges[between]))
