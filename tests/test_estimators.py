"""The estimators agree with the functions they call."""

from __future__ import annotations

import logging
import pickle

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from drawn_graphs import adjacencies
from estimator_data import (
    GROUPS,
    NEIGHBOURS,
    PAIRS,
    OfSimilarity,
    indefinite,
    nested,
    points,
    same_partition,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse
from scipy.cluster.hierarchy import is_valid_linkage
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

import convexhc
from convexhc import cluster, similarity, solve_features_path, solve_path, solve_points_path
from convexhc.api.single_lam import solve
from convexhc.estimators import ConvexClustering, ConvexHierarchicalClustering
from convexhc.graph import Graph
from convexhc.path.cautions import FewerClustersWarning


@pytest.mark.parametrize(("n_clusters", "expected"), [(4, GROUPS), (2, PAIRS), (1, 0 * PAIRS)])
def test_the_known_groups_are_found(n_clusters, expected):
    assert_array_equal(OfSimilarity(n_clusters).fit_predict(nested()), expected)


@pytest.mark.parametrize("space", ["similarity", "features"])
def test_attributes_restate_the_path(space):
    K = nested()
    if space == "similarity":
        options = {"weights": 10, "l1_ratio": 0.3, "tol": 1e-3, "lam_step": 0.5}
        path = solve_path(K, **options)
    else:
        options = {"l1_ratio": 0.3, "tol": 1e-3}
        path = solve_features_path(K, **options)
    # The default space depends on the weights.
    fitted = OfSimilarity(2, **options).fit(K)
    assert_array_equal(OfSimilarity(space=space, **options).fit(K).linkage_, fitted.linkage_)
    assert_array_equal(fitted.lambdas_, path.lambdas)
    assert_array_equal(fitted.path_.partitions, path.partitions)
    assert_array_equal(fitted.linkage_, path.linkage)
    assert_array_equal(fitted.labels_, path.labels(n_clusters=2))
    assert is_valid_linkage(fitted.linkage_)
    assert_array_equal(np.column_stack([fitted.children_, fitted.distances_]), path.linkage[:, :3])
    assert np.issubdtype(fitted.children_.dtype, np.integer)
    assert (fitted.n_leaves_, fitted.n_features_in_, fitted.n_connected_components_) == (12, 12, 1)
    assert fitted.n_iter_ == sum(point.n_iter for point in path.levels) > 0


@pytest.mark.parametrize("lam", [0.0, 0.3, 1.5])
def test_lam_alone_is_solved_alone(lam):
    paper = OfSimilarity(lam=lam, weights=None).fit(nested())
    assert_array_equal(paper.labels_, solve(nested(), lam).labels)
    features = OfSimilarity(lam=lam).fit(nested())
    assert_array_equal(features.labels_, solve_features_path(nested(), [lam]).levels[0].labels)
    for fitted in (paper, features):
        assert fitted.lambdas_.tolist() == [lam]
        assert fitted.linkage_.shape == (11, 4)
        assert fitted.plateau_ is None


def test_n_clusters_and_lam_exclude_each_other():
    with pytest.raises(ValueError, match=r"either n_clusters or lam.*n_clusters=2 and lam=1"):
        OfSimilarity(2, lam=1.0).fit(nested())


@settings(max_examples=15)
@given(
    adjacencies(6),
    st.integers(1, 6),
    st.sampled_from(["two_hop", "normalized", "graph"]),
    st.sampled_from(["multiscale", 10]),
)
def test_exactly_the_requested_number_of_clusters(adjacency, n_clusters, similarity, weights):
    model = ConvexHierarchicalClustering(
        n_clusters, similarity=similarity, weights=weights, shift=0.1, tol=1e-2
    )
    if n_clusters > len(adjacency):
        with pytest.raises(ValueError, match=f"at most n_samples={len(adjacency)}"):
            model.fit(adjacency)
        return
    fitted = model.fit(adjacency)
    assert set(fitted.labels_) == set(range(n_clusters))
    assert fitted.n_clusters_ == n_clusters
    components = Graph.from_matrix(fitted.path_.components[:, None] == fitted.path_.components)
    assert fitted.n_connected_components_ == components.components()[0]


@pytest.mark.parametrize("weights", ["multiscale", 10])
def test_without_a_number_the_suggested_scale_is_taken_and_logged(caplog, weights):
    with caplog.at_level(logging.INFO, logger="convexhc.estimators"):
        fitted = OfSimilarity(weights=weights).fit(nested())
    suggestion = fitted.path_.suggestion
    assert fitted.plateau_ == fitted.path_.suggested_plateau == suggestion.plateau
    assert fitted.n_clusters_ == suggestion.n_clusters == 4
    assert_array_equal(fitted.labels_, suggestion.labels)
    assert_array_equal(fitted.labels_, fitted.path_.labels(n_clusters=fitted.n_clusters_))
    assert str(suggestion) in caplog.text
    assert fitted.set_params(n_clusters=2).fit(nested()).plateau_ is None


def with_loners() -> np.ndarray:
    """Two cliques, each with four nodes that join it one by one."""
    A = np.kron(np.eye(2), np.ones((6, 6)))
    A[5, 6] = A[6, 5] = 0.05
    K = np.eye(20) * 3.0
    K[:12, :12] += A
    for loner, strength in zip(range(12, 20), np.geomspace(0.02, 0.4, 8), strict=True):
        K[loner, loner % 2 * 6] = K[loner % 2 * 6, loner] = strength
    return K


def test_small_clusters_do_not_count():
    K = with_loners()
    model = OfSimilarity(tol=1e-3, weights=10)
    condensed = clone(model).set_params(min_cluster_size=3).fit(K)
    assert_array_equal(np.bincount(condensed.labels_), [10, 10])
    assert same_partition(condensed.labels_[:12], np.repeat([0, 1], 6))
    assert_array_equal(condensed.labels_[12:], condensed.labels_[[0, 6] * 4])
    labels = clone(model).set_params(n_clusters=2, min_cluster_size=3).fit_predict(K)
    assert_array_equal(labels, condensed.labels_)
    labels = OfSimilarity(2, tol=1e-3).fit_predict(K)
    assert same_partition(labels[:12], np.repeat([0, 1], 6))


def test_small_clusters_do_not_end_a_plateau():
    path = solve_path(with_loners(), weights=10, tol=1e-3)
    condensed, labels = path.tree.suggest(min_cluster_size=3)
    assert_array_equal(np.bincount(labels), [10, 10])
    assert condensed.n_clusters == 2
    # Single nodes that join later divide the plain path into narrower plateaus.
    assert condensed.log_width > path.tree.suggest()[0].log_width


def test_components_that_are_all_small_end_in_one_cluster():
    K = np.kron(np.eye(3), np.ones((2, 2))) + np.eye(6)
    path = solve_path(K)
    assert_array_equal(path.tree.suggest(min_cluster_size=3)[1], np.zeros(6))


@pytest.mark.parametrize("weights", ["multiscale", 10])
def test_components_are_clusters_of_any_size(weights):
    """No edge joins them, and nothing else can be split."""
    K = np.kron(np.eye(3), np.ones((2, 2))) + np.eye(6)
    fitted = OfSimilarity(weights=weights, min_cluster_size=3).fit(K)
    assert fitted.n_connected_components_ == 3
    assert_array_equal(fitted.labels_, [0, 0, 1, 1, 2, 2])
    assert fitted.path_.suggestion.modularity == pytest.approx(2 / 3)


def test_a_min_cluster_size_above_the_number_of_nodes_is_rejected():
    with pytest.raises(ValueError, match="min_cluster_size must be at most n_samples=12"):
        OfSimilarity(min_cluster_size=13).fit(nested())


def as_networkx(K):
    return nx.from_numpy_array(K)


def as_shuffled_frame(K):
    labels = [f"node {i}" for i in range(len(K))]
    frame = pd.DataFrame(K, index=labels, columns=labels)
    return frame[labels[::-1]]


def as_edges(K):
    return [(i, j, K[i, j]) for i in range(len(K)) for j in range(i + 1) if K[i, j]]


def as_edge_table(K):
    return pd.DataFrame(as_edges(K), columns=["source", "target", "weight"])


FORMS = [sparse.csr_array, sparse.dok_matrix, np.ndarray.tolist, Graph.from_matrix, as_networkx]
FORMS += [as_shuffled_frame, pd.DataFrame, as_edges, as_edge_table]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__qualname__)
def test_every_form_of_a_graph_gives_the_same(form):
    K = nested() + np.diag(np.arange(12.0))
    expected = OfSimilarity(4, tol=1e-2).fit(K)
    found = OfSimilarity(4, tol=1e-2).fit(form(K))
    assert_array_equal(found.linkage_, expected.linkage_)
    assert_array_equal(found.labels_, expected.labels_)
    assert found.n_features_in_ == 12


