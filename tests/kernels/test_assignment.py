"""Assignment bounds are valid from any start and exact from optimal potentials."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import linear_sum_assignment, linprog

from convexhc.kernels import birkhoff
from convexhc.kernels.assignment import lower_bound


@st.composite
def problems(draw):
    """Costs, integer masses (which need not sum to the number of columns), and potentials."""
    c, m = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    # Multiples of 1/16: the linear program below is solved to an absolute tolerance, not exactly.
    number = st.integers(-64, 64).map(lambda k: k / 16)
    G = draw(hnp.arrays(np.float64, (c, m), elements=number))
    mass = draw(hnp.arrays(np.float64, c, elements=st.integers(1, 3)))
    u = draw(hnp.arrays(np.float64, c, elements=number))
    v = draw(hnp.arrays(np.float64, m, elements=number))
    return G, mass, u, v


def transport(G, mass):
    """The linear program in standard form: its minimum and its dual solution."""
    c, m = G.shape
    sums = np.vstack([np.kron(np.eye(c), np.ones(m)), np.kron(np.ones(c), np.eye(m))])
    target = np.concatenate([mass, np.full(m, mass.sum() / m)])
    # One sum constraint is redundant; the solver does not need it.
    answer = linprog(G.ravel(), A_eq=sums[:-1], b_eq=target[:-1], method="highs")
    dual = np.append(answer.eqlin.marginals, 0.0)
    return answer.fun, dual[:c], dual[c:]


def exact(G, mass):
    """The minimum, as an assignment of copies of equal mass."""
    total, m = int(mass.sum()), G.shape[1]
    g = math.gcd(total, m)
    rows = np.repeat(G, mass.astype(int) * (m // g), axis=0)
    copies = np.repeat(rows, total // g, axis=1)
    return copies[linear_sum_assignment(copies)].sum() * (g / m)


@given(problems(), st.integers(1, 6))
def test_never_above_the_minimum_with_feasible_potentials(problem, sweeps):
    G, mass, u, v = problem
    bound, rows, cols = lower_bound(G, u, v, mass=mass, sweeps=sweeps)
    assert bound <= exact(G, mass) + 1e-12 * mass.sum()
    assert np.all(rows[:, None] + cols <= G + 1e-14)
    assert bound == pytest.approx(mass @ rows + mass.sum() / G.shape[1] * cols.sum(), abs=1e-12)


@given(problems())
def test_never_below_feasible_potentials_it_starts_from(problem):
    G, mass, u, v = problem
    v = v + np.min(G - u[:, None] - v)
    start = mass @ u + mass.sum() / G.shape[1] * v.sum()
    assert lower_bound(G, u, v, mass=mass, sweeps=1)[0] >= start - 1e-12 * mass.sum()


@given(problems())
def test_more_sweeps_never_lower_the_bound(problem):
    G, mass, u, v = problem
    bounds = [lower_bound(G, u, v, mass=mass, sweeps=k)[0] for k in range(1, 6)]
    assert bounds == sorted(bounds)


@given(problems())
def test_exact_from_optimal_row_or_column_potentials(problem):
    G, mass, u, v = problem
    minimum, best_u, best_v = transport(G, mass)
    assert exact(G, mass) == pytest.approx(minimum, abs=1e-9)
    assert lower_bound(G, best_u, v, mass=mass)[0] == pytest.approx(minimum, abs=1e-9)
    assert lower_bound(G, u, best_v, mass=mass)[0] == pytest.approx(minimum, abs=1e-9)


@pytest.mark.parametrize("mass", [None, np.arange(1, 13)])
def test_multipliers_of_the_projection_close_the_gap_at_a_minimiser(mass):
    rng = np.random.default_rng(0)
    c, m = (30, 30) if mass is None else (12, 78)
    weight = np.ones(c) if mass is None else mass
    u, v = rng.normal(size=c), rng.normal(size=m)
    C = birkhoff.project(2 * rng.normal(size=(c, m)), mass=mass).C
    G = u[:, None] + v + np.where(C > 0, 0, rng.random((c, m)))
    P = birkhoff.project(C - 0.1 * G, mass=mass)
    bound, _, _ = lower_bound(G, P.u / 0.1, P.v / 0.1, mass=mass)
    assert bound == pytest.approx(np.sum(weight[:, None] * G * C), abs=1e-7)
    assert bound == pytest.approx(exact(G, weight), abs=1e-7)


def test_the_start_is_not_modified():
    G = np.random.default_rng(1).normal(size=(5, 5))
    u, v = np.ones(5), np.arange(5.0)
    lower_bound(G, u, v)
    np.testing.assert_array_equal(u, np.ones(5))
    np.testing.assert_array_equal(v, np.arange(5.0))


@pytest.mark.parametrize(
    ("arguments", "options", "match"),
    [
        ((np.zeros(3), [0.0], [0.0]), {}, "non-empty matrix"),
        ((np.eye(2), np.zeros(3), np.zeros(2)), {}, "lengths"),
        ((np.eye(2), [0.0, np.nan], np.zeros(2)), {}, "finite"),
        ((np.eye(2), np.zeros(2), np.zeros(2)), {"mass": [1.0]}, "one number per row"),
        ((np.eye(2), np.zeros(2), np.zeros(2)), {"mass": [1.0, -1.0]}, "positive"),
        ((np.eye(2), np.zeros(2), np.zeros(2)), {"sweeps": 0}, "at least 1"),
    ],
)
def test_rejects_mismatched_shapes(arguments, options, match):
    with pytest.raises(ValueError, match=match):
        lower_bound(*arguments, **options)
