"""Electrical flows meet their demand, and are measured without being stored."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.sparse import csc_array, csr_array, tril

import naive
from convexhc.fusion import conductances as conductances_module
from convexhc.fusion import demand as demand_module
from convexhc.fusion import inner_demand
from convexhc.fusion.conductances import Conductances
from convexhc.fusion.contraction import contract
from convexhc.fusion.demand import Demand
from convexhc.fusion.electrical_flow import ElectricalFlow, LayeredFlow
from convexhc.fusion.graph_solve import connected
from convexhc.fusion.inner_demand import InnerDemand
from convexhc.kernels import flows as flow_kernels
from convexhc.kernels import loads as load_kernels
from convexhc.kernels.edges import Edges, project_dual
from convexhc.kernels.flows import substitute, surplus
from convexhc.kernels.loads import Net, Tally
from convexhc.kernels.threads import limited_threads
from convexhc.model import elimination
from convexhc.model.elimination import (
    DenseFactor,
    Elimination,
    SparseFactor,
    elimination_order,
)
from convexhc.model.problem import cluster_means, graph_problem
from laws import CONSTRAINTS, random_kernel, seeds


def differences(graph):
    D = np.zeros((graph.n_edges, graph.n))
    D[np.arange(graph.n_edges), graph.tail] = 1.0
    D[np.arange(graph.n_edges), graph.head] = -1.0
    return D


class Drawn:
    """A problem, clusters, a dual between them, and the electrical flow inside them."""

    def __init__(self, seed, constraint="doubly_stochastic", spread=1.0, n=15, density=0.3):
        """Sparse data where they are few, with the nodes of the largest cluster alone."""
        few = density < 0.1
        rng = np.random.default_rng(seed)
        kernel = random_kernel(rng, n, density=density)
        self.problem = graph_problem(kernel, 0.7, constraint=CONSTRAINTS[constraint])
        self.edges = edges = self.problem.penalty.edges
        self.labels = connected(self.problem, rng.integers(0, 3, n))
        self.contraction = contract(self.problem, self.labels)
        self.dual = rng.normal(size=(self.contraction.problem.penalty.n_edges, n))
        self.demand = Demand.of(self.problem, self.labels, self.contraction.between, self.dual)
        if few:
            sparse = csr_array(self.problem.fidelity.target)
            self.demand = replace(self.demand, target=sparse)
        self.D = differences(kernel)
        size = np.bincount(self.labels)
        chosen = size == size.max() if few else size > 1
        inside = self.labels[edges.tail] == self.labels[edges.head]
        self.at = np.flatnonzero(inside & chosen[self.labels[edges.tail]])
        self.conductance = np.exp(spread * rng.normal(size=self.at.size))
        rank = elimination_order(n, edges.tail, edges.head)
        nodes = np.lexsort((rank, self.labels))
        self.nodes = nodes[chosen[self.labels[nodes]]]
        _, self.cluster = np.unique(self.labels[self.nodes], return_inverse=True)
        self.electrical = ElectricalFlow(edges, self.at, self.nodes, self.cluster, self.conductance)
        self.rng = rng

    @property
    def inner(self):
        return InnerDemand.of(self.demand, self.nodes, self.cluster)

    @property
    def flow(self):
        return self.electrical.along(self.inner, np.arange(self.at.size))

    def loads(self, stretch=1.0):
        return self.electrical.loads(self.inner, self.edges, stretch)


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


@given(seed=seeds, constraint=st.sampled_from(sorted(CONSTRAINTS)))
@settings(max_examples=5)
def test_a_demand_sums_to_zero_over_every_cluster(seed, constraint):
    """No flow inside clusters could meet it otherwise."""
    drawn = Drawn(seed, constraint)
    R, clusters = drawn.demand.columns(slice(0, 15)), np.eye(15)[drawn.labels]
    np.testing.assert_allclose(clusters.T @ R, 0.0, atol=1e-12)
    np.testing.assert_allclose(drawn.demand.left_times(clusters), 0.0, atol=1e-12)


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
    Y, edges = stretch * np.abs(drawn.flow), drawn.edges.at(drawn.at)
    plain, load, _ = drawn.loads(stretch)
    outside = np.linalg.norm(np.maximum(Y - edges.soft[:, None], 0.0), axis=1)
    np.testing.assert_array_equal(load > 1.0, outside > edges.block)
    np.testing.assert_array_equal(plain, drawn.loads()[0])
    assert (load >= plain * (1.0 - 1e-12)).all()
    size = np.linalg.norm(drawn.flow, axis=1) / (edges.soft + edges.block)
    R = drawn.demand.columns(slice(None))[drawn.nodes]
    norms = drawn.electrical.relative_norms(R, drawn.edges)
    np.testing.assert_allclose(norms, size, rtol=1e-9, atol=1e-12)


def test_a_sketch_keeps_norms():
    drawn = Drawn(3)
    sketch = drawn.demand.sketch(4000)
    every = drawn.demand.columns(slice(None))
    sketched, exact = (
        drawn.electrical.relative_norms(R[drawn.nodes], drawn.edges) for R in (sketch, every)
    )
    np.testing.assert_allclose(sketched, exact, rtol=0.1)
    np.testing.assert_array_equal(drawn.demand.sketch(4000), sketch)


def all_near(patch):
    """Form every column of a demand."""
    patch.setattr(inner_demand, "_MAX_RANK", 0)


@given(seed=seeds, constraint=st.sampled_from(sorted(CONSTRAINTS)))
@settings(max_examples=20)
def test_loads_of_near_and_far_columns_are_those_of_all_columns(seed, constraint):
    """And those of dense data, of which every column is formed."""
    drawn = Drawn(seed, constraint, n=40, density=0.03)
    found, far = drawn.loads(1.5), drawn.inner.far
    assert far.columns.size
    with pytest.MonkeyPatch.context() as patch:
        all_near(patch)
        every = drawn.loads(1.5)
        assert not drawn.inner.far.columns.size
    dense = replace(drawn.demand, target=drawn.demand.target.toarray())
    inner = InnerDemand.of(dense, drawn.nodes, drawn.cluster)
    assert not inner.far.columns.size
    formed = drawn.electrical.loads(inner, drawn.edges, 1.5)
    for one, two, three in zip(found[:2], every[:2], formed[:2], strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(one, three, rtol=1e-9, atol=1e-12)
    # The far columns are those of the demand.
    R = drawn.demand.columns(slice(None))[np.ix_(drawn.nodes, far.columns)]
    np.testing.assert_allclose(far.V @ far.W.T, R, atol=1e-12)
    near = np.hstack(list(drawn.inner.blocks()))
    expected = drawn.demand.columns(slice(None))[np.ix_(drawn.nodes, drawn.inner.near)]
    np.testing.assert_allclose(near, expected, atol=1e-12)


@given(seed=seeds, l1_ratio=st.sampled_from([0.0, 0.05, 1.0]))
@settings(max_examples=20)
def test_a_product_is_tallied_like_the_flow_it_stands_for(seed, l1_ratio):
    """Columns skipped by their bounds add nothing; their largest entry is never understated."""
    rng = np.random.default_rng(seed)
    Z, D = rng.normal(size=(12, 3)), rng.normal(size=(50, 3)) * rng.exponential(size=(50, 1)) ** 2
    D = D[np.argsort(-np.linalg.norm(D, axis=1))]
    Y, soft = np.abs(Z @ D.T), l1_ratio * rng.uniform(0.5, 20.0, 12)
    out = Tally(*np.zeros((3, 12)), *np.zeros((2, 0)))
    norms = np.linalg.norm(Z, axis=1), np.linalg.norm(D, axis=1)
    load_kernels.tally_product(Z, D, *norms, soft, 1.5, out)
    for found, threshold in ((out.excess, soft), (out.further, soft / 1.5)):
        over = np.maximum(Y - threshold[:, None], 0.0)
        np.testing.assert_allclose(found, np.square(over).sum(axis=1), rtol=1e-9, atol=1e-12)
    assert (out.most >= Y.max(axis=1) * (1.0 - 1e-12)).all()
    outside = Y.max(axis=1) > soft / 1.5
    np.testing.assert_allclose(out.most[outside], Y.max(axis=1)[outside], rtol=1e-12)


def test_the_residual_of_round_off_is_reported():
    """Zero under moderate conductances, positive where they exceed the range of doubles."""
    assert Drawn(1).loads()[2] == 0.0
    assert max(Drawn(seed, spread=12.0).loads()[2] for seed in range(5)) > 0.0


def wrong_solutions(patch, wrong):
    for factor in (SparseFactor, DenseFactor):
        patch.setattr(factor, "solve", wrong)


@given(seed=seeds)
@settings(max_examples=20)
def test_the_residual_is_the_sum_of_the_largest_error_of_every_node(seed):
    """For wrong potentials, against the flow formed in full."""
    drawn = Drawn(seed)
    R = drawn.demand.columns(slice(None))
    X = drawn.rng.normal(size=R.shape)

    def wrong(self, values):
        values[:] = X[drawn.nodes]

    with pytest.MonkeyPatch.context() as patch:
        all_near(patch)
        wrong_solutions(patch, wrong)
        lost = drawn.loads()[2]
    D = drawn.D[drawn.at]
    lacking = R - D.T @ (drawn.conductance[:, None] * (D @ X))
    assert lost == pytest.approx(np.abs(lacking[drawn.nodes]).max(axis=1).sum(), rel=1e-9)


@given(seed=seeds)
@settings(max_examples=20)
def test_the_residual_of_far_columns_is_never_understated(seed):
    drawn = Drawn(seed, n=40, density=0.03)
    assert drawn.inner.far.columns.size
    exact, share = type(drawn.electrical.factor).solve, drawn.rng.uniform(0.5, 1.0, 40)

    def wrong(self, values):
        exact(self, values)
        values *= share[drawn.nodes, None]

    with pytest.MonkeyPatch.context() as patch:
        wrong_solutions(patch, wrong)
        lost = drawn.loads()[2]
        all_near(patch)
        true = drawn.loads()[2]
    assert 0.0 < true <= lost * (1.0 + 1e-9)


def test_potentials_that_are_not_finite_prove_nothing():
    drawn = Drawn(0)
    with pytest.MonkeyPatch.context() as patch:
        wrong_solutions(patch, lambda self, values: values.fill(np.nan))
        load, _, residual = drawn.loads()
    assert np.isinf(load).all()
    assert np.isinf(residual)


@given(seed=seeds, together=st.integers(1, 20))
@settings(max_examples=20)
def test_loads_do_not_depend_on_the_block_size(seed, together):
    """Nor on the columns that are solved in one run."""
    drawn = Drawn(seed, spread=9.0)
    whole = drawn.loads(1.5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inner_demand, "_RUN_BLOCKS", 1 + seed % 3)
        patch.setattr(demand_module, "_MIN_COLUMNS", together)
        patch.setattr(demand_module, "_BLOCK_ENTRIES", 0)
        blocks = drawn.loads(1.5)
    for one, other in zip(whole[:2], blocks[:2], strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-9)


@pytest.mark.parametrize("dense_fill", [0.0, 1.0])
@given(seed=seeds)
@settings(max_examples=5)
def test_factors_solve_the_grounded_laplacian(dense_fill, seed):
    """In double and in single precision, for the whole graph and for its clusters."""
    drawn = Drawn(seed, n=25, density=0.1)
    D = drawn.D[np.ix_(drawn.at, drawn.nodes)]
    L = D.T @ (drawn.conductance[:, None] * D)
    grounded = np.unique(drawn.cluster, return_index=True)[1]
    L[grounded, grounded] *= 2.0
    system = drawn.electrical
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(elimination, "FACTOR_DENSITY", dense_fill)
        pattern = Elimination(drawn.nodes.size, system.tail, system.head, grounded)
        factor = pattern.factor(drawn.conductance)
    assert isinstance(factor, DenseFactor if dense_fill == 0.0 else SparseFactor)
    R = drawn.rng.normal(size=(drawn.nodes.size, 7))
    for precision, atol in ((np.float64, 1e-9), (np.float32, 1e-1)):
        X = R.astype(precision)
        factor.solve(X)
        np.testing.assert_allclose(L @ X, R, atol=atol)


def test_a_restricted_order_has_no_more_fill():
    drawn = Drawn(4, n=60, density=0.1)
    rank, edges = elimination_order(60, drawn.edges.tail, drawn.edges.head), drawn.edges
    whole = Elimination(60, rank[edges.tail], rank[edges.head], np.zeros(1, np.int64))
    inside = Elimination(60, rank[edges.tail[drawn.at]], rank[edges.head[drawn.at]], np.arange(60))
    assert (np.diff(inside.column) <= np.diff(whole.column)).all()


def test_conductances_are_adopted():
    """After a change, flows are those under the new conductances; labels decide which exist."""
    drawn, conductances = Drawn(6), Conductances(np.ones(Drawn(6).edges.tail.size))
    (before,) = conductances.flows(drawn.edges, drawn.labels)
    conductances.values[:] = np.exp(drawn.rng.normal(size=conductances.values.size))
    (flow,) = conductances.flows(drawn.edges, drawn.labels)
    assert flow is before
    new = ElectricalFlow(
        drawn.edges, flow.at, flow.nodes, flow.cluster, conductances.values[flow.at]
    )
    for one, other in zip(*(f.loads(drawn.inner, drawn.edges) for f in (flow, new)), strict=True):
        np.testing.assert_array_equal(one, other)


@given(seed=seeds)
@settings(max_examples=10)
def test_small_clusters_together_are_as_loaded_as_alone(seed):
    drawn = Drawn(seed, n=40, density=0.1)
    found = []
    for large in (2, 64):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(conductances_module, "_BLOCK_NODES", large)
            loads = np.zeros(drawn.edges.tail.size)
            for flow in Conductances.of(drawn.problem).flows(drawn.edges, drawn.labels):
                inner = InnerDemand.of(drawn.demand, flow.nodes, flow.cluster)
                loads[flow.at] = flow.loads(inner, drawn.edges)[0]
        found.append(loads)
    np.testing.assert_allclose(*found, rtol=1e-9, atol=1e-12)
    assert found[0][drawn.at].any()


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
    conductance = 0.1 ** rng.uniform(0.0, orders, graph.n_edges)
    layered = LayeredFlow(edges, conductance, 20)
    Y = layered.flow(R)
    np.testing.assert_allclose(differences(graph).T @ Y, R, atol=1e-6)
    # The order of the nodes is one of little fill as well as any other.
    ordered = LayeredFlow(edges, conductance, 20, ordered=True)
    np.testing.assert_allclose(ordered.flow(R), Y, atol=1e-6)
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
    R = drawn.demand.columns(slice(None))
    layered = LayeredFlow(drawn.edges.at(drawn.at), drawn.conductance, 15)
    assert len(layered.layers) == 1
    np.testing.assert_allclose(layered.flow(R), drawn.flow, atol=1e-9)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("width", [1, 64, 150])
def test_a_tally_agrees_with_the_flow_formed_in_full(width, threads, monkeypatch):
    monkeypatch.setattr("convexhc.kernels.threads._WORTH_SHARING", 0)
    drawn = Drawn(width)
    electrical, n = drawn.electrical, drawn.electrical.nodes.size
    start, other, edge = electrical._adjacency
    soft, peaked = drawn.edges.soft[drawn.at], drawn.rng.random(drawn.at.size) < 0.5
    net = Net(start, other, edge, electrical.conductance[edge], soft, peaked)
    X, R = drawn.rng.normal(size=(2, n, width))
    D = naive.incidence(n, electrical.tail, electrical.head)
    Y = electrical.conductance[:, None] * (D @ X)
    out = Tally(*np.zeros((3, len(Y))), *np.zeros((2, n)))
    with limited_threads(threads):
        # Two blocks of columns add up.
        for block in (slice(0, width // 2), slice(width // 2, width)):
            load_kernels.tally(X[:, block].copy(), R[:, block].copy(), net, 1.5, out)
    for found, soft in ((out.excess, net.soft), (out.further, net.soft / 1.5)):
        over = np.maximum(np.abs(Y) - soft[:, None], 0.0)
        np.testing.assert_allclose(found, np.square(over).sum(axis=1), rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(out.most, np.where(peaked, np.abs(Y).max(axis=1), 0.0), rtol=1e-12)
    np.testing.assert_allclose(out.wanted, np.abs(R).max(axis=1), rtol=1e-12)
    np.testing.assert_allclose(out.lacking, np.abs(R - D.T @ Y).max(axis=1), rtol=1e-9)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("width", [1, 64, 65, 150])
def test_substitution_solves(width, threads, monkeypatch):
    monkeypatch.setattr("convexhc.kernels.threads._WORTH_SHARING", 0)
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


def test_a_surplus_that_is_found_too_slowly_still_makes_a_flow_feasible(monkeypatch):
    """Feasible, though not by the smallest change: the certificate rests on it."""
    monkeypatch.setattr(flow_kernels, "_MAX_NEWTON", 1)
    Y = np.array([[3.0, 1.0, -0.5], [0.1, 0.0, 0.2]])
    d = Y.copy()
    flow_kernels.surplus(d, np.zeros(2), np.ones(2))
    assert (np.linalg.norm(Y - d, axis=1) <= 1.0 + 1e-12).all()
    assert not d[1].any()


@pytest.mark.parametrize("width", [3, 2000])
def test_what_a_flow_delivers_is_the_product_with_the_laplacian(width):
    """By numpy for few columns, by a kernel for many."""
    rng = np.random.default_rng(width)
    tail, head = np.triu_indices(6, 1)
    conductance, X = rng.uniform(0.5, 2.0, tail.size), rng.normal(size=(6, width))
    D = np.zeros((tail.size, 6))
    D[np.arange(tail.size), tail], D[np.arange(tail.size), head] = 1.0, -1.0
    expected = D.T @ (conductance[:, None] * (D @ X))
    found = flow_kernels.delivered(X, tail, head, conductance)
    np.testing.assert_allclose(found, expected, atol=1e-12)
