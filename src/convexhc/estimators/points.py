"""The scikit-learn clusterer of points: classical convex clustering."""

from __future__ import annotations

from dataclasses import KW_ONLY
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, validate_data

from convexhc.api.options import POINTS, OnLevel
from convexhc.api.points_path import solve_points_path
from convexhc.estimators.from_path import (
    COUNT,
    PathClusterer,
    clusterer,
    nearest_centroid_score,
    row_names,
)
from convexhc.path import Path
from convexhc.similarity import neighbor_weights
from convexhc.similarity.neighbors import N_NEIGHBORS


@clusterer
class ConvexClustering(PathClusterer):
    """Cluster points at every scale, and cut at one of them (eq. 1).

    Minimises 1/2 |U - X|^2 + lam sum_{i<j} W_ij (alpha |U_i - U_j|_2 + l1_ratio |U_i - U_j|_1),
    alpha = 1 - l1_ratio, for growing lam (`convexhc.solve_points_path`). Points whose rows of U are
    equal form a cluster.

    Parameters
    ----------
    n_clusters, lam, min_cluster_size, n_jobs, verbose
        As for `ConvexHierarchicalClustering`.
    n_neighbors : int
        Neighbours per point in `similarity.neighbor_weights`.
    weights : graph or None
        Edge weights W on the rows of X, instead of those.
    n_lambdas : int
        Number of lam, in equal ratios.
    l1_ratio, tol, max_iter, max_clusters, prove, progress
        As for `convexhc.solve_points_path`.

    Attributes
    ----------
    labels_ : (n,) ndarray of int
        Cluster of every point, numbered by first occurrence.
    path_ : Path
        Everything solved: partitions, certificates, tree.
    centroids_ : (k, d) ndarray
        Mean of the points of every cluster.
    n_clusters_, plateau_, linkage_, children_, distances_, n_leaves_, n_connected_components_, \
            lambdas_, n_iter_, n_features_in_, feature_names_in_
        As for `ConvexHierarchicalClustering`.

    Raises
    ------
    ValueError, TypeError
        Both n_clusters and lam, a parameter out of range, or X that is not finite.

    Warns
    -----
    ConvergenceWarning
        Some lam was not solved to ``tol``.

    Notes
    -----
    Time and memory are those of `convexhc.solve_points_path`. There is no randomness. Callbacks as
    for `ConvexHierarchicalClustering`.

    Examples
    --------
    >>> from convexhc.estimators import ConvexClustering
    >>> ConvexClustering(n_clusters=2).fit_predict([[0.0], [0.1], [0.2], [5.0], [5.1]])
    array([0, 0, 0, 1, 1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **PathClusterer._parameter_constraints,
        "n_neighbors": [COUNT],
        "n_lambdas": [Interval(Integral, 2, None, closed="left")],
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
        "max_iter": [COUNT],
    }

    n_clusters: int | None = None
    _: KW_ONLY
    lam: float | None = None
    n_neighbors: int = N_NEIGHBORS
    weights: Any = None
    n_lambdas: Any = POINTS.lambdas
    l1_ratio: float = POINTS.l1_ratio
    tol: float = POINTS.tol
    max_iter: int = POINTS.max_iter
    max_clusters: int | None = POINTS.max_clusters
    prove: bool = POINTS.prove
    min_cluster_size: int | None = None
    progress: Any = False
    n_jobs: int | None = None
    verbose: int = 0

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: object = None) -> ConvexClustering:
        """Cluster points.

        Parameters
        ----------
        X : (n, d) array or DataFrame
            One row per point.
        y : None
            Not used; scikit-learn passes it.

        Returns
        -------
        self
        """
        points = validate_data(self, X, dtype=np.float64)
        names = ("l1_ratio", "tol", "max_iter", "max_clusters", "prove", "n_jobs")

        def solve(on_check: OnLevel | None) -> Path:
            weights = self.weights
            if weights is None:
                weights = neighbor_weights(points, n_neighbors=self.n_neighbors)
            return solve_points_path(
                points,
                self.n_lambdas if self.lam is None else [self.lam],
                weights=weights,
                names=row_names(X),
                on_check=on_check,
                progress=self.progress or bool(self.verbose > 0),
                **{name: getattr(self, name) for name in names},
            )

        return self._fit(X, len(points), solve, points)

    def score(self, X: Any, y: object = None) -> float:
        """The simplified silhouette of points, for model selection, as by GridSearchCV.

        The mean of (b - a) / max(a, b), a and b the distances of a row of X to its two nearest
        ``centroids_``; 0 with one cluster.

        Parameters
        ----------
        X : (m, d) array or DataFrame
            One row per point, of the fit or not.
        y : None
            Not used; scikit-learn passes it.

        Returns
        -------
        float
            At most 1; larger is better.
        """
        check_is_fitted(self)
        points = validate_data(self, X, dtype=np.float64, reset=False)
        return nearest_centroid_score(points, self.centroids_)
