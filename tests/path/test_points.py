"""The path of the points model: limits, agreement, contracts."""

from __future__ import annotations

import numpy as np
import oracle
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import is_valid_linkage

import convexhc
from convexhc import solve_points_path
from convexhc.graph import Graph
from convexhc.model.problem import cluster_means
from convexhc.path import Path
from convexhc.similarity import neighbor_weights, spectral_features
from laws import classes_of_equal_rows, random_weights


def blobs(seed=0, size=8, columns=2):
    rng = np.random.default_rng(seed)
    centres = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 12.0]])
    X = np.repeat(centres, size, axis=0) + rng.normal(size=(3 * size, 2))
    return np.column_stack([X, rng.normal(size=(3 * size, columns - 2))])


GROUPS = np.repeat([0, 1, 2], 8)


def test_known_groups_from_single_points_to_one_cluster():
    path = solve_points_path(blobs(), weights=12)
    assert path.complete
    assert path.n_clusters[0] >= 20
    assert path.n_clusters[-1] == 1
    assert path.relative_gap.max() <= 1e-4
    assert_array_equal(path.labels(n_clusters=3), GROUPS)
    assert is_valid_linkage(path.linkage)
    assert path.effective_rank[-1] == 1.0


@pytest.mark.parametrize("l1_ratio", [0.0, 0.5, 1.0])
def test_the_oracle_agrees_at_every_lam(l1_ratio):
    rng = np.random.default_rng(3)
    X, weights = rng.normal(size=(10, 3)), Graph.from_matrix(random_weights(rng, 10, parts=2))
    path = solve_points_path(X, [0.02, 0.1, 0.3, 0.8], weights=weights, l1_ratio=l1_ratio, tol=1e-8)
    for lam, objective in zip(path.lambdas, path.objective, strict=True):
        answer = oracle.proximity(X, weights, lam, l1_ratio=l1_ratio)
        assert_allclose(path.centroids(lam), answer.C, atol=1e-3)
        assert_allclose(objective, answer.objective, rtol=1e-6)


@pytest.mark.parametrize("l1_ratio", [0.0, 0.5, 1.0])
def test_limits(l1_ratio):
    rng = np.random.default_rng(4)
    X, weights = rng.normal(size=(9, 2)), Graph.from_matrix(random_weights(rng, 9, parts=3))
    path = solve_points_path(X, [0.0, 1e6], weights=weights, l1_ratio=l1_ratio, tol=1e-8)
    assert_array_equal(path.centroids(0.0), X)
    assert_array_equal(path.partitions[0], np.arange(9))
    pieces = weights.components()[1]
    assert_array_equal(path.partitions[1], pieces)
    assert_allclose(path.centroids(1e6), cluster_means(X, pieces)[pieces], atol=1e-12)


def test_cluster_counts_agree_with_a_tight_reference():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 2))
    path = solve_points_path(X, 25, weights=6)
    tight = solve_points_path(X, path.lambdas, weights=6, tol=1e-9)
    assert_array_equal(path.n_clusters, tight.n_clusters)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_points(n):
    path = solve_points_path(np.arange(n, dtype=float)[:, None])
    assert path.complete
    assert path.n_clusters[-1] == 1
    assert path.linkage.shape == (n - 1, 4)


def test_equal_points_are_one_cluster_at_every_lam():
    X = np.repeat(blobs(size=3), 2, axis=0)
    # All neighbours: identical points with different neighbours need not stay fused.
    path = solve_points_path(X, 20, weights=17)
    for labels in path.partitions:
        assert_array_equal(labels[0::2], labels[1::2])
    alike = solve_points_path(np.ones((5, 2)))
    assert alike.n_clusters.tolist() == [1]


def test_components_never_fuse():
    W = np.kron(np.eye(3), np.ones((8, 8)))
    path = solve_points_path(blobs(), 20, weights=W)
    assert path.complete
    assert path.n_clusters[-1] == 3
    assert_array_equal(path.components, GROUPS)


def test_labels_are_the_classes_of_equal_rows():
    path = solve_points_path(blobs(), 15, weights=6)
    for lam, labels in zip(path.lambdas, path.partitions, strict=True):
        assert_array_equal(classes_of_equal_rows(path.centroids(lam)), labels)


def test_another_order_of_the_points_gives_the_same_clusters():
    X, order = blobs(), np.random.default_rng(0).permutation(24)
    lambdas = [0.01, 0.05, 0.2, 1.0]
    one = solve_points_path(X, lambdas, weights=neighbor_weights(X, n_neighbors=6))
    weights = neighbor_weights(X, n_neighbors=6).permuted(order)
    other = solve_points_path(X[order], lambdas, weights=weights)
    for mine, theirs in zip(one.partitions, other.partitions, strict=True):
        assert len(set(zip(mine[order], theirs, strict=True))) == mine.max() + 1 == theirs.max() + 1


