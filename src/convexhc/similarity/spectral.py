"""Leading eigenvectors as features, and the default similarity, whose time the spectrum decides."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigh

from convexhc._checks import checked_count
from convexhc._types import FloatArray
from convexhc.io import as_graph
from convexhc.similarity.graph_kernels import diffusion, normalized_weights
from convexhc.similarity.result import Shift, Similarity

# Largest n for which a dense eigendecomposition is faster than Lanczos.
DENSE_NODES = 600

# Weight below which the edge of the noise band is negligible; sets the time of `from_graph`.
NOISE_LEVEL = 0.05
# Bound on the noise edge: on paths and trees, which are all "noise", the time would be unbounded.
MAX_NOISE_EDGE = 0.9
# Columns of `diffusion_features`: enough for the communities of most graphs; more is slower.
N_FEATURES = 60


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

    The entry of largest size in each vector is positive. Dense for small matrices.
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


def from_graph(A: Any, *, time: int | None = None, shift: Shift = 0.0) -> Similarity:
    """Default similarity of a graph: `diffusion` with a time chosen from the spectrum.

    Random edges give ``S = D^-1/2 A D^-1/2`` a band of eigenvalues of half-width ``2 sigma``,
    where sigma^2 is the mean squared eigenvalue, ``|S|_F^2 / n`` (Wigner's semicircle). After t
    lazy steps the edge of that band has weight ``((1 + 2 sigma) / 2)^t``. The time is the smallest
    t for which this is at most 5 %: it damps the noise and keeps as much fine structure as
    possible.

    Parameters
    ----------
    A : anything :func:`convexhc.io.as_graph` reads
        The graph, with nonnegative weights.
    time : int, optional
        Number of steps, instead of the rule.
    shift : float or "auto"
        Added to the diagonal; "auto" adds what makes K positive definite.

    Returns
    -------
    Similarity
        Of kind "diffusion", with ``time`` and ``noise_edge`` among its parameters. The rule costs
        one pass over the edges. K is dense for most graphs; `diffusion_features` avoids it.

    Examples
    --------
    >>> from convexhc.datasets import fractal_graph
    >>> K = from_graph(fractal_graph().adjacency)
    >>> K.kind, K.parameters["time"]
    ('diffusion', 24)
    """
    graph = as_graph(A)
    edge = noise_edge(graph)
    steps = _steps_to_damp(edge) if time is None else time
    made = diffusion(graph, time=steps, shift=shift)
    return replace(made, parameters={**made.parameters, "noise_edge": edge})


def diffusion_features(
    A: Any, *, time: int | None = None, n_features: int = N_FEATURES
) -> FloatArray:
    """Low-rank factor of `from_graph`: coordinates of the nodes with inner products close to K.

    ``X = V ((1 + mu) / 2)^(time / 2)`` with mu the largest eigenvalues of S and V their
    eigenvectors; each row is scaled to unit length.

    Parameters
    ----------
    A, time
        As for `from_graph`.
    n_features : int
        Number of columns, at most n.

    Returns
    -------
    (n, n_features) ndarray
        Lanczos on the sparse graph above 600 nodes, O(n n_features) memory; a dense
        eigendecomposition below.

    Examples
    --------
    >>> X = diffusion_features([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    >>> np.round(X @ X.T, 6)
    array([[1., 1., 0., 0.],
           [1., 1., 0., 0.],
           [0., 0., 1., 1.],
           [0., 0., 1., 1.]])
    """
    graph = as_graph(A)
    rank = min(checked_count("n_features", n_features), graph.n)
    steps = diffusion_time(graph) if time is None else checked_count("time", time)
    values, vectors = leading_eigenpairs(normalized_weights(graph, isolated=1.0), rank)
    X = vectors * np.maximum((1.0 + values) / 2.0, 0.0) ** (steps / 2.0)
    length = np.linalg.norm(X, axis=1, keepdims=True)
    return np.ascontiguousarray(X / np.where(length > 0.0, length, 1.0))


def diffusion_time(A: Any) -> int:
    """Number of lazy steps of `from_graph`: the smallest that damps the noise edge to 5 %."""
    return _steps_to_damp(noise_edge(A))


def noise_edge(A: Any) -> float:
    """Upper edge of the noise band of the spectrum of S: ``2 |S|_F / sqrt(n)``, at most 0.9."""
    graph = as_graph(A)
    S = normalized_weights(graph)
    return min(2.0 * float(np.sqrt(np.square(S.data).sum() / graph.n)), MAX_NOISE_EDGE)


def _steps_to_damp(edge: float) -> int:
    return max(1, math.ceil(math.log(NOISE_LEVEL) / math.log((1.0 + edge) / 2.0)))
