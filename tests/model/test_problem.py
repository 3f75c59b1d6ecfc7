"""A problem is the sum of its three terms, and its certificate is never too small."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from convexhc.api.points_path import solve_points_path
from convexhc.graph import Graph
from convexhc.model.problem import Certificate, cluster_means, fuse, graph_problem
from convexhc.solvers.choose import choose_method
from convexhc.solvers.loop import Status, run
from laws import (
    METHODS,
    assert_convex_between,
    first_occurrence,
    l1_ratios,
    models,
    random_doubly_stochastic,
    random_feasible,
    random_kernel,
    random_problem,
    random_weights,
    seeds,
    solved,
)

strengths = st.sampled_from([0.0, 0.01, 0.3, 2.0, 100.0])


@given(seeds, st.integers(1, 7), strengths, l1_ratios)
def test_twice_the_objective_is_that_of_the_paper(seed, n, lam, l1_ratio):
    rng = np.random.default_rng(seed)
    kernel, weights = random_kernel(rng, n), Graph.from_matrix(random_weights(rng, n))
    C = random_doubly_stochastic(rng, n)
    K, W = kernel.dense(), weights.dense()
    own = graph_problem(kernel, lam, l1_ratio=l1_ratio)
    other = graph_problem(kernel, lam, weights=weights, l1_ratio=l1_ratio)
    assert 2 * own.objective(C) == pytest.approx(
        naive.paper_objective(C.T, K, K, lam, l1_ratio), abs=1e-10
    )
    assert 2 * other.objective(C) == pytest.approx(
        naive.paper_objective(C.T, K, W, lam, l1_ratio), abs=1e-10
    )


@given(seeds, models, strengths, l1_ratios)
def test_objective_is_convex_along_segments(seed, model, lam, l1_ratio):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, model, lam, l1_ratio)
    A, B = random_feasible(rng, problem), random_feasible(rng, problem)
    assert_convex_between(problem.objective, A, B, atol=1e-9 * max(1.0, lam))


@given(seeds, models, l1_ratios)
def test_at_changes_only_the_penalty_strength(seed, model, l1_ratio):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, model, 0.7, l1_ratio)
    C = random_feasible(rng, problem)
    free, doubled = problem.at(0.0).objective(C), problem.at(1.4).objective(C)
    assert problem.objective(C) - free == pytest.approx((doubled - free) / 2, abs=1e-9)
    assert (problem.lam, problem.at(1.4).lam) == (0.7, 1.4)
    assert problem.at(1.4).fidelity is problem.fidelity
    assert problem.at(1.4).penalty.differences is problem.penalty.differences


@given(seeds, models, strengths, l1_ratios, st.sampled_from([0.1, 1.0, 30.0]))
@settings(max_examples=60)
def test_certificate_is_never_below_the_true_suboptimality(seed, model, lam, l1_ratio, scale):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, model, lam, l1_ratio)
    # An upper bound of the minimum: its own suboptimality must be covered too.
    best = solved(problem, "admm", tol=1e-7, max_iter=2000).certificate
    rows = problem.penalty.n_edges, problem.shape[1]
    round_off = 1e-9 * max(1.0, problem.fidelity.scale)
    for _ in range(4):
        C = random_feasible(rng, problem)
        Y = problem.penalty.feasible_dual(scale * rng.normal(size=rows))
        certificate = problem.certify(C, Y)
        assert certificate.objective == pytest.approx(problem.objective(C))
        assert certificate.gap >= -round_off
        assert certificate.gap >= certificate.objective - best.objective - round_off
        assert certificate.residual <= 1e-9
    # No feasible point may be below the lower bound of the best one.
    assert problem.objective(C) >= best.objective - best.gap - round_off


@given(seeds, models, l1_ratios)
def test_the_gap_at_the_best_dual_covers_the_suboptimality(seed, model, l1_ratio):
    """With the best dual, the gap is at least the suboptimality of the centroids."""
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, model, 0.3, l1_ratio)
    best = solved(problem, "admm", tol=1e-7)
    C = random_feasible(rng, problem)
    certificate = problem.certify(C, best.dual)
    worse = problem.objective(C) - best.certificate.objective
    assert certificate.gap >= worse - 1e-9 * max(1.0, problem.fidelity.scale)
    if model in ("denoising", "points"):
        # The bound of squared distances does not depend on the centroids.
        assert certificate.gap == pytest.approx(worse + best.certificate.gap, rel=1e-6, abs=1e-9)


@given(seeds, models, st.sampled_from([1e-8, 1e-4, 0.3]), l1_ratios)
def test_gaps_are_relative_to_the_objective_and_not_to_the_data(seed, model, lam, l1_ratio):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, model, lam, l1_ratio)
    C = problem.constraint.project(problem.fidelity.target).C
    certificate = problem.certify(C, np.zeros((problem.penalty.n_edges, problem.shape[1])))
    expected = max(certificate.gap, 0.0) / abs(problem.objective(C))
    assert certificate.relative_gap == pytest.approx(expected, rel=1e-9)


@given(seeds, st.sampled_from(["graph", "simplex", "denoising"]), st.floats(-0.5, 0.5))
def test_a_certificate_reports_the_constraint_violation(seed, model, off):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, model, 0.3, 0.05)
    C = (1.0 + off) * random_feasible(rng, problem)
    Y = np.zeros((problem.penalty.n_edges, problem.shape[1]))
    # The sum of every row is too large by this amount.
    assert problem.certify(C, Y).residual == pytest.approx(abs(off), abs=1e-9)


@given(seeds, strengths, l1_ratios)
@settings(max_examples=20)
def test_certificate_of_a_graph_is_valid_and_tight_at_a_minimiser(seed, lam, l1_ratio):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, "graph", lam, l1_ratio)
    best = solved(problem, "admm", tol=1e-7, max_iter=2000)
    again = problem.certify(best.centroids, best.dual)
    C = random_feasible(rng, problem)
    Y = problem.penalty.feasible_dual(rng.normal(size=(problem.penalty.n_edges, problem.shape[1])))
    loose = problem.certify(C, Y)
    # The bound by potentials is close to the minimum at a minimiser, and nowhere above it.
    assert again.relative_gap <= 1e-4
    assert loose.gap >= loose.objective - best.certificate.objective - 1e-9


@pytest.mark.parametrize("method", METHODS)
@given(seed=seeds, model=models, lam=strengths, l1_ratio=l1_ratios)
@settings(max_examples=8)
def test_the_certificate_of_a_solution_is_that_of_its_centroids_and_dual(
    method, seed, model, lam, l1_ratio
):
    problem = random_problem(np.random.default_rng(seed), model, lam, l1_ratio)
    solution = solved(problem, method, tol=1e-5)
    again = problem.certify(solution.centroids, solution.dual)
    assert again.gap == pytest.approx(solution.certificate.gap, abs=1e-12)
    assert again.objective == pytest.approx(solution.certificate.objective)
    assert solution.relative_gap <= 1e-5
    # The dual proves the gap only if it is in its balls.
    inside = problem.penalty.feasible_dual(solution.dual)
    np.testing.assert_allclose(inside, solution.dual, atol=1e-10 * max(1.0, lam))
    assert solution.certificate.residual <= 1e-9


def test_relative_gap_ignores_round_off_of_a_vanishing_objective():
    assert Certificate(-2.0, 1.0, 0.0, 1e-12).relative_gap == 0.5
    assert Certificate(1.0, -1e-18, 0.0, 1e-12).relative_gap == 0.0
    assert Certificate(0.0, 1e-17, 0.0, 1e-12).relative_gap == pytest.approx(1e-5)


@given(seeds, st.lists(st.integers(0, 3), min_size=1, max_size=9))
def test_fusing_takes_means_and_keeps_both_sums(seed, groups):
    rng = np.random.default_rng(seed)
    labels = first_occurrence(groups)
    n = labels.size
    C = random_doubly_stochastic(rng, n)
    before = C.copy()
    fused = fuse(C, labels)
    np.testing.assert_array_equal(C, before)
    for i in range(n):
        np.testing.assert_allclose(fused[i], C[labels == labels[i]].mean(axis=0), atol=1e-15)
        assert all(
            fused[i].tobytes() == fused[j].tobytes() for j in np.flatnonzero(labels == labels[i])
        )
    assert fused.min() >= 0.0
    np.testing.assert_allclose(fused.sum(axis=1), 1.0, atol=1e-14)
    np.testing.assert_allclose(fused.sum(axis=0), 1.0, atol=1e-14)


@given(seed=seeds)
def test_fusing_rows_of_different_mass_keeps_the_sums(seed):
    """Otherwise a contracted problem would certify an infeasible point."""
    rng = np.random.default_rng(seed)
    groups = first_occurrence(rng.integers(0, 6, 10))
    D = cluster_means(random_doubly_stochastic(rng, 10), groups)
    mass = np.bincount(groups).astype(float)
    labels = first_occurrence(rng.integers(0, 3, mass.size))
    fused = fuse(D, labels, mass)
    np.testing.assert_allclose(mass @ fused, 1.0, atol=1e-12)
    np.testing.assert_allclose(fused.sum(axis=1), 1.0, atol=1e-12)


def centred_problem(scale=1.0, lam=20.0):
    """A kernel whose rows sum to zero: the objective of the consensus is zero."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(9, 3))
    X -= X.mean(axis=0)
    W = np.triu(rng.random((9, 9)), 1)
    K = Graph.from_matrix(scale * (X @ X.T), signed=True)
    return graph_problem(K, scale * lam, weights=Graph.from_matrix(W + W.T))