def test_a_file_is_a_graph(tmp_path):
    np.save(tmp_path / "K.npy", nested())
    labels = OfSimilarity(4).fit_predict(str(tmp_path / "K.npy"))
    assert_array_equal(labels, GROUPS)


def test_names_are_kept_if_they_are_unique():
    frame = as_shuffled_frame(nested())
    model = OfSimilarity(4, tol=1e-2).fit(frame)
    assert model.path_.names == tuple(frame.index)
    assert_array_equal(model.feature_names_in_, frame.columns)
    table = pd.DataFrame(points(), columns=["x", "y"], index=list("abcdefghijklmnopqr"))
    model = clone(NEIGHBOURS).fit(table)
    assert model.path_.names == tuple("abcdefghijklmnopqr")
    assert_array_equal(model.feature_names_in_, ["x", "y"])
    # Duplicate row names are valid in scikit-learn.
    model.fit(table.set_axis(["a"] * 18))
    assert model.path_.names == tuple(range(18))
    assert not hasattr(model.fit(points()), "feature_names_in_")


def test_feature_names_of_an_earlier_fit_are_discarded():
    model = OfSimilarity(2, tol=1e-2).fit(as_shuffled_frame(nested()))
    assert not hasattr(model.fit(as_networkx(nested())), "feature_names_in_")


