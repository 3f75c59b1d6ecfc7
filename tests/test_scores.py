"""Centroids and scores of the estimators, and the choice of a number of clusters by them."""

from __future__ import annotations

import io

import networkx as nx
import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV

from convexhc import ConvexClustering, ConvexHierarchicalClustering, as_graph
from convexhc.datasets import fractal_graph
from convexhc.estimators.from_path import nearest_centroid_score, pairwise_score
from convexhc.progress_line import ProgressLine
from convexhc.similarity.structure import NoStructureWarning

X, GROUPS = make_blobs(36, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
BY_POINTS = [
    ConvexHierarchicalClustering(3, similarity="nearest_neighbors", n_neighbors=5),
    ConvexClustering(3, n_neighbors=8, n_lambdas=10),
]


@pytest.fixture(scope="module")
def graph():
    return fractal_graph(0, n_meta=2, n_super=3, clique=4)


@pytest.mark.parametrize("estimator", BY_POINTS, ids=["neighbours", "points"])
def test_centroids_of_points_are_the_means_of_their_clusters(estimator):
    model = estimator.fit(X)
    expected = [X[model.labels_ == k].mean(axis=0) for k in range(3)]
    np.testing.assert_allclose(model.centroids_, expected)
    assert adjusted_rand_score(GROUPS, model.fit_predict(X)) == 1.0
    # Well separated: nearly 1, also for points not seen before.
    assert model.score(X) > 0.8
    assert model.score(X[:5] + 0.1) > 0.8


def test_centroids_of_a_graph_are_those_of_its_features(graph):
    model = ConvexHierarchicalClustering(6).fit(graph.adjacency)
    rows = model.path_.features
    expected = [rows[model.labels_ == k].mean(axis=0) for k in range(6)]
    np.testing.assert_allclose(model.centroids_, expected, atol=1e-12)
    model.set_params(n_clusters=2).fit(graph.adjacency)
    assert model.centroids_.shape == (2, rows.shape[1])


def test_the_score_of_a_graph_is_its_modularity(graph):
    network = nx.from_scipy_sparse_array(graph.adjacency)
    for k in (1, 2, 6):
        model = ConvexHierarchicalClustering(k).fit(graph.adjacency)
        parts = [set(np.flatnonzero(model.labels_ == label)) for label in range(k)]
        expected = nx.community.modularity(network, parts)
        for form in (graph.adjacency, graph.adjacency.toarray(), network):
            assert model.score(form) == pytest.approx(expected, abs=1e-12)


def test_rows_of_other_nodes_join_the_best_cluster():
    """Brute force over the cluster of every row."""
    rng = np.random.default_rng(0)
    block, labels = rng.random((3, 6)), np.array([0, 0, 1, 1, 2, 2])
    rows, columns, total = block.sum(axis=1), block.sum(axis=0), block.sum()
    excess = block - np.outer(rows, columns) / total
    best = max(
        sum(excess[i, labels == k].sum() for i, k in enumerate(chosen)) / total
        for chosen in np.ndindex(3, 3, 3)
    )
    assert pairwise_score(block, labels) == pytest.approx(best)
    assert pairwise_score(sparse.csr_array(block), labels) == pytest.approx(best)
    assert pairwise_score(np.zeros((3, 6)), labels) == 0.0


def test_the_simplified_silhouette_is_that_of_its_formula():
    points, centroids = np.random.default_rng(0).normal(size=(2, 5, 3))
    distance = np.sort(np.linalg.norm(points[:, None] - centroids[None], axis=2), axis=1)
    expected = np.mean((distance[:, 1] - distance[:, 0]) / distance[:, 1])
    assert nearest_centroid_score(points, centroids) == pytest.approx(expected)
    assert nearest_centroid_score(points, centroids[:1]) == 0.0
    assert nearest_centroid_score(points, np.zeros((2, 3))) == 0.0


def test_a_grid_search_finds_the_number_of_groups(graph):
    search = GridSearchCV(
        ConvexHierarchicalClustering(),
        {"n_clusters": [2, 4, 6, 8]},
        cv=[(np.arange(24), np.arange(24))],
    ).fit(graph.adjacency)
    assert search.best_params_ == {"n_clusters": 6}
    # Nodes held out, whose rows scikit-learn passes with the columns of the others.
    held_out = GridSearchCV(search.estimator, {"n_clusters": [1, 2, 6, 15]}, cv=3)
    assert held_out.fit(graph.adjacency[np.ix_(ORDER, ORDER)]).best_params_ == {"n_clusters": 6}
    points = GridSearchCV(ConvexClustering(n_neighbors=8, n_lambdas=10), {"n_clusters": [2, 3, 5]})
    assert points.fit(X).best_params_ == {"n_clusters": 3}


# Every fold holds nodes of all groups.
ORDER = np.random.default_rng(0).permutation(24)


@pytest.mark.parametrize("estimator", [ConvexHierarchicalClustering(), ConvexClustering()])
def test_nothing_is_known_before_the_fit(estimator):
    assert not hasattr(estimator, "centroids_")
    with pytest.raises(NotFittedError):
        estimator.score(X)


@pytest.mark.parametrize("estimator", BY_POINTS, ids=["neighbours", "points"])
def test_sparse_points_are_refused_with_a_remedy(estimator):
    with pytest.raises(TypeError, match=r"[Ss]parse.*toarray"):
        estimator.fit(sparse.csr_array(X))


@pytest.mark.parametrize("n_jobs", [1, 2, -1])
def test_threads_do_not_change_the_clusters(graph, n_jobs):
    model = ConvexHierarchicalClustering(6, n_jobs=n_jobs).fit(graph.adjacency)
    np.testing.assert_array_equal(
        model.labels_, ConvexHierarchicalClustering(6).fit(graph.adjacency).labels_
    )


def test_verbose_shows_the_progress(graph, monkeypatch):
    shown = []

    def counted_line():
        shown.append(1)
        return ProgressLine(io.StringIO())

    monkeypatch.setattr("convexhc.progress_line.new_line", counted_line)
    for verbose, count in ((0, 0), (1, 1), (True, 2)):
        ConvexHierarchicalClustering(2, verbose=verbose).fit(graph.adjacency)
        assert len(shown) == count


def test_a_warning_of_the_estimator_points_to_the_caller():
    noise = as_graph(nx.gnp_random_graph(40, 0.2, seed=1))
    with pytest.warns(NoStructureWarning) as told:
        ConvexHierarchicalClustering().fit(noise)
    assert told[0].filename == __file__
