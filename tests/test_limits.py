"""Limits of the path and small inputs, where the solution is known in closed form."""

from __future__ import annotations

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import convexhc
from convexhc import Status
from convexhc.fusion.lam_max import consensus_bound
from convexhc.graph import Graph
from convexhc.model.problem import graph_problem, points_problem
from laws import (
    CONSTRAINTS,
    METHODS,
    classes_of_equal_rows,
    denoising_problem,
    l1_ratios,
    random_kernel,
    random_weights,
    seeds,
    solved,
)

every_method = pytest.mark.parametrize("method", METHODS)


def consensus(labels):
    """Every node at the mean of its component."""
    same = (labels[:, None] == labels).astype(float)
    return same / same.sum(axis=1, keepdims=True)


@every_method
@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_without_penalty_every_node_is_its_own_centroid(method, constraint):
    kernel = random_kernel(np.random.default_rng(0), 9)
    problem = graph_problem(kernel, 0.0, constraint=CONSTRAINTS[constraint])
    cold = solved(problem, method, tol=1e-9)
    np.testing.assert_allclose(cold.pi, np.eye(9), atol=1e-8)
    np.testing.assert_array_equal(cold.labels, np.arange(9))
    # From a distant start, so that the method must iterate.
    far = solved(problem.at(50.0), method, tol=1e-6)
    assert far.n_clusters == 1
    back = solved(problem, method, start=far, tol=1e-9, max_iter=5000)
    assert back.status is Status.SOLVED
    assert back.n_iter > 0
    np.testing.assert_allclose(back.pi, np.eye(9), atol=1e-4)
    np.testing.assert_array_equal(back.labels, np.arange(9))


@every_method
@pytest.mark.parametrize("parts", [1, 2, 3])
@given(seed=seeds, l1_ratio=l1_ratios)
@settings(max_examples=4)
def test_under_a_huge_penalty_every_component_is_one_cluster(method, parts, seed, l1_ratio):
    rng = np.random.default_rng(seed)
    kernel = random_kernel(rng, 9, parts=parts)
    order = rng.permutation(9)
    kernel = kernel.permuted(order)
    components = kernel.components()[1]
    solution = solved(graph_problem(kernel, 1e3, l1_ratio=l1_ratio), method, tol=1e-8)
    assert solution.status is Status.SOLVED
    np.testing.assert_array_equal(solution.labels, components)
    np.testing.assert_array_equal(classes_of_equal_rows(solution.centroids), components)
    np.testing.assert_allclose(solution.centroids, consensus(components), atol=2e-4)


@every_method
def test_rows_on_the_simplex_reach_consensus_too(method):
    kernel = random_kernel(np.random.default_rng(3), 8, parts=2)
    problem = graph_problem(kernel, 1e3, constraint=CONSTRAINTS["simplex"])
    solution = solved(problem, method, tol=1e-8)
    np.testing.assert_array_equal(solution.labels, kernel.components()[1])
    np.testing.assert_array_equal(classes_of_equal_rows(solution.centroids), solution.labels)


@every_method
def test_points_under_a_huge_penalty_fuse_at_the_mean_of_their_component(method):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(9, 4))
    weights = Graph.from_matrix(random_weights(rng, 9, parts=2))
    components = weights.components()[1]
    solution = solved(points_problem(X, weights, 1e3), method, tol=1e-8)
    np.testing.assert_array_equal(solution.labels, components)
    np.testing.assert_allclose(solution.centroids, consensus(components) @ X, atol=1e-8)


@given(seed=seeds, l1_ratio=l1_ratios, parts=st.integers(1, 2))
@settings(max_examples=8)
def test_from_the_consensus_bound_on_the_consensus_is_optimal(seed, l1_ratio, parts):
    kernel = random_kernel(np.random.default_rng(seed), 8, parts=parts)
    problem = graph_problem(kernel, 0.0, l1_ratio=l1_ratio)
    lam = consensus_bound(problem)
    components = kernel.components()[1]
    agreed = consensus(components)
    best = oracle.graph(kernel, lam, l1_ratio=l1_ratio).objective
    assert problem.at(lam).objective(agreed) == pytest.approx(best, rel=1e-6)


def complete_graph(n, own, shared):
    return Graph.from_matrix(np.full((n, n), shared) + (own - shared) * np.eye(n))


