"""The contracted problem equals the full one on fused rows, and every fusion is verified."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from convexhc.fusion.contraction import Contraction, contract
from convexhc.fusion.graph_solve import ContractedSolution, solve_graph
from convexhc.fusion.lam_max import consensus_bound
from convexhc.graph import Graph
from convexhc.model.problem import Problem, cluster_means, graph_problem
from convexhc.solvers.choose import choose_method
from convexhc.solvers.loop import Solution, Status
from laws import (
    CONSTRAINTS,
    denoising_problem,
    first_occurrence,
    l1_ratios,
    random_doubly_stochastic,
    random_feasible,
    random_kernel,
    random_weights,
    seeds,
    solved,
)

constraints = st.sampled_from(sorted(CONSTRAINTS))
each_constraint = pytest.mark.parametrize("constraint", sorted(CONSTRAINTS))
each_method = pytest.mark.parametrize("method", ["admm", "primal_dual", "dual_fista"])


def restrict(contraction: Contraction, solution: Solution) -> Solution:
    """Restrict a solution with the clusters of a contraction to the contracted problem."""
    return replace(
        solution,
        centroids=cluster_means(solution.centroids, contraction.labels),
        dual=contraction.sums @ solution.dual,
        labels=np.arange(contraction.problem.shape[0]),
        nonneg_dual=None,
    )


def expand(contraction: Contraction, solution: Solution, inside: np.ndarray) -> Solution:
    """Expand a contracted solution to the full problem, with the dual ``inside`` clusters."""
    share, labels = contraction.share[:, None], contraction.labels
    return replace(
        solution,
        centroids=solution.centroids[labels],
        dual=np.where(share > 0.0, share * (contraction.sums.T @ solution.dual), inside),
        labels=solution.labels[labels],
        nonneg_dual=None,
    )


class Drawn(NamedTuple):
    """A problem, a partition of its nodes, and its contraction."""

    rng: np.random.Generator
    full: Problem
    labels: np.ndarray
    contraction: Contraction

    @property
    def small(self) -> Problem:
        return self.contraction.problem

    def centroids(self):
        """Feasible centroids of the clusters."""
        return cluster_means(random_feasible(self.rng, self.full), self.labels)

    def dual(self, problem: Problem):
        """Feasible dual of either problem, with some rows on the boundary of their balls."""
        penalty = problem.penalty
        shape = penalty.n_edges, problem.shape[1]
        return penalty.feasible_dual(self.rng.normal(size=shape))

    def solution(self, problem: Problem, C, Y, labels) -> Solution:
        certificate = problem.certify(C, Y)
        return Solution(C, Y, labels, certificate, Status.SOLVED, 0, problem.lam, "drawn")


@st.composite
def fused_problems(draw, *, max_nodes=9):
    """A graph problem with one or two components, and any partition, connected or not."""
    rng = np.random.default_rng(draw(seeds))
    n = draw(st.integers(2, max_nodes))
    parts = draw(st.integers(1, 2)) if n > 3 else 1
    kernel = random_kernel(rng, n, parts=parts)
    full = graph_problem(
        kernel,
        draw(st.sampled_from([0.03, 0.3, 3.0])),
        l1_ratio=draw(l1_ratios),
        constraint=CONSTRAINTS[draw(constraints)],
    )
    labels = first_occurrence(rng.integers(0, draw(st.integers(1, n)), n))
    return Drawn(rng, full, labels, contract(full, labels))


@given(fused_problems())
def test_contracted_objective_and_residual_are_those_of_the_fused_rows(drawn):
    D = drawn.centroids()
    C = D[drawn.labels]
    assert drawn.small.objective(D) == pytest.approx(drawn.full.objective(C), rel=1e-12, abs=1e-12)
    # Also far from feasible: both problems must count the same violations.
    apart = drawn.rng.normal(size=D.shape)
    assert drawn.small.objective(apart) == pytest.approx(
        drawn.full.objective(apart[drawn.labels]), rel=1e-12, abs=1e-12
    )
    for rows in (D, apart):
        assert drawn.small.constraint.residual(rows) == pytest.approx(
            drawn.full.constraint.residual(rows[drawn.labels]), abs=1e-12
        )


@given(fused_problems())
def test_gradients_are_means_over_the_clusters(drawn):
    D = drawn.centroids()
    _, small = drawn.small.fidelity.evaluate(D)
    _, full = drawn.full.fidelity.evaluate(D[drawn.labels])
    np.testing.assert_allclose(small, cluster_means(full, drawn.labels), atol=1e-12)


@given(fused_problems())
def test_the_contracted_pull_is_the_cluster_mean_for_any_inner_dual(drawn):
    Y, inside = drawn.dual(drawn.small), drawn.dual(drawn.full)
    solution = drawn.solution(drawn.small, drawn.centroids(), Y, np.arange(drawn.small.shape[0]))
    expanded = expand(drawn.contraction, solution, inside)
    np.testing.assert_allclose(
        drawn.small.penalty.pull(Y),
        cluster_means(drawn.full.penalty.pull(expanded.dual), drawn.labels),
        atol=1e-12,
    )


@given(fused_problems())
def test_projections_commute_with_contraction(drawn):
    X = 2.0 * drawn.rng.normal(size=drawn.small.shape)
    small = drawn.small.constraint.project(X).C
    full = drawn.full.constraint.project(X[drawn.labels]).C
    np.testing.assert_allclose(small[drawn.labels], full, atol=1e-8)


@given(fused_problems())
def test_the_contracted_bound_is_at_least_the_full_bound(drawn):
    # Restricted to fused rows, the minimum and its bound are higher and the gap is smaller.
    D, Y, inside = drawn.centroids(), drawn.dual(drawn.small), drawn.dual(drawn.full)
    solution = drawn.solution(drawn.small, D, Y, np.arange(drawn.small.shape[0]))
    expanded = expand(drawn.contraction, solution, inside)
    small = drawn.small.certify(D, Y)
    full = drawn.full.certify(expanded.centroids, expanded.dual)
    assert small.objective == pytest.approx(full.objective, rel=1e-12, abs=1e-12)
    assert -1e-10 <= small.gap <= full.gap + 1e-10
    alone = contract(drawn.full, np.arange(drawn.full.shape[0])).problem
    same = alone.certify(expanded.centroids, expanded.dual)
    assert same.gap == pytest.approx(full.gap, rel=1e-9, abs=1e-10)


@given(fused_problems())
def test_an_expanded_dual_is_feasible(drawn):
    solution = drawn.solution(
        drawn.small,
        drawn.centroids(),
        drawn.dual(drawn.small),
        np.arange(drawn.small.shape[0]),
    )
    Y = expand(drawn.contraction, solution, drawn.dual(drawn.full)).dual
    np.testing.assert_allclose(drawn.full.penalty.feasible_dual(Y), Y, rtol=1e-12, atol=1e-14)


@given(fused_problems())
def test_restrict_inverts_expand(drawn):
    count = drawn.small.shape[0]
    solution = drawn.solution(
        drawn.small, drawn.centroids(), drawn.dual(drawn.small), np.arange(count)
    )
    inside = drawn.dual(drawn.full)
    back = restrict(drawn.contraction, expand(drawn.contraction, solution, inside))
    np.testing.assert_allclose(back.centroids, solution.centroids, atol=1e-14)
    np.testing.assert_allclose(back.dual, solution.dual, atol=1e-12)
    np.testing.assert_array_equal(back.labels, np.arange(count))


@given(fused_problems())
def test_expand_inverts_restrict_up_to_the_shares_of_parallel_edges(drawn):
    C = drawn.centroids()[drawn.labels]
    before = drawn.solution(drawn.full, C, drawn.dual(drawn.full), drawn.labels)
    untouched = before.centroids.copy(), before.dual.copy(), before.labels.copy()
    after = expand(drawn.contraction, restrict(drawn.contraction, before), before.dual)
    np.testing.assert_allclose(after.centroids, C, atol=1e-14)
    np.testing.assert_array_equal(after.labels, drawn.labels)
    sums = drawn.contraction.sums
    np.testing.assert_allclose(sums @ after.dual, sums @ before.dual, atol=1e-12)
    graph = drawn.full.penalty.graph
    within = drawn.labels[graph.tail] == drawn.labels[graph.head]
    np.testing.assert_array_equal(after.dual[within], before.dual[within])
    for kept, now in zip(untouched, (before.centroids, before.dual, before.labels), strict=True):
        np.testing.assert_array_equal(kept, now)


@given(fused_problems(max_nodes=7))
def test_cluster_weights_are_sums_over_the_edges_between(drawn):
    graph, small = (p.penalty.graph for p in (drawn.full, drawn.small))
    S = np.eye(small.n)[drawn.labels]
    total = S.T @ graph.without_diagonal().dense() @ S
    np.fill_diagonal(total, 0.0)
    np.testing.assert_allclose(small.without_diagonal().dense(), total, atol=1e-14)


@given(seeds, l1_ratios)
def test_squared_distances_contract_up_to_the_variance_inside(seed, l1_ratio):
    rng = np.random.default_rng(seed)
    weights = Graph.from_matrix(random_weights(rng, 6))
    B = rng.normal(size=(6, 6))
    full = denoising_problem(B, weights, 0.5, l1_ratio=l1_ratio)
    labels = first_occurrence(rng.integers(0, 3, 6))
    small = contract(full, labels).problem
    inside = 0.5 * np.square(B - cluster_means(B, labels)[labels]).sum()
    D = cluster_means(random_doubly_stochastic(rng, 6), labels)
    assert full.objective(D[labels]) == pytest.approx(small.objective(D) + inside, rel=1e-12)


def grouped_problem(rng, *, constraint, l1_ratio=0.05, share=0.4):
    """Nine nodes in up to three groups, at a lam at which some of them are fused."""
    W = random_weights(rng, 9)
    group = rng.integers(0, 3, 9)
    W *= np.where(group[:, None] == group, 1.0, 0.1)
    K = Graph.from_matrix(W + (0.5 - np.linalg.eigvalsh(W)[0]) * np.eye(9))
    problem = graph_problem(K, 0.0, l1_ratio=l1_ratio, constraint=CONSTRAINTS[constraint])
    return problem.at(share * consensus_bound(problem))


@each_constraint
@given(seed=seeds, l1_ratio=l1_ratios)
@settings(max_examples=8)
def test_contracted_to_its_own_clusters_a_problem_keeps_its_minimum(constraint, seed, l1_ratio):
    problem = grouped_problem(np.random.default_rng(seed), constraint=constraint, l1_ratio=l1_ratio)
    best = solved(problem, tol=1e-8)
    assume(best.n_clusters < 9)
    contraction = contract(problem, best.labels)
    small = solved(contraction.problem, start=restrict(contraction, best), tol=1e-8)
    size = abs(best.certificate.objective)
    assert small.certificate.objective == pytest.approx(best.certificate.objective, abs=2e-8 * size)


def test_the_grouped_problems_have_clusters_to_contract():
    """Otherwise the previous test would compare a problem with itself."""
    counts = [
        solved(grouped_problem(np.random.default_rng(seed), constraint=constraint)).n_clusters
        for seed in range(5)
        for constraint in CONSTRAINTS
    ]
    assert sum(1 < count < 9 for count in counts) > 5


def assert_same_minimum_from(problem, method, labels, *, tol):
    """From any initial groups, the objective is that of a cold solve of all nodes."""
    cold = solved(problem, method, tol=tol)
    C = cluster_means(cold.centroids, labels)[labels]
    drawn = Solution(C, cold.dual, labels, cold.certificate, Status.SOLVED, 0, cold.lam, "drawn")
    start = ContractedSolution(contract(problem, np.arange(labels.size)), drawn)
    found = solve_graph(
        problem,
        labels,
        lambda small: choose_method(small, method),
        start=start,
        tol=tol,
        max_iter=20_000,
    )
    assert found.small.status is Status.SOLVED
    size = abs(cold.certificate.objective)
    reached = found.small.certificate.objective
    assert reached == pytest.approx(cold.certificate.objective, abs=tol * size)
    # The contracted objective is that of the full problem at the expanded centroids.
    expanded = found.small.centroids[found.groups]
    assert problem.objective(expanded) == pytest.approx(reached, abs=1e-12 * size)
    assert problem.constraint.residual(expanded) <= 1e-9


@pytest.mark.parametrize("method", ["admm", "primal_dual"])
@each_constraint
@given(seed=seeds, l1_ratio=l1_ratios)
@settings(max_examples=6)
def test_a_start_from_any_partition_ends_at_the_same_objective(method, constraint, seed, l1_ratio):
    """Most random partitions are wrong: their groups must be split again."""
    rng = np.random.default_rng(seed)
    share = rng.choice([0.05, 0.3, 0.7])
    problem = grouped_problem(rng, constraint=constraint, l1_ratio=l1_ratio, share=share)
    labels = first_occurrence(rng.integers(0, rng.integers(1, 8), 9))
    assert_same_minimum_from(problem, method, labels, tol=1e-5)


@each_constraint
def test_dual_fista_from_any_partition_reaches_the_same_objective(constraint):
    problem = grouped_problem(np.random.default_rng(1), constraint=constraint)
    labels = first_occurrence([0, 1, 0, 1, 2, 0, 3, 3, 2])
    assert_same_minimum_from(problem, "dual_fista", labels, tol=1e-4)


@each_constraint
def test_a_wrong_fusion_is_not_certified_and_is_split(constraint):
    problem = graph_problem(
        random_kernel(np.random.default_rng(3), 8), 1e-3, constraint=CONSTRAINTS[constraint]
    )
    right = solved(problem, tol=1e-6)
    contraction = contract(problem, np.zeros(8, dtype=np.int64))
    assert contraction.problem.penalty.n_edges == 0
    small = solved(contraction.problem, start=restrict(contraction, right), tol=1e-8)
    assert small.status is Status.SOLVED
    wrong = expand(contraction, small, right.dual)
    assert problem.certify(wrong.centroids, wrong.dual).relative_gap > 0.01
    mended = solved(problem, start=wrong, tol=1e-6)
    assert mended.n_clusters == right.n_clusters == 8


@each_method
def test_a_contracted_problem_can_be_solved_from_a_cold_start(method):
    problem = grouped_problem(np.random.default_rng(1), constraint="doubly_stochastic")
    contraction = contract(problem, first_occurrence([0, 1, 0, 1, 2, 0, 3, 3, 2]))
    cold = solved(contraction.problem, method, tol=1e-5)
    full = solved(problem, tol=1e-5)
    warm = solved(contraction.problem, method, start=restrict(contraction, full), tol=1e-5)
    assert cold.certificate.objective == pytest.approx(warm.certificate.objective, rel=1e-5)
