"""The projection onto the doubly stochastic matrices obeys the laws of a projection."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import linear_sum_assignment

from convexhc.kernels.birkhoff import project


@st.composite
def squares(draw, max_side=8, count=1):
    """Square matrices, many of them with ties, at scales from 1e-3 to 1e4."""
    n = draw(st.integers(1, max_side))
    scale = draw(st.sampled_from([1e-3, 0.1, 1.0, 10.0, 1e4]))
    entries = hnp.arrays(np.float64, (n, n), elements=st.floats(-4, 4, width=16))
    drawn = [scale * draw(entries) for _ in range(count)]
    return drawn[0] if count == 1 else drawn


@st.composite
def grouped(draw, max_side=9):
    """A matrix with one row per group, and the group of every node."""
    n = draw(st.integers(1, max_side))
    labels = draw(hnp.arrays(np.int64, n, elements=st.integers(0, n - 1)))
    groups = np.unique(labels, return_inverse=True)[1]
    X = draw(
        hnp.arrays(np.float64, (int(groups.max()) + 1, n), elements=st.floats(-4, 4, width=16))
    )
    return draw(st.sampled_from([1e-2, 1.0, 30.0])) * X, groups


def sums_error(C, mass=None):
    mass = np.ones(len(C)) if mass is None else np.asarray(mass, dtype=float)
    cols = mass @ C * (C.shape[1] / mass.sum())
    return max(np.abs(C.sum(axis=1) - 1).max(), np.abs(cols - 1).max())


def size(*matrices):
    """Largest entry, the unit of round-off."""
    return max(1.0, *(np.abs(X).max() for X in matrices))


def assert_optimal(X, P, mass=None):
    """Check the optimality conditions, which only the projection satisfies."""
    assert P.C.min() >= 0
    assert sums_error(P.C, mass) <= 1.01e-10
    assert P.residual == pytest.approx(sums_error(P.C, mass), abs=1e-13)
    shifted = X + (P.u[:, None] + P.v)
    np.testing.assert_allclose(P.C, np.maximum(shifted, 0), atol=1e-14 * size(X, P.u, P.v))


def onto_sums(X, mass):
    """Nearest matrix with the given sums in the metric of the masses; entries may be negative."""
    m, total = X.shape[1], mass.sum()
    u = (1 - X.sum(axis=1)) / m
    v = 1 / m - (mass @ X) / total
    return X + u[:, None] + v - (mass @ u) / total


def dykstra(X, mass, rounds=20_000):
    """Dykstra's algorithm: alternate projections onto sums and signs, with correction terms."""
    C, taken = X, np.zeros_like(X)
    for _ in range(rounds):
        B = onto_sums(C, mass)
        C = np.maximum(B + taken, 0)
        taken = B + taken - C
        if sums_error(C, mass) < 1e-9:
            break
    return C


