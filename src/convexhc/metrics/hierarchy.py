"""How well a tree, given as a linkage, fits distances or the graph it was made from."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.cluster.hierarchy import cophenet
from scipy.spatial.distance import squareform

from convexhc._types import FloatArray, IntArray
from convexhc.graph import Graph
from convexhc.io import as_graph
from convexhc.tree import dendrogram_layout
from convexhc.tree.build import checked_linkage


def cophenetic_distances(Z: ArrayLike) -> FloatArray:
    """Height at which each pair of leaves joins, as a full matrix.

    Parameters
    ----------
    Z : (n - 1, 4) array
        Linkage in scipy's form whose heights never fall, leaf counts included.

    Returns
    -------
    (n, n) float64 array
        Symmetric, with a zero diagonal. O(n^2), without recursion.

    Raises
    ------
    ValueError
        Not such a linkage.

    Examples
    --------
    >>> cophenetic_distances([[0, 1, 1.0, 2], [2, 3, 2.0, 3]])
    array([[0., 1., 2.],
           [1., 0., 2.],
           [2., 2., 0.]])
    """
    rows = checked_linkage(Z)
    if not len(rows):
        return np.zeros((1, 1))
    return np.asarray(squareform(cophenet(rows)))


def cophenetic_correlation(Z: ArrayLike, distance: ArrayLike) -> float:
    """Pearson correlation between the join heights of a tree and given distances.

    Parameters
    ----------
    Z : (n - 1, 4) array
        Linkage in scipy's form whose heights never fall, leaf counts included.
    distance : (n, n) array
        Symmetric distances between the leaves; the upper triangle is read.

    Returns
    -------
    float
        Between -1 and 1; NaN if all heights or all distances are equal. O(n^2).

    Raises
    ------
    ValueError
        Not such a linkage, or distances between another number of nodes.

    Examples
    --------
    >>> Z = [[0, 1, 1.0, 2], [2, 3, 2.0, 3]]
    >>> round(cophenetic_correlation(Z, cophenetic_distances(Z)), 6)
    1.0
    """
    heights = cophenetic_distances(Z)
    given = np.asarray(distance, dtype=np.float64)
    if given.shape != heights.shape:
        raise ValueError(
            f"the tree has {len(heights)} leaves, so distance must be {len(heights)} x "
            f"{len(heights)}; got shape {given.shape}"
        )
    upper = np.triu_indices(len(heights), 1)
    x, y = heights[upper], given[upper]
    if x.size == 0 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    return float(np.corrcoef(x, y)[0, 1])


def dasgupta_cost(adjacency: Any, Z: ArrayLike) -> float:
    """Dasgupta's cost of a hierarchy: similar nodes should part late, in small clusters.

    ``sum_{i<j} A_ij * (number of leaves under the node where i and j join)``, to be small. Only
    the shape of the tree counts, not its heights. The diagonal is not read, so a shift
    ``K + shift I`` changes nothing.

    Parameters
    ----------
    adjacency : anything :func:`convexhc.io.as_graph` reads
        Nonnegative weights or similarities.
    Z : (n - 1, 4) array
        Linkage in scipy's form whose heights never fall. Leaf counts are not read.

    Returns
    -------
    float
        Between ``2 w`` and ``n w``, w the total weight of the edges. O(n log n + edges).

    Raises
    ------
    ValueError
        Not such a linkage or graph, or another number of nodes, or no edges.

    Examples
    --------
    >>> path = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> dasgupta_cost(path, [[0, 1, 1.0, 2], [2, 3, 2.0, 3]])
    5.0
    """
    graph, rows = _graph_and_rows(adjacency, Z)
    return float(graph.weight @ _sizes(rows)[graph.n + _join_rows(graph, rows)])


def dasgupta_score(adjacency: Any, Z: ArrayLike) -> float:
    """Dasgupta's cost turned into a score: ``1 - cost / (n * total weight of the edges)``.

    One minus the mean share of the leaves under the node where the two ends of an edge join, the
    edge drawn in proportion to its weight; scikit-network's ``dasgupta_score``.

    Parameters
    ----------
    adjacency : anything :func:`convexhc.io.as_graph` reads
        Nonnegative weights or similarities; the diagonal is not read.
    Z : (n - 1, 4) array
        Linkage in scipy's form whose heights never fall. Leaf counts are not read.

    Returns
    -------
    float
        Between 0 and ``1 - 2/n``, better when larger. O(n log n + edges).

    Raises
    ------
    ValueError
        As :func:`dasgupta_cost`.

    Examples
    --------
    >>> path = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> round(dasgupta_score(path, [[0, 1, 1.0, 2], [2, 3, 2.0, 3]]), 6)
    0.166667
    """
    graph, rows = _graph_and_rows(adjacency, Z)
    share = _sizes(rows)[graph.n + _join_rows(graph, rows)] / graph.n
    return float(1 - graph.weight @ share / graph.weight.sum())


def tree_sampling_divergence(adjacency: Any, Z: ArrayLike, *, normalized: bool = True) -> float:
    """Information about the graph that a hierarchy keeps (Charpentier and Bonald, 2019).

    Draw two nodes as the ends of an edge, or each by its degree on its own, and look at the node
    of the tree where they join: the divergence ``sum_t p(t) log(p(t) / q(t))`` between the two
    laws of that node. A node drawn twice joins itself at its parent. Normalised, it is the share
    of the mutual information of the two ends of an edge, which no tree exceeds.

    Parameters
    ----------
    adjacency : anything :func:`convexhc.io.as_graph` reads
        Nonnegative weights or similarities; the diagonal is not read.
    Z : (n - 1, 4) array
        Linkage in scipy's form whose heights never fall. Leaf counts are not read.
    normalized : bool
        Divide by the mutual information.

    Returns
    -------
    float
        At least 0, at most 1 if normalised, better when larger. O(n log n + edges).

    Raises
    ------
    ValueError
        As :func:`dasgupta_cost`.

    Examples
    --------
    >>> pairs = [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]
    >>> Z = [[0, 1, 1.0, 2], [2, 3, 1.0, 2], [4, 5, 2.0, 4]]
    >>> round(tree_sampling_divergence(pairs, Z), 6)
    0.5
    """
    graph, rows = _graph_and_rows(adjacency, Z)
    ends = graph.weight / graph.weight.sum()
    both = np.concatenate([graph.tail, graph.head])
    share = np.bincount(both, np.tile(ends / 2, 2), graph.n).astype(np.float64)
    by_edge = np.bincount(_join_rows(graph, rows), ends, len(rows))
    by_node = _join_law(share, rows)
    met = by_edge > 0
    divergence = float(by_edge[met] @ np.log(by_edge[met] / by_node[met]))
    if not normalized:
        return divergence
    apart = share[graph.tail] * share[graph.head]
    return divergence / float(ends @ np.log(ends / 2 / apart))


def _graph_and_rows(adjacency: Any, Z: ArrayLike) -> tuple[Graph, FloatArray]:
    """The graph and the linkage, checked to be about the same nodes."""
    graph, rows = as_graph(adjacency), checked_linkage(Z)
    if len(rows) != graph.n - 1:
        raise ValueError(
            f"the graph has {graph.n} nodes and the tree {len(rows) + 1} leaves: give the linkage "
            "of this very graph"
        )
    if graph.n_edges == 0:
        raise ValueError("the graph has no edges, so there is nothing a tree could fit")
    return graph, rows


def _sizes(rows: FloatArray) -> IntArray:
    """Number of leaves under each of the 2n - 1 nodes."""
    size = [1] * (len(rows) + 1)
    for a, b in rows[:, :2].astype(np.int64).tolist():
        size.append(size[a] + size[b])
    return np.array(size, dtype=np.int64)


def _join_law(share: FloatArray, rows: FloatArray) -> FloatArray:
    """Chance that two nodes drawn independently join in each row; a node itself, at its parent."""
    n = len(rows) + 1
    mass, law = share.tolist(), []
    for a, b in rows[:, :2].astype(np.int64).tolist():
        mass.append(mass[a] + mass[b])
        alone = sum(mass[child] ** 2 for child in (a, b) if child < n)
        law.append(2 * mass[a] * mass[b] + alone)
    return np.array(law)


def _join_rows(graph: Graph, rows: FloatArray) -> IntArray:
    """Row of the linkage in which the two ends of each edge join.

    With the leaves in the order of the tree, each gap between neighbours is closed by one row,
    and a pair joins in the last of the rows that close the gaps between its ends: a maximum over
    a range, read off a table of maxima over ranges of length 1, 2, 4, ...
    """
    place = np.empty(graph.n, dtype=np.int64)
    place[dendrogram_layout(rows).leaf_order] = np.arange(graph.n)
    closes = np.zeros(graph.n, dtype=np.int64)
    leftmost = place.tolist()
    for row, (a, b) in enumerate(rows[:, :2].astype(np.int64).tolist()):
        leftmost.append(leftmost[a])
        closes[leftmost[b]] = row
    table = [closes]
    while 2 ** len(table) < graph.n:
        half = 2 ** (len(table) - 1)
        table.append(np.maximum(table[-1], np.append(table[-1][half:], np.zeros(half, np.int64))))
    ends = np.sort([place[graph.tail], place[graph.head]], axis=0)
    first, length = ends[0] + 1, ends[1] - ends[0]
    level = np.frexp(length)[1] - 1
    last = first + length - 2**level
    maxima = np.array(table)
    return np.asarray(np.maximum(maxima[level, first], maxima[level, last]), dtype=np.int64)
