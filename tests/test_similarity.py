"""Similarities: each formula against a naive implementation, and its eigenvalue bounds."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from drawn_graphs import adjacencies, relabelled
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg, sparse

from convexhc import similarity
from convexhc.graph import Graph
from convexhc.io import as_graph
from convexhc.similarity import Similarity

FROM_GRAPH = {
    "two_hop": similarity.two_hop,
    "two_hop_diagonal": similarity.two_hop_diagonal,
    "normalized": similarity.normalized,
    "laplacian": similarity.laplacian,
    "self_loops": similarity.self_loops,
    "diffusion": similarity.diffusion,
    "heat": similarity.heat,
}
POINTS = np.random.default_rng(0).normal(size=(40, 3))
FROM_POINTS = {
    "knn": similarity.knn,
    "rbf": similarity.rbf,
    "correlation": similarity.correlation,
}
NAIVE_TIME = 3


def scaled(matrix: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Entry by entry: matrix_ij / sqrt(size_i size_j), zero where a size is zero."""
    result = np.zeros_like(matrix)
    for i, j in np.ndindex(*matrix.shape):
        if size[i] > 0 and size[j] > 0:
            result[i, j] = matrix[i, j] / np.sqrt(size[i] * size[j])
    return result


def alone(A: np.ndarray) -> np.ndarray:
    return np.diag((A.sum(axis=1) == 0).astype(float))


def naive_two_hop(A: np.ndarray) -> np.ndarray:
    return scaled(A @ A, (A @ A).sum(axis=1)) + alone(A)


def naive_two_hop_diagonal(A: np.ndarray) -> np.ndarray:
    return scaled(A @ A, np.diag(A @ A)) + alone(A)


def naive_normalized(A: np.ndarray) -> np.ndarray:
    return scaled(A, A.sum(axis=1)) + np.eye(len(A))


def naive_laplacian(A: np.ndarray) -> np.ndarray:
    return A + np.diag(A.sum(axis=1) - np.diag(A))


def naive_diffusion(A: np.ndarray) -> np.ndarray:
    lazy = (np.eye(len(A)) + scaled(A, A.sum(axis=1))) / 2
    steps = np.linalg.matrix_power(lazy, NAIVE_TIME)
    return scaled(steps, np.diag(steps))


def naive_heat(A: np.ndarray) -> np.ndarray:
    laplacian = np.eye(len(A)) - scaled(A, A.sum(axis=1)) - alone(A)
    return linalg.expm(-NAIVE_TIME * laplacian)


