"""Base class of the clusterers: parameters, cut and attributes of a path; scores of clusters."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self, TypeVar, dataclass_transform

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from convexhc._types import FloatArray, Labels
from convexhc._warnings import warn_user
from convexhc.api.options import OnLevel, explains_renamed_options
from convexhc.model.problem import cluster_means
from convexhc.path import Level, Path
from convexhc.path.suggestion import suggest, warning_text
from convexhc.similarity.structure import NoStructureWarning
from convexhc.tree import Plateau

try:
    from sklearn.callback import CallbackSupportMixin
except ImportError:
    # Callbacks need scikit-learn 1.9.
    CallbackSupportMixin = type("CallbackSupportMixin", (), {})

_log = logging.getLogger(__name__)

COUNT = Interval(Integral, 1, None, closed="left")
C = TypeVar("C")


@dataclass_transform(eq_default=False)
def clusterer(cls: type[C]) -> type[C]:
    """Decorator: the fields are the parameters; renamed ones are refused with advice."""
    dataclass(eq=False, repr=False)(cls)
    cls.__init__ = explains_renamed_options(cls.__init__)  # type: ignore[method-assign]
    return cls


class PathClusterer(CallbackSupportMixin, ClusterMixin, BaseEstimator):
    """A clusterer whose ``fit`` solves a path and cuts it at one scale."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [COUNT, None],
        "lam": [Interval(Real, 0, None, closed="left"), None],
        # Anything that `as_graph` reads, which checks it.
        "weights": "no_validation",
        "l1_ratio": [Interval(Real, 0, 1, closed="both"), None],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [COUNT, None],
        "max_clusters": [COUNT, None],
        "prove": ["boolean"],
        "min_cluster_size": [COUNT, None],
        "progress": ["boolean", callable],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    @property
    def centroids_(self) -> FloatArray:
        """Mean of the members of every cluster, one row each, in the order of the labels."""
        check_is_fitted(self)
        if self._means is None:
            self._means = _mean_rows(self.path_.features, self.labels_)
        return self._means

    # Means of points; those of a similarity are computed when they are asked for.
    _means: FloatArray | None = None

    def _fit(
        self,
        X: Any,
        n: int,
        solve: Callable[[OnLevel | None], Path],
        points: FloatArray | None = None,
    ) -> Self:
        """Set all attributes from the path of n nodes; ``solve`` takes the call after every lam."""
        self._check_scale(n)
        on_check, finished = self._listeners(X)
        path = solve(on_check)
        self._cut(path)
        self._means = None if points is None else _mean_rows(points, self.labels_)
        self.path_ = path
        self.linkage_ = path.linkage
        self.children_ = path.linkage[:, :2].astype(np.int64)
        self.distances_ = path.linkage[:, 2].copy()
        self.n_leaves_ = len(path.names)
        self.n_connected_components_ = int(path.components.max()) + 1
        self.lambdas_ = path.lambdas
        self.n_iter_ = sum(level.n_iter for level in path.levels)
        finished()
        return self

    def _check_scale(self, n: int) -> None:
        """Refuse two scales at once, and counts above the number of nodes."""
        if self.n_clusters is not None and self.lam is not None:
            raise ValueError(
                f"give either n_clusters or lam, received n_clusters={self.n_clusters} and "
                f"lam={self.lam}: set one of them to None."
            )
        for name in ("n_clusters", "min_cluster_size"):
            value = getattr(self, name)
            if value is not None and value > n:
                raise ValueError(
                    f"{name} must be at most n_samples={n}, the number of nodes; received {value}."
                )

    def _cut(self, path: Path) -> None:
        """Set the labels at ``lam``, at ``n_clusters`` or at the suggested scale."""
        self.plateau_: Plateau | None = None
        if self.lam is not None or self.n_clusters is not None:
            labels = path.labels(
                n_clusters=self.n_clusters, lam=self.lam, min_cluster_size=self.min_cluster_size
            )
        else:
            chosen = suggest(path, self.min_cluster_size)
            self.plateau_, labels = chosen.plateau, chosen.labels
            _log.info("neither n_clusters nor lam was given: chose %s", chosen)
            if not chosen.confident:
                warn_user(warning_text(path), NoStructureWarning)
        self.labels_ = labels
        self.n_clusters_ = int(labels.max()) + 1

    def _listeners(self, X: Any) -> tuple[OnLevel | None, Callable[[], object]]:
        """Functions to call after every lam and at the end, for scikit-learn's callbacks."""
        if not hasattr(self, "_init_callback_context"):
            return None, lambda: None
        context = self._init_callback_context(max_subtasks=None if self.lam is None else 1)
        context.call_on_fit_task_begin(estimator=self, X=X)

        def solved(level: Level) -> object:
            task = context.subcontext(task_name="lam")
            metadata = {"level": level}
            task.call_on_fit_task_begin(estimator=self, X=X, metadata=metadata)
            return task.call_on_fit_task_end(estimator=self, X=X, metadata=metadata)

        def finished() -> object:
            return context.call_on_fit_task_end(estimator=self, X=X, reconstruction_attributes={})

        return solved, finished


def _mean_rows(rows: FloatArray | None, labels: Labels) -> FloatArray:
    return cluster_means(np.ascontiguousarray(rows, dtype=np.float64), labels)


def row_names(X: Any) -> list[Hashable] | None:
    """Names of the rows of a DataFrame; None if some are equal, which scikit-learn allows."""
    names = X.index.tolist() if hasattr(X, "columns") and hasattr(X, "index") else []
    return names if names and len(set(names)) == len(names) else None


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
