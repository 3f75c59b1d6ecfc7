"""Similarities between the rows of a table: points, or variables."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Literal

import numpy as np
import scipy
from scipy import sparse

from convexhc._checks import check_magnitude, checked_count, checked_number
from convexhc._types import FloatArray, IntArray
from convexhc.graph import Graph
from convexhc.graph_checks import real_array
from convexhc.similarity.result import Shift, Similarity, make_similarity

Bandwidth = float | Literal["auto"]


def knn(
    X: Any,
    *,
    n_neighbors: int = 10,
    bandwidth: Bandwidth = "auto",
    shift: Shift = 0.0,
) -> Similarity:
    """Gaussian similarity between nearest neighbours.

    ``K_ij = exp(-|x_i - x_j|^2 / (2 h^2))`` if i is among the nearest neighbours of j or j among
    those of i, zero otherwise, and ``K_ii = 1 + shift``.

    Parameters
    ----------
    X : (n, d) array or DataFrame
        One point per row; the index of a DataFrame names them.
    n_neighbors : int
        Neighbours of each point, itself not counted; capped at ``n - 1``.
    bandwidth : float or "auto"
        h, in the unit of the distances. "auto" takes the median over the points of the distance
        to their last neighbour, or the smallest positive one if the median is zero.
    shift : float or "auto"
        Added to the diagonal; "auto" adds what makes K positive definite. A truncated Gaussian
        can be indefinite; see ``min_eigenvalue`` of the result.

    Returns
    -------
    Similarity
        At most ``n * n_neighbors`` edges. Ties in distance are broken by the neighbour search, so
        with ties the edges can depend on the order of the points.

    Examples
    --------
    >>> knn([[0.0], [1.0], [9.0]], n_neighbors=1, bandwidth=1.0).graph.weight
    array([6.065e-01, 1.266e-14])
    """
    points, names = read_points(X)
    k = min(checked_count("n_neighbors", n_neighbors), len(points) - 1)
    distance, index = nearest_neighbors(points, k)
    h = _bandwidth(bandwidth, distance.max(axis=1, initial=0.0))
    kernel = neighbor_matrix(index, _gaussian(distance, h), names).with_diagonal(1.0)
    parameters = {"n_neighbors": k, "bandwidth": h}
    return make_similarity("knn", kernel, shift, lower_bound=None, parameters=parameters)


def rbf(X: Any, *, bandwidth: Bandwidth = "auto", shift: Shift = 0.0) -> Similarity:
    """Gaussian similarity between all points.

    ``K_ij = exp(-|x_i - x_j|^2 / (2 h^2))``, plus ``shift`` on the diagonal; positive definite if
    the points are distinct, but for a wide bandwidth only to within rounding; see
    ``min_eigenvalue`` of the result.

    Parameters
    ----------
    X, shift
        As for :func:`knn`.
    bandwidth : float or "auto"
        h, in the unit of the distances. "auto" takes their median, or the smallest positive one
        if the median is zero.

    Returns
    -------
    Similarity
        **Dense**: n (n - 1) / 2 edges, except those that underflow to zero.

    Examples
    --------
    >>> rbf([[0.0], [1.0]], bandwidth=1.0).dense()
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    """
    points, names = read_points(X)
    distance = scipy.spatial.distance.pdist(points)
    h = _bandwidth(bandwidth, distance)
    similar = scipy.spatial.distance.squareform(_gaussian(distance, h))
    kernel = Graph.from_matrix(similar, names=names).with_diagonal(1.0)
    return make_similarity("rbf", kernel, shift, lower_bound=None, parameters={"bandwidth": h})


def correlation(X: Any, *, threshold: float = 0.0, shift: Shift = 0.0) -> Similarity:
    """Positive correlations between rows, above a threshold.

    ``K_ij = r_ij`` if the Pearson correlation of rows i and j is positive and at least
    ``threshold``, zero otherwise, and ``K_ii = 1 + shift``.

    Parameters
    ----------
    X : (n, d) array or DataFrame
        One variable per row, one observation per column, at least two; the index of a DataFrame
        names the rows.
    threshold : float
        Smallest correlation to keep, between 0 and 1.
    shift : float or "auto"
        Added to the diagonal; "auto" adds what makes K positive definite. Thresholding can make
        K indefinite; see ``min_eigenvalue`` of the result.

    Returns
    -------
    Similarity
        Sparse; an intermediate n x n array is dense.

    Examples
    --------
    >>> correlation([[1, 2, 3], [2, 4, 6], [3, 2, 1]]).dense()
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """
    threshold = checked_number("threshold", threshold, upper=1.0)
    rows, names = read_points(X)
    centred = rows - rows.mean(axis=1, keepdims=True)
    spread = np.linalg.norm(centred, axis=1)
    constant = spread <= 1e-12 * np.abs(rows).max(axis=1)
    if constant.any():
        raise ValueError(
            f"row {names[int(np.argmax(constant))]!r} is constant, so its correlation is not "
            "defined: drop it"
        )
    unit = centred / spread[:, None]
    found = np.clip(unit @ unit.T, 0.0, 1.0)
    found[found < threshold] = 0.0
    kernel = Graph.from_matrix(found, names=names, symmetrize="mean").with_diagonal(1.0)
    parameters = {"threshold": threshold}
    return make_similarity("correlation", kernel, shift, lower_bound=None, parameters=parameters)


def read_points(X: Any) -> tuple[FloatArray, list[Hashable]]:
    """Return the rows of a table of finite numbers, and their names."""
    if sparse.issparse(X):
        raise TypeError("points must be a dense table, got a sparse matrix: pass X.toarray()")
    table = np.asarray(real_array(X, "table of points"), dtype=np.float64)
    if table.ndim != 2 or 0 in table.shape:
        raise ValueError(f"points must be a table with one row per point, got shape {table.shape}")
    if not np.isfinite(table).all():
        row, column = np.argwhere(~np.isfinite(table))[0]
        raise ValueError(
            f"row {row}, column {column} of the points is {table[row, column]}: drop or fill it in"
        )
    check_magnitude("coordinates", float(np.abs(table).max()))
    # Lists have an attribute `index` too; only tables have columns.
    names = X.index.tolist() if hasattr(X, "columns") else list(range(len(table)))
    return table, names


def nearest_neighbors(points: FloatArray, k: int) -> tuple[FloatArray, IntArray]:
    """Distances to the k nearest other points, increasing, and their indices; both (n, k).

    From differences of coordinates, so coinciding points have distance exactly zero: the search may
    expand ``|x - y|^2``, which leaves round-off that depends on the unit of length.
    """
    if k == 0:
        return np.zeros((len(points), 0)), np.zeros((len(points), 0), dtype=np.int64)
    from sklearn.neighbors import NearestNeighbors

    index = NearestNeighbors(n_neighbors=k).fit(points).kneighbors(return_distance=False)
    # One neighbour at a time: O(n d) memory.
    distance = np.stack([np.linalg.norm(points[near] - points, axis=1) for near in index.T], axis=1)
    order = np.argsort(distance, axis=1, kind="stable")
    return np.take_along_axis(distance, order, axis=1), np.take_along_axis(index, order, axis=1)


def neighbor_matrix(index: IntArray, weight: FloatArray, names: Iterable[Hashable]) -> Graph:
    """Graph of the edges from row i to ``index[i]``, the larger weight where both ends list one."""
    n, k = index.shape
    rows = np.arange(n + 1) * k
    matrix = sparse.csr_array((weight.ravel(), index.ravel(), rows), shape=(n, n))
    return Graph.from_matrix(matrix, names=names, symmetrize="max")


def _bandwidth(bandwidth: Any, distances: FloatArray) -> float:
    if bandwidth == "auto":
        middle = float(np.median(distances)) if distances.size else 0.0
        positive = distances[distances > 0]
        # If all points coincide, every bandwidth gives the same similarity.
        return middle or (float(positive.min()) if positive.size else 1.0)
    return checked_number("bandwidth, unless 'auto',", bandwidth, positive=True)


def _gaussian(distance: FloatArray, h: float) -> FloatArray:
    kernel: FloatArray = np.exp(-0.5 * (distance / h) ** 2)
    return kernel
