"""The neighbour graph: connected, complete, and independent of the unit of length."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from convexhc import similarity
from convexhc.similarity import from_graph, from_points, neighbor_graph
from convexhc.similarity.point_kernels import nearest_neighbors


@st.composite
def tables(draw):
    """Points in up to three distant groups, some of them repeated."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(1, 25)), draw(st.integers(1, 3))
    X = rng.normal(size=(n, d)) + 50.0 * rng.integers(0, 3, (n, 1))
    repeated = rng.integers(0, n, draw(st.integers(0, 8)))
    return np.vstack([X, X[repeated]])


@given(tables(), st.sampled_from([None, 1, 2, 5]))
def test_it_is_connected_and_contains_every_nearest_neighbour(X, k):
    graph = neighbor_graph(X, n_neighbors=k)
    n = len(X)
    assert graph.n == n
    assert graph.components()[0] == 1
    W = graph.dense()
    np.testing.assert_array_equal(np.diag(W), 0.0)
    assert ((graph.weight > 0.0) & (graph.weight <= 1.0)).all()
    wanted = min(n - 1, min(15, max(3, n // 5)) if k is None else k)
    assert ((W > 0.0).sum(axis=1) >= wanted).all()
    apart = np.linalg.norm(X[:, None] - X, axis=2)
    for i in range(n):
        others = np.delete(apart[i], i)
        last = np.sort(others)[wanted - 1] if n > 1 else 0.0
        nearer = np.flatnonzero((apart[i] < last - 1e-9) & (np.arange(n) != i))
        assert (W[i, nearer] > 0.0).all()


def test_weights_are_by_the_distances_in_units_of_the_last_neighbour():
    X = np.random.default_rng(0).normal(size=(30, 2))
    W = neighbor_graph(X, n_neighbors=4).dense()
    apart = np.linalg.norm(X[:, None] - X, axis=2)
    unit = np.sort(apart, axis=1)[:, 4]
    expected = 1.0 / (1.0 + apart**2 / np.outer(unit, unit))
    near = (apart <= unit[:, None]) | (apart <= unit)
    np.fill_diagonal(near, False)
    np.testing.assert_allclose(W[near], expected[near])
    assert (W[~near] == 0.0).all()


@given(tables(), st.sampled_from([1e-8, 0.5, 1e6]))
def test_the_unit_of_length_does_not_matter(X, unit):
    one, other = neighbor_graph(X), neighbor_graph(unit * X)
    if len(np.unique(X, axis=0)) == len(X):
        np.testing.assert_array_equal(one.tail, other.tail)
        np.testing.assert_array_equal(one.head, other.head)
        np.testing.assert_allclose(one.weight, other.weight, rtol=1e-6)


def test_far_groups_are_joined_by_their_shortest_links():
    rng = np.random.default_rng(1)
    group = np.repeat([0, 1, 2], 20)
    X = rng.normal(size=(60, 2)) + np.array([[0.0, 0.0], [40.0, 0.0], [300.0, 0.0]])[group]
    W = neighbor_graph(X, n_neighbors=3).dense()
    between = [(W[np.ix_(group == a, group == b)] > 0).sum() for a, b in [(0, 1), (1, 2), (0, 2)]]
    # At least three links from each group, and none between the outermost groups.
    assert 3 <= between[0] <= 6
    assert 3 <= between[1] <= 6
    assert between[2] == 0
    across = W[np.ix_(group == 0, group == 1)]
    tail, head = np.unravel_index(across.argmax(), across.shape)
    apart = np.linalg.norm(X[:20, None] - X[None, 20:40], axis=2)
    assert apart.min() in apart[across > 0]
    assert across[tail, head] < W[:20, :20][W[:20, :20] > 0].min()


@pytest.mark.parametrize(("X", "edges"), [([[2.0]], 0), ([[0.0], [7.0]], 1), ([[1.0], [1.0]], 1)])
def test_one_and_two_points(X, edges):
    graph = neighbor_graph(X)
    assert (graph.n, graph.n_edges, graph.components()[0]) == (len(X), edges, 1)


def test_coinciding_points_have_weight_one():
    W = neighbor_graph(np.ones((6, 2)), n_neighbors=5).dense()
    np.testing.assert_array_equal(W, 1.0 - np.eye(6))
    twice = np.repeat(np.arange(10.0), 2)[:, None]
    W = neighbor_graph(twice, n_neighbors=1).dense()
    assert (W[np.arange(0, 20, 2), np.arange(1, 20, 2)] == 1.0).all()


@pytest.mark.parametrize("far", [1e12, 1e59])
def test_extremely_distant_groups_are_connected(far):
    """Weights must not underflow to zero."""
    X = np.concatenate([np.arange(20.0), far + np.arange(20.0)])[:, None]
    graph = neighbor_graph(X, n_neighbors=3)
    assert graph.components()[0] == 1
    assert (graph.weight > 0.0).all()


@pytest.mark.parametrize("d", [2, 20], ids=["tree search", "brute force"])
@pytest.mark.parametrize("unit", [1e-3, 1.0, 10.75])
def test_coinciding_points_have_distance_zero(d, unit):
    """The brute-force search expands |x - y|^2, which leaves round-off."""
    X = unit * np.tile(np.random.default_rng(0).normal(size=(5, d)), (3, 1))
    distance, index = nearest_neighbors(X, 4)
    np.testing.assert_array_equal(distance[:, :2], 0.0)
    assert (np.diff(distance, axis=1) >= 0.0).all()
    np.testing.assert_allclose(distance, np.linalg.norm(X[index] - X[:, None], axis=2))
    K = similarity.knn(X, n_neighbors=2, bandwidth=unit)
    np.testing.assert_array_equal(K.graph.weight, 1.0)


def test_names_are_those_of_the_rows():
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(5, 2)), index=list("abcde"))
    assert neighbor_graph(table).names == tuple("abcde")


def test_the_similarity_of_points_is_that_of_their_graph():
    X = np.random.default_rng(2).normal(size=(30, 2))
    made = from_points(X, n_neighbors=4)
    expected = from_graph(neighbor_graph(X, n_neighbors=4))
    np.testing.assert_array_equal(made.dense(), expected.dense())
    assert made.parameters == {**expected.parameters, "n_neighbors": 4}
    assert "n_neighbors" not in from_points(X).parameters
    assert from_points(X, shift=0.5).shift == 0.5


@pytest.mark.parametrize(
    ("n_neighbors", "error"),
    [(0, ValueError), (-2, ValueError), (2.0, TypeError), (True, TypeError)],
)
def test_the_number_of_neighbours_is_a_positive_integer(n_neighbors, error):
    for made in (neighbor_graph, from_points, similarity.neighbor_weights):
        with pytest.raises(error, match="n_neighbors must be"):
            made(np.ones((4, 2)), n_neighbors=n_neighbors)
