"""Spectral features: the nodes of a similarity as points."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.linalg import eigsh

from convexhc.io import as_graph

# Up to so many nodes a dense eigendecomposition is the faster one.
DENSE_NODES = 600


def spectral_features(K: Any, n_components: int = 10) -> NDArray[np.float64]:
    """Coordinates of the nodes whose inner products are nearest to a similarity.

    ``X = V sqrt(L)`` with L the largest eigenvalues of K, negative ones as zero, and V their
    eigenvectors: among all tables of so many columns, X X' is nearest to K. This is the bridge from
    very large graphs to the points model: the graph model moves the images of the nodes in the
    feature space of K, and these are the first coordinates of those images. A centroid then has
    ``n_components`` entries instead of n.

    Parameters
    ----------
    K : graph or (n, n) similarity
        Anything `convexhc.as_graph` reads; sparse stays sparse.
    n_components : int
        Number of columns; at most n.

    Returns
    -------
    (n, n_components) ndarray
        Columns by falling eigenvalue, the entry of largest size in each positive. Lanczos, with a
        few dozen products with K a column.

    Raises
    ------
    ValueError, TypeError
        K that is not symmetric, or n_components out of its range.

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
    if isinstance(n_components, bool) or not isinstance(n_components, int | np.integer):
        raise TypeError(f"n_components must be a whole number, received {n_components!r}.")
    if not 1 <= n_components <= graph.n:
        raise ValueError(
            f"n_components must be between 1 and the {graph.n} nodes, received {n_components}."
        )
    values, vectors = leading_eigenpairs(graph.matrix(), int(n_components))
    return np.ascontiguousarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def leading_eigenpairs(
    matrix: sparse.csr_array, count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Largest eigenvalues of a symmetric matrix, falling, and their eigenvectors.

    The entry of largest size in each vector is positive. Lanczos from a fixed start; dense for
    small matrices and for nearly all of the spectrum.
    """
    n = matrix.shape[0]
    if count >= n - 1 or n <= DENSE_NODES:
        values, vectors = eigh(matrix.toarray(), subset_by_index=(n - count, n - 1))
    else:
        start = np.random.default_rng(0).standard_normal(n)
        values, vectors = eigsh(matrix, k=count, which="LA", v0=start)
    order = np.argsort(values)[::-1]
    values, vectors = values[order], vectors[:, order]
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(count)]
    return values, vectors * np.where(largest < 0.0, -1.0, 1.0)
