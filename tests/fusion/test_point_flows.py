"""Flows inside clusters of points complete the dual, and clusters without a flow are split."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import naive
from convexhc.fusion import point_flows
from convexhc.fusion.point_flows import complete_point_dual
from convexhc.graph import Graph
from convexhc.kernels.flows import gathered, potentials, scaled_inside, spread
from convexhc.kernels.newton import well_inside
from convexhc.kernels.prox import dual_norms
from convexhc.model.problem import cluster_means, points_problem
from convexhc.solvers.loop import run
from convexhc.solvers.newton import SemismoothNewton
from laws import L1_RATIOS, first_occurrence, random_weights, seeds

# Systems are factored in up to three dimensions, and solved by conjugate gradients in more.
dimensions = st.sampled_from([1, 2, 5])


def drawn(seed, dimension, l1_ratio, lam):
    """A points problem, its solution, and the edges inside clusters."""
    rng = np.random.default_rng(seed)
    X, weights = rng.normal(size=(20, dimension)), Graph.from_matrix(random_weights(rng, 20))
    problem = points_problem(X, weights, lam, l1_ratio=l1_ratio)
    found = run(problem, SemismoothNewton(), tol=1e-13, max_iter=200, check_every=1)
    edges = problem.penalty.edges
    inside = found.labels[edges.tail] == found.labels[edges.head]
    return problem, found, inside


def assert_clusters_kept(problem, found, inside, whole):
    """No cluster is split whose flow is determined, and others by no more than the gap allows.

    Duals are known up to the root of the gap. Where the flow of the solution has less slack than
    that in some ball, none may fit beside the dual between clusters as it stands.
    """
    edges, labels = problem.penalty.edges, found.labels
    tight = inside & ~well_inside(found.dual, edges, 1.0 - 1e-5)
    determined = ~np.isin(labels, labels[edges.tail[tight]])
    assert_array_equal(
        first_occurrence(whole.labels[determined]), first_occurrence(labels[determined])
    )
    assert np.unique(np.stack([whole.labels, labels]), axis=1).shape[1] == whole.n_clusters
    # The objective is 1-strongly convex: |U - U*|^2 <= 2 gap, and found was solved to this gap.
    gap = 1e-13 * found.certificate.objective
    assert np.square(whole.centroids - found.centroids).sum() <= 2.0 * gap


@given(seeds, dimensions, st.sampled_from(L1_RATIOS), st.sampled_from([0.05, 0.2, 1.0]))
@example(1, 5, 1.0, 0.2)
@example(929172499, 5, 1.0, 0.2)
@settings(max_examples=40)
def test_clusters_of_a_solution_have_flows(seed, dimension, l1_ratio, lam):
    problem, found, inside = drawn(seed, dimension, l1_ratio, lam)
    forgotten = replace(found, dual=np.where(inside[:, None], 0.0, found.dual))
    whole = complete_point_dual(
        problem, forgotten, allowance=1e-13 * found.certificate.objective, max_iter=50
    )
    assert_clusters_kept(problem, found, inside, whole)
    assert_allclose(whole.centroids, found.centroids, atol=1e-6)
    # The dual between clusters is unchanged, the dual inside is feasible, and both are optimal.
    assert_allclose(whole.dual[~inside], found.dual[~inside], atol=1e-12)
    radius = lam * problem.penalty.differences.graph.weight
    assert (dual_norms(whole.dual, l1_ratio) <= radius * (1.0 + 1e-9)).all()
    assert problem.certify(found.centroids, whole.dual).relative_gap <= 1e-9


@given(seeds, dimensions, st.sampled_from(L1_RATIOS), st.sampled_from([0.1, 0.8, 3.0]))
@settings(max_examples=20)
def test_the_completed_dual_is_feasible_from_any_warm_start(seed, dimension, l1_ratio, stretch):
    problem, found, inside = drawn(seed, dimension, l1_ratio, 0.2)
    rng = np.random.default_rng(seed)
    start = replace(found, dual=stretch * rng.normal(size=found.dual.shape))
    done = complete_point_dual(problem, start, allowance=1e-10, max_iter=50)
    radius = 0.2 * problem.penalty.differences.graph.weight
    assert (dual_norms(done.dual, l1_ratio) <= radius * (1.0 + 1e-9)).all()
    nearest = problem.penalty.feasible_dual(start.dual)
    assert_allclose(done.dual[~inside], nearest[~inside], atol=1e-12)


@given(seeds, dimensions, st.sampled_from([0.01, 0.3]))
@settings(max_examples=20)
def test_the_warm_start_inside_clusters_does_not_matter(seed, dimension, size):
    problem, found, inside = drawn(seed, dimension, 0.0, 0.2)
    drawn_inside = size * np.random.default_rng(seed).normal(size=found.dual.shape)
    start = replace(found, dual=np.where(inside[:, None], drawn_inside, found.dual))
    whole = complete_point_dual(
        problem, start, allowance=1e-13 * found.certificate.objective, max_iter=50
    )
    assert_array_equal(whole.labels, found.labels)
    assert problem.certify(found.centroids, whole.dual).relative_gap <= 1e-9


@given(seeds, dimensions, st.sampled_from([0.0, 0.5, 0.9]))
@settings(max_examples=20)
def test_flows_that_miss_the_demand_are_not_accepted(seed, dimension, share):
    """The completed dual proves the solution even if systems are solved wrongly."""
    problem, found, inside = drawn(seed, dimension, 0.0, 0.2)
    forgotten = replace(found, dual=np.where(inside[:, None], 0.0, found.dual))
    true = point_flows._electrical_flow
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(point_flows, "_electrical_flow", lambda *system: share * true(*system))
        whole = complete_point_dual(
            problem, forgotten, allowance=1e-13 * found.certificate.objective, max_iter=50
        )
    assert_array_equal(whole.labels, found.labels)
    assert problem.certify(found.centroids, whole.dual).relative_gap <= 1e-9


@given(seeds, dimensions)
@settings(max_examples=20)
def test_without_conductance_updates_every_cluster_is_solved_as_a_problem(seed, dimension):
    """The answer is as accurate."""
    problem, found, inside = drawn(seed, dimension, 0.0, 0.2)
    forgotten = replace(found, dual=np.where(inside[:, None], 0.0, found.dual))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(point_flows, "SETTINGS", replace(point_flows.SETTINGS, max_rounds=0))
        whole = complete_point_dual(problem, forgotten, allowance=1e-11, max_iter=50)
    assert_array_equal(whole.labels, found.labels)
    assert (whole.n_iter > 0) == bool(inside.any())
    assert problem.certify(found.centroids, whole.dual).relative_gap <= 1e-9


@given(seeds, dimensions)
@example(1760, 1)
@settings(max_examples=20)
def test_clusters_without_flows_are_split_and_others_kept(seed, dimension):
    """Two distant groups of points, labelled as one cluster, and a third group."""
    rng = np.random.default_rng(seed)
    lumps = np.repeat([[0.0], [5.0], [-5.0]], 6, axis=0) + 0.01 * rng.normal(size=(18, dimension))
    full = 0.1 + rng.random((18, 18))
    problem = points_problem(lumps, Graph.from_matrix(np.triu(full, 1) + np.triu(full, 1).T), 0.1)
    best = run(problem, SemismoothNewton(), tol=1e-12, max_iter=200, check_every=1)
    truth = np.repeat([0, 1, 2], 6)
    wrong = np.repeat([0, 0, 1], 6)
    start = replace(
        best, labels=wrong, centroids=cluster_means(best.centroids, wrong)[wrong].copy()
    )
    split = complete_point_dual(problem, start, allowance=1e-10, max_iter=50)
    # Groups may be split further, but no part has nodes of both.
    pieces = np.unique(np.stack([split.labels, truth]), axis=1)
    assert pieces.shape[1] == split.n_clusters > 2
    # The third group is split where it is split in the solution, and unchanged otherwise.
    assert_array_equal(first_occurrence(split.labels[12:]), first_occurrence(best.labels[12:]))
    if np.unique(best.labels[12:]).size == 1:
        assert_array_equal(split.centroids[12:], start.centroids[12:])


@given(seeds, st.integers(1, 6))
@settings(max_examples=20)
def test_potentials_solve_the_laplacian(seed, width):
    rng = np.random.default_rng(seed)
    graph = Graph.from_matrix(random_weights(rng, 15))
    c = rng.uniform(0.5, 2.0, graph.n_edges)
    D = naive.incidence(15, graph.tail, graph.head)
    L = D.T @ (c[:, None] * D)
    R = L @ rng.normal(size=(15, width))
    X = potentials(R, graph.tail, graph.head, c)
    assert_allclose(L @ X, R, atol=1e-7)
    # A demand of round-off, which need not sum to zero.
    assert np.isfinite(potentials(np.full((15, width), 1e-17), graph.tail, graph.head, c)).all()


@pytest.mark.parametrize("n", [3, 30, 100])
def test_conjugate_gradients_converge_on_a_chain(n):
    """The smoothest mode of a chain is nearly constant, and has to converge as well."""
    tail, head = np.arange(n - 1), np.arange(1, n)
    c, D = np.random.default_rng(n).uniform(0.5, 2.0, n - 1), naive.incidence(n, tail, head)
    R = np.zeros((n, 1))
    R[0], R[-1] = 1.0, -1.0
    X = potentials(R, tail, head, c)
    # The only flow: one unit along every edge.
    assert_allclose(c[:, None] * (D @ X), np.ones((n - 1, 1)), atol=1e-6)


@given(seeds)
@settings(max_examples=20)
def test_pair_duals_round_trip(seed):
    rng = np.random.default_rng(seed)
    Y, other, along = rng.normal(size=(9, 4)), rng.normal(size=(9, 4)), 0.3
    pair, part = rng.integers(-1, 3, 9), rng.normal(size=9)
    sums = np.zeros((3, 9))
    sums[pair[pair >= 0], np.flatnonzero(pair >= 0)] = part[pair >= 0]
    Z = gathered(Y, other, along, pair, part, 3)
    assert_allclose(Z, sums @ (Y + along * (other - Y)), atol=1e-12)
    back = spread(Z, pair, part, Y)
    assert_allclose(back[pair >= 0], (sums.T @ Z)[pair >= 0], atol=1e-12)
    assert_array_equal(back[pair < 0], Y[pair < 0])


@given(seeds, st.sampled_from([0.0, 0.4, 1e9]))
@settings(max_examples=20)
def test_one_factor_per_cluster_meets_most_of_the_demand(seed, most):
    rng = np.random.default_rng(seed)
    graph = Graph.from_matrix(random_weights(rng, 12))
    labels = np.repeat([0, 1, 2], 4)
    inside = labels[graph.tail] == labels[graph.head]
    Y, data = rng.normal(size=(graph.n_edges, 3)), rng.normal(size=(12, 3))
    found, D = Y.copy(), naive.incidence(12, graph.tail, graph.head)
    edges = points_problem(data, graph, 1.0).penalty.edges
    scaled_inside(found, data, edges, labels, most)
    assert_array_equal(found[~inside], Y[~inside])
    left = data - D[~inside].T @ Y[~inside]
    for cluster in range(3):
        here = inside & (labels[graph.tail] == cluster)
        had = D[here].T @ Y[here]
        best = np.clip(np.vdot(left, had) / np.vdot(had, had), 0.0, most) if here.any() else 1.0
        assert_allclose(found[here], best * Y[here], atol=1e-9)
