"""Every method agrees with every other and with an interior-point solver."""

from __future__ import annotations

import itertools

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

import convexhc
import naive
from convexhc import Status
from convexhc.datasets import fractal_graph
from convexhc.graph import Graph
from convexhc.model.problem import graph_problem, points_problem
from laws import (
    CONSTRAINTS,
    L1_RATIOS,
    METHODS,
    denoising_problem,
    l1_ratios,
    random_kernel,
    random_weights,
    seeds,
    solved,
)

LAMBDAS = (1e-3, 1e-2, 0.1, 0.3, 1.0, 10.0, 100.0)
FLOOR = 0.5  # smallest eigenvalue of the kernels, the modulus of strong convexity


def proven_distance(solution, modulus):
    """Upper bound on the distance of any minimiser from the centroids."""
    return np.sqrt(2.0 * max(solution.certificate.gap, 0.0) / modulus)


def assert_all_agree(problem, expected, modulus, gap=1e-8):
    """Methods agree with each other and the oracle, and none fuses what another proves distinct."""
    # With a gap of 1e-8 no minimiser is further than 1.5e-4 from the centroids, all entries
    # together; with 1e-9 than 5e-5.
    tight = {"tol": 0.0, "gap_tol": gap * modulus}
    found = {name: solved(problem, name, **tight) for name in METHODS}
    size = abs(expected.objective)
    for name, solution in found.items():
        assert solution.status is Status.SOLVED, name
        assert abs(solution.certificate.objective - expected.objective) <= 1e-6 * size, name
        np.testing.assert_allclose(solution.centroids, expected.C, atol=1e-4, err_msg=name)
    for one, other in itertools.permutations(found.values(), 2):
        assert abs(one.objective - other.objective) <= 1e-6 * abs(one.objective)
        np.testing.assert_allclose(one.centroids, other.centroids, atol=1e-4)
        reach = proven_distance(one, modulus) + proven_distance(other, modulus)
        i, j = np.nonzero(one.labels[:, None] == one.labels)
        apart = np.linalg.norm(other.centroids[i] - other.centroids[j], axis=1)
        assert apart.max() <= np.sqrt(2.0) * reach + 1e-12


# All combinations of l1_ratio, lam and constraint; connected and disconnected in turn.
GRID = [
    (l1_ratio, constraint, parts, LAMBDAS[(turn + parts) % 2 :: 2])
    for l1_ratio in L1_RATIOS
    for turn, constraint in enumerate(CONSTRAINTS)
    for parts in (1, 2)
]


@pytest.mark.parametrize(("l1_ratio", "constraint", "parts", "lambdas"), GRID)
def test_graph_model(l1_ratio, constraint, parts, lambdas):
    for k, lam in enumerate(lambdas):
        n = 6 + (3 * k + 2 * parts) % 5
        kernel = random_kernel(np.random.default_rng(100 * parts + k), n, parts=parts, floor=FLOOR)
        problem = graph_problem(kernel, lam, l1_ratio=l1_ratio, constraint=CONSTRAINTS[constraint])
        expected = oracle.graph(kernel, lam, l1_ratio=l1_ratio, constraint=constraint)
        assert_all_agree(problem, expected, FLOOR)


@pytest.mark.parametrize(("n", "parts", "lam", "l1_ratio"), [(20, 1, 0.1, 0.05), (16, 2, 0.3, 0.5)])
def test_graph_model_on_more_nodes(n, parts, lam, l1_ratio):
    kernel = random_kernel(np.random.default_rng(n), n, parts=parts, floor=FLOOR, density=0.3)
    expected = oracle.graph(kernel, lam, l1_ratio=l1_ratio)
    assert_all_agree(graph_problem(kernel, lam, l1_ratio=l1_ratio), expected, FLOOR)


@pytest.mark.parametrize("l1_ratio", L1_RATIOS)
def test_graph_model_with_weights_of_its_own(l1_ratio):
    rng = np.random.default_rng(17)
    kernel = random_kernel(rng, 8, floor=FLOOR)
    weights = Graph.from_matrix(random_weights(rng, 8, parts=2, density=0.2))
    expected = oracle.graph(kernel, 0.4, weights=weights, l1_ratio=l1_ratio)
    problem = graph_problem(kernel, 0.4, weights=weights, l1_ratio=l1_ratio)
    assert_all_agree(problem, expected, FLOOR)


