"""Requirements of scikit-learn: its estimator checks and its callbacks."""

from __future__ import annotations

import importlib
import sys

import numpy as np
import pytest
from estimator_data import GROUPS, NEIGHBOURS, OfSimilarity, indefinite, nested, points
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    check_param_validation,
    parametrize_with_checks,
)

import convexhc
from convexhc import estimators
from convexhc.estimators import ConvexClustering, ConvexHierarchicalClustering

# A loose tolerance: most checks ask whether a fit works, not how exact it is. shift="auto", since
# they make similarities that are singular, or rounded to integers.
GRAPH = ConvexHierarchicalClustering(tol=0.03)
PRECOMPUTED = OfSimilarity(shift="auto", tol=0.03)
PAPER = clone(PRECOMPUTED).set_params(weights=10, method="admm", lam_step=1.0)
POINTS = ConvexClustering(n_lambdas=10, tol=0.01)
# The checks use random points and similarities, which have no groups.
at_random = pytest.mark.filterwarnings("ignore::convexhc.similarity.structure.NoStructureWarning")


def expected_failures(estimator):
    if not get_tags(estimator).input_tags.pairwise:
        return {}
    return {"check_clustering": "it passes 50 points of the plane, which are no square matrix"}


@at_random
@parametrize_with_checks(
    [GRAPH, PRECOMPUTED, PAPER, NEIGHBOURS, POINTS], expected_failed_checks=expected_failures
)
def test_scikit_learn_accepts(estimator, check):
    """A check raises its findings and does not modify the estimator."""
    before = estimator.get_params()
    check(estimator)
    assert estimator.get_params() == before
    assert not hasattr(estimator, "path_")


@at_random
@pytest.mark.parametrize(
    "estimator", [GRAPH, PRECOMPUTED, NEIGHBOURS, POINTS], ids=["graph", "K", "knn", "points"]
)
@pytest.mark.parametrize(
    "check", [check_param_validation, check_dataframe_column_names_consistency]
)
def test_the_checks_for_scikit_learn_itself_pass_too(estimator, check):
    before = estimator.get_params()
    check(type(estimator).__name__, estimator)
    assert estimator.get_params() == before
    assert not hasattr(estimator, "path_")


class Recorder:
    """A callback that counts its calls and ends the path at a number of clusters."""

    max_propagation_depth = None

    def __init__(self, stop_at=0):
        self.stop_at = stop_at
        self.told = []
        self.ended = []

    def setup(self, estimator, context):
        self.told.append("setup")

    def on_fit_task_begin(self, estimator, context):
        self.told.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, metadata=None, fitted_estimator=None):
        self.told.append(f"end {context.task_name}")
        if context.task_name != "lam":
            self.ended.append(fitted_estimator)
            return False
        return metadata["level"].n_clusters <= self.stop_at

    def teardown(self, estimator, context):
        self.told.append("teardown")


def test_callbacks_are_called_at_every_lam():
    pytest.importorskip("sklearn.callback", reason="callbacks came with scikit-learn 1.9")
    recorder = Recorder()
    model = OfSimilarity(2, tol=1e-2).set_callbacks(recorder).fit(nested())
    each = ["begin lam", "end lam"] * len(model.lambdas_)
    assert recorder.told == ["setup", "begin fit", *each, "end fit", "teardown"]
    assert_array_equal(recorder.ended[0].labels_, model.labels_)
    with pytest.raises(ValueError, match="semidefinite"):
        model.fit(indefinite())
    assert recorder.told.count("setup") == recorder.told.count("teardown") == 2


@pytest.mark.parametrize("lam", [None, 0.3])
def test_callbacks_work_inside_a_pipeline(lam):
    pytest.importorskip("sklearn.callback", reason="callbacks came with scikit-learn 1.9")
    recorder = Recorder()
    model = make_pipeline(StandardScaler(), clone(NEIGHBOURS).set_params(lam=lam))
    model.set_callbacks(recorder).fit(points())
    assert recorder.told.count("end lam") == len(model[-1].lambdas_)


def test_a_callback_can_end_the_path():
    pytest.importorskip("sklearn.callback", reason="callbacks came with scikit-learn 1.9")
    model = OfSimilarity(tol=1e-2).set_callbacks(Recorder(stop_at=4))
    fitted = model.fit(nested())
    assert not fitted.path_.complete
    assert fitted.path_.n_clusters.min() <= 4
    assert np.count_nonzero(fitted.path_.n_clusters <= 4) == 1


def test_scikit_learn_without_callbacks_is_supported(monkeypatch):
    with monkeypatch.context() as older:
        older.setitem(sys.modules, "sklearn.callback", None)
        older.setattr(convexhc, "estimators", estimators)
        for module in [name for name in sys.modules if name.startswith("convexhc.estimators")]:
            older.delitem(sys.modules, module)
        alone = importlib.import_module("convexhc.estimators")
    model = alone.ConvexHierarchicalClustering(4, similarity="precomputed")
    assert not hasattr(model, "set_callbacks")
    assert_array_equal(model.fit_predict(nested()), GROUPS)
