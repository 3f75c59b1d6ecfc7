"""Invariants of Graph, for every way of building one."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from drawn_graphs import adjacencies, assert_same, relabelled
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from convexhc.graph import Graph

FORMATS = ["bsr", "coo", "csc", "csr", "dia", "dok", "lil"]
TRIANGLE = np.array([[2.0, 1.0, 0.5], [1.0, 0.0, 0.0], [0.5, 0.0, 3.0]])


@given(adjacencies())
def test_a_matrix_survives_a_round_trip(matrix):
    graph = Graph.from_matrix(matrix)
    np.testing.assert_array_equal(graph.dense(), matrix)
    np.testing.assert_array_equal(graph.matrix().toarray(), matrix)
    assert graph.matrix().nnz == np.count_nonzero(matrix)
    assert graph.names == tuple(range(len(matrix)))


@given(adjacencies())
def test_edges_are_sorted_unique_and_frozen(matrix):
    graph = Graph.from_matrix(sparse.csr_array(matrix))
    assert (graph.tail < graph.head).all()
    pairs = list(zip(graph.tail.tolist(), graph.head.tolist(), strict=True))
    assert pairs == sorted(set(pairs))
    assert graph.n_edges == len(pairs) == np.count_nonzero(np.triu(matrix, 1))
    for array in (graph.tail, graph.head, graph.weight, graph.diagonal):
        assert not array.flags.writeable
    assert graph.tail.dtype == graph.head.dtype == np.int64
    assert graph.weight.dtype == graph.diagonal.dtype == np.float64


@pytest.mark.parametrize("container", [sparse.coo_array, sparse.coo_matrix])
@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32, np.uint8, bool])
def test_every_format_and_dtype_gives_the_same_graph(kind, dtype, container):
    matrix = np.array([[1, 0, 1], [0, 0, 1], [1, 1, 0]]).astype(dtype)
    expected = Graph.from_matrix(matrix.astype(float))
    assert_same(Graph.from_matrix(container(matrix).asformat(kind)), expected)
    assert_same(Graph.from_matrix(matrix), expected)


def test_64_bit_indices():
    matrix = sparse.csr_array(TRIANGLE)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    assert matrix.indices.dtype == np.int64
    assert_same(Graph.from_matrix(matrix), Graph.from_matrix(TRIANGLE))


def test_a_sparse_matrix_is_never_densified():
    n = 200_000
    matrix = sparse.coo_array(([2.0, 2.0], ([0, n - 1], [n - 1, 0])), shape=(n, n))
    graph = Graph.from_matrix(matrix)
    assert (graph.n, graph.tail.tolist(), graph.head.tolist()) == (n, [0], [n - 1])


def test_stored_zeros_are_dropped_and_stored_duplicates_added():
    rows, columns = [0, 1, 0, 0, 1, 1], [1, 0, 2, 1, 0, 1]
    matrix = sparse.coo_array(([1.0, 1.0, 0.0, 2.0, 2.0, 0.0], (rows, columns)), shape=(3, 3))
    graph = Graph.from_matrix(matrix)
    assert (graph.tail.tolist(), graph.head.tolist(), graph.weight.tolist()) == ([0], [1], [3.0])


def test_the_arrays_of_the_caller_are_not_modified():
    matrix = TRIANGLE.copy()
    stored = sparse.csr_array((np.ones(4), np.array([1, 1, 0, 0]), np.array([0, 2, 4])))
    weight = np.array([1.0, 2.0])
    Graph.from_matrix(matrix)
    Graph.from_matrix(stored)
    Graph.from_edges(3, np.array([2, 1]), np.array([0, 0]), weight)
    graph = Graph(2, np.array([0]), np.array([1]), weight[:1], weight, ("a", "b"))
    weight[0] = 9.0
    assert matrix.flags.writeable
    assert stored.nnz == 4
    np.testing.assert_array_equal(matrix, TRIANGLE)
    np.testing.assert_array_equal(graph.weight, [1.0])
    np.testing.assert_array_equal(graph.diagonal, [1.0, 2.0])


@pytest.mark.parametrize(
    ("symmetrize", "combine"),
    [("mean", lambda a, b: (a + b) / 2), ("max", np.maximum), ("min", np.minimum)],
)
@given(entries=st.lists(st.sampled_from([0.0, 1.0, 2.0, 5.0]), min_size=16, max_size=16))
def test_two_directions_are_combined_as_requested(entries, symmetrize, combine):
    matrix = np.array(entries).reshape(4, 4)
    expected = Graph.from_matrix(combine(matrix, matrix.T))
    assert_same(Graph.from_matrix(matrix, symmetrize=symmetrize), expected)
    assert_same(Graph.from_matrix(sparse.csc_array(matrix), symmetrize=symmetrize), expected)
    tail, head = np.nonzero(matrix)
    listed = Graph.from_edges(4, tail, head, matrix[tail, head], symmetrize=symmetrize)
    assert_same(listed, expected)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_asymmetry_within_rounding_is_averaged(dtype):
    off = np.nextafter(dtype(0.5), dtype(1.0))
    matrix = np.array([[1.0, 0.5], [off, 1.0]], dtype=dtype)
    graph = Graph.from_matrix(matrix)
    assert graph.weight[0] == (0.5 + float(off)) / 2


def test_asymmetry_beyond_the_rounding_of_the_dtype_is_rejected():
    matrix = np.array([[1.0, 0.5], [0.5 + 1e-8, 1.0]])
    with pytest.raises(ValueError, match="not symmetric"):
        Graph.from_matrix(matrix)
    # In float32 the two numbers are equal.
    assert Graph.from_matrix(matrix.astype(np.float32)).weight[0] == 0.5


def test_signed_weights_are_accepted_on_request():
    matrix = np.array([[-1.0, -0.5], [-0.5, 2.0]])
    np.testing.assert_array_equal(Graph.from_matrix(matrix, signed=True).dense(), matrix)
    graph = Graph.from_edges(2, [0], [1], [-0.5], signed=True)
    np.testing.assert_array_equal(graph.weight, [-0.5])


@given(adjacencies(), st.randoms(use_true_random=False))
def test_edges_in_any_order_and_orientation_give_the_same_graph(matrix, random):
    expected = Graph.from_matrix(matrix)
    edges = [(i, j, matrix[i, j]) for i in range(len(matrix)) for j in range(i, len(matrix))]
    random.shuffle(edges)
    flipped = [(j, i, w) if random.random() < 0.5 else (i, j, w) for i, j, w in edges]
    tail, head, weight = (np.array(column) for column in zip(*flipped, strict=True))
    for rule in ("sum", "mirror"):
        assert_same(Graph.from_edges(len(matrix), tail, head, weight, duplicates=rule), expected)


def test_repeated_edges_are_combined_by_the_given_rule():
    both = ([0, 1], [1, 0], [2.0, 2.0])
    assert Graph.from_edges(2, *both, duplicates="sum").weight.tolist() == [4.0]
    assert Graph.from_edges(2, *both, duplicates="mirror").weight.tolist() == [2.0]
    same_way = ([0, 0], [1, 1], [2.0, 3.0])
    assert Graph.from_edges(2, *same_way, duplicates="sum").weight.tolist() == [5.0]
    assert Graph.from_edges(2, *same_way, duplicates="mirror").weight.tolist() == [5.0]
    with pytest.raises(ValueError, match="not symmetric: from 0 to 1 it is 2, back it is 3"):
        Graph.from_edges(2, [0, 1], [1, 0], [2.0, 3.0], duplicates="mirror")
    loops = Graph.from_edges(1, [0, 0], [0, 0], [2.0, 3.0], duplicates="mirror")
    assert loops.diagonal.tolist() == [5.0]


def test_weights_are_one_unless_given():
    assert Graph.from_edges(3, [2, 1], [0, 0]).weight.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("n", [1, 4])
def test_a_graph_without_edges(n):
    for graph in (Graph.from_matrix(np.zeros((n, n))), Graph.from_edges(n, [], [], [])):
        assert (graph.n, graph.n_edges) == (n, 0)
        assert graph.matrix().nnz == 0
        count, labels = graph.components()
        assert count == n
        np.testing.assert_array_equal(labels, np.arange(n))


@given(adjacencies())
def test_components_agree_with_networkx(matrix):
    count, labels = Graph.from_matrix(matrix).components()
    expected = list(nx.connected_components(nx.from_numpy_array(matrix)))
    found = [set(np.flatnonzero(labels == label).tolist()) for label in range(count)]
    assert sorted(map(sorted, found)) == sorted(map(sorted, expected))
    # Numbered by first occurrence.
    assert list(dict.fromkeys(labels.tolist())) == list(range(count))


@given(relabelled(), st.data())
def test_a_subgraph_is_a_submatrix(drawn, data):
    matrix, order = drawn
    names = [("node", i) for i in range(len(matrix))]
    graph = Graph.from_matrix(matrix, names=names)
    chosen = order[: data.draw(st.integers(1, len(order)))]
    expected = Graph.from_matrix(matrix[np.ix_(chosen, chosen)], names=[names[i] for i in chosen])
    assert_same(graph.subgraph(chosen), expected)


@given(relabelled())
def test_permuting_back_undoes_permuting(drawn):
    matrix, order = drawn
    graph = Graph.from_matrix(matrix)
    assert_same(graph.permuted(order).permuted(np.argsort(order)), graph)


def test_the_diagonal_can_be_replaced():
    graph = Graph.from_matrix(TRIANGLE)
    assert not graph.without_diagonal().diagonal.any()
    np.testing.assert_array_equal(graph.with_diagonal(1.5).diagonal, [1.5, 1.5, 1.5])
    np.testing.assert_array_equal(graph.with_diagonal([1, 2, 3]).diagonal, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(graph.without_diagonal().weight, graph.weight)


@pytest.mark.parametrize(
    "names", [["x", "y"], [("a", 1), ("a", 2)], [7, 3], [None, "x"], [frozenset(), 0.5]]
)
def test_names_may_be_anything_hashable(names):
    assert Graph.from_matrix(np.eye(2), names=names).names == tuple(names)


def test_numpy_names_become_python_scalars():
    for names in (np.array(["a", "b"]), np.array([5, 6])):
        found = Graph.from_matrix(np.eye(2), names=names).names
        assert all(type(name) in (str, int) for name in found)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ((3, [1], [0], [1.0], [0, 0, 0], "abc"), "tail < head"),
        ((3, [0], [3], [1.0], [0, 0, 0], "abc"), "tail < head < 3"),
        ((3, [1, 0], [2, 1], [1.0, 1.0], [0, 0, 0], "abc"), "sorted"),
        ((3, [0, 0], [1, 1], [1.0, 1.0], [0, 0, 0], "abc"), "listed once"),
        ((3, [0], [1], [0.0], [0, 0, 0], "abc"), "weight zero"),
        ((3, [0], [1], [np.inf], [0, 0, 0], "abc"), "finite"),
        ((3, [0], [1], [1.0, 2.0], [0, 0, 0], "abc"), "one length"),
        ((3, [0], [1], [1.0], [0, 0], "abc"), r"shape \(3,\)"),
    ],
)
def test_the_constructor_validates(fields, message):
    *arrays, names = fields
    with pytest.raises(ValueError, match=message):
        Graph(*arrays, tuple(names))


def test_subgraph_and_permuted_require_distinct_nodes():
    graph = Graph.from_matrix(TRIANGLE)
    with pytest.raises(ValueError, match="more than once"):
        graph.subgraph([0, 0])
    with pytest.raises(ValueError, match="all 3 nodes once"):
        graph.permuted([0, 1])
    with pytest.raises(ValueError, match="nodes go from 0 to 2"):
        graph.subgraph([3])
