"""Passes over the edges agree with the incidence matrix, for any number of runs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from convexhc.kernels import edges as kernels
from convexhc.kernels.components import components, spanning_forest
from convexhc.kernels.edges import Edges, Scratch
from laws import first_occurrence, seeds

pytestmark = pytest.mark.usefixtures("version")


def ends(nodes):
    """Ends of edges as stored in a graph: read-only, so that no second signature is compiled."""
    nodes = nodes.astype(np.int64)
    nodes.setflags(write=False)
    return nodes


@st.composite
def cases(draw):
    """Edges with thresholds (some zero), the incidence matrix, centroids and a dual."""
    n, m = draw(st.integers(1, 7)), draw(st.integers(1, 9))
    rng = np.random.default_rng(draw(seeds))
    tail, head = np.triu_indices(n, 1)
    kept = rng.random(tail.size) < draw(st.sampled_from([0.0, 0.4, 1.0]))
    tail, head = ends(tail[kept]), ends(head[kept])
    scale = draw(st.sampled_from([0.0, 0.3, 10.0]))
    share = draw(st.sampled_from([0.0, 0.05, 1.0]))
    radius = scale * rng.random(tail.size)
    stiffness = 10.0 ** rng.uniform(-2.0, 1.0, tail.size)
    edges = Edges(tail, head, share * radius, (1 - share) * radius, stiffness)
    C = rng.normal(size=(n, m))
    if n > 2 and draw(st.booleans()):
        C[1] = C[0]
    Y = naive.project_dual(rng.normal(size=(tail.size, m)), edges.soft, edges.block)
    return edges, naive.incidence(n, tail, head), C, Y, rng


def fresh(edges, n, m, runs=1):
    """Outputs with arbitrary values, which a pass must overwrite."""
    size = edges.tail.size
    return Scratch(np.ones(size, np.bool_), np.full((runs, n, m), np.nan), np.full((n, m), np.nan))


@given(cases())
def test_differences_and_their_adjoint_agree_with_the_incidence_matrix(case):
    edges, D, C, Y, _ = case
    np.testing.assert_allclose(kernels.differences(C, edges), D @ C, atol=1e-14)
    np.testing.assert_allclose(kernels.adjoint(Y, edges, len(C)), D.T @ Y, atol=1e-13)


@given(cases())
def test_adjoint_identity(case):
    edges, _, C, _, rng = case
    Y = rng.normal(size=(edges.tail.size, C.shape[1]))
    left = np.vdot(kernels.differences(C, edges), Y)
    right = np.vdot(C, kernels.adjoint(Y, edges, len(C)))
    assert left == pytest.approx(right, abs=1e-12)


@given(cases())
def test_penalty_value_is_the_sum_over_edges(case):
    edges, D, C, _, _ = case
    expected = sum(
        b * np.linalg.norm(d) + s * np.abs(d).sum()
        for d, s, b in zip(D @ C, edges.soft, edges.block, strict=True)
    )
    assert kernels.penalty_value(C, edges) == pytest.approx(expected, rel=1e-13, abs=1e-13)


@given(cases())
def test_project_dual_projects_every_row_into_out_or_in_place(case):
    edges, _, C, _, rng = case
    Y = rng.normal(size=(edges.tail.size, C.shape[1]))
    expected, before, out = (
        naive.project_dual(Y, edges.soft, edges.block),
        Y.copy(),
        np.empty(Y.shape),
    )
    kernels.project_dual(Y, edges, out)
    np.testing.assert_allclose(out, expected, atol=1e-14)
    np.testing.assert_array_equal(Y, before)
    kernels.project_dual(Y, edges, Y)
    np.testing.assert_array_equal(Y, out)


@given(cases())
def test_sizes_are_norms_weighted_by_the_stiffness(case):
    edges, _, C, _, rng = case
    Y, Z = rng.normal(size=(2, edges.tail.size, C.shape[1]))
    dual, copies = kernels.sizes(Y, Z, edges.stiffness)
    root = np.sqrt(edges.stiffness)[:, None]
    assert dual == pytest.approx(np.linalg.norm(Y / root), rel=1e-12)
    assert copies == pytest.approx(np.linalg.norm(Z * root), rel=1e-12)


@given(cases(), st.floats(0.0, 1.0))
def test_extrapolate_follows_the_formula_and_stores_the_old_point(case, weight):
    _, _, X, _, rng = case
    Y = rng.normal(size=X.shape)
    before, old = X.copy(), Y.copy()
    kernels.extrapolate(X, Y, weight)
    np.testing.assert_array_equal(Y, before)
    np.testing.assert_allclose(X, before + weight * (before - old), atol=1e-14)


@given(cases(), st.floats(0.01, 3.0), st.integers(1, 3))
def test_ascend_agrees_with_its_naive_version(case, step, runs):
    edges, D, C, Y, _ = case
    expected, adjoint, squared = naive.ascend(D, C, Y, step, edges)
    scratch = fresh(edges, *C.shape, runs)
    moved = kernels.ascend(C, Y, step, edges, scratch)
    np.testing.assert_allclose(Y, expected, atol=1e-13)
    np.testing.assert_allclose(scratch.total, adjoint, atol=1e-12)
    assert moved == pytest.approx(squared, rel=1e-9, abs=1e-12)


@given(cases(), st.floats(0.05, 5.0), st.floats(1.0, 1.9), st.integers(1, 3))
def test_z_and_dual_update_agrees_with_its_naive_version(case, rho, relax, runs):
    edges, D, C, Y, rng = case
    Z = rng.normal(size=Y.shape)
    twin = naive.z_and_dual_update(D, C, Y, Z, rho, relax, edges)
    scratch = fresh(edges, *C.shape, runs)
    apart, moved = kernels.z_and_dual_update(C, Y, Z, rho, relax, edges, scratch)
    for found, expected in zip((Y, Z, scratch.total), twin[:3], strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-11)
    assert apart == pytest.approx(twin[3], rel=1e-9, abs=1e-11)
    assert moved == pytest.approx(twin[4], rel=1e-9, abs=1e-11)


@given(cases(), st.floats(0.05, 5.0))
def test_fused_flags_mark_the_edges_whose_prox_is_zero(case, rho):
    edges, D, C, Y, _ = case
    Z = D @ C
    scratch = fresh(edges, *C.shape)
    kernels.z_and_dual_update(C, Y, Z, rho, 1.6, edges, scratch)
    # Z is the prox itself: its rows vanish exactly where the flag is set.
    np.testing.assert_array_equal(scratch.fused, ~Z.any(axis=1))


@pytest.mark.parametrize("rows", [2, 200])
def test_scratch_fits_the_pass_it_is_for(rows):
    n, m = rows, 40
    tail, head = (ends(side) for side in np.triu_indices(n, 1))
    edges = Edges(tail, head, np.zeros(tail.size), np.ones(tail.size), np.ones(tail.size))
    scratch = kernels.scratch(edges, n, m)
    C = np.random.default_rng(0).normal(size=(n, m))
    Y = np.zeros((tail.size, m))
    kernels.ascend(C, Y, 1.0, edges, scratch)
    np.testing.assert_allclose(scratch.total, kernels.adjoint(Y, edges, n), atol=1e-10)


@given(cases(), st.floats(0.0, 1.0))
def test_components_agree_with_graph_traversal(case, share):
    edges, _, C, _, rng = case
    joined = rng.random(edges.tail.size) < share
    found = components(len(C), edges.tail, edges.head, joined)
    expected = naive.components(len(C), edges.tail[joined], edges.head[joined])
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(found, first_occurrence(found))


@given(cases())
def test_a_spanning_forest_takes_an_edge_where_those_before_do_not_join_its_ends(case):
    edges, _, C, _, rng = case
    order = rng.permutation(edges.tail.size)
    expected = []
    for p, e in enumerate(order):
        before = naive.components(len(C), edges.tail[order[:p]], edges.head[order[:p]])
        if before[edges.tail[e]] != before[edges.head[e]]:
            expected.append(e)
    found = spanning_forest(len(C), edges.tail, edges.head, order)
    assert found.tolist() == expected


@given(cases(), st.floats(0.05, 5.0), st.floats(0.05, 5.0))
def test_right_hand_side_is_the_one_of_the_update_for_any_rho(case, rho, other):
    edges, D, C, Y, rng = case
    Z = rng.normal(size=Y.shape)
    scratch = fresh(edges, *C.shape)
    kernels.z_and_dual_update(C, Y, Z, rho, 1.6, edges, scratch)
    np.testing.assert_allclose(
        kernels.right_hand_side(Y, Z, rho, edges, len(C)), scratch.total, atol=1e-11
    )
    expected = D.T @ (other * edges.stiffness[:, None] * Z - Y)
    np.testing.assert_allclose(
        kernels.right_hand_side(Y, Z, other, edges, len(C)), expected, atol=1e-11
    )
