"""Scales of a graph, and the multiscale weights computed from them."""

from __future__ import annotations

import numpy as np
import pytest
from drawn_graphs import adjacencies, planted
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.metrics import adjusted_rand_score

from convexhc.datasets import fractal_graph
from convexhc.graph import Graph
from convexhc.similarity import diffusion_features, edge_weights, multiscale_weights
from convexhc.similarity.scales import (
    BLOCK_MODEL,
    memberships,
    merged_groups,
    modularity,
    refined_scales,
)
from laws import first_occurrence

CLIQUES = sparse.csr_array(np.kron(np.eye(2), np.ones((8, 8))) - np.eye(16))
seeds = st.integers(0, 1000)


def features(A):
    return diffusion_features(A, n_features=min(60, A.shape[0]))


def weights(A, scales=None):
    return multiscale_weights(sparse.csr_array(A), features(A), scales=scales)


def dealt(seed, n, k):
    """A random partition into k nonempty groups."""
    rng = np.random.default_rng(seed)
    return rng.permutation(np.concatenate([np.arange(k), rng.integers(0, k, n - k)]))


@given(seeds, st.integers(1, 6))
def test_memberships_are_probabilities(seed, k):
    A, group = planted(seed)
    for start in (dealt(seed, group.size, k), group):
        q = memberships(sparse.csr_array(A), start)
        groups = int(start.max()) + 1
        assert q.shape == (group.size, groups)
        assert q.data.min() >= BLOCK_MODEL.tol
        assert q.data.max() <= 1.0 + 1e-12
        total = np.asarray(q.sum(axis=1))
        assert total.max() <= 1.0 + 1e-12
        assert total.min() >= 1.0 - groups * BLOCK_MODEL.tol


@given(seeds)
def test_memberships_do_not_depend_on_the_order_of_nodes_or_groups(seed):
    A, group = planted(seed)
    start = dealt(seed + 1, group.size, 3)
    # A start that is better than chance, or nothing is updated.
    start[:12] = group[:12]
    rng = np.random.default_rng(seed)
    order, name = rng.permutation(group.size), rng.permutation(3)
    found = memberships(sparse.csr_array(A), start).toarray()
    again = memberships(sparse.csr_array(A[np.ix_(order, order)]), name[start[order]]).toarray()
    np.testing.assert_allclose(again[:, name], found[order], atol=1e-8)


@given(seeds, st.sampled_from([1e-6, 3.0, 1e6]))
def test_memberships_do_not_depend_on_the_unit_of_the_weights(seed, unit):
    A, group = planted(seed)
    start = group.copy()
    start[::5] = (start[::5] + 1) % 3
    found = memberships(sparse.csr_array(A), start).toarray()
    again = memberships(sparse.csr_array(unit * A), start).toarray()
    np.testing.assert_allclose(again, found, atol=1e-8)


@pytest.mark.parametrize("wrong", range(1, 6))
def test_two_cliques_are_recovered_from_a_bad_start(wrong):
    start = np.repeat([0, 1], 8)
    start[:wrong] = 1
    found = memberships(CLIQUES, start).argmax(axis=1)
    np.testing.assert_array_equal(found, np.repeat([0, 1], 8))


def test_groups_without_excess_edges_are_returned_unchanged():
    across = np.tile([0, 1], 8)
    np.testing.assert_array_equal(memberships(CLIQUES, across).toarray(), np.eye(2)[across])
    complete = sparse.csr_array(np.ones((6, 6)) - np.eye(6))
    halves = np.repeat([0, 1], 3)
    np.testing.assert_array_equal(memberships(complete, halves).toarray(), np.eye(2)[halves])
    empty = sparse.csr_array((4, 4))
    np.testing.assert_array_equal(memberships(empty, np.arange(4)).toarray(), np.eye(4))


@given(adjacencies(8, loops=False), seeds, st.integers(1, 4))
def test_modularity_agrees_with_its_formula(A, seed, k):
    labels = np.random.default_rng(seed).integers(0, k, len(A))
    total, degree = A.sum(), A.sum(axis=1)
    together = labels[:, None] == labels
    naive = ((A - np.outer(degree, degree) / total) * together).sum() / total if total else 0.0
    assert modularity(sparse.csr_array(A), labels) == pytest.approx(naive, abs=1e-12)


@given(seeds)
def test_merged_groups_are_nested_with_the_requested_counts(seed):
    A, _ = planted(seed)
    start = dealt(seed, len(A), 9)
    found = merged_groups(sparse.csr_array(A), start, [1, 2, 5, 9])
    assert [np.unique(labels).tolist() for labels in found] == [
        list(range(k)) for k in (1, 2, 5, 9)
    ]
    for coarse, fine in zip(found, [*found[1:], start], strict=True):
        assert len(set(zip(coarse.tolist(), fine.tolist(), strict=True))) == len(set(fine.tolist()))


