"""The smallest eigenvalue, dense and by Lanczos, and the shift that raises it."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from drawn_graphs import adjacencies
from hypothesis import given
from scipy import sparse

from convexhc import similarity
from convexhc.graph import Graph
from convexhc.similarity import definite

RANDOM = np.random.default_rng(1)
FULL = RANDOM.normal(size=(120, 120))
LOW_RANK = RANDOM.normal(size=(120, 6))
SIGNED = {
    "random": FULL + FULL.T,
    "singular": LOW_RANK @ LOW_RANK.T,
    "nearly singular": LOW_RANK @ LOW_RANK.T - 1e-3 * np.eye(120),
    "identity": np.eye(120),
    "zero": np.zeros((120, 120)),
    "one node": np.array([[3.0]]),
    "sparse": np.where(np.abs(FULL + FULL.T) > 3.5, FULL + FULL.T, 0.0),
    "large": 1e9 * (FULL + FULL.T),
    "small": 1e-9 * (FULL + FULL.T),
}


def use(monkeypatch, **settings):
    monkeypatch.setattr(definite, "SETTINGS", replace(definite.SETTINGS, **settings))


@pytest.fixture(params=["dense", "lanczos"])
def solver(request, monkeypatch):
    if request.param == "lanczos":
        use(monkeypatch, dense_eigenvalues=0, dense_cholesky=0)


@pytest.mark.parametrize("matrix", SIGNED.values(), ids=SIGNED)
def test_the_smallest_eigenvalue_agrees_with_a_full_decomposition(matrix, solver):
    values = np.linalg.eigvalsh(matrix)
    found = similarity.min_eigenvalue(Graph.from_matrix(matrix, signed=True))
    assert found == pytest.approx(values[0], abs=1e-9 * np.abs(values).max(), rel=1e-9)


def test_lanczos_respects_its_budget_on_a_clustered_spectrum(monkeypatch):
    use(monkeypatch, dense_eigenvalues=0, lanczos_steps=60)
    n = 2000
    path = Graph.from_edges(n, np.arange(n - 1), np.arange(1, n))
    value, error = definite.smallest_eigenvalue(similarity.laplacian(path).graph)
    # The true value is zero; the estimate is never below it, and its error is bounded.
    assert -1e-12 <= value <= 0.01
    assert error > 0


@pytest.mark.parametrize("matrix", SIGNED.values(), ids=SIGNED)
def test_exactly_the_indefinite_matrices_are_rejected(matrix, solver):
    values = np.linalg.eigvalsh(matrix)
    graph = Graph.from_matrix(matrix, signed=True)
    if values[0] >= -1e-9 * np.abs(values).max():
        similarity.require_psd(graph)
        return
    with pytest.raises(ValueError, match="not positive semidefinite") as caught:
        similarity.require_psd(graph)
    cure = float(re.search(r"shift >= (\S+) ", str(caught.value)).group(1))
    assert cure == pytest.approx(-values[0], rel=1e-5)
    similarity.require_psd(graph.with_diagonal(graph.diagonal + cure * (1 + 1e-5)))


def test_the_tolerance_is_relative_to_the_size_of_the_matrix():
    matrix = np.array([[1.0, 1.0], [1.0, 1.0 - 1e-6]])
    for unit in (1e-8, 1.0, 1e8):
        similarity.require_psd(unit * matrix, tol=1e-5)
        with pytest.raises(ValueError, match="not positive semidefinite"):
            similarity.require_psd(unit * matrix, tol=1e-8)


@given(adjacencies())
def test_a_shift_lifts_the_smallest_eigenvalue_to_the_floor_and_no_further(A):
    K = similarity.shift_to_positive(A, floor=1e-3)
    before, after = np.linalg.eigvalsh(A)[0], np.linalg.eigvalsh(K.dense())[0]
    floor = 1e-3 * (A.sum(axis=1).max() or 1.0)
    assert after >= floor * (1 - 1e-9)
    if K.shift > 0:
        assert after == pytest.approx(floor, rel=1e-6)
    assert K.shift == pytest.approx(max(0.0, floor - before), abs=1e-12 * len(A) * 8)
    assert K.positive_definite


def test_the_shift_is_safe_when_lanczos_was_cut_short(monkeypatch):
    use(monkeypatch, dense_eigenvalues=0, lanczos_steps=30)
    n = 400
    path = sparse.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[1, -1])
    K = similarity.shift_to_positive(path)
    assert np.linalg.eigvalsh(K.dense())[0] > 0


def test_a_shift_adds_to_what_was_added_before():
    A = np.ones((3, 3)) - np.eye(3)
    once = similarity.self_loops(A, shift=0.25)
    assert not once.positive_definite
    twice = similarity.shift_to_positive(once)
    assert twice.kind == "self_loops"
    assert twice.shift == pytest.approx(1.0, abs=1e-4)
    np.testing.assert_allclose(twice.dense(), A + twice.shift * np.eye(3))
