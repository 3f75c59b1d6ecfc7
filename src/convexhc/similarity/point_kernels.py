"""Similarities between points, or between variables, from a table of numbers."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import pdist, squareform

from convexhc.graph import Graph
from convexhc.graph_checks import real_array
from convexhc.similarity.result import Shift, Similarity, finished

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
        Neighbours of each point, itself not counted; at most the ``n - 1`` there are.
    bandwidth : float or "auto"
        h, in the unit of the distances. "auto" takes the median over the points of the distance
        to their last neighbour; the smallest positive one if that median is zero.
    shift : float or "auto"
        Added to the diagonal. Cutting a Gaussian off can make it indefinite: ``min_eigenvalue``
        shows whether it did, "auto" adds what makes K positive definite.

    Returns
    -------
    Similarity
        At most ``n * n_neighbors`` edges. Neighbours at equal distance are taken as the search
        meets them, so with ties the edges can depend on the order of the points.

    Examples
    --------
    >>> knn([[0.0], [1.0], [9.0]], n_neighbors=1, bandwidth=1.0).graph.weight
    array([6.065e-01, 1.266e-14])
    """
    points, names = read_points(X)
    n = len(points)
    if isinstance(n_neighbors, bool) or not isinstance(n_neighbors, int | np.integer):
        raise ValueError(f"n_neighbors must be a whole number, got {n_neighbors!r}")
    if n_neighbors < 1:
        raise ValueError(f"n_neighbors must be one or more, got {n_neighbors}")
    k = min(int(n_neighbors), n - 1)
    distance = sparse.csr_array((n, n))
    if k > 0:
        from sklearn.neighbors import kneighbors_graph

        distance = sparse.csr_array(kneighbors_graph(points, k, mode="distance"))
    h = _bandwidth(bandwidth, distance.data.reshape(n, k).max(axis=1, initial=0.0))
    # Through the stored values, so that the zero distances of repeated points are not lost.
    distance.data = _gaussian(distance.data, h)
    kernel = Graph.from_matrix(distance, names=names, symmetrize="max").with_diagonal(1.0)
    parameters = {"n_neighbors": k, "bandwidth": h}
    return finished("knn", kernel, shift, bound=None, parameters=parameters)


def rbf(X: Any, *, bandwidth: Bandwidth = "auto", shift: Shift = 0.0) -> Similarity:
    """Gaussian similarity between all points.

    ``K_ij = exp(-|x_i - x_j|^2 / (2 h^2))``, plus shift on the diagonal; positive definite when
    the points are distinct, though with a wide bandwidth only by less than rounding, which
    ``min_eigenvalue`` shows.

    Parameters
    ----------
    X : (n, d) array or DataFrame
        One point per row; the index of a DataFrame names them.
    bandwidth : float or "auto"
        h, in the unit of the distances. "auto" takes their median; the smallest positive one
        if that is zero.
    shift : float or "auto"
        Added to the diagonal; "auto" adds what makes K positive definite.

    Returns
    -------
    Similarity
        **Dense**: n (n - 1) / 2 edges, less those too small for a floating-point number.

    Examples
    --------
    >>> rbf([[0.0], [1.0]], bandwidth=1.0).dense()
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    """
    points, names = read_points(X)
    distance = pdist(points)
    h = _bandwidth(bandwidth, distance)
    kernel = Graph.from_matrix(squareform(_gaussian(distance, h)), names=names).with_diagonal(1.0)
    return finished("rbf", kernel, shift, bound=None, parameters={"bandwidth": h})


def correlation(X: Any, *, threshold: float = 0.0, shift: Shift = 0.0) -> Similarity:
    """Correlation between rows, where it is positive and large enough.

    ``K_ij = r_ij`` if the Pearson correlation of rows i and j is positive and at least
    ``threshold``, zero otherwise, and ``K_ii = 1 + shift``.

    Parameters
    ----------
    X : (n, d) array or DataFrame
        One variable per row, one observation per column, two or more; the index of a DataFrame
        names the rows.
    threshold : float
        Smallest correlation to keep, between 0 and 1.
    shift : float or "auto"
        Added to the diagonal. Setting correlations to zero can make K indefinite:
        ``min_eigenvalue`` shows whether it did, "auto" adds what makes K positive definite.

    Returns
    -------
    Similarity
        The n by n correlations are dense on the way; the result holds those kept.

    Examples
    --------
    >>> correlation([[1, 2, 3], [2, 4, 6], [3, 2, 1]]).dense()
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """
    if not 0 <= threshold <= 1:
        raise ValueError(f"threshold must lie between 0 and 1, got {threshold!r}")
    rows, names = read_points(X)
    centred = rows - rows.mean(axis=1, keepdims=True)
    spread = np.linalg.norm(centred, axis=1)
    flat = spread <= 1e-12 * np.abs(rows).max(axis=1)
    if flat.any():
        place = int(np.argmax(flat))
        raise ValueError(
            f"row {names[place]!r} is constant, so its correlation is not defined: drop it"
        )
    unit = centred / spread[:, None]
    found = np.clip(unit @ unit.T, 0.0, 1.0)
    found[found < threshold] = 0.0
    kernel = Graph.from_matrix(found, names=names, symmetrize="mean").with_diagonal(1.0)
    parameters = {"threshold": float(threshold)}
    return finished("correlation", kernel, shift, bound=None, parameters=parameters)


def read_points(X: Any) -> tuple[NDArray[np.float64], list[Hashable]]:
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
    # A list has an index too, so a table is known by its columns.
    names = X.index.tolist() if hasattr(X, "columns") else list(range(len(table)))
    return table, names


def _bandwidth(bandwidth: Any, distances: NDArray[np.float64]) -> float:
    if bandwidth == "auto":
        middle = float(np.median(distances)) if distances.size else 0.0
        positive = distances[distances > 0]
        # Without two distinct points any width gives the same similarity, one.
        return middle or (float(positive.min()) if positive.size else 1.0)
    number = isinstance(bandwidth, int | float | np.integer | np.floating)
    if not number or isinstance(bandwidth, bool) or not 0 < bandwidth < np.inf:
        raise ValueError(f"bandwidth must be 'auto' or a positive number, got {bandwidth!r}")
    return float(bandwidth)


def _gaussian(distance: NDArray[np.float64], h: float) -> NDArray[np.float64]:
    kernel: NDArray[np.float64] = np.exp(-0.5 * (distance / h) ** 2)
    return kernel