def shrinkage(n, own, shared, lam, l1_ratio):
    """pi = s I + (1 - s) J / n on the complete graph with equal weights: the s of the minimum."""
    per_edge = (1.0 - l1_ratio) * np.sqrt(2.0) + 2.0 * l1_ratio
    return max(0.0, 1.0 - lam * shared * n * per_edge / (2.0 * (own - shared)))


@every_method
@pytest.mark.parametrize("n", [2, 3, 6])
@given(lam=st.floats(0.0, 3.0), l1_ratio=st.floats(0.0, 1.0), shared=st.floats(0.1, 0.8))
@settings(max_examples=5)
def test_complete_graph_with_equal_weights_agrees_with_the_closed_form(
    method, n, lam, l1_ratio, shared
):
    s = shrinkage(n, 1.0, shared, lam, l1_ratio)
    problem = graph_problem(complete_graph(n, 1.0, shared), lam, l1_ratio=l1_ratio)
    solution = solved(problem, method, tol=1e-8, max_iter=5000)
    assert solution.status is Status.SOLVED
    np.testing.assert_allclose(solution.pi, s * np.eye(n) + (1 - s) / n, atol=1e-3)
    if s > 1e-2:
        assert solution.n_clusters == n
    # Just above the fusion round-off decides; well above it, everything must be fused.
    if shrinkage(n, 1.0, shared, 0.98 * lam, l1_ratio) == 0.0:
        assert solution.n_clusters == 1


@pytest.mark.parametrize("n", [2, 5])
@pytest.mark.parametrize("l1_ratio", [0.0, 0.05, 1.0])
def test_consensus_bound_is_exact_on_the_complete_graph(n, l1_ratio):
    problem = graph_problem(complete_graph(n, 1.0, 0.25), 0.0, l1_ratio=l1_ratio)
    per_edge = (1.0 - l1_ratio) * np.sqrt(2.0) + 2.0 * l1_ratio
    true = 2.0 * 0.75 / (0.25 * n * per_edge)
    assert consensus_bound(problem) >= true * (1 - 1e-12)
    if n == 2:
        assert consensus_bound(problem) == pytest.approx(true)


@every_method
@given(lam=st.floats(0.0, 2.0), l1_ratio=l1_ratios, seed=seeds)
@settings(max_examples=5)
def test_two_points_agree_with_the_closed_form(method, lam, l1_ratio, seed):
    # Along a coordinate axis both norms are equal, and each point moves by lam w.
    rng = np.random.default_rng(seed)
    X = np.zeros((2, 3))
    X[1, 1] = 1.0 + rng.random()
    weights = Graph.from_edges(2, [0], [1], [0.5])
    solution = solved(points_problem(X, weights, lam, l1_ratio=l1_ratio), method, tol=1e-10)
    step = min(0.5 * lam, 0.5 * X[1, 1])
    expected = X.copy()
    expected[0, 1] += step
    expected[1, 1] -= step
    np.testing.assert_allclose(solution.centroids, expected, atol=1e-4)
    assert solution.n_clusters == (1 if step == 0.5 * X[1, 1] else 2)


@every_method
@pytest.mark.parametrize("lam", [0.0, 1.0, 100.0])
def test_one_node_is_one_cluster(method, lam):
    solution = convexhc.solve([[2.0]], lam, method=method)
    np.testing.assert_array_equal(solution.pi, [[1.0]])
    np.testing.assert_array_equal(solution.labels, [0])
    assert solution.status is Status.SOLVED
    assert solution.objective == pytest.approx(-2.0)


@every_method
@pytest.mark.parametrize("lam", [0.0, 1.0, 100.0])
def test_without_edges_the_penalty_does_nothing(method, lam):
    solution = convexhc.solve(np.diag([1.0, 2.0, 3.0]), lam, method=method)
    np.testing.assert_allclose(solution.pi, np.eye(3), atol=1e-12)
    np.testing.assert_array_equal(solution.labels, [0, 1, 2])
    assert solution.dual.shape == (0, 3)


