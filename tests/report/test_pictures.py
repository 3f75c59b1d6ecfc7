"""What is drawn: the right edges, the right shades, the right places."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report.examples import made_path, ring, twelve
from scipy.sparse import csgraph

from convexhc.graph import Graph
from convexhc.layout import information_map
from convexhc.report import pictures
from convexhc.report.packing import unpacked


def random_graph(seed, n=25):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.4), 1)
    return Graph.from_matrix(upper + upper.T)


@given(st.integers(0, 10**6), st.integers(1, 120))
def test_strongest_edges_keep_every_component_whole(seed, most):
    graph = random_graph(seed)
    kept = pictures.strongest_edges(graph, most)
    forest = graph.n - graph.components()[0]
    assert kept.size == min(graph.n_edges, max(most, forest))
    assert (np.diff(kept) > 0).all()
    shown = Graph(
        graph.n, graph.tail[kept], graph.head[kept], graph.weight[kept], graph.diagonal, graph.names
    )
    assert (shown.components()[1] == graph.components()[1]).all()


@given(st.integers(0, 10**6))
def test_the_forest_kept_first_is_the_heaviest(seed):
    graph = random_graph(seed)
    kept = pictures.strongest_edges(graph, 1)
    lightest = csgraph.minimum_spanning_tree(-graph.without_diagonal().matrix()).sum()
    assert graph.weight[kept].sum() == pytest.approx(-lightest)


def test_with_few_edges_all_are_drawn():
    assert pictures.strongest_edges(ring(9), 9).tolist() == list(range(9))


def test_similarities_are_shaded_in_tree_order():
    graph = ring(12)
    order = np.random.default_rng(0).permutation(12)
    shown = pictures.similarity_map(graph, order)
    shades = np.zeros((12, 12))
    shades[np.triu_indices(12)] = unpacked(shown["shades"])
    dense = graph.dense()[np.ix_(order, order)]
    assert ((shades > 0) == (np.triu(dense) > 0)).all()
    upper = np.triu_indices(12, 1)
    heavier = dense[upper][:, None] > dense[upper][None, :]
    assert (shades[upper][:, None] >= shades[upper][None, :])[heavier].all()


def test_many_nodes_share_the_rows_of_the_heat_map():
    shown = pictures.similarity_map(ring(700), np.arange(700))
    assert shown["cells"] == pictures.ROWS
    assert unpacked(shown["shades"]).size == pictures.ROWS * (pictures.ROWS + 1) // 2


def test_assignments_have_a_row_for_each_cluster_of_each_level():
    path = twelve()
    order = path.tree.leaf_order()
    shown = pictures.assignment_map(path, order)
    shades = unpacked(shown["shades"])
    assert shown["levels"] == [0, 1, 2, 3]
    start = 0
    for point in path.levels:
        rows = shades[start : start + 12 * point.n_clusters].reshape(point.n_clusters, 12)
        start += rows.size
        assert ((rows > 0) == (point.cluster_centroids[:, order] > 0)).all()
    assert start == shades.size


def test_shared_rows_average_the_assignments():
    n = 2 * pictures.ROWS
    labels = np.arange(n) // (n // 2)
    path = made_path([1.0], [labels])
    shown = pictures.assignment_map(path, path.tree.leaf_order())
    shades = unpacked(shown["shades"]).reshape(pictures.SHARED_ROWS, pictures.SHARED_ROWS)
    half = pictures.SHARED_ROWS // 2
    block = np.arange(pictures.SHARED_ROWS) < half
    assert (shades == np.where(block[:, None] == block[None, :], pictures.SHADES, 0)).all()


def test_distances_between_levels_are_those_of_the_map():
    path = twelve()
    shown = pictures.information(path)
    assert shown["levels"] == [0, 1, 2, 3]
    shares = np.zeros((4, 4))
    shares[np.triu_indices(4, 1)] = unpacked(shown["shades"]) / pictures.SHADES
    found = information_map(path).distance
    assert shares + shares.T == pytest.approx(found, abs=0.5 / pictures.SHADES)


def test_a_path_that_never_changes_has_no_distances():
    assert pictures.information(made_path([1.0, 2.0], [[0, 1], [0, 1]])) is None


def test_without_centroids_there_is_nothing_to_show_of_them():
    path = twelve(centroids=False)
    assert pictures.assignment_map(path, path.tree.leaf_order()) is None
    assert pictures.trails(path) is None


def test_trails_have_a_place_for_each_cluster_and_end_in_one():
    path = twelve()
    places = unpacked(pictures.trails(path)["places"]).reshape(-1, 2)
    assert len(places) == sum(path.n_clusters)
    two_of_six = places[16:18]
    assert np.abs(places[-1] - two_of_six.mean(axis=0)).max() <= 1
    assert np.abs(two_of_six[0] - two_of_six[1]).max() > 1000


def test_a_graph_in_another_order_is_put_in_order():
    path = twelve(names=list("abcdefghijkl"))
    graph = ring(12, names=path.names)
    turned = pictures.in_order(graph.permuted(np.arange(12)[::-1]), path.names, "graph")
    assert turned.names == path.names
    assert (turned.dense() == graph.dense()).all()


def test_a_graph_of_another_size_is_refused():
    with pytest.raises(ValueError, match="the graph has 5 nodes and the path 12"):
        pictures.in_order(ring(5), twelve().names, "graph")
