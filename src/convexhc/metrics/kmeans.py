"""K-means on the centroids, after fused centroids are made equal."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from convexhc._types import FloatArray, IntArray
from convexhc.metrics.partition import PartitionScores, partition_scores
from convexhc.metrics.representation import checked_rows

# Smallest resolved distance, relative to the largest norm: squared distances from inner products
# have an error of about 1e-15 of the largest squared norm.
DISTANCE_RESOLUTION = 1e-7


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
    C : (m, n) array
        Centroids, one per row.
    n_clusters : int
        Number of clusters, between 1 and m. If there are no more distinct centroids than that,
        they are the clusters.
    within : float
        Largest distance between fused centroids; see :func:`fuse_rows`.
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
    C : (m, n) array
        Centroids, one per row.
    true : (m,) array
        Known classes.
    n_clusters : int, optional
        Number of clusters; by default that of the classes.
    within, n_init, random_state
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
