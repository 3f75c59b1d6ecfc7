"""The hill climb of a penalty parameter finds the value of fastest convergence."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import convexhc
from convexhc.datasets import fractal_graph
from convexhc.solvers.penalty_search import HillClimb


@given(
    start=st.floats(1e-3, 1e3),
    best=st.floats(1e-3, 1e3),
    unit=st.floats(1e-9, 1e9),
    every=st.integers(10, 40),
)
def test_the_penalty_ends_near_the_best_one(start, best, unit, every):
    climb, penalty, move = HillClimb(0), start, unit
    for n_iter in range(1, 40 * every + 1):
        # The rate decreases with the log distance from the best penalty parameter.
        move *= np.exp(-0.1 / (1.0 + abs(np.log(penalty / best))))
        climb.observe(n_iter, move)
        if n_iter % every == 0:
            penalty = climb.update(penalty, n_iter, move)
    assert 0.2 * best <= penalty <= 5.0 * best


def test_a_run_without_progress_keeps_the_penalty_finite():
    climb, penalty = HillClimb(0), 1.0
    for n_iter in range(1, 200):
        climb.observe(n_iter, 0.0)
        if n_iter % 20 == 0:
            penalty = climb.update(penalty, n_iter, 0.0)
            assert np.isfinite(penalty)
            assert penalty > 0.0


@pytest.mark.parametrize("lam", [0.003, 0.01])
def test_a_tight_tolerance_takes_hundreds_of_iterations_and_not_thousands(lam):
    K = convexhc.similarity.two_hop(fractal_graph(2, n_meta=2, n_super=4, clique=6).adjacency)
    solution = convexhc.solve(K, lam, method="admm", tol=1e-7, max_iter=500)
    assert solution.status.name == "SOLVED"
