"""Agreement of distance matrices, neighbour graphs or partitions: of two, or all pairs of many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from convexhc._types import FloatArray, IntArray
from convexhc.graph_checks import checked_sparse
from convexhc.kernels.concordance import concordance


def knn_graph(distance: ArrayLike, k: int) -> sparse.csr_array:
    """Directed graph from each node to its k nearest neighbours.

    Ties go to the node with the smaller index, so the graph is deterministic. Cophenetic distances
    have many ties; two graphs of such distances agree in part only because of this rule.

    Parameters
    ----------
    distance : (n, n) array
        Distances; row i holds those of node i. The diagonal is not read.
    k : int
        Number of neighbours, between 1 and n - 1.

    Returns
    -------
    (n, n) csr_array
        1 where node j is among the k nearest of node i; not symmetric in general.
        O(n^2 log n) time.

    Raises
    ------
    ValueError
        Not a square matrix, NaN, or k out of range.

    Examples
    --------
    >>> knn_graph([[0, 1, 3], [1, 0, 2], [3, 2, 0]], 1).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 1., 0.]])
    """
    matrix = checked_distance(distance, "distance")
    n = len(matrix)
    if not 1 <= k <= n - 1:
        raise ValueError(f"k must be between 1 and n - 1 = {n - 1} neighbours; got {k}")
    order = np.argsort(matrix, axis=1, kind="stable")
    # Remove the node itself from each row; with ties it need not come first.
    others = order[order != np.arange(n)[:, None]].reshape(n, n - 1)
    nearest = np.sort(others[:, :k], axis=1)
    start = np.arange(0, n * k + 1, k)
    return sparse.csr_array((np.ones(n * k), nearest.ravel(), start), shape=(n, n))


def hamming(A: Any, B: Any, *, normalized: bool = False) -> float:
    """Number of ordered pairs of nodes on which two adjacency matrices differ.

    For 0/1 matrices this is the squared Frobenius distance off the diagonal, which is not read.

    Parameters
    ----------
    A, B : (n, n) arrays or sparse matrices
        Adjacency matrices on the same nodes.
    normalized : bool
        Divide by the ``n (n - 1)`` ordered pairs; 0 for a single node.

    Returns
    -------
    float
        A whole number, or a fraction between 0 and 1.

    Raises
    ------
    ValueError
        Matrices that are not square or not of the same shape.

    Examples
    --------
    >>> hamming([[0, 1], [1, 0]], [[0, 1], [0, 0]])
    1.0
    >>> hamming([[0, 1], [1, 0]], [[0, 1], [0, 0]], normalized=True)
    0.5
    """
    first, second = (
        sparse.csr_array(checked_sparse(one) if sparse.issparse(one) else one) for one in (A, B)
    )
    if first.shape != second.shape or first.shape[0] != first.shape[1]:
        raise ValueError(
            "two graphs can be compared if both matrices are square and of one shape; got "
            f"{first.shape} and {second.shape}"
        )
    differs: Any = first != second
    count = float(differs.sum() - differs.diagonal().sum())
    n = first.shape[0]
    return count / max(n * (n - 1), 1) if normalized else count


def kendall(first: ArrayLike, second: ArrayLike) -> float:
    """Kendall rank correlation (tau-b) between the distances of all pairs of nodes.

    Invariant under increasing transformations of either matrix.

    Parameters
    ----------
    first, second : (n, n) arrays
        Symmetric distance matrices on the same nodes; the upper triangles are read.

    Returns
    -------
    float
        Between -1 and 1; NaN if all distances of one matrix are equal, or for fewer than three
        nodes. O(n^2 log n) time.

    Raises
    ------
    ValueError
        Not square, not of the same shape, or NaN.

    Examples
    --------
    >>> kendall([[0, 1, 3], [1, 0, 2], [3, 2, 0]], [[0, 1, 9], [1, 0, 4], [9, 4, 0]])
    1.0
    """
    a, b = checked_distance(first, "first"), checked_distance(second, "second")
    if a.shape != b.shape:
        raise ValueError(f"two distance matrices must be of one shape; got {a.shape} and {b.shape}")
    x, y = upper_triangles(a, b)
    if not x.size:
        return float("nan")
    from scipy.stats import kendalltau

    # The p-value is not used; the asymptotic one is cheap.
    return float(kendalltau(x, y, method="asymptotic").statistic)


def upper_triangles(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Entries above the diagonals; none if all those of one are equal: nothing correlates."""
    upper = np.triu_indices(len(a), 1)
    x, y = a[upper], b[upper]
    return (x, y) if x.size and np.ptp(x) and np.ptp(y) else (x[:0], y[:0])


