"""Rows in another order, and sums that are made what they have to be."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from convexhc.kernels import linear_combinations, row_sums


@st.composite
def matrices(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, m = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    return rng.normal(size=(n, m)), rng.permutation(n), rng.uniform(0.5, 4.0, n), rng


@given(matrices())
def test_scatter_undoes_gather_but_for_the_masses(case):
    R, order, mass, _ = case
    X = np.empty(R.shape)
    row_sums.gather(R, order, mass, X)
    np.testing.assert_allclose(X, (mass[:, None] * R)[order], rtol=1e-14)
    np.testing.assert_allclose(row_sums.scatter(X, order), mass[:, None] * R, rtol=1e-14)


@given(matrices())
def test_gather_rounds_to_the_precision_asked_for(case):
    R, order, mass, _ = case
    X = np.empty(R.shape, np.float32)
    row_sums.gather(R, order, mass, X)
    np.testing.assert_array_equal(X, (mass[:, None] * R)[order].astype(np.float32))


@given(matrices(), st.sampled_from([0.0, 1.0]))
def test_row_sums_are_fixed_by_the_nearest_matrix(case, total):
    C, _, _, _ = case
    before = C.copy()
    row_sums.fix_row_sums(C, total)
    np.testing.assert_allclose(C.sum(axis=1), total, atol=1e-12)
    # The nearest one differs by a constant a row.
    assert np.ptp(C - before, axis=1).max() <= 1e-12


@given(matrices(), st.sampled_from([0.0, 1.0]))
def test_column_sums_are_fixed_by_the_nearest_matrix(case, total):
    C, _, mass, _ = case
    before = C.copy()
    row_sums.fix_column_sums(C, mass, total)
    np.testing.assert_allclose(mass @ C, total, atol=1e-11)
    assert np.ptp(C - before, axis=0).max() <= 1e-12


@given(matrices())
def test_columns_that_add_up_leave_row_sums_alone(case):
    C, _, mass, _ = case
    # Masses that sum to the number of columns, as those of a contraction do.
    mass *= C.shape[1] / mass.sum()
    row_sums.fix_row_sums(C, 1.0)
    row_sums.fix_column_sums(C, mass, 1.0)
    np.testing.assert_allclose(C.sum(axis=1), 1.0, atol=1e-11)
    np.testing.assert_allclose(mass @ C, 1.0, atol=1e-11)


@given(matrices(), st.floats(-3.0, 3.0))
def test_a_point_on_a_line_is_between_its_ends_or_beyond(case, along):
    one, _, _, rng = case
    other, share = rng.normal(size=one.shape), np.full(len(one), along)
    expected = (1.0 - along) * one + along * other
    np.testing.assert_allclose(linear_combinations.on_line(one, other, share), expected, atol=1e-12)


@given(matrices())
def test_every_row_has_its_own_place_on_the_line(case):
    one, _, _, rng = case
    other, along = rng.normal(size=one.shape), rng.uniform(-1.0, 2.0, len(one))
    found = linear_combinations.on_line(one, other, along)
    for i, share in enumerate(along):
        np.testing.assert_allclose(found[i], one[i] + share * (other[i] - one[i]), atol=1e-13)


@given(matrices(), st.floats(0.0, 10.0))
def test_add_descent_adds_a_step_of_the_tangent(case, curvature):
    R, _, _, rng = case
    C, G = rng.normal(size=(2, *R.shape))
    expected = R + curvature * C - G
    linear_combinations.add_descent(R, C, G, curvature)
    np.testing.assert_allclose(R, expected, atol=1e-12)
