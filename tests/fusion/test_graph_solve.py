"""Warm starts from two solutions: interpolated, feasible, and effective."""

import numpy as np
import pytest

from convexhc.fusion.contraction import contract
from convexhc.fusion.graph_solve import (
    ContractedSolution,
    _on_line_through,
    contracted_share,
    solve_graph,
    transfer,
    unpenalized_solution,
)
from convexhc.fusion.lam_max import consensus_bound
from convexhc.graph import Graph
from convexhc.model.problem import graph_problem
from convexhc.solvers.admm import ADMM
from convexhc.solvers.choose import choose_method
from laws import random_kernel

OPTIONS = {"tol": 1e-7, "max_iter": 20_000}


def found(problem, lam, **options):
    n = problem.shape[0]
    groups = options.pop("groups", np.arange(n))
    return solve_graph(problem.at(lam), groups, choose_method, **OPTIONS, **options)


@pytest.fixture
def problem():
    return graph_problem(random_kernel(np.random.default_rng(11), 12, floor=0.5), 0.0)


@pytest.mark.parametrize("lam", [0.02, 0.025, 0.03, 0.05])
def test_warm_starts_interpolate_or_extrapolate_two_solutions(problem, lam):
    one, other = found(problem, 0.02), found(problem, 0.03)
    at, along = problem.at(lam), (lam - 0.02) / 0.01
    start = _on_line_through(at, one.small, other, contract(at, one.groups))
    dual = one.small.dual + along * (other.small.dual - one.small.dual)
    np.testing.assert_allclose(start.dual, dual, atol=1e-12)
    assert at.constraint.residual(start.centroids) <= 1e-9
    if 0.0 <= along <= 1.0:
        line = one.small.centroids + along * (other.small.centroids - one.small.centroids)
        np.testing.assert_allclose(start.centroids, line, atol=1e-12)
        # Balls grow linearly with lam, so the interpolation of feasible duals is feasible.
        np.testing.assert_allclose(at.penalty.feasible_dual(dual), dual, atol=1e-12)


def test_duals_unknown_in_the_second_solution_are_unchanged(problem):
    one = found(problem, 0.02)
    whole = np.zeros(12, np.int64)
    other = found(problem, 50.0, groups=whole)
    assert other.small.dual.shape[0] == 0
    start = _on_line_through(problem.at(1.0), one.small, other, contract(problem, one.groups))
    np.testing.assert_array_equal(start.dual, one.small.dual)


def test_interpolated_warm_starts_save_iterations(problem):
    one, other = found(problem, 0.020), found(problem, 0.024)
    plain = found(problem, 0.022, start=one)
    ahead = found(problem, 0.022, start=one, second=other)
    assert ahead.small.relative_gap <= 1e-7
    assert ahead.small.n_iter < plain.small.n_iter
    np.testing.assert_array_equal(ahead.labels, plain.labels)


def test_without_penalty_every_node_is_its_own_centroid(problem):
    still = unpenalized_solution(problem)
    assert isinstance(still, ContractedSolution)
    assert still.small.relative_gap <= 1e-12
    np.testing.assert_array_equal(still.labels, np.arange(12))


def test_transfer_to_the_same_groups_returns_the_solution(problem):
    one = found(problem, 0.02)
    assert transfer(problem, one, contract(problem, one.groups)) is one.small


def test_a_group_held_by_weak_edges_alone_does_not_take_thousands_of_iterations():
    """Two strong groups, and one whose only edge has a millionth of their weight."""
    K = np.kron(np.eye(3), np.ones((4, 4)))
    K[:4, 4:8] = K[4:8, :4] = 0.5
    K[8:, 0] = K[0, 8:] = 1e-6
    problem = graph_problem(Graph.from_matrix(K + np.eye(12)), 0.0)
    lam = 1.5 * consensus_bound(problem)
    groups = np.repeat([0, 1, 2], 4)
    solution = solve_graph(
        problem.at(lam), groups, lambda _: ADMM(linear=True), tol=1e-4, max_iter=20_000
    )
    assert solution.n_clusters == 1
    assert solution.small.n_iter < 500


def test_contracted_problems_are_solved_well_where_proofs_cost_more_than_iterations():
    dense = graph_problem(random_kernel(np.random.default_rng(1), 200, floor=0.5), 0.0)
    few, many = (contract(dense, np.arange(200) // size).problem for size in (100, 2))
    alone = contract(dense, np.arange(200)).problem
    assert contracted_share(dense, few) < contracted_share(dense, many) < 1.0
    assert contracted_share(dense, alone) == 1.0
