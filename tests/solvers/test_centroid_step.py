"""Both centroid steps of ADMM solve their equation, on full and contracted problems."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from convexhc.fusion.contraction import contract
from convexhc.graph import Graph
from convexhc.model.factorization import DenseInverse, Factor
from convexhc.model.problem import graph_problem
from convexhc.model.weighted_laplacian import laplacian
from convexhc.solvers import admm, choose
from convexhc.solvers.centroid_step import Factored, Rotated, centroid_step
from convexhc.solvers.loop import run
from laws import CONSTRAINTS, random_kernel, seeds, solved

STEPS = {"rotated": Rotated, "factored": Factored}


def drawn(rng, n, parts, constraint, contracted):
    """A problem, possibly contracted."""
    kernel = random_kernel(rng, n, parts=min(parts, n))
    whole = graph_problem(kernel, 1.0, constraint=CONSTRAINTS[constraint])
    labels = np.sort(rng.integers(0, 3, n)) if contracted else np.arange(n)
    return contract(whole, np.unique(labels, return_inverse=True)[1]).problem


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("kind", STEPS)
@given(seeds, st.integers(2, 8), st.integers(1, 2), st.booleans())
def test_the_centroid_step_minimises_its_quadratic(constraint, kind, seed, n, parts, contracted):
    rng = np.random.default_rng(seed)
    problem = drawn(rng, n, parts, constraint, contracted)
    rho, tau = 10.0 ** rng.uniform(-2.0, 1.0, 2)
    R = rng.normal(size=problem.shape)
    C = STEPS[kind](problem, rho, tau).solve(R)
    mass = np.ones(len(R)) if (given := problem.fidelity.metric.mass) is None else given
    np.testing.assert_allclose(C.sum(axis=1), 1.0, atol=1e-10)
    if problem.constraint.unit_column_sums:
        np.testing.assert_allclose(mass @ C, 1.0, atol=1e-10)
    H = problem.fidelity.matrix.dense
    H = H if kind == "rotated" else problem.fidelity.lipschitz * np.eye(n)
    differences = problem.penalty.differences
    L = laplacian(differences.graph, differences.stiffness).toarray()
    residual = C @ H + rho * (L @ C) / mass[:, None] + tau * C - R
    # The rest is a multiplier of the sums: a constant per row and per column.
    residual -= residual.mean(axis=1, keepdims=True)
    if problem.constraint.unit_column_sums:
        residual -= mass @ residual / mass.sum()
    np.testing.assert_allclose(residual, 0.0, atol=1e-9 * (1.0 + np.abs(R).max()))


@pytest.mark.parametrize("kind", STEPS)
@given(seeds, st.booleans())
def test_a_change_is_the_difference_of_two_steps(kind, seed, contracted):
    rng = np.random.default_rng(seed)
    problem = drawn(rng, 6, 1, "doubly_stochastic", contracted)
    step = STEPS[kind](problem, 0.3, 0.5)
    one, other = rng.normal(size=(2, *problem.shape))
    np.testing.assert_allclose(
        step.change(other - one), step.solve(other) - step.solve(one), atol=1e-5
    )


@pytest.mark.parametrize("kind", STEPS)
def test_at_changes_the_penalty_parameters(kind):
    rng = np.random.default_rng(1)
    problem = drawn(rng, 6, 1, "doubly_stochastic", False)
    R = rng.normal(size=problem.shape)
    step = STEPS[kind](problem, 0.3, 0.5).at(2.0, 0.1)
    assert (step.rho, step.tau) == (2.0, 0.1)
    np.testing.assert_array_equal(step.solve(R), STEPS[kind](problem, 2.0, 0.1).solve(R))


def ring(n):
    """A cycle: its factor stays sparse."""
    edges = np.arange(n), (np.arange(n) + 1) % n
    A = np.zeros((n, n))
    A[edges] = 1.0
    return Graph.from_matrix(A + A.T + 3.0 * np.eye(n))


def test_sparse_graphs_are_factored_and_dense_ones_are_not():
    sparse = graph_problem(ring(60), 1.0)
    full = graph_problem(random_kernel(np.random.default_rng(0), 60), 1.0)
    assert isinstance(centroid_step(sparse, 1.0, 1.0, linear=True).factor, Factor)
    assert isinstance(centroid_step(full, 1.0, 1.0, linear=True).factor, DenseInverse)
    assert isinstance(centroid_step(sparse, 1.0, 1.0, linear=False), Rotated)


def expander(n=300):
    """A sparse graph without small cuts: its factor fills in."""
    A = np.triu((np.random.default_rng(0).random((n, n)) < 0.04).astype(float), 1)
    return Graph.from_matrix(A + A.T + 30.0 * np.eye(n))


def test_a_graph_whose_factor_fills_up_is_inverted():
    graph = expander()
    assert 2 * graph.n_edges <= 0.05 * graph.n**2
    step = centroid_step(graph_problem(graph, 1.0), 1.0, 1.0, linear=True)
    assert isinstance(step.factor, DenseInverse)


def test_large_graphs_use_the_primal_dual_method_unless_factored(monkeypatch):
    monkeypatch.setattr(choose, "DENSE_FACTOR_NODES", 200)
    assert choose.choose_method(graph_problem(ring(300), 1.0)) == admm.ADMM(linear=True)
    assert choose.choose_method(graph_problem(expander(), 1.0)).name == "primal_dual"


def test_factored_and_rotated_steps_reach_the_same_solution():
    problem = graph_problem(ring(60), 0.3)
    linear = admm.ADMM(linear=True)
    one = run(problem, linear, tol=1e-9)
    other = solved(problem, "admm", tol=1e-9)
    assert one.objective == pytest.approx(other.objective, rel=2e-9)
