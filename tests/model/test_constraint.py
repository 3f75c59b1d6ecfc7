"""Constraint sets: projections are nearest points, minima are below every feasible point."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from convexhc import project_doubly_stochastic
from convexhc.model.constraint import DoublyStochastic, Free, RowSimplex
from laws import assert_nonexpansive, random_doubly_stochastic, seeds

sizes = st.integers(1, 7)
scales = st.sampled_from([0.01, 1.0, 50.0])
SETS = [DoublyStochastic(), RowSimplex(), Free()]


def feasible(rng, n, constraint):
    if constraint.unit_column_sums:
        return random_doubly_stochastic(rng, n)
    if constraint.unit_row_sums:
        return rng.dirichlet(np.full(n, 0.3), size=n)
    return rng.normal(size=(n, n))


@pytest.mark.parametrize("constraint", SETS, ids=lambda c: type(c).__name__)
@given(seed=seeds, n=sizes, scale=scales)
def test_projection_is_feasible_and_nearest(constraint, seed, n, scale):
    rng = np.random.default_rng(seed)
    X = scale * rng.normal(size=(n, n))
    P = constraint.project(X).C
    assert constraint.residual(P) <= 1e-9
    if constraint.nonnegative:
        assert P.min() >= 0.0
    for _ in range(5):
        # Variational inequality: the angle at the nearest point is never acute.
        Q = feasible(rng, n, constraint)
        assert np.vdot(X - P, Q - P) <= 1e-7 * max(1.0, scale)


@given(seed=seeds, n=sizes, scale=scales)
def test_variational_inequality_holds_for_every_permutation(seed, n, scale):
    X = scale * np.random.default_rng(seed).normal(size=(n, n))
    P = DoublyStochastic().project(X).C
    away = X - P
    rows, columns = linear_sum_assignment(away, maximize=True)
    assert away[rows, columns].sum() - np.vdot(away, P) <= 1e-8 * max(1.0, scale)


@pytest.mark.parametrize("constraint", SETS, ids=lambda c: type(c).__name__)
@given(seed=seeds, n=sizes, scale=scales)
def test_projection_is_nonexpansive_and_idempotent(constraint, seed, n, scale):
    A, B = scale * np.random.default_rng(seed).normal(size=(2, n, n))
    assert_nonexpansive(lambda X: constraint.project(X).C, A, B, rtol=1e-8)
    P = constraint.project(A).C
    np.testing.assert_allclose(constraint.project(P).C, P, atol=1e-9)


@pytest.mark.parametrize("constraint", SETS[:2], ids=lambda c: type(c).__name__)
@given(seed=seeds, n=sizes)
def test_warm_start_does_not_change_the_projection(constraint, seed, n):
    A, B = np.random.default_rng(seed).normal(size=(2, n, n))
    _, warm = constraint.project(A)
    u, v = (side.copy() for side in warm)
    cold = constraint.project(B).C
    np.testing.assert_allclose(constraint.project(B, warm).C, cold, atol=1e-9)
    np.testing.assert_array_equal(warm[0], u)
    np.testing.assert_array_equal(warm[1], v)
    again = constraint.project(A, warm)
    np.testing.assert_allclose(
        again.C, np.maximum(A + again.warm[0][:, None] + again.warm[1], 0.0), atol=1e-9
    )


@given(seed=seeds, n=st.integers(1, 5), scale=scales)
def test_minimum_over_row_simplices_takes_the_least_of_every_row(seed, n, scale):
    G = scale * np.random.default_rng(seed).normal(size=(n, n))
    assert RowSimplex().minimum(G, None) == pytest.approx(sum(min(row) for row in G))


@given(seed=seeds, n=sizes, scale=scales)
def test_minimum_from_potentials_is_a_lower_bound_tight_at_a_minimiser(seed, n, scale):
    rng = np.random.default_rng(seed)
    G = scale * rng.normal(size=(n, n))
    rows, columns = linear_sum_assignment(G)
    exact = G[rows, columns].sum()
    best = np.zeros((n, n))
    best[rows, columns] = 1.0
    constraint, step = DoublyStochastic(), 100.0 / np.abs(G).max()
    u, v = constraint.project(best - step * G).warm
    anywhere = constraint.minimum(G, scale * rng.normal(size=(2, n)))
    nowhere = constraint.minimum(G, None)
    there = constraint.minimum(G, (u / step, v / step))
    assert max(anywhere, nowhere) <= exact + 1e-10 * max(1.0, scale)
    assert there == pytest.approx(exact, abs=1e-7 * max(1.0, scale))


def test_minimum_without_constraint_exists_only_for_zero_slope():
    assert Free().minimum(np.zeros((2, 3)), None) == 0.0
    assert Free().minimum(np.eye(2), None) == -np.inf


@given(seed=seeds, n=sizes)
def test_residual_is_the_largest_violation(seed, n):
    rng = np.random.default_rng(seed)
    C = random_doubly_stochastic(rng, n)
    i, j = rng.integers(0, n, size=2)
    for constraint in SETS[:2]:
        assert constraint.residual(C) <= 1e-14 * n
        more = C.copy()
        more[i, j] += 0.25
        assert constraint.residual(more) == pytest.approx(0.25)
    if n > 1:
        # Rows still sum to one, so only column sums or signs are violated.
        moved = np.eye(n)
        moved[0, 0], moved[0, 1] = 1.5, -0.5
        assert DoublyStochastic().residual(moved) == pytest.approx(0.5)
        assert RowSimplex().residual(moved) == pytest.approx(0.5)
        merged = np.zeros((n, n))
        merged[:, 0] = 1.0
        assert RowSimplex().residual(merged) == 0.0
        assert DoublyStochastic().residual(merged) == pytest.approx(n - 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_public_projection_keeps_single_precision_and_leaves_its_argument(dtype):
    X = np.arange(9).reshape(3, 3).astype(dtype)
    before = X.copy()
    P = project_doubly_stochastic(X)
    assert P.dtype == (np.float32 if dtype == np.float32 else np.float64)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_allclose(P.sum(axis=0), 1.0, atol=1e-5)
    np.testing.assert_allclose(P, DoublyStochastic().project(X.astype(float)).C, atol=1e-5)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.ones((2, 3)), r"square .* received shape \(2, 3\)"),
        (np.empty((0, 0)), "at least one row"),
        (np.array([[np.nan, 0.0], [0.0, 1.0]]), "NaN or infinite"),
        (np.array([[np.inf, 0.0], [0.0, 1.0]]), "NaN or infinite"),
    ],
)
def test_public_projection_rejects_bad_input(X, words):
    with pytest.raises(ValueError, match=words):
        project_doubly_stochastic(X)
