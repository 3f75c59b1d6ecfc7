"""The ADMM updates of the centroids agree with their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from convexhc.kernels import admm


@given(st.integers(0, 2**32 - 1), st.floats(0.05, 5.0), st.floats(1.0, 1.9))
def test_nonnegativity_update_is_a_prox_step_and_its_dual(seed, rho, relax):
    rng = np.random.default_rng(seed)
    C, V = rng.normal(size=(2, 4, 5))
    V, S, right = np.maximum(V, 0.0), -rng.random((4, 5)), rng.normal(size=(4, 5))
    X = S / rho + relax * C + (1.0 - relax) * V
    copy, before, old = np.maximum(X, 0.0), right.copy(), V.copy()
    apart, moved = admm.nonnegativity_update(C, V, S, rho, relax, right)
    np.testing.assert_allclose(V, copy, atol=1e-13)
    np.testing.assert_allclose(S, rho * (X - copy), atol=1e-12)
    np.testing.assert_allclose(right - before, rho * V - S, atol=1e-12)
    assert apart == pytest.approx(np.sum((C - copy) ** 2), abs=1e-11)
    assert moved == pytest.approx(np.sum((copy - old) ** 2), abs=1e-11)
    assert S.max() <= 0.0 <= V.min()
    assert not np.any(S * V)


@given(st.integers(0, 2**32 - 1), st.floats(0.0, 10.0))
def test_add_tangent_follows_the_formula(seed, curvature):
    R, C, G = np.random.default_rng(seed).normal(size=(3, 4, 5))
    expected = R + curvature * C - G
    admm.add_tangent(R, C, G, curvature)
    np.testing.assert_allclose(R, expected, atol=1e-12)
