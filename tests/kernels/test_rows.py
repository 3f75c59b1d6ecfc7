"""Permutations, interpolation and prescribed sums of rows agree with their definitions."""

from __future__ import annotations

import drawn_graphs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from convexhc.graph import Graph
from convexhc.kernels import compile, rows
from convexhc.kernels.edges import adjoint
from convexhc.model.problem import points_problem


@st.composite
def matrices(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, m = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    return rng.normal(size=(n, m)), rng.permutation(n), rng.uniform(0.5, 4.0, n), rng


@given(matrices())
def test_scatter_inverts_gather_up_to_the_masses(case):
    R, order, mass, _ = case
    X = np.empty(R.shape)
    rows.gather_rows(R, order, mass, X)
    np.testing.assert_allclose(X, (mass[:, None] * R)[order], rtol=1e-14)
    np.testing.assert_allclose(rows.scatter_rows(X, order), mass[:, None] * R, rtol=1e-14)


@given(matrices())
def test_gather_rounds_to_the_precision_of_its_output(case):
    R, order, mass, _ = case
    X = np.empty(R.shape, np.float32)
    rows.gather_rows(R, order, mass, X)
    np.testing.assert_array_equal(X, (mass[:, None] * R)[order].astype(np.float32))


@pytest.mark.parametrize("seed", range(5))
def test_sums_are_the_same_to_the_last_bit_in_kernels_and_in_sparse_products(seed, monkeypatch):
    """Which of the two runs may depend on what the process compiled before."""
    rng = np.random.default_rng(seed)
    n, m = 60, 3
    labels, mass = np.concatenate([np.arange(9), rng.integers(0, 9, n - 9)]), rng.random(n) + 0.5
    graph = drawn_graphs.planted(seed, (20, 20, 20))[0]
    edges = points_problem(np.zeros((n, m)), Graph.from_matrix(graph), 1.0).penalty.edges
    C, Y = rng.normal(size=(n, m)), rng.normal(size=(edges.tail.size, m))
    found = []
    for compiled in (False, True):
        monkeypatch.setattr(compile, "_FEW_ENTRIES", 0 if compiled else 10**9)
        monkeypatch.setattr(compile, "_is_compiled", lambda kernel: False)
        found.append((rows.group_means(C, labels, mass), adjoint(Y, edges, n)))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
    expected = [np.average(C[labels == g], axis=0, weights=mass[labels == g]) for g in range(9)]
    np.testing.assert_allclose(found[0][0], expected, rtol=1e-12, atol=1e-14)


@given(matrices(), st.sampled_from([0.0, 1.0]))
def test_row_sums_are_fixed_by_the_nearest_matrix(case, total):
    C, _, _, _ = case
    before = C.copy()
    rows.fix_row_sums(C, total)
    np.testing.assert_allclose(C.sum(axis=1), total, atol=1e-12)
    # The nearest matrix differs by one constant per row.
    assert np.ptp(C - before, axis=1).max() <= 1e-12


@given(matrices(), st.sampled_from([0.0, 1.0]))
def test_column_sums_are_fixed_by_the_nearest_matrix(case, total):
    C, _, mass, _ = case
    before = C.copy()
    rows.fix_column_sums(C, mass, total)
    np.testing.assert_allclose(mass @ C, total, atol=1e-11)
    assert np.ptp(C - before, axis=0).max() <= 1e-12


@given(matrices())
def test_fixing_column_sums_keeps_row_sums_if_the_masses_sum_to_the_number_of_columns(case):
    C, _, mass, _ = case
    # Masses that sum to the number of columns, as those of a contraction do.
    mass *= C.shape[1] / mass.sum()
    rows.fix_row_sums(C, 1.0)
    rows.fix_column_sums(C, mass, 1.0)
    np.testing.assert_allclose(C.sum(axis=1), 1.0, atol=1e-11)
    np.testing.assert_allclose(mass @ C, 1.0, atol=1e-11)


@given(matrices(), st.floats(-3.0, 3.0))
def test_interpolation_and_extrapolation_follow_the_formula(case, along):
    one, _, _, rng = case
    other, share = rng.normal(size=one.shape), np.full(len(one), along)
    expected = (1.0 - along) * one + along * other
    np.testing.assert_allclose(rows.interpolate_rows(one, other, share), expected, atol=1e-12)


@given(matrices())
def test_every_row_has_its_own_weight(case):
    one, _, _, rng = case
    other, along = rng.normal(size=one.shape), rng.uniform(-1.0, 2.0, len(one))
    found = rows.interpolate_rows(one, other, along)
    for i, share in enumerate(along):
        np.testing.assert_allclose(found[i], one[i] + share * (other[i] - one[i]), atol=1e-13)
