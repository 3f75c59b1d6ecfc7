"""Distances between levels, and the axis of lam."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plots.made import made_path
from tree.paths import paths

from convexhc.layout import information_map, lam_limits
from convexhc.metrics import variation_of_information


@given(st.lists(st.floats(0.0, 1e9), min_size=1, max_size=8), st.floats(0.0, 0.5))
def test_limits_hold_every_lam_with_room_to_spare(lambdas, margin):
    low, high = lam_limits(np.array(lambdas), margin=margin)
    assert 0 < low < high < np.inf
    assert all(low < lam < high for lam in lambdas if lam > 1e-300)


@given(paths())
def test_distances_are_those_between_the_partitions(path):
    lambdas, partitions = path
    rows = [np.unique(row, return_inverse=True)[1] for row in partitions]
    made = made_path(lambdas, rows, centroids=False)
    found = information_map(made)
    n = partitions.shape[1]
    assert found.levels[0] == 0
    assert np.array_equal(found.borders[:-1], lambdas[found.levels])
    assert np.array_equal(found.distance, found.distance.T)
    assert found.distance.min() >= 0
    assert found.distance.max() <= 1 + 1e-12
    whole = max(np.log(n), 1e-300)
    for level, lam_row in enumerate(rows):
        stands_for = found.levels[np.searchsorted(found.levels, level, side="right") - 1]
        assert np.array_equal(lam_row, rows[stands_for])
    for a, one in enumerate(found.levels):
        expected = [variation_of_information(rows[one], rows[b]) / whole for b in found.levels]
        assert found.distance[a] == pytest.approx(expected, abs=1e-12)


def test_a_sample_stands_for_many_levels():
    n = 50
    rows = [np.maximum(np.arange(n) - step, 0) for step in range(n)]
    path = made_path(np.arange(1.0, n + 1), rows, centroids=False)
    found = information_map(path, max_levels=7)
    assert found.levels.size == 7
    assert found.levels[0] == 0
    assert found.levels[-1] == n - 1
