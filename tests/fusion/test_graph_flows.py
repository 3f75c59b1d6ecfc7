"""Groups stay fused exactly if a flow inside them fits into the dual balls."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convexhc import Status, solve_path
from convexhc.datasets import fractal_graph
from convexhc.fusion import graph_flows
from convexhc.fusion.conductances import Conductances
from convexhc.fusion.contraction import contract
from convexhc.fusion.demand import Demand
from convexhc.fusion.graph_flows import complete_dual
from convexhc.fusion.graph_solve import solve_graph
from convexhc.fusion.lam_max import consensus_bound
from convexhc.graph import Graph
from convexhc.kernels import flows as flow_kernels
from convexhc.model.elimination import DenseFactor, SparseFactor
from convexhc.model.problem import cluster_means, graph_problem
from convexhc.similarity import two_hop
from convexhc.solvers.choose import choose_method
from laws import CONSTRAINTS, L1_RATIOS, random_kernel, seeds, solved

OPTIONS = {"tol": 1e-6, "max_iter": 20_000}


def fused(problem, groups, start=None):
    return solve_graph(problem, groups, choose_method, start=start, **OPTIONS)


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("l1_ratio", L1_RATIOS)
def test_from_one_group_every_minimum_is_found(constraint, l1_ratio):
    """The worst guess: everything fused, at lam where little or much is."""
    kernel = random_kernel(np.random.default_rng(5), 10)
    problem = graph_problem(kernel, 0.0, l1_ratio=l1_ratio, constraint=CONSTRAINTS[constraint])
    for share in (0.01, 0.1, 0.4, 1.01):
        at = problem.at(share * consensus_bound(problem))
        found, alone = fused(at, np.zeros(10, np.int64)), solved(at, tol=1e-6)
        assert found.small.status is Status.SOLVED
        size = abs(alone.certificate.objective)
        assert abs(found.small.certificate.objective - alone.certificate.objective) <= 2e-6 * size
        C = found.small.centroids[found.groups]
        assert problem.constraint.residual(C) <= 1e-9


@given(seed=seeds, l1_ratio=st.sampled_from(L1_RATIOS))
@settings(max_examples=8)
def test_above_the_bound_the_consensus_holds_and_far_below_it_does_not(seed, l1_ratio):
    rng = np.random.default_rng(seed)
    kernel = random_kernel(rng, 8, parts=int(rng.integers(1, 3)))
    problem = graph_problem(kernel, 0.0, l1_ratio=l1_ratio)
    bound = consensus_bound(problem)
    _, component = kernel.components()
    for share, whole in ((1.0001, True), (1e-4, False)):
        at = problem.at(share * bound)
        contraction = contract(at, component)
        split, cost = complete_dual(at, contraction, np.zeros((0, 8)))
        assert cost == 0.0
        assert (split is None) == whole
    # Splits refine the groups, and carry a flow along every cut edge.
    finer = split.groups
    assert all(len(np.unique(component[finer == g])) == 1 for g in np.unique(finer))
    assert (finer[kernel.tail[split.edges]] != finer[kernel.head[split.edges]]).all()
    assert split.flow.shape == (split.edges.size, 8)


def test_the_flow_of_a_split_is_summed_over_the_edges_between_two_groups():
    """As the flow of every cut edge, summed by hand."""
    rng = np.random.default_rng(2)
    kernel = random_kernel(rng, 14, floor=0.5)
    problem = graph_problem(kernel, 0.3)
    whole = contract(problem, np.zeros(14, np.int64))
    split, _ = complete_dual(problem, whole, np.zeros((0, 14)))
    edges, groups = problem.penalty.edges, split.groups
    demand = graph_flows.Demand.of(problem, whole.labels, whole.between, np.zeros((0, 14)))
    conductances = Conductances.of(problem)
    complete_dual(problem, whole, np.zeros((0, 14)), conductances=conductances)
    (flow,) = conductances.flows(edges, whole.labels)
    part = graph_flows.InnerDemand.of(demand, flow.nodes, flow.cluster)
    every = np.empty((edges.tail.size, 14))
    every[flow.at] = flow.along(part, np.arange(flow.at.size))
    ends = np.sort(np.stack([groups[edges.tail], groups[edges.head]]), axis=0)
    assert len(split.edges) == np.unique(ends[:, ends[0] != ends[1]], axis=1).shape[1] > 1
    for edge, found in zip(split.edges, split.flow, strict=True):
        a, b = groups[edges.tail[edge]], groups[edges.head[edge]]
        along = (groups[edges.tail] == a) & (groups[edges.head] == b)
        against = (groups[edges.tail] == b) & (groups[edges.head] == a)
        np.testing.assert_allclose(
            found, every[along].sum(axis=0) - every[against].sum(axis=0), atol=1e-9
        )


def test_a_group_is_split_at_its_only_bridge():
    """Two triangles joined by a weak edge, the only one that is overloaded."""
    A = np.zeros((6, 6))
    for i, j in ((0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)):
        A[i, j] = A[j, i] = 1.0
    A[2, 3] = A[3, 2] = 0.02
    problem = graph_problem(Graph.from_matrix(A + 2 * np.eye(6)), 3.0, l1_ratio=0.0)
    whole = contract(problem, np.zeros(6, np.int64))
    split, _ = complete_dual(problem, whole, np.zeros((0, 6)))
    np.testing.assert_array_equal(split.groups, [0, 0, 0, 1, 1, 1])
    # The bridge carries the whole excess of one side.
    K = problem.fidelity.target
    excess = (K[:3] - K.mean(axis=0)).sum(axis=0)
    np.testing.assert_allclose(np.abs(split.flow[0]), np.abs(excess - excess.mean()), atol=1e-9)


def test_the_cost_of_an_overloaded_flow_bounds_the_suboptimality():
    """The objective at the consensus exceeds the minimum by no more than the cost."""
    kernel = random_kernel(np.random.default_rng(8), 7)
    problem = graph_problem(kernel, 0.0)
    for share in (0.5, 0.9, 0.99):
        at = problem.at(share * consensus_bound(problem))
        whole = contract(at, np.zeros(7, np.int64))
        small = solved(whole.problem, tol=1e-9)
        split, cost = complete_dual(at, whole, small.dual, budget=np.inf)
        assert split is None
        C = np.full((7, 7), 1.0 / 7.0)
        truth = at.objective(C) - solved(at, tol=1e-9).certificate.objective
        assert truth <= cost + 1e-8


def cost_of_the_flow(problem, contraction, dual, conductances):
    """Cost of reducing the electrical flow under these conductances to its balls, edge by edge."""
    graph, edges = problem.penalty.graph, problem.penalty.edges
    n, labels = graph.n, contraction.labels
    D = np.zeros((graph.n_edges, n))
    D[np.arange(graph.n_edges), graph.tail] = 1.0
    D[np.arange(graph.n_edges), graph.head] = -1.0
    between = D.T @ (contraction.share[:, None] * (contraction.sums.T @ dual))
    R = problem.fidelity.target - between
    R -= cluster_means(R, labels)[labels]
    R -= R.mean(axis=1, keepdims=True)
    inside = labels[graph.tail] == labels[graph.head]
    c = np.where(inside, conductances, 0.0)[:, None]
    Y = c * (D @ np.linalg.lstsq(D.T @ (c * D), R, rcond=None)[0])
    np.testing.assert_allclose(D.T @ Y, R, atol=1e-9)
    surplus = Y.copy()
    flow_kernels.surplus(surplus, edges.soft, edges.block)
    lacking = D.T @ (surplus * inside[:, None])
    return float(np.maximum(lacking.max(axis=1), 0.0).sum())


@pytest.mark.parametrize("sketched", [False, True])
def test_the_cost_is_that_of_the_flow_under_the_final_conductances(sketched, monkeypatch):
    """Groups are given up in different rounds; the proof is under the final conductances."""
    if sketched:
        sketch = Demand.sketch
        monkeypatch.setattr(Demand, "is_wide", True)
        monkeypatch.setattr(Demand, "sketch", lambda self: sketch(self, 12))
    paid = free = 0
    for seed in range(16):
        rng = np.random.default_rng(seed)
        kernel = random_kernel(rng, 30, density=0.1)
        problem = graph_problem(kernel, 0.0)
        lam = 0.6 * consensus_bound(problem)
        # Clusters of a larger lam: some have a flow, some nearly, some none.
        at = problem.at(rng.choice([0.8, 0.9]) * lam)
        contraction = contract(at, solved(problem.at(lam), tol=1e-4).labels)
        dual = solved(contraction.problem, tol=1e-4).dual
        first = complete_dual(at, contraction, dual, budget=np.inf)[1]
        for share in (0.99, 0.9, 0.7, 0.5, 0.3):
            conductances = Conductances.of(at)
            split, cost = complete_dual(
                at, contraction, dual, budget=share * first, conductances=conductances
            )
            if split is None:
                true = cost_of_the_flow(at, contraction, dual, conductances.values)
                assert true == pytest.approx(cost, rel=1e-6, abs=1e-7)
                # Some costs were computed only after conductances had changed.
                paid, free = paid + (0.0 < cost < first), free + (cost == 0.0)
    assert paid > 3
    assert free > 3


@given(seed=seeds, tol=st.sampled_from([0.3, 0.03, 3e-3]), share=st.sampled_from([0.1, 0.3, 0.7]))
@settings(max_examples=60)
def test_the_gap_of_a_fused_solution_is_never_below_its_suboptimality(seed, tol, share):
    """With a loose tolerance, overloaded flows of several groups add to the gap."""
    rng = np.random.default_rng(seed)
    kernel = random_kernel(rng, 14, density=0.25)
    problem = graph_problem(kernel, 0.0)
    at = problem.at(share * consensus_bound(problem))
    groups = rng.integers(0, 4, 14)
    found = solve_graph(at, groups, choose_method, tol=tol, max_iter=20_000)
    best = solved(at, tol=1e-9).certificate.objective
    proof = found.small.certificate
    assert proof.relative_gap <= tol
    assert at.objective(found.small.centroids[found.groups]) - best <= proof.gap + 1e-8 * abs(best)


def a_tree(seed, n=7):
    """The similarity of a tree: the flow is unique, and the bound is sharp."""
    rng = np.random.default_rng(seed)
    parent = np.array([rng.integers(0, i) for i in range(1, n)])
    A = np.zeros((n, n))
    A[parent, np.arange(1, n)] = rng.uniform(0.3, 1.0, n - 1)
    A += A.T
    return graph_problem(Graph.from_matrix(A + (0.5 - np.linalg.eigvalsh(A)[0]) * np.eye(n)), 0.0)


def suboptimality_of_the_consensus(problem):
    n = problem.shape[0]
    best = solved(problem, tol=1e-9).certificate.objective
    return max(problem.objective(np.full((n, n), 1.0 / n)) - best, 0.0)


@pytest.mark.parametrize("share", [0.8, 0.9])
@pytest.mark.parametrize("seed", range(4))
def test_the_residual_of_a_wrong_flow_is_added_to_the_cost(seed, share, monkeypatch):
    """The minimum is never below what is certified, even if systems are solved wrongly."""
    problem = a_tree(seed)
    at, n = problem.at(share * consensus_bound(problem)), problem.shape[0]
    truth = suboptimality_of_the_consensus(at)
    assert truth > 1e-5
    rng = np.random.default_rng(seed)

    def wrongly(exact):
        def wrong(self, X):
            # Smaller potentials: the flow fits its balls where no exact one does.
            exact(self, X)
            X *= 0.6 + 0.01 * rng.random(X.shape)

        return wrong

    for factor in (SparseFactor, DenseFactor):
        monkeypatch.setattr(factor, "solve", wrongly(factor.solve))
    whole = contract(at, np.zeros(n, np.int64))
    split, cost = complete_dual(at, whole, np.zeros((0, n)), budget=np.inf)
    assert split is None
    assert cost >= truth


@pytest.mark.parametrize("max_projected", [256, 0])
@pytest.mark.parametrize("seed", range(4))
def test_the_cost_never_exceeds_the_budget(seed, max_projected, monkeypatch):
    """Nor is it below the suboptimality, also where costs are not computed."""
    monkeypatch.setattr(graph_flows, "FEW_COLUMNS", max_projected)
    problem = graph_problem(random_kernel(np.random.default_rng(seed), 8), 0.0)
    whole_at_last = False
    for share in (0.5, 0.8, 1.01):
        at = problem.at(share * consensus_bound(problem))
        truth, whole = suboptimality_of_the_consensus(at), contract(at, np.zeros(8, np.int64))
        first = complete_dual(at, whole, np.zeros((0, 8)), budget=np.inf)[1]
        for budget in (0.0, 0.3 * truth, 0.9 * truth, 2.0 * truth, 0.6 * first):
            split, cost = complete_dual(at, whole, np.zeros((0, 8)), budget=budget)
            whole_at_last = split is None
            if whole_at_last:
                assert truth - 1e-8 <= cost <= budget
    assert whole_at_last


def test_conductances_are_reused_at_another_lam_with_new_dual_balls():
    """Conductances and the factorisation are kept, the dual balls are not."""
    problem = graph_problem(random_kernel(np.random.default_rng(2), 9), 0.0)
    bound, conductances = consensus_bound(problem), Conductances.of(problem)
    none = np.zeros((0, 9))
    for share in (1.01, 0.7, 0.4, 0.8, 1.02):
        at = problem.at(share * bound)
        whole = contract(at, np.zeros(9, np.int64))
        split, cost = complete_dual(at, whole, none, budget=np.inf, conductances=conductances)
        assert split is None
        true = cost_of_the_flow(at, whole, none, conductances.values)
        assert cost == pytest.approx(true, rel=1e-6, abs=1e-7)
        assert (cost > 0.0) == (share < 1.0)


@pytest.fixture(scope="module")
def small_graph():
    graph = fractal_graph(0, n_meta=2, n_super=3, clique=4)
    return two_hop(graph.adjacency), graph


def test_coarse_scales_for_decreasing_and_increasing_lam_agree(small_graph):
    K, graph = small_graph
    up, down = solve_path(K), solve_path(K, max_clusters=8)
    assert down.complete
    assert down.n_clusters[-1] == 1
    assert down.n_clusters[0] > 8
    assert {p.status for p in down.levels} == {Status.SOLVED}
    for truth, k in ((graph.fine, 6), (graph.coarse, 2)):
        np.testing.assert_array_equal(down.labels(n_clusters=k), truth)
        np.testing.assert_array_equal(up.labels(n_clusters=k), truth)


def test_a_lam_with_too_many_groups_is_replaced_by_a_shorter_step(small_graph, monkeypatch):
    K, graph = small_graph
    usual = solve_path(K, max_clusters=8)
    monkeypatch.setattr("convexhc.path.plan.Descending.crowd_factor", 1)
    monkeypatch.setattr("convexhc.path.plan.Descending.crowd_offset", 0)
    down = solve_path(K, max_clusters=8)
    assert down.complete
    assert down.n_clusters[0] > 8
    assert down.lambdas[0] > usual.lambdas[0]
    for truth, k in ((graph.fine, 6), (graph.coarse, 2)):
        np.testing.assert_array_equal(down.labels(n_clusters=k), truth)


def test_given_lambdas_can_be_combined_with_max_clusters(small_graph):
    K, _ = small_graph
    grid = [0.3, 1.0, 4.0]
    down, up = solve_path(K, grid, max_clusters=3), solve_path(K, grid)
    np.testing.assert_allclose(down.lambdas, grid)
    np.testing.assert_array_equal(down.n_clusters, up.n_clusters)
    np.testing.assert_allclose(down.objective, up.objective, rtol=2e-4)


@pytest.mark.parametrize("wrong", [0, -1, 2.5, True, "3"])
def test_invalid_limits_are_rejected(small_graph, wrong):
    with pytest.raises((ValueError, TypeError), match="max_clusters"):
        solve_path(small_graph[0], max_clusters=wrong)


def test_a_contracted_solution_has_the_size_of_its_groups(small_graph):
    """No dual of all edges is stored."""
    K, _ = small_graph
    problem = graph_problem(K.graph, 3.0)
    found = fused(problem, np.zeros(24, np.int64))
    groups = int(found.groups.max()) + 1
    assert groups < 24
    assert found.small.centroids.shape == (groups, 24)
    assert found.small.dual.shape[0] == contract(problem, found.groups).problem.penalty.n_edges