@pytest.mark.parametrize(
    ("found", "naive"),
    [
        (similarity.two_hop, naive_two_hop),
        (similarity.two_hop_diagonal, naive_two_hop_diagonal),
        (lambda A: similarity.normalized(A, shift=0.0), naive_normalized),
        (similarity.laplacian, naive_laplacian),
        (lambda A: similarity.diffusion(A, time=NAIVE_TIME), naive_diffusion),
        (lambda A: similarity.heat(A, time=NAIVE_TIME), naive_heat),
        (lambda A: similarity.self_loops(A, shift=0.0), lambda A: A),
    ],
    ids=["two_hop", "two_hop_diagonal", "normalized", "laplacian", "diffusion", "heat", "loops"],
)
@settings(max_examples=15)
@given(A=adjacencies())
def test_each_formula_agrees_with_a_naive_implementation(found, naive, A):
    np.testing.assert_allclose(found(A).dense(), naive(A), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("make", FROM_GRAPH.values(), ids=FROM_GRAPH)
@settings(max_examples=10)
@given(drawn=relabelled())
def test_relabelling_the_nodes_relabels_the_similarity(make, drawn):
    matrix, order = drawn
    names = [f"n{i}" for i in range(len(matrix))]
    graph = Graph.from_matrix(matrix, names=names)
    K, again = make(graph), make(graph.permuted(order))
    np.testing.assert_allclose(again.dense(), K.dense()[np.ix_(order, order)], rtol=1e-9, atol=1e-9)
    assert again.graph.names == tuple(names[i] for i in order)


def check_claims(K: Similarity, *, semidefinite: bool) -> None:
    values = np.linalg.eigvalsh(K.dense())
    scale = max(1.0, abs(values).max())
    assert not semidefinite or values[0] >= -1e-12 * scale
    if K.positive_definite:
        assert values[0] > 0
    if K.min_eigenvalue is not None:
        assert K.min_eigenvalue == pytest.approx(values[0], abs=1e-12 * scale)


@pytest.mark.parametrize("shift", [0.0, 0.1, "auto"])
@pytest.mark.parametrize("name", FROM_GRAPH)
@settings(max_examples=8)
@given(A=adjacencies())
def test_the_eigenvalues_are_as_claimed(name, shift, A):
    K = FROM_GRAPH[name](A, shift=shift)
    # Self-loops of arbitrary size guarantee nothing.
    check_claims(K, semidefinite=name != "self_loops" or shift == "auto")
    if shift == "auto" or (shift > 0 and name != "self_loops"):
        assert K.positive_definite


@pytest.mark.parametrize("shift", [0.0, 0.1, "auto"])
@pytest.mark.parametrize("name", FROM_POINTS)
def test_the_eigenvalues_are_as_claimed_for_points(name, shift):
    K = FROM_POINTS[name](POINTS, shift=shift)
    check_claims(K, semidefinite=name == "rbf" or shift == "auto")
    assert K.min_eigenvalue is not None
    if shift == "auto":
        assert K.positive_definite


@pytest.mark.parametrize("make", [*FROM_GRAPH.values(), *FROM_POINTS.values()])
def test_shift_is_what_was_added_to_the_diagonal(make):
    data = np.abs(POINTS @ POINTS.T) if make in FROM_GRAPH.values() else POINTS
    plain = make(data, shift=0.0)
    for shift in (0.25, "auto"):
        K = make(data, shift=shift)
        assert K.shift == (shift if shift != "auto" else K.shift)
        np.testing.assert_allclose(
            K.dense(), plain.dense() + K.shift * np.eye(len(data)), rtol=1e-14
        )
    assert plain.shift == 0.0


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("make", FROM_GRAPH.values(), ids=FROM_GRAPH)
def test_nodes_without_edges_are_similar_to_themselves_only(make, n):
    K = make(np.zeros((n, n)), shift=1.0 if make is similarity.self_loops else 0.0)
    assert K.graph.n_edges == 0
    # Unnormalised, their self-similarity is zero.
    if make is not similarity.laplacian:
        np.testing.assert_array_equal(K.graph.diagonal, np.ones(n))


def test_two_hops_split_a_bipartite_graph_and_the_others_do_not():
    path = nx.path_graph(6)
    assert similarity.two_hop(path).graph.components()[0] == 2
    for make in (similarity.normalized, similarity.diffusion, similarity.heat):
        assert make(path).graph.components()[0] == 1


def test_two_hop_keeps_a_large_graph_sparse():
    n = 100_000
    ring = Graph.from_edges(n, np.arange(n), (np.arange(n) + 1) % n)
    K = similarity.two_hop(ring)
    assert K.graph.n_edges == n
    np.testing.assert_allclose(K.graph.weight, 0.25)
    np.testing.assert_allclose(K.graph.diagonal, 0.5)


@given(adjacencies(), st.lists(st.floats(-3, 3), min_size=8, max_size=8))
def test_the_signless_laplacian_is_a_sum_of_squares(A, values):
    x = np.array(values)[: len(A)]
    squares = sum(A[i, j] * (x[i] + x[j]) ** 2 for i in range(len(A)) for j in range(i))
    loops = np.diag(A) @ x**2
    assert x @ similarity.laplacian(A).dense() @ x == pytest.approx(squares + loops, abs=1e-9)


@given(adjacencies(), st.integers(1, 4))
def test_diffusion_is_positive_within_the_number_of_steps(A, time):
    reached = np.linalg.matrix_power(np.eye(len(A)) + (A > 0), time) > 0
    np.testing.assert_array_equal(similarity.diffusion(A, time=time).dense() > 0, reached)


@given(adjacencies(max_n=6), st.floats(0.1, 20.0), st.floats(0.1, 20.0))
def test_heat_kernels_form_a_semigroup(A, first, then):
    both = similarity.heat(A, time=first).dense() @ similarity.heat(A, time=then).dense()
    np.testing.assert_allclose(similarity.heat(A, time=first + then).dense(), both, rtol=1e-10)


def test_heat_is_exact_between_components_and_for_tiny_entries():
    two_parts = sparse.block_diag([np.ones((3, 3)), np.ones((4, 4))]).toarray()
    K = similarity.heat(two_parts, time=50.0).dense()
    assert not K[:3, 3:].any()
    ends = similarity.heat(nx.path_graph(12), time=0.01).dense()[0, -1]
    # The first term of the series that connects the ends: t^11 / 11! times the product of weights.
    weight = 0.5**10
    assert ends == pytest.approx(np.exp(-0.01) * 0.01**11 / 39916800 * weight, rel=1e-6)


def test_names_are_kept_by_every_similarity():
    graph = Graph.from_matrix(np.ones((3, 3)), names=["a", ("b", 1), 3])
    for make in FROM_GRAPH.values():
        assert make(graph).graph.names == graph.names
    assert similarity.sparsify(graph, 1).names == graph.names
    assert similarity.shift_to_positive(graph).graph.names == graph.names


def naive_knn(points: np.ndarray, k: int, h: float) -> np.ndarray:
    n = len(points)
    distance = np.array([[np.linalg.norm(a - b) for b in points] for a in points])
    near = np.zeros((n, n), dtype=bool)
    for i in range(n):
        others = [j for j in np.argsort(distance[i], kind="stable") if j != i]
        near[i, others[:k]] = True
    return np.where(near | near.T | np.eye(n, dtype=bool), np.exp(-(distance**2) / (2 * h**2)), 0)


@pytest.mark.parametrize("k", [1, 4, 39, 100])
def test_knn_agrees_with_a_naive_implementation(k):
    K = similarity.knn(POINTS, n_neighbors=k, bandwidth=0.7)
    np.testing.assert_allclose(K.dense(), naive_knn(POINTS, k, 0.7), rtol=1e-9, atol=1e-300)
    assert K.parameters == {"n_neighbors": min(k, 39), "bandwidth": 0.7}


def test_the_bandwidth_of_knn_is_the_median_distance_to_the_last_neighbour():
    distance = np.sort([[np.linalg.norm(a - b) for b in POINTS] for a in POINTS], axis=1)
    K = similarity.knn(POINTS, n_neighbors=5)
    assert K.parameters["bandwidth"] == pytest.approx(np.median(distance[:, 5]))


@pytest.mark.parametrize("make", [similarity.knn, similarity.rbf])
def test_the_unit_of_the_points_does_not_matter(make):
    np.testing.assert_allclose(
        make(1000.0 * POINTS).dense(), make(POINTS).dense(), rtol=1e-8, atol=1e-12
    )


@pytest.mark.parametrize("make", [similarity.knn, similarity.rbf])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_equal_points_are_fully_similar(make, n):
    np.testing.assert_array_equal(make(np.ones((n, 2))).dense(), np.ones((n, n)))


def test_repeated_points_do_not_spoil_the_bandwidth():
    K = similarity.rbf([[0.0], [0.0], [0.0], [0.0], [2.0]])
    assert K.parameters["bandwidth"] == 2.0


def test_rbf_agrees_with_its_formula():
    distance = np.array([[np.linalg.norm(a - b) for b in POINTS] for a in POINTS])
    K = similarity.rbf(POINTS)
    h = np.median(distance[np.triu_indices(40, 1)])
    assert K.parameters["bandwidth"] == pytest.approx(h)
    np.testing.assert_allclose(K.dense(), np.exp(-(distance**2) / (2 * h**2)), rtol=1e-12)


def test_points_and_variables_keep_the_labels_of_a_frame():
    labels = [f"p{i}" for i in range(40)]
    for make in FROM_POINTS.values():
        assert make(pd.DataFrame(POINTS, index=labels)).graph.names == tuple(labels)


@pytest.mark.parametrize("threshold", [0.0, 0.4, 0.9])
def test_correlation_agrees_with_numpy(threshold):
    r = np.corrcoef(POINTS)
    expected = np.where((r >= threshold) & (r > 0), r, 0.0)
    np.fill_diagonal(expected, 1.0)
    K = similarity.correlation(POINTS, threshold=threshold)
    np.testing.assert_allclose(K.dense(), expected, atol=1e-12)
    moved = POINTS * np.linspace(1, 5, 40)[:, None] + np.linspace(-9, 9, 40)[:, None]
    again = similarity.correlation(moved, threshold=threshold)
    np.testing.assert_allclose(again.dense(), K.dense(), atol=1e-12)


def naive_sparsify(matrix: np.ndarray, k: int) -> np.ndarray:
    n = len(matrix)
    kept = np.zeros((n, n))
    for i in range(n):
        others = sorted(matrix[i, j] for j in range(n) if j != i and matrix[i, j] > 0)
        cut = others[-k] if len(others) >= k else 0.0
        for j in range(n):
            if j != i and matrix[i, j] > 0 and matrix[i, j] >= cut:
                kept[i, j] = kept[j, i] = matrix[i, j]
    return kept


@given(relabelled(), st.integers(1, 4))
def test_sparsify_keeps_the_heaviest_edges_of_either_end(drawn, k):
    matrix, order = drawn
    kept = similarity.sparsify(matrix, k)
    np.testing.assert_array_equal(kept.dense(), naive_sparsify(matrix, k))
    again = similarity.sparsify(matrix[np.ix_(order, order)], k)
    np.testing.assert_array_equal(again.dense(), kept.dense()[np.ix_(order, order)])


def test_sparsify_keeps_ties():
    # Each node of the square has one edge of weight one, and one that is heavier by rounding.
    square = Graph.from_edges(4, [0, 1, 2, 3], [1, 2, 3, 0], [1.0, 1.0 + 1e-15, 1.0, 1.0 + 1e-15])
    assert similarity.sparsify(square, 1).n_edges == 4
    complete = np.ones((6, 6))
    assert similarity.sparsify(complete, 2).n_edges == 15


def test_sparsify_never_keeps_a_negative_entry():
    matrix = np.array([[1.0, -0.9, 0.1], [-0.9, 1.0, -0.2], [0.1, -0.2, 1.0]])
    assert similarity.sparsify(Graph.from_matrix(matrix, signed=True), 2).weight.tolist() == [0.1]


@given(relabelled(), st.integers(1, 3))
def test_a_connected_sparsify_preserves_the_components(drawn, k):
    matrix, order = drawn
    kept = similarity.sparsify(matrix, k, connected=True)
    plain = similarity.sparsify(matrix, k).dense()
    whole = Graph.from_matrix(matrix)
    np.testing.assert_array_equal(kept.components()[1], whole.components()[1])
    # No edge is lost or modified, and none is added if the components are preserved.
    assert (kept.dense() >= plain).all()
    assert np.isin(kept.dense(), [0.0, *whole.weight]).all()
    if Graph.from_matrix(plain).components()[0] == whole.components()[0]:
        np.testing.assert_array_equal(kept.dense(), plain)
    again = similarity.sparsify(matrix[np.ix_(order, order)], k, connected=True)
    np.testing.assert_array_equal(again.dense(), kept.dense()[np.ix_(order, order)])


def test_a_connected_sparsify_adds_the_heaviest_edges_out_of_a_component():
    # Two dense triangles, joined by three weak edges of which the two heaviest are kept.
    matrix = np.kron(np.eye(2), np.ones((3, 3)))
    for i, j, weight in ((0, 3, 0.3), (1, 4, 0.2), (2, 5, 0.1)):
        matrix[i, j] = matrix[j, i] = weight
    kept = similarity.sparsify(matrix, 2, connected=True)
    assert sorted(kept.weight.tolist()) == [0.2, 0.3, *[1.0] * 6]


def test_a_similarity_is_an_array_and_a_graph():
    K = similarity.normalized(np.ones((3, 3)))
    np.testing.assert_array_equal(np.asarray(K), K.dense())
    assert np.asarray(K, dtype=np.float32).dtype == np.float32
    np.testing.assert_array_equal(K.matrix.toarray(), K.dense())
    assert as_graph(K) is K.graph
    with pytest.raises(ValueError, match="without a copy"):
        np.array(K, copy=False)


def test_a_similarity_cannot_be_altered():
    K = similarity.diffusion(np.ones((3, 3)))
    assert dict(K.parameters) == {"time": 6}
    with pytest.raises(TypeError):
        K.parameters["time"] = 3
    with pytest.raises(AttributeError):
        K.shift = 1.0
