"""What every clusterer does with a path: cut it, record it, tell callbacks of it."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning

from convexhc.path import Level, Path
from convexhc.path.suggestion import suggest, warning_text
from convexhc.similarity.structure import NoStructureWarning
from convexhc.solvers.solution import Status
from convexhc.tree import Plateau

try:
    from sklearn.callback import CallbackSupportMixin
except ImportError:
    # Callbacks came with scikit-learn 1.9; before it there is nobody to tell.
    CallbackSupportMixin = type("CallbackSupportMixin", (), {})

_log = logging.getLogger(__name__)


class PathClusterer(CallbackSupportMixin, ClusterMixin, BaseEstimator):
    """A clusterer whose ``fit`` solves a path, cuts it at one scale and keeps the rest.

    Subclasses have the parameters ``n_clusters``, ``lam``, ``min_cluster_size`` and ``tol``.
    """

    def _check_scale(self, n: int) -> None:
        """Refuse two scales at once, and clusters larger than the data."""
        if self.n_clusters is not None and self.lam is not None:
            raise ValueError(
                f"give either n_clusters or lam, received n_clusters={self.n_clusters} and "
                f"lam={self.lam}: set one of them to None."
            )
        if self.n_clusters is not None and self.n_clusters > n:
            raise ValueError(
                f"n_clusters must be at most n_samples={n}, the number of nodes; received "
                f"{self.n_clusters}."
            )
        if self.min_cluster_size is not None and self.min_cluster_size > n:
            raise ValueError(
                f"min_cluster_size must be at most n_samples={n}, the number of nodes; "
                f"received {self.min_cluster_size}."
            )

    @property
    def _chooses(self) -> bool:
        """Whether the scale is left open."""
        return self.n_clusters is None and self.lam is None

    def _cut(self, path: Path) -> None:
        """Choose the scale, and label the nodes there."""
        self.plateau_: Plateau | None = None
        if self.lam is not None:
            labels = path.labels(lam=self.lam, min_cluster_size=self.min_cluster_size)
        elif self.n_clusters is not None:
            labels = path.labels(n_clusters=self.n_clusters, min_cluster_size=self.min_cluster_size)
        else:
            chosen = suggest(path, self.min_cluster_size)
            self.plateau_, labels = chosen.plateau, chosen.labels
            _log.info("neither n_clusters nor lam was given: chose %s", chosen)
            if not chosen.confident:
                warnings.warn(warning_text(path), NoStructureWarning, stacklevel=4)
        self.labels_ = labels
        self.n_clusters_ = int(labels.max()) + 1

    def _record(self, path: Path) -> None:
        """Set the attributes that do not depend on the cut."""
        self.path_ = path
        self.linkage_ = path.linkage
        self.children_ = path.linkage[:, :2].astype(np.int64)
        self.distances_ = path.linkage[:, 2].copy()
        self.n_leaves_ = len(path.names)
        self.n_connected_components_ = int(path.components.max()) + 1
        self.lambdas_ = path.lambdas
        self.n_iter_ = sum(level.n_iter for level in path.levels)
        missed = sum(level.status is not Status.SOLVED for level in path.levels)
        if missed:
            warnings.warn(
                f"{missed} of {len(path.levels)} lam were not solved to tol={self.tol:g} (largest "
                f"relative gap {path.relative_gap.max():.1e}): raise max_iter or loosen tol.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _listeners(self, X: Any) -> tuple[Callable[[Level], object] | None, Callable[[], object]]:
        """What to call at every lam and at the end, for the callbacks of scikit-learn."""
        if not hasattr(self, "_init_callback_context"):
            return None, lambda: None
        context = self._init_callback_context(max_subtasks=None if self.lam is None else 1)
        context.call_on_fit_task_begin(estimator=self, X=X)

        def solved(level: Level) -> object:
            task = context.subcontext(task_name="lam")
            said = {"level": level}
            task.call_on_fit_task_begin(estimator=self, X=X, metadata=said)
            return task.call_on_fit_task_end(estimator=self, X=X, metadata=said)

        def finished() -> object:
            return context.call_on_fit_task_end(estimator=self, X=X, reconstruction_attributes={})

        return solved, finished


def row_names(X: Any) -> list[Hashable] | None:
    """Names of the rows of a DataFrame, unless some are equal: scikit-learn does not mind."""
    names = X.index.tolist() if hasattr(X, "columns") and hasattr(X, "index") else []
    return names if names and len(set(names)) == len(names) else None
