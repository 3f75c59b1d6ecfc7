"""The baselines: one contract for all, and agreement of each with what it wraps."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.cluster import hierarchy
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import pdist

from convexhc import datasets, similarity
from convexhc.metrics import cophenetic_distances, matched_accuracy, variation_of_information
from experiments.baselines import Linkage, Louvain, Paris, Spectral, all_baselines

METHODS = ["single", "average", "complete", "ward"]
BASELINES = [*map(Linkage, METHODS), Spectral(), Paris(), Louvain()]

each_baseline = pytest.mark.parametrize("baseline", BASELINES, ids=lambda baseline: baseline.name)


def require(baseline):
    if not baseline.available():
        pytest.skip(f"{baseline.name} needs scikit-network, which is not installed")


@pytest.fixture(scope="module")
def fractal():
    graph = datasets.fractal_graph(0)
    return similarity.two_hop(graph.adjacency, shift=0.05), graph.fine


def two_cliques_and_a_loner():
    A = np.zeros((9, 9))
    A[:4, :4] = A[4:8, 4:8] = 1.0
    # Not all alike, so that there is something to choose inside a clique.
    A[0, 1] = A[1, 0] = A[6, 7] = A[7, 6] = 1.5
    np.fill_diagonal(A, 3.0)
    return A


@each_baseline
def test_cliques_are_found(baseline, fractal):
    require(baseline)
    K, fine = fractal
    found = baseline.fit(K)
    labels = found.labels(28)
    assert labels.dtype == np.int64
    assert matched_accuracy(fine, labels) == 1.0


@each_baseline
def test_labels_are_numbered_and_no_more_than_asked_for(baseline, fractal):
    require(baseline)
    found = baseline.fit(fractal[0])
    n = fractal[0].graph.n
    for k in (1, 2, 5, 28, n, n + 1):
        labels = found.labels(k)
        met, first = np.unique(labels, return_index=True)
        assert len(met) <= k
        assert np.array_equal(met, np.arange(len(met)))
        assert (np.diff(first) > 0).all()
    assert not found.labels(1).any()
    assert len(np.unique(found.labels(n))) == n
    with pytest.raises(ValueError, match="at least 1"):
        found.labels(0)


@each_baseline
def test_linkages_are_valid_monotone_and_nested(baseline, fractal):
    require(baseline)
    found = baseline.fit(fractal[0])
    if found.linkage is None:
        assert baseline.name == "spectral"
        return
    Z, n = found.linkage, fractal[0].graph.n
    assert hierarchy.is_valid_linkage(Z)
    assert hierarchy.is_monotonic(Z)
    assert np.isfinite(Z).all()
    size = [1] * n
    for a, b, _, count in Z:
        size.append(size[int(a)] + size[int(b)])
        assert count == size[-1]
    fine, coarse = found.labels(28), found.labels(4)
    assert len(np.unique(fine * n + coarse)) == len(np.unique(fine))


@each_baseline
def test_the_input_is_left_alone_and_the_answer_repeats(baseline):
    require(baseline)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2)) + 4.0 * rng.integers(0, 3, size=(40, 1))
    K = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))
    kept = K.copy()
    first, again = baseline.fit(K), baseline.fit(sparse.csr_array(K))
    assert np.array_equal(K, kept)
    assert np.array_equal(first.labels(3), again.labels(3))
    if first.linkage is not None:
        assert np.array_equal(first.linkage, again.linkage)


@each_baseline
def test_one_node_is_one_cluster(baseline):
    require(baseline)
    found = baseline.fit([[2.0]])
    assert found.labels(1).tolist() == [0]
    if found.linkage is not None:
        assert found.linkage.shape == (0, 4)


@pytest.mark.parametrize("method", METHODS)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 15))
def test_linkage_of_inner_products_is_linkage_of_the_points(method, seed, n):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    found = Linkage(method).fit(X @ X.T)
    expected = hierarchy.linkage(pdist(X), method)
    scale = expected[-1, 2]
    np.testing.assert_allclose(
        cophenetic_distances(found.linkage), cophenetic_distances(expected), atol=1e-6 * scale
    )
    flat = hierarchy.fcluster(expected, min(3, n), criterion="maxclust")
    assert variation_of_information(found.labels(3), flat) == 0


@pytest.mark.parametrize("method", ["single", "complete"])
def test_a_shift_of_the_diagonal_does_not_move_single_and_complete_linkage(method, fractal):
    graph = datasets.fractal_graph(1)
    K = similarity.two_hop(graph.adjacency, shift=0.05).dense()
    near, far = (Linkage(method).fit(K + shift * np.eye(len(K))) for shift in (0.0, 2.0))
    assert variation_of_information(near.labels(28), far.labels(28)) == 0


def test_linkage_refuses_what_has_no_feature_space():
    # Every squared distance is positive, and yet no three points have them all.
    apart = 1.9 * np.eye(3) - 0.9
    with pytest.raises(ValueError, match="shift_to_positive"):
        Linkage("single").fit(apart)


def test_linkage_takes_negative_similarities_and_the_others_refuse_them():
    K = np.array([[1.0, -0.5, 0.2], [-0.5, 1.0, 0.1], [0.2, 0.1, 1.0]])
    assert Linkage("average").fit(K).labels(2).tolist() == [0, 1, 0]
    for baseline in (Spectral(), Paris(), Louvain()):
        if baseline.available():
            with pytest.raises(ValueError, match="negative"):
                baseline.fit(K)


def test_spectral_is_scikit_learns_and_does_not_see_the_diagonal(fractal):
    K, fine = fractal
    shifted = K.dense() + 5.0 * np.eye(len(fine))
    found = Spectral(random_state=3)
    assert np.array_equal(found.fit(K).labels(9), found.fit(shifted).labels(9))
    assert len(np.unique(found.fit(K).labels(9))) == 9


def test_paris_is_scikit_networks():
    other = pytest.importorskip("sknetwork.hierarchy", reason="scikit-network is not installed")
    rng = np.random.default_rng(2)
    # Weights without ties, and connected.
    A = np.triu(rng.random((40, 40)), 1)
    A += A.T
    found = Paris().fit(A + np.eye(40)).linkage
    expected = other.Paris().fit_transform(sparse.csr_matrix(A))
    np.testing.assert_allclose(
        cophenetic_distances(found), cophenetic_distances(expected), rtol=1e-5
    )


def test_paris_stays_monotone_in_single_precision():
    other = pytest.importorskip("sknetwork.hierarchy", reason="scikit-network is not installed")
    # All merges are equally good, and rounding puts some of them below their children.
    A = np.ones((21, 21)) - np.eye(21)
    raw = other.Paris(reorder=False).fit_transform(sparse.csr_matrix(A))
    assert not hierarchy.is_monotonic(raw)
    found = Paris().fit(A).linkage
    assert hierarchy.is_valid_linkage(found)
    assert hierarchy.is_monotonic(found)
    np.testing.assert_allclose(found[:, 2], np.sort(raw[:, 2]), rtol=1e-6)


@pytest.mark.parametrize("baseline", [Paris(), Louvain()], ids=lambda baseline: baseline.name)
def test_components_join_only_at_the_top(baseline):
    require(baseline)
    A = two_cliques_and_a_loner()
    found = baseline.fit(A)
    assert np.isfinite(found.linkage).all()
    _, component = connected_components(sparse.csr_array(A), directed=False)
    assert variation_of_information(found.labels(3), component) == 0
    assert found.linkage[-2, 2] > found.linkage[-3, 2]
    empty = baseline.fit(np.eye(4))
    assert empty.linkage.shape == (3, 4)
    assert not empty.labels(3).any()


@pytest.mark.parametrize("resolution", [1.0, 30.0])
def test_the_first_level_of_louvain_is_one_aggregation(resolution):
    clustering = pytest.importorskip("sknetwork.clustering", reason="no scikit-network")
    adjacency = datasets.fractal_graph(4).adjacency
    one = clustering.Louvain(resolution, n_aggregations=1)
    first = one.fit_predict(sparse.csr_matrix(adjacency))
    level = Louvain(resolution).fit(adjacency).labels(len(np.unique(first)))
    assert variation_of_information(level, first) == 0


def test_louvain_of_many_communities_does_not_recurse():
    pytest.importorskip("sknetwork", reason="scikit-network is not installed")
    triangles = sparse.kron(sparse.eye_array(1500), np.ones((3, 3)) - np.eye(3))
    labels = Louvain().fit(triangles).labels(1500)
    assert np.array_equal(labels, np.repeat(np.arange(1500), 3))


def test_without_scikit_network_its_baselines_are_left_out(monkeypatch):
    monkeypatch.setitem(sys.modules, "sknetwork", None)
    names = [baseline.name for baseline in all_baselines()]
    assert names == [f"{method} linkage" for method in METHODS] + ["spectral"]
    for baseline in (Paris(), Louvain()):
        assert not baseline.available()
        with pytest.raises(ImportError, match="pip install scikit-network"):
            baseline.fit(np.eye(2))


def test_all_baselines_are_all_of_them():
    pytest.importorskip("sknetwork", reason="scikit-network is not installed")
    assert list(all_baselines()) == BASELINES
