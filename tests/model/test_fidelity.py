"""Both fidelities are convex quadratics with consistent gradients, bounds and spectra."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from convexhc.model import fidelity as module
from convexhc.model.constraint import DoublyStochastic, Free, RowSimplex
from convexhc.model.fidelity import Kernel, KernelMatrix, Proximity
from convexhc.model.metric import InnerProduct
from laws import (
    assert_convex_between,
    assert_gradient,
    random_doubly_stochastic,
    random_kernel,
    seeds,
)

sizes = st.integers(1, 8)
# As many conjugate gradient steps as the systems below have unknowns.
CONVERGED = replace(module.SETTINGS, max_cg=10)


def kernel_of(graph):
    matrix = KernelMatrix(graph.matrix())
    return Kernel(matrix, matrix.dense)


def drawn(seed, n):
    """Both fidelities on the same number of nodes, and their random generator."""
    rng = np.random.default_rng(seed)
    return [kernel_of(random_kernel(rng, n)), Proximity(rng.normal(size=(n, n)))], rng


@given(seeds, sizes)
def test_values_agree_with_the_formulas(seed, n):
    (kernel, proximity), rng = drawn(seed, n)
    C, K, B = rng.normal(size=(n, n)), kernel.matrix.dense, proximity.target
    assert kernel.evaluate(C)[0] == pytest.approx(0.5 * np.trace(C @ K @ C.T) - np.sum(K * C))
    assert proximity.evaluate(C)[0] == pytest.approx(0.5 * np.sum((C - B) ** 2))


@given(seeds, sizes)
def test_gradients_by_differences(seed, n):
    fidelities, rng = drawn(seed, n)
    C = rng.normal(size=(n, n))
    for fidelity in fidelities:
        assert_gradient(lambda Q, f=fidelity: f.evaluate(Q)[0], fidelity.evaluate(C)[1], C, rng)


@given(seeds, sizes)
def test_convex(seed, n):
    fidelities, rng = drawn(seed, n)
    A, B = rng.normal(size=(2, n, n))
    for fidelity in fidelities:
        assert_convex_between(lambda Q, f=fidelity: f.evaluate(Q)[0], A, B)


@given(seeds, sizes)
def test_spectrum_is_that_of_the_hessian(seed, n):
    fidelities, rng = drawn(seed, n)
    A, B = rng.normal(size=(2, n, n))
    for fidelity in fidelities:
        Q, kappa = fidelity.spectrum
        Q = np.eye(n) if Q is None else Q
        np.testing.assert_allclose(Q @ Q.T, np.eye(n), atol=1e-12)
        # The gradient is affine, so its differences are the Hessian applied to a difference.
        bent = fidelity.evaluate(A)[1] - fidelity.evaluate(B)[1]
        np.testing.assert_allclose(bent, (A - B) @ (Q * kappa) @ Q.T, atol=1e-10)
        assert fidelity.lipschitz == pytest.approx(kappa.max(), rel=1e-4)
        assert fidelity.lipschitz >= kappa.max() * (1 - 1e-14)


@given(seeds, sizes)
def test_lower_bound_is_below_every_feasible_point(seed, n):
    fidelities, rng = drawn(seed, n)
    pull = rng.normal(size=(n, n))
    C = random_doubly_stochastic(rng, n)
    for fidelity in fidelities:
        gradient = fidelity.evaluate(C)[1]
        for constraint in (DoublyStochastic(), RowSimplex()):
            bound = fidelity.lower_bound(C, gradient, pull, constraint)
            for _ in range(5):
                Q = random_doubly_stochastic(rng, n)
                assert bound <= fidelity.evaluate(Q)[0] + np.vdot(pull, Q) + 1e-9


@given(seeds, sizes)
def test_lower_bound_is_below_the_minimum_at_any_centroids(seed, n):
    fidelities, rng = drawn(seed, n)
    least = random_doubly_stochastic(rng, n)
    for fidelity in fidelities:
        value, slope = fidelity.evaluate(least)
        # With this linear term it is an unconstrained minimiser.
        minimum = value - np.vdot(slope, least)
        for constraint in (DoublyStochastic(), RowSimplex()):
            # Far from it, and so near that the bound is almost tight.
            for apart in (1.0, 0.1, 1e-2, 1e-3):
                C = least + apart * (random_doubly_stochastic(rng, n) - least)
                bound = fidelity.lower_bound(C, fidelity.evaluate(C)[1], -slope, constraint)
                assert bound <= minimum + 1e-9


@given(seeds, sizes)
def test_bound_of_a_squared_distance_is_its_minimum(seed, n):
    (_, proximity), rng = drawn(seed, n)
    pull = rng.normal(size=(n, n))
    C = rng.normal(size=(n, n))
    bound = proximity.lower_bound(C, proximity.evaluate(C)[1], pull, Free())
    best = proximity.target - pull
    assert bound == pytest.approx(proximity.evaluate(best)[0] + np.vdot(pull, best), abs=1e-10)


@given(seeds, sizes)
def test_bound_of_a_kernel_is_tight_at_a_minimiser(seed, n):
    (kernel, _), _ = drawn(seed, n)
    # At the identity the gradient vanishes, so it is the minimiser without a linear term.
    C = np.eye(n)
    value, gradient = kernel.evaluate(C)
    bound = kernel.lower_bound(C, gradient, np.zeros((n, n)), DoublyStochastic())
    assert bound == pytest.approx(value, abs=1e-12)
    assert value == pytest.approx(-kernel.scale)


@given(seeds, st.integers(3, 9), st.sampled_from([0, 9]))
def test_bound_of_a_kernel_has_a_second_order_error(seed, n, inverted):
    """Near a minimiser in the interior, except for the gradient that the ridge leaves."""
    (kernel, _), rng = drawn(seed, n)
    C = random_doubly_stochastic(rng, n)
    value, gradient = kernel.evaluate(C)
    # With this linear term C is a minimiser in the interior: all entries are positive.
    least = value - np.vdot(gradient, C)
    error = rng.normal(size=(n, n))
    square = kernel.lipschitz * np.square(error).sum()
    left = kernel.matrix.ridge * np.abs(error).sum()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "DENSE_FACTOR_NODES", inverted)
        patch.setattr(module, "SETTINGS", CONVERGED)
        for size in (1e-3, 1e-4):
            near = C + size * error
            at = kernel.evaluate(near)[1]
            lost = least - kernel.lower_bound(near, at, -gradient, DoublyStochastic())
            assert -1e-12 <= lost <= size**2 * square + size * left


@given(seeds, st.integers(2, 9))
def test_ridge_solutions_agree_with_a_dense_solve(seed, n):
    """The inverse and conjugate gradients agree where the kernel is well conditioned."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n))
    matrix = KernelMatrix(csr_array(A @ A.T + n * np.eye(n)))
    G = rng.normal(size=(4, n))
    exact = matrix.solve_ridge(G)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "DENSE_FACTOR_NODES", 0)
        patch.setattr(module, "SETTINGS", CONVERGED)
        found = matrix.solve_ridge(G)
    for X, XK in (exact, found):
        np.testing.assert_allclose(XK, X @ matrix.dense, atol=1e-10)
        np.testing.assert_allclose(XK + matrix.ridge * X, G, atol=1e-8)