HARD = {
    "zero": lambda n, rng: np.zeros((n, n)),
    "constant": lambda n, rng: np.full((n, n), 3.0),
    "identity": lambda n, rng: np.eye(n),
    "permutation": lambda n, rng: np.eye(n)[rng.permutation(n)] + 0.01 * rng.normal(size=(n, n)),
    "anti-identity": lambda n, rng: -np.eye(n),
    "gauss": lambda n, rng: rng.normal(size=(n, n)),
    "ties": lambda n, rng: rng.integers(-1, 2, size=(n, n)).astype(float),
    "blocks": lambda n, rng: (
        np.kron(np.eye(4), np.ones((n // 4, n // 4))) + 0.05 * rng.normal(size=(n, n))
    ),
    "distances": lambda n, rng: -(np.subtract.outer(rng.random(n), rng.random(n)) ** 2),
    "one bad column": lambda n, rng: rng.normal(size=(n, n)) - 1e6 * (np.arange(n) == 3),
    "crowded": lambda n, rng: (
        rng.normal(size=(n, n)) - 1e3 * np.outer(np.arange(n) < 12, np.arange(n) > 7)
    ),
}


@given(squares())
def test_optimal_on_small_matrices(X):
    assert_optimal(X, project(X))


@given(squares())
def test_variational_inequality_against_the_worst_permutation(X):
    C = project(X).C
    worst = np.zeros_like(C)
    worst[linear_sum_assignment(X - C, maximize=True)] = 1
    assert np.sum((X - C) * (worst - C)) <= 1e-9 * size(X) * len(X)


@given(squares())
def test_idempotent(X):
    C = project(X).C
    np.testing.assert_allclose(project(C).C, C, atol=1e-9)


@given(squares(count=2))
def test_nonexpansive(pair):
    X, Z = pair
    apart = np.linalg.norm(project(X).C - project(Z).C)
    assert apart <= np.linalg.norm(X - Z) + 1e-8


@given(squares(), st.randoms(use_true_random=False))
def test_permuting_rows_and_columns_permutes_the_projection(X, random):
    rows, cols = list(range(len(X))), list(range(len(X)))
    random.shuffle(rows)
    random.shuffle(cols)
    np.testing.assert_allclose(project(X[rows][:, cols]).C, project(X).C[rows][:, cols], atol=1e-8)


@given(squares())
def test_transposing_transposes_the_projection(X):
    np.testing.assert_allclose(project(X.T).C, project(X).C.T, atol=1e-8)


@given(squares(), st.floats(-50, 50))
def test_row_and_column_offsets_do_not_change_the_projection(X, offset):
    moved = X + offset * np.arange(len(X)) - 2 * offset * np.arange(len(X))[:, None]
    np.testing.assert_allclose(project(moved).C, project(X).C, atol=1e-8)


@given(grouped())
def test_contracting_equal_rows_to_masses_gives_the_same_projection(case):
    X, groups = case
    mass = np.bincount(groups)
    contracted = project(X, mass=mass)
    assert sums_error(contracted.C, mass) <= 1.01e-10
    np.testing.assert_allclose(contracted.C[groups], project(X[groups]).C, atol=1e-8)


@pytest.mark.parametrize("scale", [0.01, 3.0])
def test_contraction_of_a_large_matrix(scale):
    """As above with most or few entries zero, which uses other code paths than small matrices."""
    rng = np.random.default_rng(8)
    groups = np.sort(np.append(np.arange(40), rng.integers(0, 40, size=110)))
    X, mass = scale * rng.normal(size=(40, 150)), np.bincount(groups)
    np.testing.assert_allclose(project(X, mass=mass).C[groups], project(X[groups]).C, atol=1e-8)


def test_only_the_ratios_of_the_masses_matter():
    rng = np.random.default_rng(0)
    X, mass = rng.normal(size=(7, 20)), rng.random(7) + 0.1
    np.testing.assert_allclose(
        project(X, mass=mass).C, project(X, mass=1e3 * mass).C, rtol=0, atol=1e-9
    )


@pytest.mark.parametrize("seed", range(6))
def test_agrees_with_the_naive_version(seed):
    rng = np.random.default_rng(seed)
    c, m = (6, 6) if seed < 3 else (4, 9)
    X, mass = rng.normal(size=(c, m)), np.ones(c) if seed < 3 else rng.integers(1, 5, c) + 0.5
    np.testing.assert_allclose(project(X, mass=mass).C, dykstra(X, mass), atol=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_nearer_than_the_limit_of_alternating_projections(seed):
    X = np.random.default_rng(seed).normal(size=(8, 8))
    C = X
    for _ in range(5_000):
        C = np.maximum(onto_sums(C, np.ones(8)), 0)
    assert sums_error(C) < 1e-9
    assert np.linalg.norm(C - X) > np.linalg.norm(project(X).C - X) + 1e-3


@given(squares(count=2), st.sampled_from([0.0, 1e-3, 1.0, 1e6, np.nan, np.inf]))
def test_any_start_gives_the_same_projection_and_is_not_modified(pair, error):
    X, noise = pair
    cold = project(X)
    u, v = cold.u.copy(), cold.v.copy()
    if np.isfinite(error):
        u += error * noise[0]
        v -= error * noise[-1]
    else:
        u[0] = error
    kept = u.copy(), v.copy()
    warm = project(X, u=u, v=v)
    assert warm.residual <= 1e-10
    np.testing.assert_allclose(warm.C, cold.C, atol=1e-8)
    np.testing.assert_array_equal((u, v), kept)


@pytest.mark.parametrize("mass", [None, np.arange(1, 61)])
def test_a_close_warm_start_saves_iterations(mass):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 90))
    cold = project(X, mass=mass)
    near = X + 1e-4 * rng.normal(size=X.shape)
    assert project(X, mass=mass, u=cold.u, v=cold.v).n_newton == 0
    warm = project(near, mass=mass, u=cold.u, v=cold.v)
    assert 0 < warm.n_newton < project(near, mass=mass).n_newton


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("kind", HARD)
def test_optimal_on_hard_matrices(kind, scale):
    X = scale * HARD[kind](60, np.random.default_rng(1))
    assert_optimal(X, project(X))


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("shape", [(1, 6), (6, 1), (20, 70), (70, 20)])
def test_optimal_with_uneven_masses(shape, scale):
    rng = np.random.default_rng(2)
    X, mass = scale * rng.normal(size=shape), 10 ** rng.uniform(-1, 2, size=shape[0])
    assert_optimal(X, project(X, mass=mass), mass)


def test_optimal_on_two_thousand_rows():
    rng = np.random.default_rng(3)
    X = np.eye(2000)[rng.permutation(2000)] + 0.01 * rng.normal(size=(2000, 2000))
    assert_optimal(X, project(X))


def test_the_true_residual_is_reported_after_early_stopping():
    X = np.random.default_rng(4).normal(size=(50, 50))
    P = project(X, tol=1e-13, max_newton=1)
    assert P.C.min() >= 0
    assert P.residual > 1e-13
    assert P.residual == pytest.approx(sums_error(P.C), rel=1e-6)


def test_repeated_calls_agree_to_the_last_bit():
    X = np.random.default_rng(5).normal(size=(80, 80))
    for first, second in zip(project(X), project(X), strict=True):
        np.testing.assert_array_equal(first, second)


def test_single_precision_is_kept_and_computed_in_double():
    X = np.random.default_rng(6).normal(size=(40, 40)).astype(np.float32)
    single, double = project(X), project(X.astype(np.float64))
    assert single.C.dtype == np.float32
    assert single.residual <= 1e-10
    np.testing.assert_allclose(single.C, double.C, atol=1e-7)


def test_single_precision_at_assignment_scale():
    X = (1e4 * np.random.default_rng(6).normal(size=(40, 40))).astype(np.float32)
    assert project(X).C.dtype == np.float32
    assert sums_error(project(X).C) < 1e-5


@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_writes_to_out(scale):
    X = scale * np.random.default_rng(7).normal(size=(60, 60))
    expected, kept = project(X).C, X.copy()
    out = np.full_like(X, np.nan)
    assert project(X, out=out).C is out
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(X, kept)
    project(X, out=X)
    np.testing.assert_array_equal(X, expected)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_rejects_non_finite_input(bad):
    X = np.eye(5)
    X[3, 1] = bad
    with pytest.raises(ValueError, match="NaN or infinite"):
        project(X)
    with pytest.raises(ValueError, match="NaN or infinite"):
        project(X, u=np.zeros(5), v=np.zeros(5))


@pytest.mark.parametrize(
    ("X", "options", "match"),
    [
        (np.zeros(4), {}, "non-empty matrix"),
        (np.zeros((0, 3)), {}, "non-empty matrix"),
        (np.eye(3), {"mass": np.ones(4)}, "one number per row"),
        (np.eye(3), {"mass": [1.0, 0.0, 2.0]}, "positive"),
        (np.eye(3), {"mass": [1.0, np.nan, 2.0]}, "positive"),
        (np.eye(3), {"u": np.zeros(3), "v": np.zeros(2)}, "lengths"),
        (np.eye(3), {"out": np.empty((3, 2))}, "out must be"),
        (np.eye(3), {"out": np.empty((3, 3), np.float32)}, "out must be"),
        (np.eye(3), {"out": np.empty((3, 3), order="F")}, "out must be"),
    ],
)
def test_rejects_mismatched_shapes(X, options, match):
    with pytest.raises(ValueError, match=match):
        project(X, **options)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_residual_of_an_unchecked_bad_matrix_is_not_small(bad):
    X = np.eye(4)
    X[1, 2] = bad
    with np.errstate(invalid="ignore"):
        found = project(X, check=False, max_newton=5)
    assert not found.residual <= 1e-3 or (bad == -np.inf and found.C[1, 2] == 0.0)
