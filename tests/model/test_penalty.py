"""Fusion and squared fusion: values, duals, minorants, and the constants used by solvers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from convexhc.graph import Graph
from convexhc.kernels.prox import dual_norms
from convexhc.model.metric import EUCLIDEAN, InnerProduct
from convexhc.model.penalty import Differences, Fusion
from convexhc.model.problem import smooth_problem
from laws import (
    assert_convex_between,
    assert_gradient,
    l1_ratios,
    random_kernel,
    random_weights,
    seeds,
)

sizes = st.integers(1, 8)
strengths = st.sampled_from([0.0, 0.3, 20.0])


def drawn(seed, n, lam=1.0, l1_ratio=0.05, *, masses=False):
    """A fusion penalty, and its random generator."""
    rng = np.random.default_rng(seed)
    parts = int(rng.integers(1, n // 2 + 2))
    graph = Graph.from_matrix(random_weights(rng, n, parts=parts))
    metric = InnerProduct(rng.integers(1, 5, size=n).astype(float)) if masses else EUCLIDEAN
    return Fusion(Differences(graph, metric), lam, l1_ratio), rng


@given(seeds, sizes, strengths, l1_ratios)
def test_value_is_half_the_sum_over_ordered_pairs(seed, n, lam, l1_ratio):
    fusion, rng = drawn(seed, n, lam, l1_ratio)
    C, W = rng.normal(size=(n, n)), fusion.differences.graph.dense()
    doubled = naive.paper_objective(C.T, np.zeros((n, n)), W, lam, l1_ratio)
    assert fusion.value(C) == pytest.approx(0.5 * doubled)


@given(seeds, sizes, strengths, l1_ratios)
def test_value_is_convex_and_grows_with_its_argument(seed, n, lam, l1_ratio):
    fusion, rng = drawn(seed, n, lam, l1_ratio)
    A, B = rng.normal(size=(2, n, 3))
    assert_convex_between(fusion.value, A, B)
    assert fusion.value(-2.5 * A) == pytest.approx(2.5 * fusion.value(A))
    assert fusion.value(A + B[0]) == pytest.approx(fusion.value(A))


@given(seeds, sizes, strengths, l1_ratios)
def test_a_feasible_dual_is_in_its_balls_and_the_nearest_such(seed, n, lam, l1_ratio):
    fusion, rng = drawn(seed, n, lam, l1_ratio)
    wild = 3.0 * rng.normal(size=(fusion.n_edges, 4))
    before = wild.copy()
    Y = fusion.feasible_dual(wild)
    np.testing.assert_array_equal(wild, before)
    radius = lam * fusion.differences.graph.weight
    assert np.all(dual_norms(Y, l1_ratio) <= radius * (1 + 1e-12))
    np.testing.assert_allclose(fusion.feasible_dual(Y), Y, atol=1e-13)
    expected = naive.project_dual(wild, l1_ratio * radius, (1 - l1_ratio) * radius)
    np.testing.assert_allclose(Y, expected, atol=1e-13)


@given(seeds, sizes, strengths, l1_ratios, st.booleans())
def test_minorants_lie_below_and_the_best_one_touches(seed, n, lam, l1_ratio, masses):
    fusion, rng = drawn(seed, n, lam, l1_ratio, masses=masses)
    C = rng.normal(size=(n, 4))
    Y = fusion.feasible_dual(rng.normal(size=(fusion.n_edges, 4)))
    g = fusion.differences.graph
    d = C[g.tail] - C[g.head]
    unit = d / np.linalg.norm(d, axis=1, keepdims=True)
    touching = lam * g.weight[:, None] * ((1 - l1_ratio) * unit + l1_ratio * np.sign(d))
    np.testing.assert_allclose(fusion.feasible_dual(touching), touching, atol=1e-12)
    for dual in (Y, touching):
        offset, slope = fusion.minorant(C, dual)
        for Q in (C, rng.normal(size=(n, 4))):
            value = fusion.value(Q)
            assert offset + fusion.metric.inner(slope, Q) <= value + 1e-10 * max(1.0, value)
    offset, slope = fusion.minorant(C, touching)
    assert offset + fusion.metric.inner(slope, C) == pytest.approx(fusion.value(C))


@given(seeds, sizes, st.booleans())
def test_pull_is_the_adjoint_of_the_differences_in_the_metric(seed, n, masses):
    fusion, rng = drawn(seed, n, masses=masses)
    g = fusion.differences.graph
    C, Y = rng.normal(size=(n, 3)), rng.normal(size=(fusion.n_edges, 3))
    D = naive.incidence(n, g.tail, g.head)
    assert fusion.metric.inner(fusion.pull(Y), C) == pytest.approx(np.vdot(Y, D @ C), abs=1e-11)


@given(seeds, sizes, st.booleans())
def test_spectrum_diagonalises_the_differences(seed, n, masses):
    fusion, _ = drawn(seed, n, masses=masses)
    differences = fusion.differences
    g, mass = differences.graph, differences.metric.mass
    mass = np.ones(n) if mass is None else mass
    D = naive.incidence(n, g.tail, g.head)
    basis, inverse, gamma = differences.spectrum
    np.testing.assert_allclose(basis.T @ (mass[:, None] * basis), np.eye(n), atol=1e-11)
    np.testing.assert_allclose(inverse @ basis, np.eye(n), atol=1e-11)
    # D'D, adjoint in the metric and in the norm of edges, is diag(1 / mass) D^T diag(w / mean) D.
    R = np.diag(g.weight / g.weight.mean()) if g.n_edges else np.zeros((0, 0))
    np.testing.assert_allclose((basis * gamma) @ inverse, (D.T @ R @ D) / mass[:, None], atol=1e-10)
    np.testing.assert_allclose(basis[:, 0], 1 / np.sqrt(mass.sum()), rtol=1e-12)
    assert gamma[0] == 0.0
    components = naive.components(n, g.tail, g.head).max() + 1
    assert np.count_nonzero(gamma < 1e-9) == components


@given(seeds, sizes, st.booleans())
def test_norm_is_never_below_the_largest_singular_value(seed, n, masses):
    fusion, _ = drawn(seed, n, masses=masses)
    differences = fusion.differences
    g = differences.graph
    stretch = naive.incidence(n, g.tail, g.head) / differences._root
    stretch *= np.sqrt(g.weight / g.weight.mean())[:, None] if g.n_edges else 1.0
    true = np.linalg.norm(stretch, 2) ** 2 if g.n_edges else 0.0
    assert true * (1 - 1e-13) <= differences.norm_squared <= true * 1.001


def test_norm_of_a_large_graph_is_not_below_the_true_one():
    rng = np.random.default_rng(3)
    differences = Differences(Graph.from_matrix(random_weights(rng, 420, density=0.01)))
    true = np.linalg.eigvalsh(differences.laplacian.toarray())[-1]
    assert true <= differences.norm_squared <= true * 1.001


@given(seeds, sizes, st.sampled_from([0.0, 0.2, 5.0]))
def test_squared_fusion_is_the_distance_in_feature_space(seed, n, lam):
    rng = np.random.default_rng(seed)
    problem = smooth_problem(random_kernel(rng, n), lam)
    K, C = problem.penalty.K, rng.normal(size=(n, n))
    doubled = naive.paper_smooth_objective(C.T, K, lam)
    assert 2.0 * problem.objective(C) == pytest.approx(doubled, rel=1e-9, abs=1e-9)


@given(seeds, sizes)
def test_squared_fusion_has_the_gradient_of_its_value_and_a_tangent_below(seed, n):
    rng = np.random.default_rng(seed)
    penalty = smooth_problem(random_kernel(rng, n), 0.7).penalty
    C, Q = rng.normal(size=(2, n, n))
    assert_gradient(penalty.value, penalty.gradient(C), C, rng)
    assert_convex_between(penalty.value, C, Q, atol=1e-9)
    offset, slope = penalty.minorant(C, np.empty((0, 0)))
    assert offset + np.vdot(slope, C) == pytest.approx(penalty.value(C), rel=1e-9, abs=1e-9)
    assert offset + np.vdot(slope, Q) <= penalty.value(Q) + 1e-9
