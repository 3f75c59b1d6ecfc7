"""Distances of all pairs at once agree with those of single pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from convexhc import metrics


@given(st.integers(0, 2**32), st.integers(2, 6), st.integers(2, 25), st.integers(1, 30))
def test_kendall_of_all_pairs_is_that_of_every_pair(seed, s, n, values):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.integers(0, values, (s, n, n)), 1)
    distances = [each + each.T for each in upper]
    place = np.triu_indices(n, 1)
    found = metrics.kendall_matrix([each[place] for each in distances])
    np.testing.assert_array_equal(found, found.T)
    for i in range(s):
        for j in range(s):
            expected = metrics.kendall(distances[i], distances[j])
            assert found[i, j] == pytest.approx(expected, nan_ok=True, abs=1e-12)


def test_kendall_rejects_what_has_no_order():
    with pytest.raises(ValueError, match="without NaN"):
        metrics.kendall_matrix([[0.0, np.nan]])
    with pytest.raises(ValueError, match="rows of a matrix"):
        metrics.kendall_matrix(np.zeros((0, 3)))


@given(st.integers(0, 2**32), st.integers(2, 6), st.integers(1, 20), st.integers(1, 6))
def test_information_of_all_pairs_is_that_of_every_pair(seed, s, n, c):
    rows = np.random.default_rng(seed).integers(0, c, (s, n))
    found = metrics.information_matrix(rows)
    for i in range(s):
        for j in range(s):
            expected = metrics.variation_of_information(rows[i], rows[j])
            assert found[i, j] == pytest.approx(expected, abs=1e-9)


def distances(m: int, n: int) -> np.ndarray:
    points = np.random.default_rng(0).standard_normal((m, n, 2))
    return np.linalg.norm(points[:, :, None] - points[:, None, :], axis=-1)


@pytest.mark.parametrize("by_number", [False, True])
def test_neighbours_without_ties_are_those_of_the_hamming_distance(by_number):
    both = distances(2, 15)
    graphs = [metrics.knn_graph(each, 4) for each in both]
    found = metrics.neighbor_matrix(list(both), 4, by_number=by_number)
    assert found[0, 1] == found[1, 0]
    assert found[0, 1] == pytest.approx(metrics.hamming(*graphs) / (2 * 15 * 4))
    assert found[0, 0] == 0.0


def test_ties_are_no_agreement():
    flat = [1.0 - np.eye(41)] * 2
    assert metrics.neighbor_matrix(flat, 8, by_number=True)[0, 1] == 0.0
    # By chance a fifth of 8 among 40 agrees.
    assert metrics.neighbor_matrix(flat, 8, draws=100)[0, 1] == pytest.approx(0.8, abs=0.04)
