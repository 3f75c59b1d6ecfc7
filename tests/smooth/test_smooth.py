"""The smooth model: closed form, projected gradient and interior point are one and the same."""

from __future__ import annotations

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from projected_gradient import ProjectedGradient

import convexhc
import naive
from convexhc import Status
from convexhc.graph import Graph
from convexhc.model.problem import smooth_problem
from convexhc.solvers.loop import run
from laws import assert_gradient, random_kernel, seeds

strengths = st.sampled_from([0.0, 0.01, 0.3, 5.0, 1e3])


@given(seeds, st.integers(1, 9), strengths, st.integers(1, 2))
def test_closed_form_is_symmetric_and_doubly_stochastic_by_itself(seed, n, lam, parts):
    kernel = random_kernel(np.random.default_rng(seed), n, parts=min(parts, n))
    pi = convexhc.SmoothModel.of(kernel).pi(lam)
    np.testing.assert_allclose(pi, pi.T, atol=1e-12)
    np.testing.assert_allclose(pi.sum(axis=0), 1.0, atol=1e-10)
    assert pi.min() >= -1e-12


@given(seeds, st.integers(1, 9), strengths)
def test_closed_form_has_no_slope_left(seed, n, lam):
    rng = np.random.default_rng(seed)
    kernel = random_kernel(rng, n)
    problem = smooth_problem(kernel, lam)
    C = convexhc.SmoothModel.of(kernel).pi(lam).T
    slope = problem.fidelity.evaluate(C)[1] + problem.penalty.gradient(C)
    np.testing.assert_allclose(slope, 0.0, atol=1e-9 * max(1.0, lam))


@given(seeds, st.integers(1, 6), strengths)
def test_closed_form_minimises_the_objective_of_the_paper(seed, n, lam):
    rng = np.random.default_rng(seed)
    kernel = random_kernel(rng, n)
    K = kernel.dense()
    pi = convexhc.SmoothModel.of(kernel).pi(lam)
    least = naive.paper_smooth_objective(pi, K, lam)
    for size in (1e-3, 0.1):
        other = pi + size * rng.normal(size=(n, n))
        assert naive.paper_smooth_objective(other, K, lam) > least


@given(seeds, st.integers(1, 7))
def test_gradient_by_differences(seed, n):
    rng = np.random.default_rng(seed)
    problem = smooth_problem(random_kernel(rng, n), 0.4)
    C = rng.normal(size=(n, n))
    slope = problem.fidelity.evaluate(C)[1] + problem.penalty.gradient(C)
    assert_gradient(problem.objective, slope, C, rng)
    # In the paper's scale: 2 K pi (I + 2 lam L) - 2 K.
    K = problem.penalty.K
    L = np.diag((K - np.diag(np.diag(K))).sum(axis=1)) - (K - np.diag(np.diag(K)))
    on_paper = 2.0 * K @ C.T @ (np.eye(n) + 0.8 * L) - 2.0 * K
    np.testing.assert_allclose(2.0 * slope.T, on_paper, atol=1e-9)


@pytest.mark.parametrize("lam", [0.0, 0.05, 1.0])
@pytest.mark.parametrize("parts", [1, 2])
def test_three_roads_to_one_answer(lam, parts):
    kernel = random_kernel(np.random.default_rng(parts), 8, parts=parts, floor=1.0)
    closed = convexhc.SmoothModel.of(kernel).pi(lam)
    problem = smooth_problem(kernel, lam)
    walked = run(problem, ProjectedGradient(), tol=1e-10)
    assert walked.status is Status.SOLVED
    np.testing.assert_allclose(walked.pi, closed, atol=1e-4)
    assert problem.objective(closed.T) == pytest.approx(walked.certificate.objective, rel=1e-9)
    for constraint in ("doubly_stochastic", "free"):
        expected = oracle.smooth(kernel, lam, constraint=constraint)
        assert problem.objective(closed.T) == pytest.approx(expected.objective, rel=1e-7)
        np.testing.assert_allclose(closed.T, expected.C, atol=1e-4)


@given(seeds, st.sampled_from([0.0, 0.1, 4.0]))
@settings(max_examples=10)
def test_its_certificate_is_never_below_the_true_suboptimality(seed, lam):
    rng = np.random.default_rng(seed)
    kernel = random_kernel(rng, 6)
    problem = smooth_problem(kernel, lam)
    best = problem.objective(convexhc.SmoothModel.of(kernel).pi(lam).T)
    for _ in range(3):
        C = convexhc.project_doubly_stochastic(rng.normal(size=(6, 6)))
        certificate = problem.certify(C, np.empty((0, 0)))
        assert certificate.gap >= certificate.objective - best - 1e-9


def test_projected_gradient_goes_on_from_a_start_and_leaves_it_alone():
    kernel = random_kernel(np.random.default_rng(5), 7, floor=1.0)
    problem = smooth_problem(kernel, 0.3)
    first = run(problem, ProjectedGradient(), tol=1e-8)
    kept = first.centroids.copy()
    again = run(problem, ProjectedGradient(), tol=1e-8, start=first)
    assert again.n_iter == 0
    run(problem.at(2.0), ProjectedGradient(), tol=1e-8, start=first)
    np.testing.assert_array_equal(first.centroids, kept)
    np.testing.assert_array_equal(first.labels, np.arange(7))


@given(seeds, st.integers(2, 8), st.integers(1, 2))
def test_limits_are_the_identity_and_the_consensus(seed, n, parts):
    kernel = random_kernel(np.random.default_rng(seed), n, parts=parts)
    model = convexhc.SmoothModel.of(kernel)
    first, last = model.pi(0.0), model.pi(1e9)
    np.testing.assert_allclose(first, np.eye(n), atol=1e-12)
    labels = kernel.components()[1]
    same = (labels[:, None] == labels).astype(float)
    np.testing.assert_allclose(last, same / same.sum(axis=1, keepdims=True), atol=1e-6)


def test_a_path_keeps_its_lambdas_and_names_and_refuses_others():
    graph = Graph.from_matrix(np.eye(2) + 1.0, names=["a", "b"])
    path = convexhc.smooth_path(graph, [2.0, 0.5])
    np.testing.assert_array_equal(path.lambdas, [0.5, 2.0])
    assert path.names == ("a", "b")
    with pytest.raises(ValueError, match=r"lambdas .* received -1"):
        convexhc.smooth_path(graph, [-1.0])
    with pytest.raises(ValueError, match="not positive semidefinite"):
        convexhc.smooth_path([[0.0, 1.0], [1.0, 0.0]], [1.0])
