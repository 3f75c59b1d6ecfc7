"""The bound on the range of lam: above it, every connected component is one cluster."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convexhc.fusion import demand
from convexhc.fusion.contraction import contract
from convexhc.fusion.graph_solve import solve_graph
from convexhc.fusion.lam_max import consensus_bound, consensus_estimate
from convexhc.graph import Graph
from convexhc.model.problem import graph_problem, points_problem
from convexhc.similarity import knn
from convexhc.solvers.choose import choose_method
from laws import CONSTRAINTS, L1_RATIOS, l1_ratios, random_kernel, random_weights, seeds, solved

each_l1_ratio = pytest.mark.parametrize("l1_ratio", L1_RATIOS)
each_constraint = pytest.mark.parametrize("constraint", sorted(CONSTRAINTS))
each_parts = pytest.mark.parametrize("parts", [1, 2, 3])


def consensus(kernel):
    """Every node at the mean of its component."""
    labels = kernel.components()[1]
    together = (labels[:, None] == labels).astype(np.float64)
    return together / together.sum(axis=1, keepdims=True)


@each_constraint
@each_l1_ratio
@each_parts
@given(seed=seeds)
@settings(max_examples=4)
def test_at_the_bound_the_consensus_is_optimal(constraint, l1_ratio, parts, seed):
    rng = np.random.default_rng(seed)
    kernel = random_kernel(rng, int(rng.integers(max(2, 2 * parts), 10)), parts=parts)
    problem = graph_problem(kernel, 0.0, l1_ratio=l1_ratio, constraint=CONSTRAINTS[constraint])
    at_bound = problem.at(consensus_bound(problem))
    found = solved(at_bound, tol=1e-7).certificate
    # The consensus is optimal up to the gap of the certificate.
    J = consensus(kernel)
    assert at_bound.objective(J) <= found.objective + 1e-9 * abs(found.objective)


@each_constraint
@given(seed=seeds)
@settings(max_examples=8)
def test_at_the_bound_the_consensus_is_optimal_if_the_kernel_joins_components(constraint, seed):
    rng = np.random.default_rng(seed)
    kernel, weights = random_kernel(rng, 8), Graph.from_matrix(random_weights(rng, 8, parts=2))
    problem = graph_problem(kernel, 0.0, weights=weights, constraint=CONSTRAINTS[constraint])
    at_bound = problem.at(consensus_bound(problem))
    found = solved(at_bound, tol=1e-7).certificate
    assert at_bound.objective(consensus(weights)) <= found.objective + 1e-9 * abs(found.objective)


@each_constraint
@each_l1_ratio
@each_parts
@given(seed=seeds)
@settings(max_examples=3)
def test_above_the_bound_clusters_are_the_components(constraint, l1_ratio, parts, seed):
    rng = np.random.default_rng(seed)
    kernel = random_kernel(rng, int(rng.integers(max(2, 2 * parts), 10)), parts=parts)
    problem = graph_problem(kernel, 0.0, l1_ratio=l1_ratio, constraint=CONSTRAINTS[constraint])
    above = solved(problem.at(1.05 * consensus_bound(problem)), tol=1e-8)
    np.testing.assert_array_equal(above.labels, kernel.components()[1])
    # The smallest eigenvalue of the kernel is 1/2: a gap bounds the distance.
    distance = np.linalg.norm(above.centroids - consensus(kernel))
    assert distance <= np.sqrt(2.0 * max(above.certificate.gap, 0.0) / 0.5) + 1e-9


@given(st.floats(0.05, 0.9), l1_ratios)
def test_for_two_nodes_the_bound_is_the_lam_at_which_they_fuse(w, l1_ratio):
    pair = Graph.from_matrix(np.array([[1.0, w], [w, 1.0]]))
    problem = graph_problem(pair, 0.0, l1_ratio=l1_ratio)
    bound = consensus_bound(problem)
    below, above = (solved(problem.at(s * bound), tol=1e-10) for s in (0.97, 1.03))
    assert below.n_clusters == 2
    assert above.n_clusters == 1


@given(seeds, l1_ratios, st.floats(1e-6, 1e6))
def test_the_bound_scales_like_kernel_over_weights(seed, l1_ratio, scale):
    rng = np.random.default_rng(seed)
    kernel = random_kernel(rng, 6)
    weights = Graph.from_matrix(random_weights(rng, 6))

    def bound(k, w):
        K, W = Graph.from_matrix(k * kernel.dense()), Graph.from_matrix(w * weights.dense())
        return consensus_bound(graph_problem(K, 0.0, weights=W, l1_ratio=l1_ratio))

    once = bound(1.0, 1.0)
    assert bound(scale, 1.0) == pytest.approx(scale * once, rel=1e-7)
    assert bound(1.0, scale) == pytest.approx(once / scale, rel=1e-7)


@given(seeds)
def test_the_bound_does_not_depend_on_node_order_or_lam(seed):
    rng = np.random.default_rng(seed)
    kernel = random_kernel(rng, 8, parts=2)
    once = consensus_bound(graph_problem(kernel, 0.0))
    order = rng.permutation(8)
    assert consensus_bound(graph_problem(kernel.permuted(order), 0.0)) == pytest.approx(once)
    assert consensus_bound(graph_problem(kernel, 7.0)) == once


@given(seeds)
def test_the_bound_of_several_components_is_enough_for_each_alone(seed):
    # Alone, a component may use its constant row shifts, so it needs no larger lam.
    rng = np.random.default_rng(seed)
    kernel = random_kernel(rng, 8, parts=2)
    labels = kernel.components()[1]
    whole = consensus_bound(graph_problem(kernel, 0.0, l1_ratio=0.0))
    for part in (0, 1):
        alone = graph_problem(kernel.subgraph(np.flatnonzero(labels == part)), 0.0, l1_ratio=0.0)
        assert consensus_bound(alone) <= whole * (1 + 1e-9)


@given(seeds, st.integers(1, 4), st.sampled_from([2.0, 6.0, 11.0]))
def test_on_a_tree_the_bound_is_exact_for_weights_of_any_range(seed, dimension, orders):
    """The flow is unique: an edge carries the demand of the subtree beyond it."""
    rng = np.random.default_rng(seed)
    parent = np.array([rng.integers(0, i) for i in range(1, 12)])
    X, weight = rng.normal(size=(12, dimension)), 0.1 ** rng.uniform(0.0, orders, 11)
    tree = Graph.from_edges(12, parent, np.arange(1, 12), weight)
    beyond = X - X.mean(axis=0)
    for i in range(11, 0, -1):
        beyond[parent[i - 1]] += beyond[i]
    exact = (np.linalg.norm(beyond[1:], axis=1) / weight).max()
    assert consensus_bound(points_problem(X, tree, 0.0)) == pytest.approx(exact, rel=1e-6)


@given(seeds, l1_ratios)
def test_the_bound_does_not_depend_on_the_block_size(seed, l1_ratio):
    rng = np.random.default_rng(seed)
    problem = graph_problem(random_kernel(rng, 9), 0.0, l1_ratio=l1_ratio)
    once = consensus_bound(problem)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demand, "_MIN_COLUMNS", 1)
        patch.setattr(demand, "_BLOCK_ENTRIES", 0)
        assert consensus_bound(problem) == pytest.approx(once, rel=1e-9)


@given(seeds, st.integers(1, 4))
def test_on_a_tree_of_fused_points_the_bound_is_exact_too(seed, dimension):
    """Every cluster has the mass of its points."""
    rng = np.random.default_rng(seed)
    parent = np.array([rng.integers(0, i) for i in range(1, 12)])
    X, weight = rng.normal(size=(12, dimension)), rng.uniform(0.1, 1.0, 11)
    problem = points_problem(X, Graph.from_edges(12, parent, np.arange(1, 12), weight), 0.0)
    # Contract some of the edges; at least one is left.
    chosen = np.append(rng.random(10) < 0.5, False)
    joined = Graph.from_edges(12, parent[chosen], np.arange(1, 12)[chosen], weight[chosen])
    labels = joined.components()[1]
    small = contract(problem, labels).problem
    beyond = X - X.mean(axis=0)
    for i in range(11, 0, -1):
        beyond[parent[i - 1]] += beyond[i]
    exact = (np.linalg.norm(beyond[1:], axis=1) / weight)[~chosen].max()
    assert consensus_bound(small) == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize("scale", [1e-200, 1e60])
def test_weights_of_any_size_have_a_bound(scale):
    X, pair = np.array([[0.0], [2.0]]), Graph.from_edges(2, [0], [1], [scale])
    assert consensus_bound(points_problem(X, pair, 0.0)) * scale == pytest.approx(1.0)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_without_edges_the_bound_is_zero(n):
    assert consensus_bound(graph_problem(Graph.from_matrix(np.eye(n)), 0.0)) == 0.0


@pytest.fixture(scope="module", params=["one weak node", "even"])
def neighbours(request):
    """A neighbour graph of enough nodes for a sketch; with a node that hardly belongs to it."""
    X = np.random.default_rng(3).standard_normal((300, 2))
    K = knn(X, n_neighbors=8, shift="auto").matrix.toarray()
    if request.param == "one weak node":
        K[0, 1:] *= 1e-4
        K[1:, 0] *= 1e-4
    return graph_problem(Graph.from_matrix(K), 0.0)


def clusters_at(problem, lam):
    at, groups = problem.at(lam), problem.penalty.graph.components()[1]
    return solve_graph(at, groups, choose_method, tol=1e-6, max_iter=20_000).n_clusters


def test_at_the_estimate_the_consensus_is_proven_and_not_far_below(neighbours):
    """The search of conductances comes within a factor of three of the true lam."""
    estimate = consensus_estimate(neighbours)
    components = neighbours.penalty.graph.components()[0]
    assert clusters_at(neighbours, estimate) == components
    assert clusters_at(neighbours, estimate / 3.0) > components


def test_of_few_columns_the_estimate_is_the_bound():
    problem = graph_problem(random_kernel(np.random.default_rng(0), 20), 0.0)
    assert consensus_estimate(problem) == consensus_bound(problem)
