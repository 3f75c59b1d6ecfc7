"""Spectral features: a low-rank factor of a similarity, one row per node."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigh

from convexhc._checks import checked_count
from convexhc._types import FloatArray
from convexhc.io import as_graph

# Largest n for which a dense eigendecomposition is faster than Lanczos.
DENSE_NODES = 600


def spectral_features(K: Any, n_components: int = 10) -> FloatArray:
    """Coordinates of the nodes whose inner products best approximate a similarity.

    ``X = V sqrt(L)`` with L the largest eigenvalues of K, negative ones set to zero, and V their
    eigenvectors: X X' is the best positive semidefinite approximation of K of this rank. The
    graph model moves the images of the nodes in the feature space of K; X holds the leading
    coordinates of these images. The points model on X is therefore an approximation for very
    large graphs, whose centroids have ``n_components`` entries instead of n.

    Parameters
    ----------
    K : graph or (n, n) similarity
        Anything `convexhc.as_graph` reads; a sparse matrix stays sparse.
    n_components : int
        Number of columns; at most n.

    Returns
    -------
    (n, n_components) ndarray
        Columns by decreasing eigenvalue, the entry of largest size in each positive. Lanczos, with
        a few dozen products with K per column.

    Raises
    ------
    ValueError, TypeError
        K is not symmetric, or n_components is out of range.

    Examples
    --------
    >>> import convexhc
    >>> from convexhc.datasets import fractal_graph
    >>> graph = fractal_graph(n_meta=2, n_super=3, clique=4)
    >>> K = convexhc.similarity.two_hop(graph.adjacency)
    >>> X = convexhc.similarity.spectral_features(K, 6)
    >>> path = convexhc.solve_points_path(X, weights=K)
    >>> path.labels(n_clusters=2).tolist() == graph.coarse.tolist()
    True
    """
    graph = as_graph(K, signed=True)
    count = checked_count("n_components", n_components)
    if count > graph.n:
        raise ValueError(
            f"n_components must be between 1 and the {graph.n} nodes, received {count}."
        )
    values, vectors = leading_eigenpairs(graph.matrix(), count)
    return np.ascontiguousarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def leading_eigenpairs(matrix: sparse.csr_array, count: int) -> tuple[FloatArray, FloatArray]:
    """Largest eigenvalues of a symmetric matrix, in decreasing order, and their eigenvectors.

    The entry of largest size in each vector is positive. Lanczos with a fixed start; dense for
    small matrices and for nearly the whole spectrum.
    """
    n = matrix.shape[0]
    if count >= n - 1 or n <= DENSE_NODES:
        values, vectors = eigh(matrix.toarray(), subset_by_index=(n - count, n - 1))
    else:
        start = np.random.default_rng(0).standard_normal(n)
        from scipy.sparse.linalg import eigsh

        values, vectors = eigsh(matrix, k=count, which="LA", v0=start)
    order = np.argsort(values)[::-1]
    values, vectors = values[order], vectors[:, order]
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(count)]
    return values, vectors * np.where(largest < 0.0, -1.0, 1.0)
