"""Electrical flows meet their demand, and are measured without being stored."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.sparse import csc_array, tril

import naive
from convexhc.fusion import demand as demand_module
from convexhc.fusion.contraction import contract
from convexhc.fusion.demand import Demand
from convexhc.fusion.electrical_flow import ElectricalFlow, LayeredFlow
from convexhc.fusion.graph_solve import connected
from convexhc.kernels import flows as flow_kernels
from convexhc.kernels.edges import Edges, project_dual
from convexhc.kernels.flows import Net, Tally, substitute, surplus
from convexhc.kernels.threads import limited_threads
from convexhc.model.factorization import Factor
from convexhc.model.problem import cluster_means, graph_problem
from laws import CONSTRAINTS, random_kernel, seeds


def differences(graph):
    D = np.zeros((graph.n_edges, graph.n))
    D[np.arange(graph.n_edges), graph.tail] = 1.0
    D[np.arange(graph.n_edges), graph.head] = -1.0
    return D


class Drawn:
    """A problem, clusters, a dual between them, and the electrical flow inside them."""

    def __init__(self, seed, constraint="doubly_stochastic", spread=1.0):
        rng = np.random.default_rng(seed)
        kernel = random_kernel(rng, 15, density=0.3)
        self.problem = graph_problem(kernel, 0.7, constraint=CONSTRAINTS[constraint])
        self.labels = connected(self.problem, rng.integers(0, 3, 15))
        self.contraction = contract(self.problem, self.labels)
        self.dual = rng.normal(size=(self.contraction.problem.penalty.n_edges, 15))
        self.demand = Demand.of(self.problem, self.labels, self.contraction.between, self.dual)
        self.D = differences(kernel)
        edges = self.problem.penalty.edges
        self.at = np.flatnonzero(self.labels[edges.tail] == self.labels[edges.head])
        conductance = np.exp(spread * rng.normal(size=self.at.size))
        self.electrical = ElectricalFlow(edges.at(self.at), conductance, np.arange(15), self.labels)
        self.rng = rng

    @property
    def flow(self):
        return self.electrical.along(self.demand, np.arange(self.at.size))


@given(seed=seeds, constraint=st.sampled_from(sorted(CONSTRAINTS)))
@settings(max_examples=20)
def test_a_flow_makes_gradients_equal_inside_clusters(seed, constraint):
    drawn = Drawn(seed, constraint)
    Y = drawn.contraction.share[:, None] * (drawn.contraction.sums.T @ drawn.dual)
    Y[drawn.at] = drawn.flow
    G = drawn.D.T @ Y - drawn.problem.fidelity.target
    if drawn.problem.constraint.unit_row_sums:
        G -= G.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(G, cluster_means(G, drawn.labels)[drawn.labels], atol=1e-9)


@given(seed=seeds)
@settings(max_examples=20)
def test_a_demand_is_multiplied_without_being_formed(seed):
    drawn = Drawn(seed)
    R = drawn.demand.columns(slice(0, 15))
    np.testing.assert_allclose(drawn.D[drawn.at].T @ drawn.flow, R, atol=1e-9)
    G, V = drawn.rng.normal(size=(2, 15, 4))
    np.testing.assert_allclose(drawn.demand.times(G), R @ G, atol=1e-12)
    np.testing.assert_allclose(drawn.demand.left_times(V), V.T @ R, atol=1e-12)
    np.testing.assert_allclose(drawn.demand.columns(slice(3, 5)), R[:, 3:5], atol=1e-14)


@given(seed=seeds, stretch=st.sampled_from([1.0, 1.5, 4.0]))
@settings(max_examples=20)
def test_the_load_is_one_at_the_border_of_the_ball(seed, stretch):
    """The load exceeds one exactly where the stretched flow leaves the ball; it grows with it."""
    drawn = Drawn(seed)
    Y, edges = stretch * np.abs(drawn.flow), drawn.electrical.edges
    plain, load, _ = drawn.electrical.loads(drawn.demand, stretch)
    outside = np.linalg.norm(np.maximum(Y - edges.soft[:, None], 0.0), axis=1)
    np.testing.assert_array_equal(load > 1.0, outside > edges.block)
    np.testing.assert_array_equal(plain, drawn.electrical.loads(drawn.demand)[0])
    assert (load >= plain * (1.0 - 1e-12)).all()
    size = np.linalg.norm(drawn.flow, axis=1) / (edges.soft + edges.block)
    np.testing.assert_allclose(
        drawn.electrical.relative_norms(drawn.demand), size, rtol=1e-9, atol=1e-12
    )


def test_a_sketch_keeps_norms():
    drawn = Drawn(3)
    sketch = drawn.demand.sketch(4000)
    sketched = drawn.electrical.relative_norms(sketch)
    np.testing.assert_allclose(sketched, drawn.electrical.relative_norms(drawn.demand), rtol=0.1)
    np.testing.assert_array_equal(drawn.demand.sketch(4000), sketch)


def test_the_residual_of_round_off_is_reported():
    """Zero under moderate conductances, positive where they exceed the range of doubles."""
    assert Drawn(1).electrical.loads(Drawn(1).demand)[2] == 0.0
    lost = [Drawn(seed, spread=12.0).electrical.loads(Drawn(seed).demand)[2] for seed in range(5)]
    assert max(lost) > 0.0


@given(seed=seeds)
@settings(max_examples=20)
def test_the_residual_is_the_sum_of_the_largest_error_of_every_node(seed):
    """For wrong potentials, against the flow formed in full."""
    drawn = Drawn(seed)
    electrical, R = drawn.electrical, drawn.demand.columns(slice(None))
    X = drawn.rng.normal(size=R.shape)

    def wrong(self, values):
        values[:] = X[self.rows]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Factor, "solve", wrong)
        lost = electrical.loads(drawn.demand)[2]
    D = drawn.D[drawn.at]
    lacking = R - D.T @ (electrical.conductance[:, None] * (D @ X))
    assert lost == pytest.approx(np.abs(lacking).max(axis=1).sum(), rel=1e-9)


@given(seed=seeds, together=st.integers(1, 20))
@settings(max_examples=20)
def test_loads_and_norms_do_not_depend_on_the_block_size(seed, together):
    drawn = Drawn(seed, spread=9.0)
    system, demand = drawn.electrical, drawn.demand
    whole, norms = system.loads(demand, 1.5), system.relative_norms(demand)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demand_module, "_MIN_COLUMNS", together)
        patch.setattr(demand_module, "_BLOCK_ENTRIES", 0)
        blocks = system.loads(demand, 1.5)
        np.testing.assert_allclose(system.relative_norms(demand), norms, rtol=1e-9)
    for one, other in zip(whole[:2], blocks[:2], strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-9)


class DenseDemand:
    """A demand given by its matrix."""

    def __init__(self, values):
        self.values = values

    def blocks(self, n_rows):
        return [self.values]

    def left_times(self, V):
        return V.T @ self.values


@given(seed=seeds, orders=st.sampled_from([1.0, 8.0, 24.0, 100.0]), width=st.sampled_from([1, 5]))
@example(seed=0, orders=100.0, width=1)
@example(seed=20, orders=100.0, width=5)
@settings(max_examples=30)
def test_a_layered_flow_meets_the_demand_under_conductances_of_any_range(seed, orders, width):
    rng = np.random.default_rng(seed)
    graph = random_kernel(rng, 20, density=0.2, parts=2).without_diagonal()
    edges = graph_problem(graph, 1.0, weights=graph).penalty.edges
    R = rng.normal(size=(20, width))
    pieces = graph.components()[1]
    R -= cluster_means(R, pieces)[pieces]
    layered = LayeredFlow(edges, 0.1 ** rng.uniform(0.0, orders, graph.n_edges), 20)
    Y = layered.flow(R)
    np.testing.assert_allclose(differences(graph).T @ Y, R, atol=1e-6)
    # All three computations of the flow agree.
    every = np.arange(graph.n_edges)
    np.testing.assert_allclose(layered.along(DenseDemand(R), every), Y, atol=1e-6)
    iterated = layered.flow(R, factored=False)
    np.testing.assert_allclose(iterated, Y, atol=1e-4)
    np.testing.assert_allclose(differences(graph).T @ iterated, R, atol=1e-4)
    size = np.linalg.norm(Y, axis=1) / (edges.soft + edges.block)
    np.testing.assert_allclose(layered.relative_norms(DenseDemand(R)), size, rtol=1e-9, atol=1e-12)


@given(seed=seeds)
@settings(max_examples=10)
def test_a_layered_flow_of_one_layer_is_the_flow_of_least_energy(seed):
    drawn = Drawn(seed)
    electrical, R = drawn.electrical, drawn.demand.columns(slice(None))
    layered = LayeredFlow(electrical.edges, electrical.conductance, 15)
    assert len(layered.layers) == 1
    np.testing.assert_allclose(layered.flow(R), drawn.flow, atol=1e-9)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("width", [1, 64, 150])
def test_a_tally_agrees_with_the_flow_formed_in_full(width, threads, monkeypatch):
    monkeypatch.setattr(flow_kernels, "_WORTH_SHARING", 0)
    drawn = Drawn(width)
    electrical, n = drawn.electrical, drawn.electrical.nodes.size
    start, other, edge = electrical._adjacency
    net = Net(start, other, edge, electrical.conductance[edge], electrical.edges.soft)
    X, R = drawn.rng.normal(size=(2, n, width))
    D = naive.incidence(n, electrical.tail, electrical.head)
    Y = electrical.conductance[:, None] * (D @ X)
    out = Tally(*np.zeros((3, len(Y))), *np.zeros((2, n)))
    with limited_threads(threads):
        # Two blocks of columns add up.
        for block in (slice(0, width // 2), slice(width // 2, width)):
            flow_kernels.tally(X[:, block].copy(), R[:, block].copy(), net, 1.5, out)
    for found, soft in ((out.excess, net.soft), (out.further, net.soft / 1.5)):
        over = np.maximum(np.abs(Y) - soft[:, None], 0.0)
        np.testing.assert_allclose(found, np.square(over).sum(axis=1), rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(out.most, np.abs(Y).max(axis=1), rtol=1e-12)
    np.testing.assert_allclose(out.wanted, np.abs(R).max(axis=1), rtol=1e-12)
    np.testing.assert_allclose(out.lacking, np.abs(R - D.T @ Y).max(axis=1), rtol=1e-9)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("width", [1, 64, 65, 150])
def test_substitution_solves(width, threads, monkeypatch):
    monkeypatch.setattr(flow_kernels, "_WORTH_SHARING", 0)
    rng = np.random.default_rng(width)
    L = np.eye(9) + np.tril(rng.normal(size=(9, 9)), -1) * (rng.random((9, 9)) < 0.5)
    pivot, R = rng.uniform(0.5, 2.0, 9), rng.normal(size=(9, width))
    X, below = R.copy(), csc_array(tril(csc_array(L), -1))
    with limited_threads(threads):
        substitute(X, below.indptr, below.indices, below.data, pivot)
    np.testing.assert_allclose(L @ (pivot[:, None] * (L.T @ X)), R, atol=1e-10)


@given(seed=seeds, l1_ratio=st.sampled_from([0.0, 0.05, 1.0]))
def test_the_surplus_is_the_smallest_change_that_makes_a_flow_feasible(seed, l1_ratio):
    rng = np.random.default_rng(seed)
    radius, Y = rng.uniform(0.5, 3.0, 6), rng.normal(size=(6, 9)) * rng.uniform(0.1, 2.0, (6, 1))
    soft, block = l1_ratio * radius, (1.0 - l1_ratio) * radius
    if l1_ratio < 1.0:
        # One row lies just outside its ball.
        def excess(scale):
            kept = np.maximum(np.abs(scale * Y[0]) - soft[0], 0.0)
            return np.linalg.norm(kept) - 1.005 * block[0]

        Y[0] *= brentq(excess, 0.0, 1e6)
    edges = Edges(np.zeros(6, np.int64), np.ones(6, np.int64), soft, block, np.ones(6))
    d = Y.copy()
    surplus(d, soft, block)
    rest = Y - d
    projected = np.empty_like(rest)
    project_dual(rest, edges, projected)
    np.testing.assert_allclose(projected, rest, atol=1e-9)
    # The projection is the nearest point in the Euclidean norm, this one in the maximum norm.
    project_dual(Y, edges, nearest := np.empty_like(Y))
    assert (np.abs(d).max(axis=1) <= np.abs(Y - nearest).max(axis=1) + 1e-9).all()
    fits = np.abs(Y - nearest).max(axis=1) <= 1e-12
    assert not d[fits].any()
