"""Data of the figures: edges, colour steps, positions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report.examples import decode_array, made_path, ring, twelve
from scipy.sparse import csgraph

from convexhc.graph import Graph
from convexhc.layout.graph_layout import align_nodes, strongest_edges
from convexhc.layout.heatmap import partition_distances
from convexhc.report import figure_data
from convexhc.report.array_encoding import RESOLUTION


def random_graph(seed, n=25):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.4), 1)
    return Graph.from_matrix(upper + upper.T)


@given(st.integers(0, 10**6), st.integers(1, 120))
def test_strongest_edges_keep_every_component_connected(seed, most):
    graph = random_graph(seed)
    kept = strongest_edges(graph, most)
    forest = graph.n - graph.components()[0]
    assert kept.size == min(graph.n_edges, max(most, forest))
    assert (np.diff(kept) > 0).all()
    shown = Graph(
        graph.n, graph.tail[kept], graph.head[kept], graph.weight[kept], graph.diagonal, graph.names
    )
    assert (shown.components()[1] == graph.components()[1]).all()


@given(st.integers(0, 10**6))
def test_the_spanning_forest_has_maximum_weight(seed):
    graph = random_graph(seed)
    kept = strongest_edges(graph, 1)
    lightest = csgraph.minimum_spanning_tree(-graph.without_diagonal().matrix()).sum()
    assert graph.weight[kept].sum() == pytest.approx(-lightest)


def test_few_edges_are_all_drawn():
    assert strongest_edges(ring(9), 9).tolist() == list(range(9))


def test_similarities_are_shaded_in_tree_order():
    graph = ring(12)
    order = np.random.default_rng(0).permutation(12)
    shown = figure_data.similarity_data(graph, order)
    shades = np.zeros((12, 12))
    shades[np.triu_indices(12)] = decode_array(shown["shades"])
    dense = graph.dense()[np.ix_(order, order)]
    assert ((shades > 0) == (np.triu(dense) > 0)).all()
    upper = np.triu_indices(12, 1)
    heavier = dense[upper][:, None] > dense[upper][None, :]
    assert (shades[upper][:, None] >= shades[upper][None, :])[heavier].all()


def test_rows_of_large_heat_maps_are_averaged():
    shown = figure_data.similarity_data(ring(700), np.arange(700))
    assert shown["cells"] == RESOLUTION.max_rows
    assert (
        decode_array(shown["shades"]).size == RESOLUTION.max_rows * (RESOLUTION.max_rows + 1) // 2
    )


def test_assignments_have_a_row_per_cluster_and_level():
    path = twelve()
    order = path.tree.leaf_order()
    shown = figure_data.assignment_data(path, order)
    shades = decode_array(shown["shades"])
    assert shown["levels"] == [0, 1, 2, 3]
    start = 0
    for point in path.levels:
        rows = shades[start : start + 12 * point.n_clusters].reshape(point.n_clusters, 12)
        start += rows.size
        assert ((rows > 0) == (point.cluster_centroids[:, order] > 0)).all()
    assert start == shades.size


def test_averaged_rows_are_means_of_the_assignments():
    n = 2 * RESOLUTION.max_rows
    labels = np.arange(n) // (n // 2)
    path = made_path([1.0], [labels])
    shown = figure_data.assignment_data(path, path.tree.leaf_order())
    shades = decode_array(shown["shades"]).reshape(
        RESOLUTION.averaged_rows, RESOLUTION.averaged_rows
    )
    half = RESOLUTION.averaged_rows // 2
    block = np.arange(RESOLUTION.averaged_rows) < half
    assert (shades == np.where(block[:, None] == block[None, :], RESOLUTION.color_steps, 0)).all()


def test_distances_between_levels_agree_with_the_layout():
    path = twelve()
    shown = figure_data.distance_data(path)
    assert shown["levels"] == [0, 1, 2, 3]
    shares = np.zeros((4, 4))
    shares[np.triu_indices(4, 1)] = decode_array(shown["shades"]) / RESOLUTION.color_steps
    found = partition_distances(path).distance
    assert shares + shares.T == pytest.approx(found, abs=0.5 / RESOLUTION.color_steps)


def test_a_path_that_never_changes_has_no_distances():
    assert figure_data.distance_data(made_path([1.0, 2.0], [[0, 1], [0, 1]])) is None


def test_paths_without_centroids_have_no_figures_of_them():
    path = twelve(centroids=False)
    assert figure_data.assignment_data(path, path.tree.leaf_order()) is None
    assert figure_data.trajectory_data(path) is None


def test_trajectories_have_a_position_per_cluster_and_end_in_one():
    path = twelve()
    places = decode_array(figure_data.trajectory_data(path)["positions"]).reshape(-1, 2)
    assert len(places) == sum(path.n_clusters)
    two_of_six = places[16:18]
    assert np.abs(places[-1] - two_of_six.mean(axis=0)).max() <= 1
    assert np.abs(two_of_six[0] - two_of_six[1]).max() > 1000


def test_nodes_are_aligned_by_name():
    path = twelve(names=list("abcdefghijkl"))
    graph = ring(12, names=path.names)
    turned = align_nodes(graph.permuted(np.arange(12)[::-1]), path.names)
    assert turned.names == path.names
    assert (turned.dense() == graph.dense()).all()


def test_a_graph_of_another_size_is_refused():
    with pytest.raises(ValueError, match="the graph has 5 nodes and the result 12"):
        align_nodes(ring(5), twelve().names)


def test_among_equal_edges_every_community_keeps_its_share():
    cliques = np.kron(np.eye(5), np.ones((20, 20)))
    graph = Graph.from_matrix(np.triu(cliques, 1) + np.triu(cliques, 1).T)
    kept = strongest_edges(graph, graph.n_edges // 2)
    drawn = np.bincount(graph.tail[kept] // 20, minlength=5)
    assert drawn.min() > 0.7 * drawn.max()