def test_scales_find_every_planted_level():
    graph = fractal_graph(0)
    scales = refined_scales(graph.adjacency, features(graph.adjacency))
    assert scales.n_groups[0] == 2
    assert list(scales.n_groups) == sorted(set(scales.n_groups))
    assert {4, 32} <= set(scales.n_groups)
    coarse = scales.labels(scales.n_groups.index(4))
    assert adjusted_rand_score(graph.coarse, coarse) == 1.0
    fine = max(
        adjusted_rand_score(graph.fine, scales.labels(at)) for at in range(len(scales.n_groups))
    )
    assert fine > 0.9


def test_thorough_scales_are_no_worse_at_any_number_of_groups():
    A = sparse.csr_array(planted(0, (15,) * 5, inside=0.35, across=0.08)[0])
    quick, slow = (refined_scales(A, features(A), thorough=thorough) for thorough in (False, True))
    assert quick.n_groups == slow.n_groups
    better = [
        modularity(A, slow.labels(at)) - modularity(A, quick.labels(at))
        for at in range(len(slow.n_groups))
    ]
    assert min(better) >= 0.0
    assert max(better) > 0.01


def test_few_nodes_have_no_scales():
    for n in (1, 2, 3):
        A = np.ones((n, n)) - np.eye(n)
        assert refined_scales(sparse.csr_array(A), np.eye(n)).n_groups == ()


@settings(max_examples=20)
@given(st.one_of(adjacencies(12, loops=False), seeds.map(lambda seed: planted(seed)[0])))
def test_weights_have_the_components_of_the_adjacency(A):
    W = weights(A)
    assert isinstance(W, Graph)
    dense = W.dense()
    np.testing.assert_array_equal(dense, dense.T)
    np.testing.assert_array_equal(np.diag(dense), 0.0)
    assert ((W.weight > 0.0) & (W.weight <= 1.0)).all()
    before = connected_components(sparse.csr_array(A), directed=False)[1]
    after = W.components()[1]
    np.testing.assert_array_equal(first_occurrence(after), first_occurrence(before))


@settings(max_examples=10)
@given(seeds)
@example(1)
@example(52)
@example(59)
def test_weights_do_not_depend_on_the_order_of_the_nodes(seed):
    A, group = planted(seed)
    order = np.random.default_rng(seed).permutation(group.size)
    found = weights(A[np.ix_(order, order)]).dense()
    np.testing.assert_allclose(found, weights(A).dense()[np.ix_(order, order)], atol=1e-9)


@settings(max_examples=10)
@given(seeds, st.sampled_from([1e-5, 4.0, 1e7]))
def test_weights_do_not_depend_on_the_unit_of_the_adjacency(seed, unit):
    A, _ = planted(seed)
    np.testing.assert_allclose(weights(unit * A).dense(), weights(A).dense(), atol=1e-9)


def test_pairs_separated_at_more_scales_have_smaller_weights():
    """Four groups in two pairs: same group, separated at fine scales, separated at every scale."""
    graph = fractal_graph(0, n_meta=2, n_super=4, clique=8)
    W = weights(graph.adjacency).dense()
    same_fine = graph.fine[:, None] == graph.fine
    same_coarse = graph.coarse[:, None] == graph.coarse
    kept = W > 0.0
    together, apart, far = (
        W[kept & pairs] for pairs in (same_fine, same_coarse & ~same_fine, ~same_coarse)
    )
    assert together.min() > apart.max()
    assert apart.min() > far.max()
    # At every scale each node has edges that leave its group.
    assert (kept & ~same_coarse).any(axis=1).all()


def test_with_equal_features_the_scales_alone_give_the_weights():
    """The weight is exp(-6 a), a the share of the scales that separate a pair."""
    graph = fractal_graph(0, n_meta=2, n_super=4, clique=8)
    A, X = graph.adjacency, features(graph.adjacency)
    scales = refined_scales(A, X)
    W = multiscale_weights(A, np.zeros_like(X), scales=scales).dense()
    shared = scales.co_membership(slice(0, len(X)))
    kept = W > 0.0
    np.testing.assert_allclose(np.log(W[kept]), -6.0 * (1.0 - shared[kept]), atol=1e-6)


def test_no_weights_between_components():
    one, other = planted(0)[0], planted(1)[0]
    A = np.block([[one, np.zeros((24, 24))], [np.zeros((24, 24)), other]])
    W = weights(A).dense()
    assert (W[:24, 24:] == 0.0).all()
    assert Graph.from_matrix(W).components()[0] == 2


def test_one_node_and_two():
    assert weights(np.zeros((1, 1))).n_edges == 0
    assert weights(np.zeros((2, 2))).n_edges == 0
    assert weights(np.ones((2, 2)) - np.eye(2)).n_edges == 1


def test_the_block_size_does_not_matter(monkeypatch):
    A, _ = planted(4)
    whole = weights(A).dense()
    monkeypatch.setattr(edge_weights, "BLOCK_ENTRIES", 7 * len(A))
    np.testing.assert_allclose(weights(A).dense(), whole, atol=1e-12)
