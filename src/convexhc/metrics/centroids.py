"""Metrics of centroids: effective rank, distances, and k-means after fused ones are made equal."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy import linalg, sparse
from scipy.sparse.csgraph import connected_components

from convexhc._types import FloatArray, IntArray
from convexhc.graph_checks import checked_sparse
from convexhc.io import as_graph
from convexhc.metrics.partition import PartitionScores, partition_scores

# Negative values down to this fraction of the largest count as round-off: 2-hop similarities are
# singular up to 1e-8. A matrix with lower values is not positive semidefinite.
ROUND_OFF = 1e-6

# Smallest resolved distance, relative to the largest norm: squared distances from inner products
# have an error of about 1e-15 of the largest squared norm.
DISTANCE_RESOLUTION = 1e-7


def effective_rank(C: ArrayLike, K: Any) -> float:
    """Effective rank of the similarities between centroids.

    ``exp(-sum_k p_k log p_k)`` with p the eigenvalues of ``pi' K pi = C K C'``, scaled to sum to
    one. It is 1 if all centroids are equal, and n for ``C = I``, ``K = I``.

    Parameters
    ----------
    C : (m, n) array
        Centroids, one per row.
    K : (n, n) array, sparse matrix, or anything :func:`convexhc.io.as_graph` reads
        Positive semidefinite similarity.

    Returns
    -------
    float
        Between 1 and m. O(m n (m + n) + m^3) time.

    Raises
    ------
    ValueError
        Shapes that do not fit, NaN, a matrix that is not semidefinite, or zero.

    Examples
    --------
    >>> round(effective_rank(np.eye(4), np.eye(4)), 6)
    4.0
    >>> round(effective_rank(np.full((4, 4), 0.25), np.eye(4)), 6)
    1.0
    """
    return effective_rank_of(_gram(checked_rows(C), K))


def effective_rank_of(S: ArrayLike) -> float:
    """Effective rank of a positive semidefinite matrix.

    ``exp(-sum_k p_k log p_k)`` with p the eigenvalues scaled to sum to one; negative round-off
    counts as zero.

    Parameters
    ----------
    S : (n, n) array
        Symmetric, dense.

    Returns
    -------
    float
        Between 1 and n. O(n^3) time.

    Raises
    ------
    ValueError
        Not square, NaN, an eigenvalue below -1e-6 of the largest, or the zero matrix.

    Examples
    --------
    >>> round(effective_rank_of(np.diag([1.0, 1.0, 0.0])), 6)
    2.0
    """
    values = linalg.eigvalsh(_square(S))
    largest = float(values[-1])
    if largest <= 0 or values[0] < -ROUND_OFF * largest:
        raise ValueError(
            "the effective rank needs a positive semidefinite matrix that is not zero; got "
            f"eigenvalues from {values[0]:.6g} to {largest:.6g}. similarity.shift_to_positive "
            "makes a similarity positive"
        )
    shares = values[values > 0] / values[values > 0].sum()
    return float(np.exp(-(shares * np.log(shares)).sum()))


def centroid_distances(C: ArrayLike, K: Any = None) -> FloatArray:
    """Euclidean distances between centroids, in feature space if a similarity is given.

    ``d_ij^2 = (c_i - c_j) K (c_i - c_j)'``, or ``|c_i - c_j|^2`` without K. Equal rows have bitwise
    equal distances to all others, so that ranks have ties; apply
    :func:`~convexhc.metrics.fuse_rows` to the centroids of an iterative solver first.

    Parameters
    ----------
    C, K
        As in :func:`effective_rank`; K is optional.

    Returns
    -------
    (m, m) float64 array
        Symmetric, with a zero diagonal; with K, distances below 1e-8 of the largest are
        round-off. O(n m^2), m the number of distinct rows, and one product with K.

    Raises
    ------
    ValueError
        Shapes that do not fit, NaN, or a K that gives negative squares.

    Examples
    --------
    >>> centroid_distances([[1.0, 0.0], [0.0, 1.0]], 2 * np.eye(2))
    array([[0., 2.],
           [2., 0.]])
    """
    distinct, place = np.unique(checked_rows(C), axis=0, return_inverse=True)
    if K is None:
        between = scipy.spatial.distance.cdist(distinct, distinct)
    else:
        # Centring does not change the differences and reduces cancellation.
        between = distances_of(_gram(distinct - distinct.mean(axis=0), K))
    return np.ascontiguousarray(between[np.ix_(place, place)])


def distances_of(S: ArrayLike) -> FloatArray:
    """Distances in the feature space of a similarity: ``sqrt(S_ii + S_jj - 2 S_ij)``.

    Adding a shift to the diagonal adds ``2 shift`` to every squared distance and keeps their order.

    Parameters
    ----------
    S : (n, n) array
        Symmetric positive semidefinite, dense.

    Returns
    -------
    (n, n) float64 array
        Symmetric, with a zero diagonal. O(n^2).

    Raises
    ------
    ValueError
        Not square, NaN, or a pair with ``2 S_ij`` above ``S_ii + S_jj`` by more than round-off.

    Examples
    --------
    >>> distances_of([[1.0, 0.5], [0.5, 1.0]])
    array([[0., 1.],
           [1., 0.]])
    """
    gram = _square(S)
    norms = gram.diagonal()
    # This order of operations gives a symmetric result in floating point.
    squares = (norms[:, None] + norms[None, :]) - 2 * gram
    if squares.min() < -ROUND_OFF * max(float(np.abs(gram).max()), np.finfo(float).tiny):
        i, j = (int(at) for at in np.unravel_index(np.argmin(squares), squares.shape))
        raise ValueError(
            f"the similarity has no feature space: entry ({i}, {j}) is {gram[i, j]:.6g}, more than "
            f"the mean of {norms[i]:.6g} and {norms[j]:.6g} on the diagonal. Give a positive "
            "semidefinite one: similarity.shift_to_positive adds to the diagonal"
        )
    np.fill_diagonal(squares, 0.0)
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))


def _gram(rows: FloatArray, K: Any) -> FloatArray:
    """``rows K rows'``, symmetrised."""
    matrix: Any = K
    if sparse.issparse(K):
        matrix = checked_sparse(K)
    elif not isinstance(K, np.ndarray):
        matrix = as_graph(K, signed=True).matrix()
    n = rows.shape[1]
    if matrix.shape != (n, n):
        raise ValueError(
            f"K must be {n} x {n}, one row for each column of the centroids; got shape "
            f"{matrix.shape}"
        )
    gram = rows @ np.asarray(matrix @ rows.T)
    return np.asarray((gram + gram.T) / 2)


