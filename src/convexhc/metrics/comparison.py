"""Agreement of two distance matrices, or of their neighbour graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from convexhc._types import FloatArray
from convexhc.graph_checks import checked_sparse


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
    upper = np.triu_indices(len(a), 1)
    x, y = a[upper], b[upper]
    if x.size == 0 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    from scipy.stats import kendalltau

    # The p-value is not used; the asymptotic one is cheap.
    return float(kendalltau(x, y, method="asymptotic").statistic)


def checked_distance(distance: ArrayLike, name: str) -> FloatArray:
    """Verify a square matrix without NaN; infinity is allowed."""
    matrix = np.asarray(distance, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise ValueError(f"{name} must be a square matrix of distances; got shape {matrix.shape}")
    if np.isnan(matrix).any():
        raise ValueError(f"{name} must hold distances; got NaN")
    return matrix
