"""Large graphs: leaves, sparse memberships, and paths that start from leaves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from drawn_graphs import planted
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.metrics import adjusted_rand_score

from convexhc import cluster
from convexhc.graph import Graph
from convexhc.similarity import leaves, scales
from convexhc.similarity.leaves import divided, leaves_of, nearest_means, node_features
from convexhc.similarity.scales import memberships
from convexhc.similarity.structure import group_structure

seeds = st.integers(0, 1000)


@pytest.fixture
def large_from_100(monkeypatch):
    """Graphs of more than a hundred nodes have about forty leaves."""
    small = replace(leaves.SETTINGS, max_nodes=100, n_leaves=40, n_groups=8)
    monkeypatch.setattr(leaves, "SETTINGS", small)


def groups_of_forty(seed):
    return planted(seed, (40, 40, 40, 40), inside=0.4, across=0.02)


def found_leaves(A):
    graph = Graph.from_matrix(A)
    return leaves_of(graph.matrix(), node_features(graph))


def is_refinement(fine, coarse):
    return all(np.unique(coarse[fine == part]).size == 1 for part in np.unique(fine))


@given(seeds, st.integers(1, 9))
def test_groups_are_divided_into_parts_of_about_equal_size(seed, parts):
    rng = np.random.default_rng(seed)
    X, labels = rng.normal(size=(60, 3)), np.repeat([0, 1], [40, 20])
    found = divided(X, labels, 60 / parts)
    assert is_refinement(found, labels)
    # Every group has the whole number of parts that is nearest to its share.
    for group, size in ((0, 40), (1, 20)):
        sizes = np.unique(found[labels == group], return_counts=True)[1]
        assert sizes.size == max(1, round(size * parts / 60))
        assert np.ptp(sizes) <= sizes.size
    assert sorted(set(found.tolist())) == list(range(int(found.max()) + 1))


def test_clouds_on_a_line_are_told_apart():
    rng = np.random.default_rng(0)
    cloud = rng.permutation(np.repeat(np.arange(4), 25))
    X = np.outer(cloud, [3.0, 4.0]) + 0.1 * rng.normal(size=(100, 2))
    found = divided(X, np.zeros(100, np.int64), 25.0)
    assert adjusted_rand_score(cloud, found) == 1.0
    # Parts of equal size cannot fit clouds of other sizes; the nearest means can.
    uneven = np.concatenate([X[cloud == 0][:15], X[cloud > 0]])
    labels = divided(uneven, np.zeros(90, np.int64), 22.5)
    assert adjusted_rand_score(cloud[cloud > 0], labels[15:]) < 1.0
    for _ in range(5):
        labels = nearest_means(uneven, labels)
    assert adjusted_rand_score(np.concatenate([np.zeros(15), cloud[cloud > 0]]), labels) == 1.0


@given(seeds)
def test_a_division_does_not_depend_on_the_order_of_the_rows(seed):
    rng = np.random.default_rng(seed)
    X, order = rng.normal(size=(50, 4)), rng.permutation(50)
    found = divided(X, np.zeros(50, np.int64), 7.0)
    again = divided(X[order], np.zeros(50, np.int64), 7.0)
    assert adjusted_rand_score(found[order], again) == 1.0


@given(seeds)
def test_sparse_memberships_find_the_groups_of_dense_ones(seed):
    A, group = groups_of_forty(seed)
    start = group.copy()
    start[::7] = (start[::7] + 1) % 4
    dense = memberships(sparse.csr_array(A), start)
    settings = scales.BLOCK_MODEL
    scales.BLOCK_MODEL = replace(settings, dense_entries=0)
    try:
        found = memberships(sparse.csr_array(A), start)
    finally:
        scales.BLOCK_MODEL = settings
    np.testing.assert_array_equal(found.argmax(axis=1), dense.argmax(axis=1))
    # Groups without edges to a node are left out, and have a small membership.
    np.testing.assert_allclose(found.toarray(), dense.toarray(), atol=0.05)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=0.01)


def test_nodes_of_small_graphs_are_their_own_leaves():
    A, _ = planted(0)
    found = found_leaves(A)
    np.testing.assert_array_equal(found.labels, np.arange(len(A)))
    np.testing.assert_array_equal(found.adjacency.toarray(), A)


def test_leaves_keep_groups_and_weights(large_from_100):
    A, group = groups_of_forty(0)
    found = found_leaves(A)
    count = len(found.features)
    assert 30 <= count <= 50
    assert is_refinement(found.labels, group)
    np.testing.assert_allclose(np.linalg.norm(found.features, axis=1), 1.0)
    member = np.eye(count)[found.labels]
    between = member.T @ A @ member
    np.fill_diagonal(between, 0.0)
    np.testing.assert_allclose(found.adjacency.toarray(), between)


def test_leaves_do_not_depend_on_the_order_of_the_nodes(large_from_100):
    A, _ = groups_of_forty(1)
    order = np.random.default_rng(1).permutation(len(A))
    found, again = found_leaves(A), found_leaves(A[np.ix_(order, order)])
    assert adjusted_rand_score(found.labels[order], again.labels) == 1.0


def test_a_path_from_leaves_finds_the_groups_that_one_from_nodes_finds(large_from_100, monkeypatch):
    A, group = groups_of_forty(2)
    from_leaves = cluster(A, 20)
    assert from_leaves.provenance.options["similarity"]["n_leaves"] < 60
    assert from_leaves.structure.found
    assert from_leaves.relative_gap.max() <= 1e-4
    assert from_leaves.n_clusters.max() < 60
    assert from_leaves.n_clusters[-1] == 1
    from_above = cluster(A, None, max_clusters=6)
    monkeypatch.setattr(leaves, "SETTINGS", replace(leaves.SETTINGS, max_nodes=len(A)))
    from_nodes = cluster(A, 20)
    assert from_nodes.provenance.options["similarity"]["n_leaves"] == len(A)
    for path in (from_leaves, from_above, from_nodes):
        assert adjusted_rand_score(group, path.labels(n_clusters=4)) == 1.0
        assert adjusted_rand_score(group, path.suggestion.labels) == 1.0


def test_components_and_nodes_without_edges_stay_apart(large_from_100):
    A, group = groups_of_forty(3)
    A[np.ix_(group < 2, group >= 2)] = 0.0
    A[np.ix_(group >= 2, group < 2)] = 0.0
    alone = np.zeros((200, 200))
    alone[:160, :160] = A
    component = connected_components(alone, directed=False)[1]
    path = cluster(alone, 15)
    np.testing.assert_array_equal(component, path.components)
    assert path.n_clusters[-1] == component.max() + 1 == 42
    for labels in path.partitions:
        assert is_refinement(labels, component)
    assert adjusted_rand_score(group, path.labels(lam=np.inf)[:160]) > 0.4
    assert group_structure(alone).found


def test_a_large_graph_without_edges_has_one_level(large_from_100):
    path = cluster(np.zeros((120, 120)), 10)
    assert path.n_clusters.tolist() == [120]
