"""Diffusion time of a graph, and diffusion features."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from drawn_graphs import adjacencies, planted, relabelled
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from convexhc import similarity
from convexhc.similarity.spectral import (
    MAX_NOISE_EDGE,
    NOISE_LEVEL,
    diffusion_features,
    diffusion_time,
    from_graph,
    noise_edge,
)


@given(adjacencies(8), st.sampled_from([1e-6, 0.3, 7.0, 1e9]))
def test_the_unit_of_the_weights_does_not_matter(A, unit):
    assert noise_edge(unit * A) == pytest.approx(noise_edge(A), rel=1e-9)


@given(relabelled(8))
def test_the_order_of_the_nodes_does_not_matter(drawn):
    A, order = drawn
    assert noise_edge(A[np.ix_(order, order)]) == pytest.approx(noise_edge(A), rel=1e-12)


@pytest.mark.parametrize("n", [6, 20, 100])
def test_noise_of_a_complete_graph_is_known(n):
    """S has every entry 1/n with loops; 1/(n - 1) off the diagonal without."""
    assert noise_edge(np.ones((n, n))) == pytest.approx(min(2.0 / np.sqrt(n), MAX_NOISE_EDGE))
    without = min(2.0 / np.sqrt(n - 1), MAX_NOISE_EDGE)
    assert noise_edge(np.ones((n, n)) - np.eye(n)) == pytest.approx(without)


def test_noise_is_that_of_the_squared_eigenvalues():
    A, _ = planted(1)
    degree = A.sum(axis=1)
    values = np.linalg.eigvalsh(A / np.sqrt(np.outer(degree, degree)))
    assert noise_edge(A) == pytest.approx(2.0 * np.sqrt(np.square(values).mean()))


def test_the_time_is_the_first_that_damps_the_noise():
    for seed in range(4):
        A, _ = planted(seed)
        steps, left = diffusion_time(A), (1.0 + noise_edge(A)) / 2.0
        assert left**steps <= NOISE_LEVEL < left ** (steps - 1)


def test_more_edges_need_fewer_steps():
    times = [
        diffusion_time(nx.to_numpy_array(nx.random_regular_graph(degree, 100, seed=0)))
        for degree in (4, 8, 16, 32, 64)
    ]
    assert times == sorted(times, reverse=True)
    assert len(set(times)) == len(times)


@pytest.mark.parametrize("A", [np.zeros((3, 3)), np.zeros((1, 1)), np.diag([1.0, 2.0])], ids=str)
def test_a_graph_without_edges_has_a_time(A):
    assert diffusion_time(A) >= 1
    X = diffusion_features(A, n_features=len(A))
    np.testing.assert_allclose(X @ X.T, np.eye(len(A)), atol=1e-12)


def test_the_time_of_paths_and_trees_is_bounded():
    """Their whole spectrum is in the noise band, which would never be damped."""
    for graph in (nx.path_graph(200), nx.balanced_tree(2, 6)):
        A = nx.to_scipy_sparse_array(graph)
        assert noise_edge(A) == MAX_NOISE_EDGE
        assert diffusion_time(A) == int(
            np.ceil(np.log(NOISE_LEVEL) / np.log(0.5 + MAX_NOISE_EDGE / 2))
        )


@pytest.mark.parametrize("time", [None, 1, 6])
@given(adjacencies(8))
def test_features_are_a_root_of_the_similarity(time, A):
    X = diffusion_features(A, time=time, n_features=len(A))
    assert X.shape == A.shape
    np.testing.assert_allclose(X @ X.T, from_graph(A, time=time).dense(), atol=1e-8)


def test_fewer_features_are_the_leading_ones_with_rows_of_unit_length():
    A, _ = planted(2)
    X = diffusion_features(A, n_features=5)
    degree = A.sum(axis=1)
    values, vectors = np.linalg.eigh(A / np.sqrt(np.outer(degree, degree)))
    naive = vectors[:, -5:] * ((1.0 + values[-5:]) / 2.0) ** (diffusion_time(A) / 2.0)
    naive /= np.linalg.norm(naive, axis=1, keepdims=True)
    np.testing.assert_allclose(X @ X.T, naive @ naive.T, atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1.0)


def test_lanczos_gives_what_the_dense_decomposition_gives():
    """Above 600 nodes; ten groups, so that the gap below the tenth eigenvalue is wide."""
    A = sparse.csr_array(planted(3, (65,) * 10, inside=0.4, across=0.01)[0])
    assert A.shape[0] > 600
    X = diffusion_features(A, n_features=10)
    degree = np.asarray(A.sum(axis=1))
    values, vectors = np.linalg.eigh(A.toarray() / np.sqrt(np.outer(degree, degree)))
    assert values[-10] - values[-11] > 0.1
    naive = vectors[:, -10:] * ((1.0 + values[-10:]) / 2.0) ** (diffusion_time(A) / 2.0)
    naive /= np.linalg.norm(naive, axis=1, keepdims=True)
    np.testing.assert_allclose(X @ X.T, naive @ naive.T, atol=1e-8)
    np.testing.assert_array_equal(X, diffusion_features(A, n_features=10))


def test_an_isolated_node_is_similar_to_no_other():
    A = np.zeros((5, 5))
    A[:2, :2] = A[2:4, 2:4] = 1.0 - np.eye(2)
    X = diffusion_features(A, n_features=5)
    np.testing.assert_allclose(X @ X.T, np.kron(np.eye(3), np.ones((2, 2)))[:5, :5], atol=1e-12)
    # Its eigenvalue is one, so it is among the leading features too.
    joined = np.zeros((25, 25))
    joined[:24, :24] = planted(0)[0]
    X = diffusion_features(joined, n_features=3)
    np.testing.assert_allclose(X @ X[24], np.eye(25)[24], atol=1e-12)


def test_time_and_noise_edge_are_recorded():
    A, _ = planted(0)
    made = from_graph(A)
    assert made.parameters["time"] == diffusion_time(A)
    assert made.parameters["noise_edge"] == noise_edge(A)
    assert from_graph(A, time=3).parameters["time"] == 3
    expected = similarity.diffusion(A, time=diffusion_time(A)).dense()
    np.testing.assert_array_equal(made.dense(), expected)


NOT_COUNTS = [
    (0, ValueError),
    (-1, ValueError),
    (2.0, TypeError),
    (True, TypeError),
    ("3", TypeError),
]


@pytest.mark.parametrize(("n_features", "error"), NOT_COUNTS)
def test_the_number_of_features_is_a_positive_integer(n_features, error):
    with pytest.raises(error, match="n_features must be"):
        diffusion_features(np.ones((3, 3)), n_features=n_features)


@pytest.mark.parametrize(("time", "error"), NOT_COUNTS)
def test_the_number_of_steps_is_a_positive_integer(time, error):
    for made in (from_graph, diffusion_features):
        with pytest.raises(error, match="time must be"):
            made(np.ones((3, 3)), time=time)
