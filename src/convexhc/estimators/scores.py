"""Scores of clusters on data that may not be those of the fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from convexhc._types import FloatArray, Labels


def pairwise_score(block: Any, labels: Labels) -> float:
    """Modularity of similarities to the nodes of a fit: one row per node, one column per label.

    A symmetric block is the graph of the fit, whose rows have the labels of the columns. The rows
    of any other join the cluster that adds most. Negative entries count as zero.

    Examples
    --------
    >>> block = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    >>> pairwise_score(block, np.array([0, 0, 1, 1])), pairwise_score(block, np.zeros(4, int))
    (0.5, 0.0)
    """
    A = sparse.csr_array(block).maximum(0.0)
    total = float(A.sum())
    if total == 0.0:
        return 0.0
    clusters = sparse.csr_array(
        (np.ones(labels.size), (np.arange(labels.size), labels)),
        shape=(labels.size, int(labels.max()) + 1),
    )
    degrees = np.asarray(A.sum(axis=0)).ravel() @ clusters
    gains = (A @ clusters).toarray() - np.outer(np.asarray(A.sum(axis=1)).ravel(), degrees) / total
    is_fitted_graph = A.shape[0] == A.shape[1] and (A - A.T).count_nonzero() == 0
    chosen = gains[np.arange(labels.size), labels] if is_fitted_graph else gains.max(axis=1)
    return float(chosen.sum() / total)


def nearest_centroid_score(points: FloatArray, centroids: FloatArray) -> float:
    """Simplified silhouette: mean of (b - a) / max(a, b), a and b the two least distances.

    Examples
    --------
    >>> nearest_centroid_score(np.array([[0.0], [1.0]]), np.array([[0.0], [1.0]]))
    1.0
    """
    if len(centroids) < 2:
        return 0.0
    nearest, second = np.partition(cdist(points, centroids), 1, axis=1)[:, :2].T
    apart = second > 0.0
    return float(np.where(apart, (second - nearest) / np.where(apart, second, 1.0), 0.0).mean())
