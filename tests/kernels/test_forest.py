"""Sums over both sides of the edges of a forest, against components without that edge."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from convexhc.kernels.components import components, spanning_forest, sums_beyond


@given(st.integers(1, 30), st.integers(0, 60), st.integers(0, 10**6))
def test_sums_are_those_of_one_side_of_every_edge_and_of_its_tree(n, n_edges, seed):
    rng = np.random.default_rng(seed)
    tail, head = rng.integers(0, n, (2, n_edges))
    order = spanning_forest(n, tail, head, rng.permutation(n_edges))
    tail, head, X = tail[order], head[order], rng.random(n)
    before = X.copy()
    here, whole = sums_beyond(tail, head, X)
    np.testing.assert_array_equal(X, before)
    every = np.ones(order.size, bool)
    tree = components(n, tail, head, every)
    for e in range(order.size):
        sides = components(n, tail, head, every & (np.arange(order.size) != e))
        one, other = (X[sides == sides[end[e]]].sum() for end in (tail, head))
        assert np.allclose(here[e], one) or np.allclose(here[e], other)
        np.testing.assert_allclose(whole[e], X[tree == tree[tail[e]]].sum())
