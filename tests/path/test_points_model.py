"""The points model in the path engine: bisection, decreasing lam, checkpoints, times."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import convexhc
from convexhc import Status


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(60, centers=4, cluster_std=0.8, random_state=3)[0]


def assert_levels_are_those_of_single_solves(path, X, every=1, **options):
    for level in path.levels[::every]:
        (alone,) = convexhc.solve_points_path(X, [level.lam], tol=1e-7, **options).levels
        if "l1_ratio" not in options:
            np.testing.assert_array_equal(level.labels, alone.labels)
        assert level.objective == pytest.approx(alone.objective, rel=1e-4, abs=1e-12)


@pytest.mark.parametrize("l1_ratio", [0.0, 0.5])
def test_bisection_finds_every_scale_of_points(blobs, l1_ratio):
    path = convexhc.solve_points_path(blobs, None, l1_ratio=l1_ratio)
    assert path.complete
    assert path.n_clusters[0] == len(blobs)
    assert path.n_clusters[-1] == path.components.max() + 1
    assert {level.status for level in path.levels} == {Status.SOLVED}
    # With an l1 norm, a gap within the tolerance does not always determine the clusters.
    options = {"l1_ratio": l1_ratio} if l1_ratio else {}
    assert_levels_are_those_of_single_solves(path, blobs, every=7, **options)


def test_points_paths_for_decreasing_lam_agree_with_single_solves(blobs):
    path = convexhc.solve_points_path(blobs, max_clusters=6)
    assert path.complete
    assert path.n_clusters[0] > 6
    assert {level.status for level in path.levels} == {Status.SOLVED}
    assert_levels_are_those_of_single_solves(path, blobs)


def test_a_features_path_for_decreasing_lam_finds_the_groups():
    graph = convexhc.datasets.fractal_graph(0, n_meta=2, n_super=3, clique=5)
    path = convexhc.cluster(graph.adjacency, max_clusters=6, test_structure=False)
    whole = convexhc.cluster(graph.adjacency, test_structure=False)
    np.testing.assert_array_equal(path.labels(n_clusters=2), whole.labels(n_clusters=2))
    np.testing.assert_array_equal(path.labels(n_clusters=6), graph.fine)


@pytest.mark.parametrize("options", [{"lambdas": None}, {"max_clusters": 5}])
def test_interrupted_points_paths_resume_bit_for_bit(blobs, tmp_path, options):
    whole = convexhc.solve_points_path(blobs, **options)
    file, seen = tmp_path / "run.npz", []
    begun = convexhc.solve_points_path(
        blobs,
        **options,
        checkpoint=file,
        on_check=lambda level: seen.append(level) or len(seen) == 4,
    )
    assert len(begun.levels) == 4
    assert not begun.complete
    found = convexhc.solve_points_path(blobs, **options, checkpoint=file)
    np.testing.assert_array_equal(found.lambdas, whole.lambdas)
    np.testing.assert_array_equal(found.objective, whole.objective)
    np.testing.assert_array_equal(found.partitions, whole.partitions)
    assert found.complete == whole.complete


def test_every_level_has_its_time(blobs):
    path = convexhc.solve_points_path(blobs, 10)
    assert all(level.seconds > 0.0 for level in path.levels)
    assert path.seconds == pytest.approx(sum(level.seconds for level in path.levels))


def test_identical_points_end_the_search_for_the_first_lam():
    X = np.repeat([[0.0, 0.0], [1.0, 0.0], [5.0, 1.0]], 3, axis=0)
    path = convexhc.solve_points_path(X, None, weights=np.ones((9, 9)) - np.eye(9))
    assert path.n_clusters[0] == 3
    assert path.n_clusters[-1] == 1
