"""The ADMM updates of the centroids agree with their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from convexhc.kernels import admm


@given(st.integers(0, 2**32 - 1), st.floats(0.05, 5.0), st.floats(1.0, 1.9))
def test_nonnegativity_update_is_a_prox_step_and_its_dual(seed, tau, relax):
    rng = np.random.default_rng(seed)
    C, W = rng.normal(size=(2, 4, 5))
    S, old = np.minimum(W, 0.0), np.maximum(W, 0.0) / tau
    X = S / tau + relax * C + (1.0 - relax) * old
    copy = np.maximum(X, 0.0)
    step = admm.nonnegativity_update(C, W, tau, relax)
    np.testing.assert_allclose(np.maximum(W, 0.0), tau * copy, atol=1e-12)
    np.testing.assert_allclose(np.minimum(W, 0.0), tau * (X - copy), atol=1e-12)
    expected = (C - copy, copy - old, tau * (X - copy), copy)
    np.testing.assert_allclose(step, [np.sum(part**2) for part in expected], rtol=1e-9, atol=1e-11)


@given(st.integers(0, 2**32 - 1), st.floats(0.1, 10.0))
def test_another_tau_keeps_copies_and_their_dual(seed, factor):
    W = np.random.default_rng(seed).normal(size=(4, 5))
    before = W.copy()
    admm.rescale_copies(W, factor)
    np.testing.assert_array_equal(np.minimum(W, 0.0), np.minimum(before, 0.0))
    np.testing.assert_allclose(np.maximum(W, 0.0), factor * np.maximum(before, 0.0), rtol=1e-14)


@pytest.mark.parametrize("precision", [np.float32, np.float64])
@given(st.integers(0, 2**32 - 1), st.floats(0.0, 10.0), st.booleans(), st.booleans())
def test_right_hand_side_follows_the_formula(precision, seed, curvature, massive, linear):
    rng = np.random.default_rng(seed)
    total, W, target, C, product = rng.normal(size=(5, 4, 5)).astype(precision)
    mass = rng.uniform(0.5, 3.0, 4) if massive else None
    tangent = admm.Tangent(C, product, curvature) if linear else None
    found = admm.right_hand_side(total, mass, W, target, tangent)
    expected = total / (np.ones(4) if mass is None else mass)[:, None] + np.abs(W) + target
    if linear:
        expected = expected + curvature * C - product
    assert found.dtype == precision
    np.testing.assert_allclose(found, expected, atol=1e-4 if precision == np.float32 else 1e-12)


def test_threads_change_no_entry(monkeypatch):
    total, W, target, C, product = np.random.default_rng(0).normal(size=(5, 7, 5))
    tangent, found = admm.Tangent(C, product, 2.0), []
    for threads in (1, 2):
        monkeypatch.setattr(admm, "runs_for", lambda _, threads=threads: threads)
        copies = W.copy()
        step = admm.nonnegativity_update(C, copies, 0.7, 1.6)
        found.append((admm.right_hand_side(total, None, W, target, tangent), copies, step))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
