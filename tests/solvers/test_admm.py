"""The centroid step of ADMM solves its equation; changes of it in single precision cost nothing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from convexhc.problem import graph_problem
from convexhc.solvers import admm
from convexhc.solvers.start import fusion_of
from laws import CONSTRAINTS, random_kernel, seeds, solved


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("linear", [False, True])
@given(seeds, st.integers(2, 8), st.integers(1, 2))
def test_the_centroid_step_is_the_nearest_in_its_quadratic(constraint, linear, seed, n, parts):
    rng = np.random.default_rng(seed)
    problem = graph_problem(
        random_kernel(rng, n, parts=min(parts, n)), 1.0, constraint=CONSTRAINTS[constraint]
    )
    rho, tau = 10.0 ** rng.uniform(-2.0, 1.0, 2)
    step = admm._Sylvester(problem, rho, tau, linear)
    R = rng.normal(size=(n, n))
    C = step.solve(R)
    np.testing.assert_allclose(C.sum(axis=1), 1.0, atol=1e-10)
    if problem.constraint.column_sums:
        np.testing.assert_allclose(C.sum(axis=0), 1.0, atol=1e-10)
    H = problem.fidelity.lipschitz * np.eye(n) if linear else problem.fidelity.matrix.dense
    L = fusion_of(problem).differences.laplacian.toarray()
    residual = C @ H + rho * L @ C + tau * C - R
    # What is left is a multiplier of the sums: a constant in every row, and in every column.
    residual -= residual.mean(axis=1, keepdims=True)
    if problem.constraint.column_sums:
        residual -= residual.mean(axis=0)
    np.testing.assert_allclose(residual, 0.0, atol=1e-9 * (1.0 + np.abs(R).max()))


@pytest.mark.parametrize("linear", [False, True])
@given(seeds)
def test_a_change_is_the_difference_of_two_steps(linear, seed):
    rng = np.random.default_rng(seed)
    step = admm._Sylvester(graph_problem(random_kernel(rng, 6), 1.0), 0.3, 0.5, linear)
    one, other = rng.normal(size=(2, 6, 6))
    np.testing.assert_allclose(
        step.change(other - one), step.solve(other) - step.solve(one), atol=1e-5
    )


def test_single_precision_reaches_any_gap(monkeypatch):
    problem = graph_problem(random_kernel(np.random.default_rng(5), 12, floor=0.5), 0.3)
    double = solved(problem, "admm", tol=1e-10)
    monkeypatch.setattr(admm, "_SMALL", 0)
    single = solved(problem, "admm", tol=1e-10)
    assert single.relative_gap <= 1e-10
    assert single.n_iter <= 1.2 * double.n_iter + 10
    np.testing.assert_allclose(single.centroids, double.centroids, atol=1e-4)


def test_signs_and_duals_of_a_solution_start_the_next_one():
    problem = graph_problem(random_kernel(np.random.default_rng(2), 10, floor=0.5), 0.3)
    cold = solved(problem, "admm", tol=1e-9)
    again = solved(problem, "admm", start=cold, tol=1e-9)
    assert cold.signs.max() <= 0.0
    assert again.n_iter <= 10 < cold.n_iter
