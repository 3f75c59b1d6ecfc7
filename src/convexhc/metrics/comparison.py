"""How alike two distance matrices are, and whether repeated measurements find each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from convexhc._types import FloatArray


def knn_graph(distance: ArrayLike, k: int) -> sparse.csr_array:
    """Directed graph from each node to its k nearest others.

    Of nodes at equal distance the one with the smaller number comes first, so the graph is
    always the same. Cophenetic distances are full of ties; two graphs made from them agree in
    part because both follow the numbering.

    Parameters
    ----------
    distance : (n, n) array
        Distances; row i is read for node i, its diagonal entry is not.
    k : int
        Neighbours of each node, between 1 and n - 1.

    Returns
    -------
    (n, n) csr_array
        Ones where column j is among the k nearest of row i; not symmetric in general.
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
    matrix = _checked_distance(distance, "distance")
    n = len(matrix)
    if not 1 <= k <= n - 1:
        raise ValueError(f"k must be between 1 and n - 1 = {n - 1} neighbours; got {k}")
    order = np.argsort(matrix, axis=1, kind="stable")
    # Each row of the order without the node itself, wherever ties have put it.
    others = order[order != np.arange(n)[:, None]].reshape(n, n - 1)
    nearest = np.sort(others[:, :k], axis=1)
    start = np.arange(0, n * k + 1, k)
    return sparse.csr_array((np.ones(n * k), nearest.ravel(), start), shape=(n, n))


def hamming(A: Any, B: Any, *, normalized: bool = False) -> float:
    """Number of ordered pairs of nodes on which two adjacency matrices differ.

    For 0/1 matrices this is the square of the Euclidean distance between them. The diagonal is
    not read.

    Parameters
    ----------
    A, B : (n, n) arrays or sparse matrices
        Adjacency matrices on the same nodes.
    normalized : bool
        Divide by the ``n (n - 1)`` ordered pairs; 0 for a single node.

    Returns
    -------
    float
        A whole number, or a share between 0 and 1.

    Raises
    ------
    ValueError
        Matrices that are not square or not of one shape.

    Examples
    --------
    >>> hamming([[0, 1], [1, 0]], [[0, 1], [0, 0]])
    1.0
    >>> hamming([[0, 1], [1, 0]], [[0, 1], [0, 0]], normalized=True)
    0.5
    """
    first, second = sparse.csr_array(A), sparse.csr_array(B)
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

    Only the order of the distances matters: any increasing transform of either matrix gives the
    same value.

    Parameters
    ----------
    first, second : (n, n) arrays
        Symmetric distance matrices on the same nodes; the upper triangles are read.

    Returns
    -------
    float
        Between -1 and 1; NaN if all distances of one matrix are equal, or there is but one
        pair. O(n^2 log n) time.

    Raises
    ------
    ValueError
        Not square, not of one shape, or NaN.

    Examples
    --------
    >>> kendall([[0, 1, 3], [1, 0, 2], [3, 2, 0]], [[0, 1, 9], [1, 0, 4], [9, 4, 0]])
    1.0
    """
    a, b = _checked_distance(first, "first"), _checked_distance(second, "second")
    if a.shape != b.shape:
        raise ValueError(f"two distance matrices must be of one shape; got {a.shape} and {b.shape}")
    upper = np.triu_indices(len(a), 1)
    x, y = a[upper], b[upper]
    if x.size == 0 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    from scipy.stats import kendalltau

    # The exact p-value of few pairs takes longer than the correlation, and nobody asked for it.
    return float(kendalltau(x, y, method="asymptotic").statistic)


def discriminability(distance: ArrayLike, subject: ArrayLike) -> float:
    """How often two measurements of one subject are closer than measurements of two subjects.

    For every ordered pair (i, j) of measurements of one subject, the share of the measurements k
    of other subjects with ``d_ij < d_ik``, ties counting half; then the mean over all pairs. It is
    1 if subjects are told apart perfectly and 1/2 if measurements are interchangeable.

    Parameters
    ----------
    distance : (m, m) array
        Distances between the measurements.
    subject : (m,) array
        Whose measurement it is, in labels of any sortable kind.

    Returns
    -------
    float
        Between 0 and 1. O(m^2 log m) time.

    Raises
    ------
    ValueError
        Not a square matrix, NaN, labels of another length, a single subject, or no subject
        measured twice.

    Examples
    --------
    >>> discriminability([[0, 1, 5, 5], [1, 0, 5, 5], [5, 5, 0, 6], [5, 5, 6, 0]], list("aabb"))
    0.5
    """
    matrix = _checked_distance(distance, "distance")
    whose = np.asarray(subject)
    if whose.shape != (len(matrix),):
        raise ValueError(
            f"subject must name one subject for each of the {len(matrix)} measurements; got shape "
            f"{whose.shape}"
        )
    same = whose[:, None] == whose[None, :]
    if same.all() or same.sum() == len(matrix):
        raise ValueError(
            "discriminability needs two subjects or more, one of them measured twice; got "
            f"{np.unique(whose).size} subjects in {len(matrix)} measurements"
        )
    shares = []
    for i, row in enumerate(matrix):
        between = np.sort(row[~same[i]])
        within = np.delete(row, i)[np.delete(same[i], i)]
        # Places below and above the ties; their mean counts a tie as half.
        closer = np.searchsorted(between, within, "left") + np.searchsorted(
            between, within, "right"
        )
        shares.append(1 - closer / (2 * between.size))
    return float(np.concatenate(shares).mean())


def _checked_distance(distance: ArrayLike, name: str) -> FloatArray:
    """Square matrix of numbers, infinity allowed."""
    matrix = np.asarray(distance, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise ValueError(f"{name} must be a square matrix of distances; got shape {matrix.shape}")
    if np.isnan(matrix).any():
        raise ValueError(f"{name} must hold distances; got NaN")
    return matrix