def checked_distance(distance: ArrayLike, name: str) -> FloatArray:
    """Verify a square matrix without NaN; infinity is allowed."""
    matrix = np.asarray(distance, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise ValueError(f"{name} must be a square matrix of distances; got shape {matrix.shape}")
    if np.isnan(matrix).any():
        raise ValueError(f"{name} must hold distances; got NaN")
    return matrix


def kendall_matrix(values: ArrayLike) -> FloatArray:
    """Kendall rank correlation (tau-b) of every two rows.

    Parameters
    ----------
    values : (s, m) array
        One row per subject, for instance the distances of all pairs of nodes. Only the order
        within each row matters.

    Returns
    -------
    (s, s) array
        Symmetric, 1 on the diagonal; NaN where all values of a row are equal.
        O(s^2 m log m) time.

    Raises
    ------
    ValueError
        Not a matrix, no values, or NaN.

    Examples
    --------
    >>> kendall_matrix([[1, 2, 3], [2, 4, 9], [3, 2, 1]]).round(3)
    array([[ 1.,  1., -1.],
           [ 1.,  1., -1.],
           [-1., -1.,  1.]])
    """
    rows = np.asarray(values, dtype=np.float64)
    if rows.ndim != 2 or rows.size == 0 or np.isnan(rows).any():
        raise ValueError(f"values must be the rows of a matrix without NaN; got shape {rows.shape}")
    ranks = np.empty(rows.shape, dtype=np.int64)
    orders = np.empty(rows.shape, dtype=np.int64)
    untied = np.empty(len(rows))
    pairs = rows.shape[1] * (rows.shape[1] - 1) // 2
    for i, row in enumerate(rows):
        _, ranks[i], counts = np.unique(row, return_inverse=True, return_counts=True)
        orders[i] = np.argsort(ranks[i], kind="stable")
        untied[i] = pairs - int((counts * (counts - 1) // 2).sum())
    scale = np.sqrt(untied)
    with np.errstate(invalid="ignore"):
        tau = concordance(ranks, orders) / (scale[:, None] * scale[None, :])
    tau[np.diag_indices_from(tau)] = np.where(untied > 0, 1.0, np.nan)
    return np.asarray(np.clip(tau, -1.0, 1.0))


def neighbor_matrix(
    distances: Sequence[FloatArray], k: int, *, draws: int = 5, by_number: bool = False
) -> FloatArray:
    """Fraction of the k nearest neighbours that differ, for every two distance matrices.

    It is the Hamming distance of the two neighbour graphs, divided by its maximum ``2 n k``. Trees
    and fused centroids have many equal distances. Ties broken by node index would make two graphs
    agree for no other reason, so they are broken at random, independently for every matrix, and the
    fraction is averaged over a few draws.

    Parameters
    ----------
    distances : sequence of s (n, n) arrays
        Distances between the same n nodes.
    k : int
        Number of neighbours.
    draws : int
        Number of random draws of the ties, from a fixed seed.
    by_number : bool
        Break ties by node index instead.

    Returns
    -------
    (s, s) array
        Between 0 and 1, with a zero diagonal. O(draws s n (n log n + s k)).

    Examples
    --------
    >>> line = np.abs(np.subtract.outer([0.0, 1.0, 3.0], [0.0, 1.0, 3.0]))
    >>> neighbor_matrix([line, line.max() - line], k=1)
    array([[0., 1.],
           [1., 0.]])
    """
    rng = np.random.default_rng(0)
    n, s = len(distances[0]), len(distances)
    total = np.zeros((s, s))
    repeats = 1 if by_number else draws
    for _ in range(repeats):
        orders = [np.arange(n) if by_number else rng.permutation(n) for _ in distances]
        edges = [_edges(d, order, k) for d, order in zip(distances, orders, strict=True)]
        start = np.arange(0, s * n * k + 1, n * k)
        graphs = sparse.csr_array((np.ones(s * n * k), np.concatenate(edges), start), (s, n * n))
        shared: Any = graphs @ graphs.T
        # Both graphs have n k edges, so each contributes half of the Hamming distance.
        total += 1.0 - shared.toarray() / (n * k)
    np.fill_diagonal(total, 0.0)
    return total / repeats


def _edges(distance: FloatArray, order: NDArray[np.int64], k: int) -> IntArray:
    """Edges of the neighbour graph as flat indices; ties are broken by ``order``."""
    n = len(order)
    near = order[knn_graph(distance[np.ix_(order, order)], k).indices]
    return np.asarray(np.repeat(order, k) * n + near, dtype=np.int64)


def information_matrix(partitions: ArrayLike) -> FloatArray:
    """Variation of information between every two partitions, in nats.

    Parameters
    ----------
    partitions : (s, n) int array
        One partition per row, labels from 0.

    Returns
    -------
    (s, s) array
        Symmetric, with a zero diagonal. O(s^2 (n + c^2)) for c clusters.

    Examples
    --------
    >>> information_matrix([[0, 0, 1, 1], [0, 1, 0, 1]]).round(3)
    array([[0.   , 1.386],
           [1.386, 0.   ]])
    """
    labels = np.asarray(partitions, dtype=np.int64)
    s, n = labels.shape
    c = int(labels.max()) + 1
    member = np.zeros((s * c, n))
    member[(np.arange(s)[:, None] * c + labels).ravel(), np.tile(np.arange(n), s)] = 1.0
    xlogy = scipy.special.xlogy
    share = member.sum(axis=1).reshape(s, c) / n
    entropy = -xlogy(share, share).sum(axis=1)
    joint = np.empty((s, s))
    for i in range(s):
        both = member[i * c : (i + 1) * c] @ member.T / n
        joint[i] = -xlogy(both, both).reshape(c, s, c).sum(axis=(0, 2))
    # Twice the joint entropy; sums in another order differ by round-off, so both are used.
    found = np.maximum(joint + joint.T - (entropy[:, None] + entropy[None, :]), 0.0)
    np.fill_diagonal(found, 0.0)
    return np.asarray(found)
