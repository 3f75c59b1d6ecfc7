"""Discriminability: its permutation test, and its bootstrap over measurements."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from convexhc.metrics import discriminability, discriminability_test
from convexhc.metrics.repeated import (
    Draws,
    discriminability_draws,
    mean_draws,
    resampled_counts,
)

SUBJECT = np.repeat([3, 5, 8], 4)
POINTS = np.random.default_rng(1).standard_normal((12, 2))
DISTANCE = np.linalg.norm(POINTS[:, None] - POINTS, axis=-1)


def test_every_draw_has_the_measurements_of_every_subject():
    times = resampled_counts(SUBJECT, 50)
    for one in np.unique(SUBJECT):
        assert (times[:, one == SUBJECT].sum(axis=1) == 4).all()
        assert ((times[:, one == SUBJECT] > 0).sum(axis=1) >= 2).all()
    assert not (times == 1).all()


def test_counting_every_measurement_once_is_the_plain_statistic():
    once = np.ones((1, 12), dtype=np.int64)
    found = discriminability_draws(DISTANCE.round(1), SUBJECT, once)
    assert found.value == discriminability(DISTANCE.round(1), SUBJECT)
    assert found.draws[0] == pytest.approx(found.value)
    same = SUBJECT[:, None] == SUBJECT
    mean = mean_draws(DISTANCE, same, once)
    assert mean.draws[0] == pytest.approx(mean.value)


def test_a_copied_measurement_counts_like_two_that_are_no_pair():
    times = np.ones((1, 12), dtype=np.int64)
    times[0, [0, 1]] = 2, 0
    copies = np.concatenate([np.flatnonzero(times[0]), [0]])
    same = (SUBJECT[copies][:, None] == SUBJECT[copies]) & (copies[:, None] != copies)
    wins, means = [], []
    for i, j in np.argwhere(same):
        others = copies[SUBJECT[copies] != SUBJECT[copies[i]]]
        within = DISTANCE[copies[i], copies[j]]
        wins.append(np.mean(within < DISTANCE[copies[i], others]))
        means.append(within)
    found = discriminability_draws(DISTANCE, SUBJECT, times)
    assert found.draws[0] == pytest.approx(np.mean(wins))
    pairs = mean_draws(DISTANCE, SUBJECT[:, None] == SUBJECT, times)
    assert pairs.draws[0] == pytest.approx(np.mean(means))


def test_an_undefined_distance_leaves_nothing_defined():
    broken = DISTANCE.copy()
    broken[0, 1] = broken[1, 0] = np.nan
    found = discriminability_draws(broken, SUBJECT, resampled_counts(SUBJECT, 3))
    assert np.isnan(found.value)
    assert np.isnan(found.interval()).all()


def test_an_interval_holds_its_share_of_the_draws():
    assert Draws(0.0, np.arange(201.0)).interval() == (5.0, 195.0)


def test_the_p_value_is_the_share_of_all_permutations():
    """Against every permutation of a small set; the observed one is among them."""
    points = np.array([0.0, 0.2, 1.0, 1.1, 1.5])
    distance, labels = np.abs(points[:, None] - points), np.array([0, 0, 1, 1, 1])
    value = discriminability(distance, labels)
    every = [discriminability(distance, np.array(p)) for p in permutations(labels)]
    expected = np.mean(np.array(every) >= value - 1e-12)
    found = discriminability_test(distance, labels, n_permutations=2000)
    assert found.value == value
    assert found.p_value == pytest.approx(expected, abs=0.03)


def test_a_p_value_is_never_zero_and_depends_on_the_seed_alone():
    apart = np.abs(np.subtract.outer(*[np.repeat([0.0, 5.0, 9.0], 4) + 0.01 * np.arange(12)] * 2))
    first = discriminability_test(apart, SUBJECT, n_permutations=99, seed=4)
    assert first == discriminability_test(apart, SUBJECT, n_permutations=99, seed=4)
    assert first.p_value == pytest.approx(1 / 100)
    exchangeable = np.ones((12, 12))
    assert discriminability_test(exchangeable, SUBJECT, n_permutations=9).p_value == 1.0
