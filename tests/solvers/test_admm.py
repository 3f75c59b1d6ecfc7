"""ADMM in single precision reaches the same gaps, and a warm start restores its full state."""

from dataclasses import replace

import numpy as np
import pytest

from convexhc.model.problem import graph_problem
from convexhc.solvers import admm
from convexhc.solvers.loop import run
from convexhc.solvers.solution import Status
from laws import random_kernel, solved


def test_single_precision_steps_reach_any_gap(monkeypatch):
    problem = graph_problem(random_kernel(np.random.default_rng(5), 12, floor=0.5), 0.3)
    double = solved(problem, "admm", tol=1e-10)
    monkeypatch.setattr(admm, "SETTINGS", replace(admm.SETTINGS, double_entries=0))
    # Arrays in single precision, until their round-off is felt; then only changes of centroids.
    single = solved(problem, "admm", tol=1e-10)
    assert single.relative_gap <= 1e-10
    assert single.n_iter <= 1.2 * double.n_iter + 10
    np.testing.assert_allclose(single.centroids, double.centroids, atol=1e-4)


def test_both_duals_of_a_solution_warm_start_the_next_run():
    problem = graph_problem(random_kernel(np.random.default_rng(2), 10, floor=0.5), 0.3)
    cold = solved(problem, "admm", tol=1e-9)
    again = solved(problem, "admm", start=cold, tol=1e-9)
    assert cold.nonneg_dual.max() <= 0.0
    assert again.n_iter <= 10 < cold.n_iter


@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_rho_does_not_run_away_at_the_consensus(seed, linear):
    """All copies are zero there, and residuals would raise rho without end."""
    problem = graph_problem(random_kernel(np.random.default_rng(seed), 20, floor=0.3), 30.0)
    method = admm.ADMM(linear=linear)
    rough = run(problem, method, tol=1e-8, max_iter=200)
    fine = run(problem, method, start=rough, tol=1e-10, max_iter=200)
    assert rough.status is fine.status is Status.SOLVED


def test_arrays_are_double_once_steps_are_as_small_as_single_precision(monkeypatch):
    problem = graph_problem(random_kernel(np.random.default_rng(5), 12, floor=0.5), 0.3)
    monkeypatch.setattr(admm, "SETTINGS", replace(admm.SETTINGS, double_entries=0))
    method = admm.ADMM(linear=True)
    state, precisions = method.init(problem, None), []
    for _ in range(400):
        precisions.append(state.C.dtype)
        method.step(problem, state)
    assert precisions[0] == np.float32
    assert precisions[-1] == state.W.dtype == state.copies.X.dtype == np.float64
    candidate = method.candidate(problem, state)
    assert problem.certify(candidate.C, candidate.Y).relative_gap <= 1e-8


def test_rho_is_bounded_where_all_edges_are_fused():
    problem = graph_problem(random_kernel(np.random.default_rng(3), 10, floor=0.5), 1e3)
    method = admm.ADMM(linear=True)
    state = method.init(problem, None)
    for _ in range(200):
        method.step(problem, state)
    assert state.copies.fused.all()
    assert state.solver.rho <= admm.SETTINGS.max_rho * state.unit_rho
