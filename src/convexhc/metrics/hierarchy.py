"""How well a tree, given as a linkage, fits distances or a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from convexhc._types import FloatArray
from convexhc.graph import Graph
from convexhc.io import as_graph
from convexhc.metrics.comparison import upper_triangles
from convexhc.tree.binary import BinaryTree
from convexhc.tree.linkage import checked_linkage


def cophenetic_distances(Z: ArrayLike) -> FloatArray:
    """Cophenetic distance of each pair of leaves, the height at which they join, as a matrix.

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
    return np.asarray(scipy.spatial.distance.squareform(scipy.cluster.hierarchy.cophenet(rows)))


def cophenetic_correlation(Z: ArrayLike, distance: ArrayLike) -> float:
    """Pearson correlation between the cophenetic distances of a tree and given distances.

    Parameters
    ----------
    Z
        As in :func:`cophenetic_distances`.
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
    x, y = upper_triangles(heights, given)
    return float(np.corrcoef(x, y)[0, 1]) if x.size else float("nan")


def dasgupta_cost(adjacency: Any, Z: ArrayLike) -> float:
    """Dasgupta's cost of a hierarchy; lower is better.

    ``sum_{i<j} A_ij * (number of leaves under the node where i and j join)``. Only the topology of
    the tree matters, not its heights. The diagonal is not read, so ``K`` and ``K + shift I`` have
    the same cost.

    Parameters
    ----------
    adjacency : anything :func:`convexhc.io.as_graph` reads
        Nonnegative weights or similarities.
    Z : (n - 1, 4) array
        Linkage in scipy's form whose heights never fall. Leaf counts are not read.

    Returns
    -------
    float
        Between ``2 w`` and ``n w``, w the total weight of the edges. O((n + E) log n).

    Raises
    ------
    ValueError
        Not such a linkage or graph, different numbers of nodes, or no edges.

    Examples
    --------
    >>> path = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> dasgupta_cost(path, [[0, 1, 1.0, 2], [2, 3, 2.0, 3]])
    5.0
    """
    graph, tree = _checked_graph_and_tree(adjacency, Z)
    joined = tree.joining_rows(graph.tail, graph.head)
    return float(graph.weight @ tree.size[graph.n + joined])


def dasgupta_score(adjacency: Any, Z: ArrayLike) -> float:
    """Dasgupta's cost as a score: ``1 - cost / (n * total weight of the edges)``.

    One minus the weighted mean, over the edges, of the fraction of leaves under the node where the
    two ends join; scikit-network's ``dasgupta_score``.

    Parameters
    ----------
    adjacency, Z
        As in :func:`dasgupta_cost`, which raises the same errors.

    Returns
    -------
    float
        Between 0 and ``1 - 2/n``; higher is better. O((n + E) log n).

    Examples
    --------
    >>> path = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> round(dasgupta_score(path, [[0, 1, 1.0, 2], [2, 3, 2.0, 3]]), 6)
    0.166667
    """
    graph, tree = _checked_graph_and_tree(adjacency, Z)
    joined = tree.joining_rows(graph.tail, graph.head)
    fraction = tree.size[graph.n + joined] / graph.n
    return float(1 - graph.weight @ fraction / graph.weight.sum())


def tree_sampling_divergence(adjacency: Any, Z: ArrayLike, *, normalized: bool = True) -> float:
    """Information about the graph kept by a hierarchy (Charpentier and Bonald, 2019).

    ``sum_t p(t) log(p(t) / q(t))``: p and q are the distributions of the tree node where two leaves
    join, drawn as the ends of an edge (p) or independently by degree (q). A leaf drawn twice joins
    itself at its parent. No tree exceeds the mutual information of the two ends of an edge.

    Parameters
    ----------
    adjacency, Z
        As in :func:`dasgupta_cost`, which raises the same errors.
    normalized : bool
        Divide by that mutual information.

    Returns
    -------
    float
        At least 0, at most 1 if normalised; higher is better. O((n + E) log n).

    Examples
    --------
    >>> pairs = [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]
    >>> Z = [[0, 1, 1.0, 2], [2, 3, 1.0, 2], [4, 5, 2.0, 4]]
    >>> round(tree_sampling_divergence(pairs, Z), 6)
    0.5
    """
    graph, tree = _checked_graph_and_tree(adjacency, Z)
    edge_probability = graph.weight / graph.weight.sum()
    ends = np.concatenate([graph.tail, graph.head])
    leaf_probability = np.bincount(ends, np.tile(edge_probability / 2, 2), graph.n)
    joined = tree.joining_rows(graph.tail, graph.head)
    p = np.bincount(joined, edge_probability, graph.n - 1)
    q = _independent_joins(leaf_probability.astype(np.float64), tree)
    occurs = p > 0
    divergence = float(p[occurs] @ np.log(p[occurs] / q[occurs]))
    if not normalized:
        return divergence
    independent = leaf_probability[graph.tail] * leaf_probability[graph.head]
    return divergence / float(edge_probability @ np.log(edge_probability / 2 / independent))


def _checked_graph_and_tree(adjacency: Any, Z: ArrayLike) -> tuple[Graph, BinaryTree]:
    """The graph and the tree of the linkage, verified to have the same nodes."""
    graph, tree = as_graph(adjacency), BinaryTree.from_linkage(Z)
    if tree.n_leaves != graph.n:
        raise ValueError(
            f"the graph has {graph.n} nodes and the tree {tree.n_leaves} leaves: give the linkage "
            "of this very graph"
        )
    if graph.n_edges == 0:
        raise ValueError("the graph has no edges, so there is nothing a tree could fit")
    return graph, tree


def _independent_joins(leaf_probability: FloatArray, tree: BinaryTree) -> FloatArray:
    """Probability that two independent leaves join in each row; equal leaves join at the parent."""
    probability = tree.subtree_sums(leaf_probability)
    # The squares of the children that are leaves.
    square = np.append(leaf_probability**2, np.zeros(tree.left.size))
    different = 2 * probability[tree.left] * probability[tree.right]
    return different + (square[tree.left] + square[tree.right])
