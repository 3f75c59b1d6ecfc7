"""The mixed norm, its prox, its dual ball and its dual norm are consistent."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import naive
from convexhc.kernels.prox import dual_norms, norms, split
from laws import assert_nonexpansive, l1_ratios, seeds

thresholds = st.one_of(st.just(0.0), st.floats(1e-3, 5.0))


def vectors(max_size=8):
    """Short vectors with many ties and zeros, at several scales."""
    entries = st.floats(-4.0, 4.0, width=16)
    sizes = st.integers(1, max_size)
    arrays = sizes.flatmap(lambda m: hnp.arrays(np.float64, m, elements=entries))
    return st.builds(np.multiply, arrays, st.sampled_from([1e-4, 1.0, 100.0]))


def pairs_of_vectors():
    entries = st.floats(-4.0, 4.0, width=16)
    return st.integers(1, 8).flatmap(lambda m: hnp.arrays(np.float64, (2, m), elements=entries))


def projection(x, soft, block):
    inside = np.empty_like(x)
    split(x, soft, block, inside)
    return inside


def excess(y, soft, block):
    """Distance of y from soft Ball_inf + block Ball_2; zero or less inside."""
    return np.linalg.norm(naive.soft(y, soft)) - block


@given(vectors(), thresholds, thresholds)
def test_prox_and_projection_sum_to_the_vector(x, soft, block):
    size = np.abs(x).max(initial=1.0)
    expected = x - naive.prox(x, soft, block)
    np.testing.assert_allclose(projection(x, soft, block), expected, atol=1e-14 * size)


@given(vectors(max_size=5), thresholds, thresholds)
@settings(max_examples=15)
def test_projection_is_the_nearest_point_of_the_sum_of_balls(x, soft, block):
    size = np.abs(x).max(initial=1.0)
    expected = naive.nearest_in_sum_of_balls(x, soft, block)
    np.testing.assert_allclose(projection(x, soft, block), expected, atol=1e-3 * size)
    # The alternating scheme converges slowly, so distances are compared instead of points.
    best = np.linalg.norm(x - expected)
    assert np.linalg.norm(x - projection(x, soft, block)) <= best + 1e-9 * size


@given(vectors(), thresholds, thresholds)
def test_projection_lies_in_the_dual_ball_and_is_idempotent(x, soft, block):
    y = projection(x, soft, block)
    size = np.abs(x).max(initial=1.0)
    assert excess(y, soft, block) <= 1e-13 * size
    np.testing.assert_allclose(projection(y, soft, block), y, atol=1e-13 * size)


@given(vectors(), thresholds, thresholds)
def test_flag_is_set_exactly_where_the_prox_is_zero(x, soft, block):
    inside = np.empty_like(x)
    round_off = 1e-13 * np.abs(x).max(initial=1.0)
    if split(x, soft, block, inside):
        np.testing.assert_array_equal(inside, x)
        assert excess(x, soft, block) <= round_off
    else:
        assert excess(x, soft, block) >= -round_off


@given(vectors(), thresholds, thresholds)
def test_result_may_be_written_over_the_argument(x, soft, block):
    apart = np.empty_like(x)
    flag = split(x, soft, block, apart)
    over = x.copy()
    assert split(over, soft, block, over) == flag
    np.testing.assert_array_equal(over, apart)


@given(pairs_of_vectors(), thresholds, thresholds)
def test_prox_and_projection_are_nonexpansive(pair, soft, block):
    a, b = pair
    assert_nonexpansive(lambda x: projection(x, soft, block), a, b)
    assert_nonexpansive(lambda x: x - projection(x, soft, block), a, b)


@given(vectors(), thresholds, thresholds, seeds)
def test_prox_minimises_its_objective(x, soft, block, seed):
    def objective(z):
        return 0.5 * np.sum((z - x) ** 2) + soft * np.abs(z).sum() + block * np.sqrt(np.sum(z * z))

    z = x - projection(x, soft, block)
    least = objective(z)
    rng = np.random.default_rng(seed)
    for size in (1e-3, 0.1, 1.0):
        for other in (z + size * rng.normal(size=x.size), (1 - size) * z, (1 + size) * z):
            assert least <= objective(other) + 1e-12 * max(1.0, least)


@given(pairs_of_vectors(), l1_ratios)
def test_norms_agree_with_the_formula(pair, l1_ratio):
    expected = [naive.mixed_norm(x, l1_ratio) for x in pair]
    np.testing.assert_allclose(norms(pair, l1_ratio), expected, rtol=1e-14)


@given(pairs_of_vectors(), l1_ratios)
def test_inner_products_are_bounded_by_the_two_norms(pair, l1_ratio):
    x, y = pair
    bound = norms(pair[:1], l1_ratio)[0] * dual_norms(pair[1:], l1_ratio)[0]
    assert abs(x @ y) <= bound * (1 + 1e-13)


@given(vectors(), st.sampled_from([0.0, 0.05, 0.5, 0.9]))
def test_the_bound_of_the_dual_norm_is_attained(y, l1_ratio):
    t = dual_norms(y[None], l1_ratio)[0]
    # The inner product is largest, for a given norm, along the soft threshold of the vector.
    x = naive.soft(y, t * l1_ratio)
    np.testing.assert_allclose(x @ y, naive.mixed_norm(x, l1_ratio) * t, rtol=1e-9)


@given(vectors())
def test_dual_norm_of_the_pure_norms(y):
    two, largest = np.sqrt(y @ y), np.abs(y).max()
    np.testing.assert_allclose(dual_norms(y[None], 0.0), [two], rtol=1e-14)
    np.testing.assert_allclose(dual_norms(y[None], 1.0), [largest], rtol=1e-14)


@given(vectors(), l1_ratios)
def test_dual_norm_is_the_radius_at_which_the_ball_reaches_the_vector(y, l1_ratio):
    t = dual_norms(y[None], l1_ratio)[0]
    size = np.abs(y).max(initial=1.0)
    assert excess(y, t * l1_ratio, t * (1 - l1_ratio)) <= 1e-13 * size
    if t > 0:
        smaller = 0.999 * t
        outside = y - projection(y, smaller * l1_ratio, smaller * (1 - l1_ratio))
        assert np.linalg.norm(outside) > 0
