"""Distances between the partitions of a path."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from plots.made import made_path
from tree.paths import paths

from convexhc.layout.heatmap import partition_distances
from convexhc.metrics import variation_of_information


@given(paths())
def test_distances_are_normalised_variations_of_information(path):
    lambdas, partitions = path
    rows = [np.unique(row, return_inverse=True)[1] for row in partitions]
    made = made_path(lambdas, rows, centroids=False)
    found = partition_distances(made)
    n = partitions.shape[1]
    assert found.levels[0] == 0
    assert np.array_equal(found.borders[:-1], lambdas[found.levels])
    assert np.array_equal(found.distance, found.distance.T)
    assert found.distance.min() >= 0
    assert found.distance.max() <= 1 + 1e-12
    whole = max(np.log(n), 1e-300)
    for level, lam_row in enumerate(rows):
        represents = found.levels[np.searchsorted(found.levels, level, side="right") - 1]
        assert np.array_equal(lam_row, rows[represents])
    for a, one in enumerate(found.levels):
        expected = [variation_of_information(rows[one], rows[b]) / whole for b in found.levels]
        assert found.distance[a] == pytest.approx(expected, abs=1e-12)


def test_many_levels_are_sampled_including_both_ends():
    n = 50
    rows = [np.maximum(np.arange(n) - step, 0) for step in range(n)]
    path = made_path(np.arange(1.0, n + 1), rows, centroids=False)
    found = partition_distances(path, max_levels=7)
    assert found.levels.size == 7
    assert found.levels[0] == 0
    assert found.levels[-1] == n - 1
