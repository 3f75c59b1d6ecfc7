"""The projection of rows onto the probability simplex obeys the laws of a projection."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from convexhc.kernels.simplex import project_rows


@st.composite
def matrices(draw, count=1):
    shape = draw(st.integers(1, 5)), draw(st.integers(1, 12))
    scale = draw(st.sampled_from([1e-6, 0.1, 1.0, 10.0, 1e6]))
    entries = hnp.arrays(np.float64, shape, elements=st.floats(-4, 4))
    drawn = [scale * draw(entries) for _ in range(count)]
    return drawn[0] if count == 1 else drawn


def by_sorting(x):
    """The textbook projection of one row."""
    ordered = np.sort(x)[::-1]
    levels = (np.cumsum(ordered) - 1) / np.arange(1, x.size + 1)
    return np.maximum(x - levels[np.flatnonzero(ordered > levels)[-1]], 0)


@given(matrices())
def test_feasible_and_of_the_form_of_the_optimality_conditions(X):
    C, shift = project_rows(X)
    unit = max(1.0, np.abs(X).max())
    assert C.min() >= 0
    np.testing.assert_allclose(C.sum(axis=1), 1, atol=1e-14 * X.shape[1])
    np.testing.assert_allclose(C, np.maximum(X + shift[:, None], 0), atol=1e-15 * unit)


@given(matrices())
def test_variational_inequality_against_the_worst_vertex(X):
    C, _ = project_rows(X)
    away = X - C
    worst = away.max(axis=1) - (away * C).sum(axis=1)
    assert worst.max() <= 1e-13 * max(1.0, np.abs(X).max())


@given(matrices())
def test_agrees_with_sorting(X):
    C, _ = project_rows(X)
    expected = np.array([by_sorting(x) for x in X])
    np.testing.assert_allclose(C, expected, atol=1e-13 * max(1.0, np.abs(X).max()))


@given(matrices())
def test_idempotent(X):
    C, _ = project_rows(X)
    np.testing.assert_allclose(project_rows(C)[0], C, atol=1e-14)


@given(matrices(count=2))
def test_nonexpansive_row_by_row(pair):
    X, Z = pair
    apart = np.linalg.norm(project_rows(X)[0] - project_rows(Z)[0], axis=1)
    assert np.all(apart <= np.linalg.norm(X - Z, axis=1) + 1e-12)


def test_sums_stay_exact_far_from_the_origin():
    X = 1e9 + np.random.default_rng(0).normal(size=(20, 300))
    np.testing.assert_allclose(project_rows(X)[0].sum(axis=1), 1, atol=1e-14)


def test_many_levels_that_separate_one_by_one():
    X = -np.logspace(0, -16, 200)[None]
    np.testing.assert_allclose(project_rows(X)[0][0], by_sorting(X[0]), atol=1e-15)


def test_writes_to_out():
    X = np.random.default_rng(1).normal(size=(9, 30))
    expected, kept = project_rows(X)[0], X.copy()
    out = np.full_like(X, np.nan)
    assert project_rows(X, out)[0] is out
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(X, kept)
    project_rows(X, X)
    np.testing.assert_array_equal(X, expected)


@pytest.mark.parametrize("X", [np.zeros(4), np.zeros((3, 0))])
def test_rejects_input_that_is_not_a_matrix(X):
    with pytest.raises(ValueError, match="at least one column"):
        project_rows(X)


@pytest.mark.parametrize(
    "out", [np.empty((3, 2)), np.empty((3, 3), np.float32), np.empty((3, 3), order="F")]
)
def test_rejects_an_output_of_the_wrong_shape(out):
    with pytest.raises(ValueError, match="out must be"):
        project_rows(np.eye(3), out)