def affinity_of_points(X):
    return similarity.from_points(X, n_neighbors=4, shift="auto")


MAKERS = {
    "graph": (similarity.from_graph, nested),
    "diffusion": (similarity.diffusion, nested),
    "two_hop": (similarity.two_hop, nested),
    "normalized": (similarity.normalized, nested),
    "nearest_neighbors": (affinity_of_points, points),
    "rbf": (lambda X: similarity.rbf(X, shift="auto"), points),
}


@pytest.mark.parametrize("similarity", MAKERS)
def test_the_similarity_is_the_one_named(similarity):
    make, data = MAKERS[similarity]
    K = make(data())
    model = ConvexHierarchicalClustering(2, similarity=similarity, n_neighbors=4, tol=1e-2)
    paper = clone(model).set_params(weights=10).fit(data())
    assert_array_equal(paper.linkage_, solve_path(K, weights=10, tol=1e-2).linkage)
    # With a shift K itself is made, not only its features.
    model.set_params(shift=K.shift).fit(data())
    assert_array_equal(model.linkage_, solve_features_path(K, tol=1e-2).linkage)
    assert paper.similarity_.items() >= {"kind": K.kind, "shift": K.shift}.items()
    assert model.similarity_["kind"] == K.kind
    assert model.similarity_["shift"] == K.shift
    assert K.parameters.items() <= model.similarity_.items()


@pytest.mark.parametrize("made", ["graph", "nearest_neighbors"])
def test_by_default_the_graph_determines_everything(made):
    data = nested() - np.eye(12) if made == "graph" else points()
    graph = data if made == "graph" else similarity.neighbor_graph(data, n_neighbors=4)
    model = ConvexHierarchicalClustering(3, similarity=made, n_neighbors=4, tol=1e-3)
    fitted = clone(model).fit(data)
    path = cluster(graph, tol=1e-3, test_structure=False)
    assert_array_equal(fitted.linkage_, path.linkage)
    assert_array_equal(fitted.labels_, path.labels(n_clusters=3))
    assert fitted.similarity_ == path.provenance.options["similarity"]
    assert fitted.path_.structure is None
    # An l1 norm needs K itself.
    K = similarity.from_graph(graph, shift=0.0)
    absolute = clone(model).set_params(l1_ratio=0.5, shift=0.0).fit(data)
    expected = solve_features_path(K, l1_ratio=0.5, tol=1e-3)
    assert_array_equal(absolute.linkage_, expected.linkage)
    assert absolute.path_.provenance.options["l1_ratio"] == 0.5
    assert (
        clone(model).set_params(l1_ratio=0.5).fit(data).path_.provenance.options["l1_ratio"] == 0.5
    )