@every_method
def test_every_method_converges_without_edges(method):
    rng = np.random.default_rng(6)
    kernel, empty = random_kernel(rng, 5), Graph.from_edges(5, [], [])
    problem = graph_problem(kernel, 1.0, weights=empty)
    lost = solved(problem, method, max_iter=0)
    far = convexhc.Solution(
        np.full((5, 5), 0.2), lost.dual, lost.labels, lost.certificate, lost.status, 0, 1.0, ""
    )
    back = solved(problem, method, start=far, tol=1e-8, max_iter=3000)
    assert back.n_iter > 0
    assert back.status is Status.SOLVED
    np.testing.assert_allclose(back.pi, np.eye(5), atol=1e-3)


@every_method
def test_denoising_without_edges_is_the_projection(method):
    B = np.random.default_rng(1).normal(size=(4, 4))
    solution = solved(denoising_problem(B, Graph.from_edges(4, [], []), 1.0), method, tol=1e-10)
    np.testing.assert_allclose(solution.centroids, convexhc.project_doubly_stochastic(B), atol=1e-7)


@every_method
@pytest.mark.parametrize("lam", [0.05, 1.0, 50.0])
def test_isolated_nodes_stay_alone(method, lam):
    K = np.zeros((7, 7))
    K[:5, :5] = random_kernel(np.random.default_rng(8), 5).dense()
    K[5, 5], K[6, 6] = 1.0, 3.0
    solution = convexhc.solve(K, lam, method=method, tol=1e-8)
    assert np.count_nonzero(solution.labels == solution.labels[5]) == 1
    assert np.count_nonzero(solution.labels == solution.labels[6]) == 1
    assert solution.relative_gap <= 1e-8
    if lam == 50.0:
        # In between, the column sums may shift mass of fused nodes to an isolated one.
        np.testing.assert_allclose(solution.centroids[5:], np.eye(7)[5:], atol=1e-3)


@every_method
@pytest.mark.parametrize("lam", [0.02, 0.5])
def test_duplicated_nodes_share_a_cluster_under_any_penalty(method, lam):
    # Exchanging two nodes with equal rows of K does not change the objective, so by convexity
    # their mean is no worse, and the edge between them makes it better.
    single = random_kernel(np.random.default_rng(11), 6).dense()
    nodes = [0, 1, 2, 3, 4, 5, 2, 2, 4]
    K = single[np.ix_(nodes, nodes)]
    solution = convexhc.solve(K, lam, method=method, tol=1e-7)
    labels = solution.labels
    assert solution.status is Status.SOLVED
    assert labels[2] == labels[6] == labels[7]
    assert labels[4] == labels[8]
    expected = oracle.graph(Graph.from_matrix(K), lam)
    assert solution.objective == pytest.approx(2 * expected.objective, rel=1e-6)


@every_method
def test_stored_zero_weights_are_no_edges(method):
    kernel = random_kernel(np.random.default_rng(9), 6)
    W = np.zeros((6, 6))
    W[0, 1] = W[1, 0] = 1.0
    stored = csr_array((np.array([1.0, 1.0, 0.0, 0.0]), ([0, 1, 2, 3], [1, 0, 3, 2])), (6, 6))
    K = kernel.dense()
    plain = convexhc.solve(K, 2.0, weights=W, method=method)
    zeros = convexhc.solve(K, 2.0, weights=stored, method=method)
    assert zeros.dual.shape == (1, 6)
    np.testing.assert_array_equal(plain.centroids, zeros.centroids)
    np.testing.assert_array_equal(zeros.labels, [0, 0, 1, 2, 3, 4])


@every_method
def test_a_singular_kernel_still_has_a_certified_minimum(method):
    rng = np.random.default_rng(12)
    F = rng.random((8, 3))
    kernel = Graph.from_matrix(F @ F.T)
    expected = oracle.graph(kernel, 0.05)
    solution = solved(graph_problem(kernel, 0.05), method, tol=1e-7, max_iter=10_000)
    assert solution.status is Status.SOLVED
    assert solution.certificate.objective == pytest.approx(expected.objective, rel=1e-6)


@every_method
def test_with_a_zero_kernel_the_weights_alone_fuse(method):
    ring = np.roll(np.eye(6), 1, axis=1)
    solution = convexhc.solve(np.zeros((6, 6)), 1.0, weights=ring + ring.T, method=method)
    assert solution.n_clusters == 1
    np.testing.assert_allclose(solution.centroids, 1.0 / 6.0, atol=1e-9)