def checked_rows(C: ArrayLike) -> FloatArray:
    """Verify a finite matrix of centroids; return it as float64."""
    rows = np.asarray(C, dtype=np.float64)
    if rows.ndim != 2 or rows.size == 0:
        raise ValueError(f"centroids must be the rows of a matrix; got shape {rows.shape}")
    if not np.isfinite(rows).all():
        raise ValueError("centroids must be finite; got NaN or infinity")
    # Turns -0.0 into 0.0, so that np.unique finds equal rows.
    return rows + 0.0


def _square(S: ArrayLike) -> FloatArray:
    """Verify a finite square matrix; return it as float64."""
    matrix = np.asarray(S, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise ValueError(f"the similarity must be a square matrix; got shape {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise ValueError("the similarity must be finite; got NaN or infinity")
    return matrix


def fuse_rows(C: ArrayLike, *, within: float = 1e-6) -> FloatArray:
    """Make almost equal centroids equal.

    Rows connected by a chain of distances up to ``within`` are replaced by their mean. An iterative
    solver leaves fused centroids about 1e-10 apart, and k-means would recover the fused clusters
    from that noise. Rounding to some digits would not help: entries next to a rounding boundary,
    such as 1/128 to six digits, would still differ.

    Parameters
    ----------
    C : (m, n) array
        Centroids, one per row.
    within : float
        Largest distance between fused rows; 0 changes nothing. A positive value is raised to
        1e-7 of the largest distance from the mean row, the resolution in floating point.
        Distinct centroids of a doubly stochastic C are usually about ``1/sqrt(n)`` apart, far
        above the default.

    Returns
    -------
    (m, n) float64 array
        A new array; fused rows are bitwise equal. O(m^2 n) time, O(m^2) memory.

    Raises
    ------
    ValueError
        NaN, not a matrix, or a negative distance.

    Examples
    --------
    >>> fuse_rows([[0.5, 0.5], [0.5 + 1e-9, 0.5 - 1e-9], [1.0, 0.0]])[:2] - 0.5 < 1e-8
    array([[ True,  True],
           [ True,  True]])
    """
    rows = checked_rows(C)
    groups = _fused_groups(rows, within)
    first = np.unique(groups, return_index=True)[1]
    sizes = np.bincount(groups)
    sums = np.zeros((sizes.size, rows.shape[1]))
    # Summing differences to the first row keeps rows that are already equal unchanged.
    np.add.at(sums, groups, rows - rows[first][groups])
    return np.asarray((rows[first] + sums / sizes[:, None])[groups])


def kmeans_labels(
    C: ArrayLike, n_clusters: int, *, within: float = 1e-6, n_init: int = 10, random_state: int = 0
) -> IntArray:
    """K-means clusters of the centroids, after `fuse_rows`.

    Parameters
    ----------
    n_clusters : int
        Number of clusters, between 1 and m. If there are no more distinct centroids than that,
        they are the clusters.
    C, within
        As in :func:`fuse_rows`.
    n_init : int
        Number of initialisations; the best result is kept.
    random_state : int
        Seed of the initialisations.

    Returns
    -------
    (m,) int64 array
        At most ``n_clusters`` labels, numbered from 0; deterministic.

    Raises
    ------
    ValueError
        A number of clusters out of range, NaN, or not a matrix.

    Examples
    --------
    >>> kmeans_labels(np.full((3, 3), 1 / 3), 2)
    array([0, 0, 0])
    """
    return _kmeans(fuse_rows(C, within=within), n_clusters, n_init, random_state)


def kmeans_scores(
    C: ArrayLike,
    true: ArrayLike,
    *,
    n_clusters: int | None = None,
    within: float = 1e-6,
    n_init: int = 10,
    random_state: int = 0,
) -> PartitionScores:
    """How well k-means on the centroids recovers known classes (table I of the paper).

    Parameters
    ----------
    true : (m,) array
        Known classes.
    n_clusters : int, optional
        Number of clusters; by default that of the classes.
    C, within, n_init, random_state
        As in :func:`kmeans_labels`.

    Returns
    -------
    PartitionScores
        The silhouette uses Euclidean distances of the centroids; NaN for one or for m clusters.

    Raises
    ------
    ValueError
        As :func:`kmeans_labels`, or classes of another length.

    Examples
    --------
    >>> scores = kmeans_scores(np.repeat(np.eye(2), 3, axis=0), [0, 0, 0, 1, 1, 1])
    >>> scores.accuracy, scores.silhouette
    (1.0, 1.0)
    """
    from sklearn.metrics import silhouette_score

    classes = np.asarray(true)
    wanted = np.unique(classes).size if n_clusters is None else n_clusters
    points = fuse_rows(C, within=within)
    labels = _kmeans(points, wanted, n_init, random_state)
    scores = partition_scores(classes, labels)
    if 1 < np.unique(labels).size < labels.size:
        scores = replace(scores, silhouette=float(silhouette_score(points, labels)))
    return scores


def _kmeans(points: FloatArray, n_clusters: int, n_init: int, random_state: int) -> IntArray:
    """K-means labels, or one label per distinct point if there are at most ``n_clusters``."""
    if not 1 <= n_clusters <= len(points):
        raise ValueError(
            f"n_clusters must be between 1 and the {len(points)} centroids; got {n_clusters}"
        )
    distinct, place = np.unique(points, axis=0, return_inverse=True)
    if len(distinct) <= n_clusters:
        return place.astype(np.int64)
    from sklearn.cluster import KMeans

    model = KMeans(n_clusters=n_clusters, n_init=n_init, random_state=random_state)
    return np.asarray(model.fit_predict(points), dtype=np.int64)


def _fused_groups(rows: FloatArray, within: float) -> IntArray:
    """Connected component of each row in the graph of rows at most ``within`` apart."""
    if not within >= 0:
        raise ValueError(f"within must be a distance of at least 0; got {within}")
    distinct, place = np.unique(rows, axis=0, return_inverse=True)
    if within == 0 or len(distinct) == 1:
        return place.astype(np.int64)
    centred = distinct - distinct.mean(axis=0)
    norms = np.einsum("ij,ij->i", centred, centred)
    squares = norms[:, None] + norms[None, :] - 2 * (centred @ centred.T)
    near = sparse.csr_array(squares <= max(within**2, DISTANCE_RESOLUTION**2 * float(norms.max())))
    _, group = connected_components(near, directed=False)
    return np.asarray(group[place], dtype=np.int64)