@pytest.mark.parametrize("similarity", ["precomputed", *MAKERS])
def test_shift_is_added_and_reported(similarity):
    data = points() if similarity in ("nearest_neighbors", "rbf") else nested()
    model = ConvexHierarchicalClustering(similarity=similarity, shift=2.0, lam=0.1, tol=1e-2).fit(
        data
    )
    assert model.similarity_["shift"] == 2.0


def test_an_indefinite_similarity_is_rejected_unless_shift_is_auto():
    with pytest.raises(ValueError, match="not positive semidefinite"):
        OfSimilarity().fit(indefinite())
    model = OfSimilarity(shift="auto", method="admm").fit(indefinite())
    assert model.similarity_["shift"] > 0 <= model.similarity_["min_eigenvalue"]
    assert model.similarity_["positive_definite"]


def test_a_similarity_keeps_its_record():
    K = similarity.normalized(nested(), shift=0.5)
    plain = OfSimilarity(lam=0.1).fit(K)
    assert (plain.similarity_["kind"], plain.similarity_["shift"]) == ("normalized", 0.5)
    more = OfSimilarity(lam=0.1, shift=1.0).fit(K)
    assert more.similarity_["shift"] == 1.5
    by_hand = OfSimilarity(lam=0.1).fit(K.dense() + np.eye(12))
    assert_array_equal(more.labels_, by_hand.labels_)
    np.testing.assert_allclose(more.path_.objective, by_hand.path_.objective)


def test_negative_similarities_need_explicit_weights():
    K = nested()
    K[0, 11] = K[11, 0] = -0.2
    with pytest.raises(ValueError, match="Negative values in data"):
        OfSimilarity(4, weights=None).fit(K)
    with pytest.raises(ValueError, match="negative"):
        OfSimilarity(4, weights=None).fit(as_networkx(K))
    for weights in (5, 10):
        with_weights = OfSimilarity(4, weights=weights)
        assert_array_equal(with_weights.fit_predict(K), GROUPS)
        assert not get_tags(with_weights).input_tags.positive_only
    assert get_tags(OfSimilarity(weights=None)).input_tags.positive_only
    assert not get_tags(OfSimilarity()).input_tags.positive_only


def test_weights_may_be_a_graph():
    weights = np.kron(np.eye(4), np.ones((3, 3)))
    fitted = OfSimilarity(weights=weights).fit(nested())
    assert fitted.n_connected_components_ == 4
    assert_array_equal(fitted.labels_, GROUPS)


@pytest.mark.parametrize("similarity", ["precomputed", *MAKERS])
def test_one_node_is_one_cluster(similarity):
    fitted = ConvexHierarchicalClustering(similarity=similarity).fit(np.ones((1, 1)))
    assert fitted.labels_.tolist() == [0]
    assert fitted.n_clusters_ == fitted.n_leaves_ == fitted.n_connected_components_ == 1
    assert fitted.linkage_.shape == (0, 4)
    assert fitted.children_.shape == (0, 2)


@pytest.mark.parametrize("similarity", ["nearest_neighbors", "rbf"])
def test_equal_points_are_one_cluster(similarity):
    fitted = ConvexHierarchicalClustering(similarity=similarity).fit(np.ones((5, 2)))
    assert_array_equal(fitted.labels_, np.zeros(5))