@pytest.mark.parametrize(("inverted", "cached"), [(60, 0), (0, 1000), (0, 0)])
def test_the_product_of_a_ridge_solution_is_exact(inverted, cached, monkeypatch):
    """Also before conjugate gradients have converged, and where they are in single precision."""
    monkeypatch.setattr(module, "DENSE_FACTOR_NODES", inverted)
    monkeypatch.setattr(module, "CACHED_ENTRIES", cached)
    rng = np.random.default_rng(7)
    A = rng.normal(size=(60, 60)) * 0.1 ** np.linspace(0.0, 3.0, 60)
    matrix, G = KernelMatrix(csr_array(A @ A.T)), rng.normal(size=(4, 60))
    X, XK = matrix.solve_ridge(G)
    assert np.abs(XK).max() > 1e-3
    # The inverse loses digits by the ratio of the largest eigenvalue to the ridge.
    np.testing.assert_allclose(XK, X @ matrix.dense, atol=1e-9 * np.abs(X).max() * matrix.largest)
    exhausted = np.abs(XK + matrix.ridge * X - G).max() > 1e-2
    assert exhausted == (inverted == 0)


@given(seeds, st.lists(st.integers(0, 3), min_size=2, max_size=9))
def test_a_contracted_term_equals_the_full_one_at_fused_centroids(seed, groups):
    labels = np.unique(groups, return_inverse=True)[1]
    n, count = labels.size, labels.max() + 1
    fidelities, rng = drawn(seed, n)
    indicator = np.eye(count)[labels]
    mass = indicator.sum(axis=0)
    for fidelity in fidelities:
        small = fidelity.contract(labels, InnerProduct(mass))
        np.testing.assert_allclose(mass[:, None] * small.target, indicator.T @ fidelity.target)
        for block in (slice(0, 1), slice(1, n)):
            cut = fidelity.operand[:, block]
            cut = cut if isinstance(cut, np.ndarray) else cut.toarray()
            np.testing.assert_array_equal(cut, fidelity.target[:, block])
        A, B = rng.normal(size=(2, count, n))
        full = fidelity.evaluate(indicator @ A)[0] - fidelity.evaluate(indicator @ B)[0]
        # The variance inside clusters is a constant, so differences of values are compared.
        assert small.evaluate(A)[0] - small.evaluate(B)[0] == pytest.approx(full, abs=1e-10)
        rise = small.evaluate(A + 0.5 * B)[0] - small.evaluate(A - 0.5 * B)[0]
        assert small.metric.inner(small.evaluate(A)[1], B) == pytest.approx(rise, abs=1e-9)


def test_large_sparse_and_dense_kernels_agree():
    rng = np.random.default_rng(5)
    matrix = kernel_of(random_kernel(rng, 420, density=0.01)).matrix
    C = rng.normal(size=(3, 420))
    np.testing.assert_allclose(matrix.right_multiply(C), C @ matrix.dense, atol=1e-11)
    true = np.linalg.eigvalsh(matrix.dense)[-1]
    assert true <= matrix.largest <= true * 1.001


@pytest.mark.parametrize("n", [5, 450])
def test_the_largest_eigenvalue_is_found_at_any_size(n):
    """Also of a zero matrix, which maps every starting vector to zero."""
    A = np.random.default_rng(n).normal(size=(n, 4))
    assert KernelMatrix(csr_array((n, n))).largest == 0.0
    found = KernelMatrix(csr_array(A @ A.T)).largest
    assert found == pytest.approx(np.linalg.norm(A, 2) ** 2, rel=1e-4)
