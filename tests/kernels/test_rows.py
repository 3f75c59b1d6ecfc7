"""Permutations, interpolation and prescribed sums of rows agree with their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from convexhc.kernels import rows


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


@pytest.mark.parametrize("threads", [1, 2])
@given(matrices(), st.sampled_from([0.0, 1.0]), st.booleans())
def test_sums_are_fixed_by_constants_per_row_and_per_column(threads, case, total, columns):
    X, order, mass, _ = case
    # Masses that sum to the number of columns, as those of a contraction do.
    mass *= X.shape[1] / mass.sum()
    before = rows.scatter_rows(X, order)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "runs_for", lambda _: threads)
        C = rows.scatter_rows_with_sums(X, order, mass, total, columns=columns)
    np.testing.assert_allclose(C.sum(axis=1), total, atol=1e-11)
    change = C - before
    change -= change.mean(axis=1, keepdims=True)
    if columns:
        np.testing.assert_allclose(mass @ C, total, atol=1e-11)
        change -= change[0]
    assert np.abs(change).max() <= 1e-11


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
