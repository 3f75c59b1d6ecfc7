"""The smooth model as a path: partitions of the closed form, tree, certificate, file."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

import convexhc
from convexhc import Path, SmoothModel, similarity
from convexhc.kernels.labels import numbered_by_first
from convexhc.path.smooth_model import _nested


@pytest.fixture(scope="module")
def fractal():
    graph = convexhc.datasets.fractal_graph(0, n_meta=3, n_super=4, clique=5)
    return graph, similarity.two_hop(graph.adjacency)


@pytest.fixture(scope="module")
def path(fractal):
    return convexhc.smooth_path(fractal[1])


def test_single_levels_are_the_clusters_of_the_closed_form(fractal):
    model = SmoothModel.of(fractal[1])
    for lam in (0.6, 2.0, 20.0):
        (level,) = convexhc.smooth_path(fractal[1], [lam]).levels
        np.testing.assert_array_equal(level.labels, model.labels(lam=lam))
        assert level.n_clusters == model.n_clusters(lam)


def test_levels_are_nested_and_the_first_split_is_that_of_the_closed_form(fractal, path):
    assert path.is_nested
    assert path.n_clusters[-1] == 1
    second = path.levels[-2]
    closed = SmoothModel.of(fractal[1]).labels(lam=second.lam)
    np.testing.assert_array_equal(second.labels, closed)


@given(st.integers(0, 10**6), st.integers(2, 30))
def test_a_nested_partition_refines_and_keeps_what_was_nested(seed, n):
    rng = np.random.default_rng(seed)
    coarse = numbered_by_first(rng.integers(0, 4, n))
    X = rng.normal(size=(n, 2))
    fine = numbered_by_first(rng.integers(0, 6, n))
    found = _nested(fine, coarse, X)
    assert np.unique(np.stack([found, coarse]), axis=1).shape[1] == found.max() + 1
    inside = numbered_by_first(6 * coarse + fine)
    np.testing.assert_array_equal(_nested(inside, coarse, X), inside)
    # A node whose cluster mostly lies in its own coarse cluster stays with it.
    most = [np.bincount(coarse[fine == k]).argmax() for k in range(fine.max() + 1)]
    stays = np.array(most)[fine] == coarse
    for k in range(fine.max() + 1):
        assert np.unique(found[stays & (fine == k)]).size <= 1


def test_only_as_many_clusters_as_asked_for(path):
    fewer = convexhc.smooth_path(path.graph, max_clusters=5)
    assert fewer.n_clusters.max() == 5
    assert fewer.n_clusters.min() == 1


def test_the_closed_form_is_certified_as_any_other_solution(path):
    assert path.relative_gap.max() <= 1e-10
    (level,) = convexhc.smooth_path(path.graph, [0.7]).levels
    pi = SmoothModel.of(path.graph).pi(0.7)
    K = path.graph.matrix().toarray()
    L = np.diag((K - np.diag(np.diag(K))).sum(axis=1)) - (K - np.diag(np.diag(K)))
    # sum_ij K_ij |Phi (pi_i - pi_j)|^2 = 2 Tr(pi' K pi L).
    objective = np.trace(pi.T @ K @ pi) - 2.0 * np.trace(K @ pi)
    objective += 0.7 * 2.0 * np.trace(pi.T @ K @ pi @ L)
    assert level.objective == pytest.approx(objective, rel=1e-10)


def test_the_tree_holds_the_known_groups(fractal, path):
    graph, _ = fractal
    for k, known in ((3, graph.coarse), (12, graph.fine)):
        assert adjusted_rand_score(path.labels(n_clusters=k), known) >= 0.9
    assert path.linkage.shape == (59, 4)
    assert (np.diff(path.linkage[:, 2]) >= 0.0).all()


def test_a_smooth_path_is_read_back_as_it_was(path, tmp_path):
    path.save(tmp_path / "path.npz")
    found = Path.load(tmp_path / "path.npz")
    np.testing.assert_array_equal(found.partitions, path.partitions)
    np.testing.assert_array_equal(found.linkage, path.linkage)
    np.testing.assert_array_equal(found.features, path.features)
    assert found.provenance == path.provenance
    assert "smooth" in found.provenance.options["model"]


def test_the_sparse_form_has_the_same_clusters_and_no_certificate(fractal, path):
    sparse = convexhc.smooth_path(fractal[1], form="sparse", dimensions=40)
    np.testing.assert_array_equal(sparse.partitions, path.partitions)
    assert np.isnan(sparse.relative_gap).all()
    assert "certificate: none" in sparse.summary()


@pytest.mark.parametrize(
    "K", [np.eye(1), np.eye(3), np.ones((2, 2)) + np.eye(2), np.diag([1.0, 2.0, 3.0])]
)
def test_tiny_and_empty_graphs_have_a_path(K):
    path = convexhc.smooth_path(K)
    assert path.n_clusters[-1] == path.components.max() + 1
    assert path.linkage.shape == (len(K) - 1, 4)


def test_components_never_join():
    K = np.kron(np.eye(3), np.ones((4, 4))) + 4.0 * np.eye(12)
    path = convexhc.smooth_path(K)
    assert path.n_clusters.min() == 3
    np.testing.assert_array_equal(path.labels(n_clusters=3), np.repeat([0, 1, 2], 4))