@pytest.mark.parametrize("n_clusters", [None, 3, 1])
def test_without_edges_clusters_merge_only_at_the_top(n_clusters):
    for weights in ("multiscale", 10):
        fitted = OfSimilarity(n_clusters, weights=weights).fit(np.eye(4))
        assert fitted.n_connected_components_ == 4
        assert fitted.n_clusters_ == (4 if n_clusters is None else n_clusters)
        # There is no lam at which only some of them are merged.
        with pytest.warns(FewerClustersWarning, match="1 cluster, 3 were asked for"):
            labels = fitted.path_.labels(n_clusters=3, by="lam")
        assert labels.max() == 0


def test_an_exhausted_budget_raises_a_warning():
    with pytest.warns(ConvergenceWarning, match="not solved to tol=1e-09.*raise max_iter"):
        OfSimilarity(lam=0.3, weights=10, tol=1e-9, max_iter=1).fit(nested())
    club = convexhc.datasets.karate().adjacency
    with pytest.warns(ConvergenceWarning, match="not solved to tol=1e-12.*raise max_iter"):
        ConvexHierarchicalClustering(similarity="graph", lam=0.3, tol=1e-12, max_iter=1).fit(club)


def test_a_fit_survives_pickling():
    fitted = ConvexHierarchicalClustering(similarity="two_hop", tol=1e-2).fit(nested())
    # Accessed first, so that cached properties are pickled as well.
    assert fitted.path_.is_nested
    revived = pickle.loads(pickle.dumps(fitted))
    assert vars(revived).keys() == vars(fitted).keys()
    assert_array_equal(revived.labels_, fitted.labels_)
    assert_array_equal(revived.path_.labels(n_clusters=2), fitted.path_.labels(n_clusters=2))
    assert revived.path_.to_newick() == fitted.path_.to_newick()
    assert revived.similarity_ == fitted.similarity_


def test_cloned_with_all_its_parameters():
    model = OfSimilarity(3, weights=nested(), shift="auto", n_neighbors=7)
    copied = clone(model).get_params()
    assert_array_equal(copied.pop("weights"), nested())
    assert copied == {k: v for k, v in model.get_params().items() if k != "weights"}


def number_wanted(estimator, X, y=None):
    # Rows and columns of a similarity are subsampled together.
    assert estimator.n_leaves_ == estimator.n_features_in_
    return -abs(estimator.n_clusters_ - 4)


def test_grid_search_subsamples_rows_and_columns_of_a_similarity():
    splits = KFold(3, shuffle=True, random_state=0)
    grid = {"n_clusters": [1, 2, 4]}
    search = GridSearchCV(OfSimilarity(), grid, scoring=number_wanted, cv=splits)
    search.fit(nested())
    assert search.best_params_ == {"n_clusters": 4}
    assert_array_equal(search.best_estimator_.labels_, GROUPS)


def test_a_pipeline_ends_in_it():
    model = make_pipeline(
        StandardScaler(), clone(NEIGHBOURS).set_params(n_clusters=3, n_neighbors=4)
    )
    assert same_partition(model.fit_predict(points()), np.repeat([0, 1, 2], 6))


def test_the_clusterer_of_points_restates_its_path():
    X = pd.DataFrame(points(), index=[f"p{i}" for i in range(18)], columns=["x", "y"])
    fitted = ConvexClustering(3, n_neighbors=7, n_lambdas=30).fit(X)
    path = solve_points_path(X, 30, weights=7)
    assert_array_equal(fitted.path_.partitions, path.partitions)
    assert fitted.path_.names == tuple(X.index)
    assert_array_equal(fitted.labels_, np.repeat([0, 1, 2], 6))
    assert_array_equal(fitted.linkage_, path.linkage)
    assert (fitted.n_leaves_, fitted.n_features_in_) == (18, 2)
    alone = ConvexClustering(lam=path.lambdas[10], n_neighbors=7).fit(X)
    assert_array_equal(alone.labels_, path.partitions[10])
    chosen = ConvexClustering(n_neighbors=7).fit(X)
    assert chosen.plateau_.n_clusters == chosen.n_clusters_
    with pytest.raises(ValueError, match="either n_clusters or lam"):
        ConvexClustering(2, lam=1.0).fit(X)


def test_points_that_are_not_solved_raise_a_warning():
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        ConvexClustering(tol=1e-12, max_iter=1, n_lambdas=4).fit(points())
