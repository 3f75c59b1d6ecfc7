"""The sign update of ADMM against its definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from convexhc.kernels import nonnegativity


@given(st.integers(0, 2**32 - 1), st.floats(0.05, 5.0), st.floats(1.0, 1.9))
def test_hold_is_the_prox_of_the_signs_and_its_dual(seed, rho, relax):
    rng = np.random.default_rng(seed)
    C, V = rng.normal(size=(2, 4, 5))
    V, S, right = np.maximum(V, 0.0), -rng.random((4, 5)), rng.normal(size=(4, 5))
    X = S / rho + relax * C + (1.0 - relax) * V
    copy, before, old = np.maximum(X, 0.0), right.copy(), V.copy()
    apart, moved = nonnegativity.z_and_dual_update(C, V, S, rho, relax, right)
    np.testing.assert_allclose(V, copy, atol=1e-13)
    np.testing.assert_allclose(S, rho * (X - copy), atol=1e-12)
    np.testing.assert_allclose(right - before, rho * V - S, atol=1e-12)
    assert apart == pytest.approx(np.sum((C - copy) ** 2), abs=1e-11)
    assert moved == pytest.approx(np.sum((copy - old) ** 2), abs=1e-11)
    assert S.max() <= 0.0 <= V.min()
    assert not np.any(S * V)