@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("l1_ratio", L1_RATIOS)
def test_points_model(l1_ratio, parts):
    rng = np.random.default_rng(parts)
    X = rng.normal(size=(10, 3))
    weights = Graph.from_matrix(random_weights(rng, 10, parts=parts))
    for lam in LAMBDAS:
        expected = oracle.proximity(X, weights, lam, l1_ratio=l1_ratio)
        problem = points_problem(X, weights, lam, l1_ratio=l1_ratio)
        assert_all_agree(problem, expected, 1.0, gap=1e-9)


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("l1_ratio", L1_RATIOS)
def test_denoising_model(l1_ratio, constraint):
    rng = np.random.default_rng(7)
    B = np.eye(8) + 0.3 * rng.normal(size=(8, 8))
    weights = Graph.from_matrix(random_weights(rng, 8))
    for lam in (1e-3, 0.1, 10.0):
        expected = oracle.proximity(B, weights, lam, l1_ratio=l1_ratio, constraint=constraint)
        problem = denoising_problem(
            B, weights, lam, l1_ratio=l1_ratio, constraint=CONSTRAINTS[constraint]
        )
        assert_all_agree(problem, expected, 1.0, gap=1e-9)


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_public_solve(method, constraint):
    kernel = random_kernel(np.random.default_rng(4), 8, floor=FLOOR)
    K = kernel.dense()
    solution = convexhc.solve(K, 0.15, l1_ratio=0.2, method=method, constraint=constraint, tol=1e-9)
    expected = oracle.graph(kernel, 0.15, l1_ratio=0.2, constraint=constraint)
    assert solution.objective == pytest.approx(2.0 * expected.objective, rel=1e-6)
    np.testing.assert_allclose(solution.pi, expected.C.T, atol=1e-4)
    # lam and the objective are those of the paper, whose sum runs over ordered pairs.
    on_paper = naive.paper_objective(solution.pi, K, K, 0.15, 0.2)
    assert solution.objective == pytest.approx(on_paper, rel=1e-10)


@pytest.mark.parametrize("method", METHODS)
@given(seed=seeds, l1_ratio=l1_ratios, lam=st.sampled_from([0.01, 0.2, 3.0]))
@settings(max_examples=6)
def test_relabelling_the_nodes_relabels_the_solution(method, seed, l1_ratio, lam):
    rng = np.random.default_rng(seed)
    kernel = random_kernel(rng, 7, parts=int(rng.integers(1, 3)), floor=FLOOR)
    order = rng.permutation(7)
    problem = graph_problem(kernel, lam, l1_ratio=l1_ratio)
    relabelled = graph_problem(kernel.permuted(order), lam, l1_ratio=l1_ratio)
    one = solved(problem, method, tol=1e-7, max_iter=5000)
    other = solved(relabelled, method, tol=1e-7, max_iter=5000)
    assert other.objective == pytest.approx(one.objective, rel=2e-7)
    reach = proven_distance(one, FLOOR) + proven_distance(other, FLOOR)
    apart = np.linalg.norm(other.centroids - one.centroids[np.ix_(order, order)])
    assert apart <= reach + 1e-12
    np.testing.assert_allclose(other.centroids, one.centroids[np.ix_(order, order)], atol=1e-3)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_the_unit_of_the_similarity_does_not_matter(method, scale):
    # Weights come from K, so both terms scale equally and the minimiser does not change.
    kernel = random_kernel(np.random.default_rng(3), 9, floor=FLOOR)
    scaled = Graph.from_matrix(scale * kernel.dense())
    for lam in (0.05, 0.5, 5.0):
        plain = solved(graph_problem(kernel, lam), method, tol=1e-7, max_iter=5000)
        other = solved(graph_problem(scaled, lam), method, tol=1e-7, max_iter=5000)
        assert plain.status is Status.SOLVED
        assert other.status is Status.SOLVED
        assert other.objective == pytest.approx(scale * plain.objective, rel=2e-7)
        np.testing.assert_array_equal(other.labels, plain.labels)
        np.testing.assert_allclose(other.centroids, plain.centroids, atol=1e-3)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_the_unit_of_the_points_does_not_matter(method, scale):
    rng = np.random.default_rng(8)
    X, weights = rng.normal(size=(9, 3)), Graph.from_matrix(random_weights(rng, 9))
    for lam in (0.1, 0.4, 5.0):
        plain = solved(points_problem(X, weights, lam), method, tol=1e-6, max_iter=5000)
        other = solved(
            points_problem(scale * X, weights, scale * lam), method, tol=1e-6, max_iter=5000
        )
        assert other.status is Status.SOLVED
        assert other.objective == pytest.approx(scale**2 * plain.objective, rel=2e-6)
        np.testing.assert_array_equal(other.labels, plain.labels)
        np.testing.assert_allclose(other.centroids, scale * plain.centroids, atol=1e-2 * scale)


@pytest.fixture(scope="module")
def fractal():
    """The paper's graph under its two-hop kernel, with both levels of its groups."""
    adjacency, fine, coarse = fractal_graph(0)
    hops = (adjacency @ adjacency).toarray()
    degree = hops.sum(axis=1)
    kernel = Graph.from_matrix(hops / np.sqrt(np.outer(degree, degree)))
    return graph_problem(kernel, 0.0, l1_ratio=0.05), fine, coarse


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("lam", "level"), [(0.5, "fine"), (1.0, "fine"), (3.0, "coarse")])
def test_both_levels_of_the_fractal_graph_are_found(fractal, method, lam, level):
    problem, fine, coarse = fractal
    truth = fine if level == "fine" else coarse
    solution = solved(problem.at(lam), method, tol=1e-4)
    assert solution.status is Status.SOLVED
    assert solution.relative_gap <= 1e-4
    assert solution.n_clusters == len(np.unique(truth))
    # Nodes are ordered by group, so the numbering of the clusters is known too.
    np.testing.assert_array_equal(solution.labels, truth)
    assert adjusted_rand_score(truth, solution.labels) == 1.0
