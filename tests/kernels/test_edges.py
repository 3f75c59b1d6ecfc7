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
from convexhc.kernels.threads import limited_threads
from laws import edge_cases, first_occurrence, node_ends


def fresh(edges, n, m, runs=1):
    """Outputs with arbitrary values, which a pass must overwrite."""
    size = edges.tail.size
    return Scratch(np.ones(size, np.bool_), np.full((runs, n, m), np.nan), np.full((n, m), np.nan))


@given(edge_cases())
def test_differences_and_their_adjoint_agree_with_the_incidence_matrix(case):
    edges, D, C, Y, _ = case
    np.testing.assert_allclose(kernels.differences(C, edges), D @ C, atol=1e-14)
    np.testing.assert_allclose(kernels.adjoint(Y, edges, len(C)), D.T @ Y, atol=1e-13)


@given(edge_cases())
def test_adjoint_identity(case):
    edges, _, C, _, rng = case
    Y = rng.normal(size=(edges.tail.size, C.shape[1]))
    left = np.vdot(kernels.differences(C, edges), Y)
    right = np.vdot(C, kernels.adjoint(Y, edges, len(C)))
    assert left == pytest.approx(right, abs=1e-12)


@given(edge_cases())
def test_penalty_value_is_the_sum_over_edges(case):
    edges, D, C, _, _ = case
    expected = sum(
        b * np.linalg.norm(d) + s * np.abs(d).sum()
        for d, s, b in zip(D @ C, edges.soft, edges.block, strict=True)
    )
    assert kernels.penalty_value(C, edges) == pytest.approx(expected, rel=1e-13, abs=1e-13)


@given(edge_cases())
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


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_project_dual_of_many_numbers_is_that_of_few(precision, threads):
    rng, size, m = np.random.default_rng(5), 1100, 1000
    soft, block = rng.random((2, size)) * [[0.2], [20.0]]
    ends = np.zeros(size, np.int64), np.ones(size, np.int64)
    edges = kernels.Edges.of(*ends, soft, block, np.ones(size))
    Y = rng.normal(size=(size, m)).astype(precision)
    out, some = np.empty(Y.shape), slice(0, 90)
    with limited_threads(threads):
        kernels.project_dual(Y, edges, out)
    few = np.empty((90, m))
    kernels.project_dual(Y[some], edges.at(some), few)
    np.testing.assert_allclose(out[some], few, rtol=1e-13, atol=1e-14)
    # Certificates rest on it: in double precision no row is outside its ball.
    outside = np.linalg.norm(np.maximum(np.abs(out) - soft[:, None], 0.0), axis=1)
    assert (outside <= block * (1.0 + 1e-13)).all()


@given(edge_cases())
def test_separations_are_norms_of_the_differences(case):
    edges, D, C, _, _ = case
    length, absolute = kernels.separations(C, edges)
    np.testing.assert_allclose(length, np.linalg.norm(D @ C, axis=1), atol=1e-14)
    np.testing.assert_allclose(absolute, np.abs(D @ C).sum(axis=1), atol=1e-14)


@given(edge_cases(), st.floats(0.0, 1.0))
def test_extrapolate_follows_the_formula_and_stores_the_old_point(case, weight):
    _, _, X, _, rng = case
    Y = rng.normal(size=X.shape)
    before, old = X.copy(), Y.copy()
    kernels.extrapolate(X, Y, weight)
    np.testing.assert_array_equal(Y, before)
    np.testing.assert_allclose(X, before + weight * (before - old), atol=1e-14)


@given(edge_cases(), st.floats(0.01, 3.0), st.integers(1, 3))
def test_ascend_agrees_with_its_naive_version(case, step, runs):
    edges, D, C, Y, _ = case
    expected, adjoint, squared = naive.ascend(D, C, Y, step, edges)
    scratch = fresh(edges, *C.shape, runs)
    moved = kernels.ascend(C, Y, step, edges, scratch)
    np.testing.assert_allclose(Y, expected, atol=1e-13)
    np.testing.assert_allclose(scratch.total, adjoint, atol=1e-12)
    assert moved == pytest.approx(squared, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("rows", [2, 200])
def test_scratch_fits_the_pass_it_is_for(rows):
    n, m = rows, 40
    tail, head = (node_ends(side) for side in np.triu_indices(n, 1))
    edges = Edges(tail, head, np.zeros(tail.size), np.ones(tail.size), np.ones(tail.size))
    scratch = kernels.scratch(edges, n, m)
    C = np.random.default_rng(0).normal(size=(n, m))
    Y = np.zeros((tail.size, m))
    kernels.ascend(C, Y, 1.0, edges, scratch)
    np.testing.assert_allclose(scratch.total, kernels.adjoint(Y, edges, n), atol=1e-10)


@given(edge_cases(), st.floats(0.0, 1.0))
def test_components_agree_with_graph_traversal(case, share):
    edges, _, C, _, rng = case
    joined = rng.random(edges.tail.size) < share
    found = components(len(C), edges.tail, edges.head, joined)
    expected = naive.components(len(C), edges.tail[joined], edges.head[joined])
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(found, first_occurrence(found))


@given(edge_cases())
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