def test_scale_and_location_of_the_points_do_not_matter():
    X = blobs()
    one = solve_points_path(X, 12, weights=6)
    other = solve_points_path(1e3 * X + 7.0, 12, weights=6)
    assert_allclose(other.lambdas, 1e3 * one.lambdas)
    assert_array_equal(other.partitions, one.partitions)


def test_saved_and_loaded(tmp_path):
    table = pd.DataFrame(blobs(), index=[f"p{i}" for i in range(24)])
    path = solve_points_path(table, 10, weights=6)
    path.save(tmp_path / "path.npz")
    again = Path.load(tmp_path / "path.npz")
    assert again.names == path.names == tuple(table.index)
    assert_array_equal(again.partitions, path.partitions)
    assert_array_equal(again.centroids(path.lambdas[3]), path.centroids(path.lambdas[3]))


def test_an_interrupted_run_ends_as_an_uninterrupted_one(tmp_path):
    whole = solve_points_path(blobs(), 10, weights=6)
    seen = []

    def stop(point):
        seen.append(point)
        return len(seen) == 4

    part = solve_points_path(
        blobs(), 10, weights=6, checkpoint=tmp_path / "half.npz", on_check=stop
    )
    assert not part.complete
    assert len(part.levels) == 4
    rest = solve_points_path(blobs(), 10, weights=6, checkpoint=tmp_path / "half.npz")
    assert rest.complete
    assert_array_equal(rest.partitions, whole.partitions)
    assert_array_equal(rest.objective, whole.objective)
    with pytest.raises(ValueError, match="another run"):
        solve_points_path(blobs(1), 10, weights=6, checkpoint=tmp_path / "half.npz")


@pytest.mark.parametrize(
    ("X", "options", "error"),
    [
        ([[np.nan]], {}, "row 0, column 0"),
        ([1.0, 2.0], {}, "one row per point"),
        (np.ones((3, 1)), {"weights": np.ones((2, 2))}, "2 nodes and X has 3 rows"),
        (np.ones((3, 1)), {"weights": 0}, "n_neighbors must be at least 1"),
        (np.ones((3, 1)), {"lambdas": 1}, "two or more"),
        (np.ones((3, 1)), {"lambdas": []}, "empty"),
        (np.ones((3, 1)), {"lambdas": [-1.0]}, "between 0 and"),
        (np.ones((3, 1)), {"l1_ratio": 2.0}, "between 0 and 1"),
        (np.ones((3, 1)), {"keep": "some"}, "keep must be"),
    ],
)
def test_bad_input_is_rejected(X, options, error):
    with pytest.raises(ValueError, match=error):
        solve_points_path(X, **options)


def test_neighbour_weights_follow_the_formula():
    X = np.array([[0.0], [1.0], [3.0], [30.0]])
    W = neighbor_weights(X, n_neighbors=2).dense()
    # Distances to the second neighbour: 3, 2, 3, 29, median 3; the outlier's nearest is 27 away.
    assert_allclose(W[0, 1], np.exp(-0.5 * (1 / 3) ** 2))
    assert_allclose(W[2, 3], np.exp(-0.5))
    assert_allclose(W[1, 3], np.exp(-0.5 * (29 / 27) ** 2))
    assert W[0, 3] == 0.0
    assert_array_equal(W, W.T)


def test_spectral_features_are_the_nearest_gram():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(130, 5))
    K = A @ A.T
    assert_allclose(spectral_features(K, 5) @ spectral_features(K, 5).T, K, atol=1e-8)
    values = np.linalg.eigvalsh(K)[::-1]
    X = spectral_features(K, 3)
    assert_allclose(np.linalg.norm(K - X @ X.T), np.linalg.norm(values[3:]), rtol=1e-8)
    assert_allclose(X.T @ X, np.diag(values[:3]), atol=1e-8)
    with pytest.raises(ValueError, match="between 1 and the 130 nodes"):
        spectral_features(K, 131)


def test_graphs_can_be_clustered_by_spectral_features():
    graph = convexhc.datasets.fractal_graph(n_meta=2, n_super=3, clique=4)
    K = convexhc.similarity.two_hop(graph.adjacency)
    path = solve_points_path(spectral_features(K, 6), weights=K)
    assert_array_equal(path.labels(n_clusters=6), graph.fine)
