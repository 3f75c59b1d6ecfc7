"""Merging clusters: a lower objective under the same bound, and fewer clusters that need not be."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from convexhc.fusion.graph_solve import ContractedSolution, solve_graph
from convexhc.fusion.merging import merge_clusters
from convexhc.graph import Graph
from convexhc.model.problem import graph_problem
from convexhc.similarity import knn
from convexhc.solvers.choose import choose_method
from convexhc.solvers.solution import Solution, Status
from laws import random_kernel, seeds


def solved(problem, tol, groups=None):
    groups = np.arange(problem.shape[0]) if groups is None else groups
    return solve_graph(problem, groups, choose_method, tol=tol, max_iter=20_000)


@given(seed=seeds, lam=st.sampled_from([0.05, 0.2, 0.5, 1.0]))
def test_a_merged_solution_is_better_and_its_bound_still_holds(seed, lam):
    """Of a rough solution, merged from single nodes: feasible, coarser, certified, never worse."""
    problem = graph_problem(random_kernel(np.random.default_rng(seed), 10, floor=0.2), lam)
    rough = solved(problem, 0.1)
    # Clusters as a solver may report them that has not converged: none are fused.
    rough = ContractedSolution(rough.contraction, _unfused(problem, rough.small))
    merged = merge_clusters(problem, rough)
    C, certificate = merged.small.centroids, merged.small.certificate
    assert certificate.objective <= rough.small.certificate.objective
    assert certificate.objective == pytest.approx(problem.objective(C[merged.groups]), rel=1e-12)
    assert problem.constraint.residual(C[merged.groups]) <= 1e-8
    assert merged.n_clusters == len(np.unique(C, axis=0))
    exact = solved(problem, 1e-9).small.certificate
    assert certificate.gap >= certificate.objective - exact.objective - 1e-9 * exact.scale
    assert np.array_equal(merged.small.dual, rough.small.dual)


def _unfused(problem, small):
    """The same point with every node a cluster, moved by as much as the tolerance allows."""
    rng = np.random.default_rng(0)
    C = problem.constraint.project(small.centroids + 1e-3 * rng.random(small.centroids.shape)).C
    proof = problem.certify(C, small.dual)
    labels = np.arange(len(C))
    return Solution(C, small.dual, labels, proof, Status.SOLVED, 1, problem.lam, "rough")


@pytest.mark.parametrize("lam", [1.32, 1.35, 1.4])
def test_above_the_lam_at_which_a_grid_meets_it_is_one_cluster_from_either_direction(lam):
    """On a grid all clusters meet at one lam: just above, a tolerance of 1e-3 leaves many."""
    problem = graph_problem(_grid(8), lam)
    exact = solved(problem, 1e-8, np.zeros(64, np.int64))
    assert exact.n_clusters == 1
    for groups in (np.zeros(64, np.int64), np.arange(64), np.arange(64) // 8):
        assert merge_clusters(problem, solved(problem, 1e-3, groups)).n_clusters == 1


def _grid(side):
    points = np.array([(i, j) for i in range(side) for j in range(side)], float)
    return knn(points, n_neighbors=10, shift="auto").graph


def test_the_minimiser_is_not_merged():
    problem = graph_problem(random_kernel(np.random.default_rng(3), 14, floor=0.2), 0.05)
    exact = solved(problem, 1e-8)
    assert exact.n_clusters > 1
    np.testing.assert_array_equal(merge_clusters(problem, exact).labels, exact.labels)


def test_one_cluster_and_no_edges_are_left_as_they_are():
    problem = graph_problem(Graph.from_matrix(np.eye(3)), 1.0)
    alone = solved(problem, 1e-6)
    assert merge_clusters(problem, alone).small is alone.small