@pytest.mark.parametrize("method", ["admm", "primal_dual"])
def test_a_consensus_without_objective_is_solved(method):
    problem = centred_problem()
    solution = run(problem, choose_method(problem, method), tol=1e-6, max_iter=2000)
    assert solution.status is Status.SOLVED
    assert solution.n_clusters == 1
    assert abs(solution.certificate.objective) <= 1e-12
    assert solution.certificate.scale == problem.floor > 0.0


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_the_relative_gap_does_not_depend_on_the_unit(scale):
    one, other = centred_problem(), centred_problem(scale)
    Y = np.zeros((one.penalty.n_edges, 9))
    for C in (np.eye(9), np.full((9, 9), 1 / 9)):
        gaps = [problem.certify(C, Y).relative_gap for problem in (one, other)]
        assert gaps[1] == pytest.approx(gaps[0], rel=1e-6)
        assert gaps[0] > 0.1


@given(seeds)
def test_the_scale_of_a_nonnegative_similarity_is_its_objective(seed):
    """At the consensus the objective is smallest, and still above the floor."""
    rng = np.random.default_rng(seed)
    W = np.triu(rng.random((12, 12)) * (rng.random((12, 12)) < 0.4), 1)
    problem = graph_problem(Graph.from_matrix(W + W.T + np.diag((W + W.T).sum(axis=1))), 1.0)
    consensus = np.full((12, 12), 1 / 12)
    assert abs(problem.objective(consensus)) >= problem.floor


@pytest.mark.parametrize("at", [0.1, 1e6, 1 / 3])
def test_identical_points_are_solved(at):
    """Means of equal numbers differ from them by round-off, which is all of the objective."""
    path = solve_points_path(np.full((7, 3), at), [0.1, 1.0], weights=3)
    assert all(level.status is Status.SOLVED for level in path.levels)
    assert [len(set(level.labels.tolist())) for level in path.levels] == [1, 1]
