"""Updates of the block model agree with their formula."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.special import softmax

from convexhc.kernels.block_model import update_memberships
from laws import seeds


@given(seeds)
def test_an_update_is_a_damped_softmax_of_the_links(seed):
    rng = np.random.default_rng(seed)
    n, k, damping = 9, 4, 0.3
    A = sparse.csr_array(rng.uniform(size=(n, n)) * (rng.random((n, n)) < 0.4))
    q, degree = rng.dirichlet(np.ones(k), n), rng.uniform(0.0, 5.0, n)
    gain, cost = rng.normal(size=k), rng.normal(size=k)
    # Some exponents are too far below the largest to count.
    gain[0] *= rng.choice([1.0, 100.0])
    links = A @ q
    target = softmax(links * gain - np.outer(degree, cost), axis=1)
    expected = damping * q + (1.0 - damping) * target
    before = q.copy()
    change = update_memberships(links, degree, gain, cost, damping, q)
    assert_allclose(q, expected, atol=1e-9)
    assert_allclose(change, np.abs(q - before).max(), rtol=1e-12)
