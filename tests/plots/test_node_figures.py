"""Network, coalescence, heat map and scan: positions and colours of what they draw."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_hex
from plots.made import ODD_PATHS, made_path, neighbours, path_of_blocks

import convexhc
from convexhc import plots
from convexhc.graph import Graph
from convexhc.layout.heatmap import partition_distances


def colors_of_nodes(ax):
    return [to_hex(color) for color in ax.collections[-1].get_facecolors()]


def test_positions_are_the_same_at_every_level():
    path = path_of_blocks()
    A = neighbours(path)
    places = [
        plots.network(path, A, n_clusters=k).collections[-1].get_offsets() for k in (12, 3, 1)
    ]
    assert np.array_equal(places[0], places[1])
    assert np.array_equal(places[0], places[2])


def test_a_cluster_keeps_its_colour_until_a_larger_one_absorbs_it():
    path = path_of_blocks()
    A = neighbours(path)
    pairs, blocks, whole = (
        colors_of_nodes(plots.network(path, A, n_clusters=k)) for k in (6, 3, 1)
    )
    # Node 0 is in the first of three equal pairs, then in the block of six, the largest.
    assert pairs[0] == blocks[0] == whole[0]
    assert pairs[6] == blocks[6] != whole[6]
    assert pairs[10] == blocks[10] != whole[10]
    assert len(set(pairs)) == 6
    assert len(set(blocks)) == 3


def test_all_figures_of_a_level_agree_on_its_colours():
    path = path_of_blocks()
    network = colors_of_nodes(plots.network(path, neighbours(path), n_clusters=3))
    discs = colors_of_nodes(plots.coalescence(path, n_clusters=3))
    bars = plots.sankey(path, n_clusters=[3]).collections[0].get_facecolors()
    of_cluster = [network[0], network[6], network[10]]
    assert discs == of_cluster
    assert [to_hex(color) for color in bars] == of_cluster


def test_nodes_are_matched_by_name():
    path = made_path([1.0, 2.0], [[0, 0, 1, 2], [0, 0, 0, 0]], names="abcd")
    graph = Graph.from_edges(4, [0, 1, 2], [1, 2, 3], names=list("abcd"))
    shuffled = graph.permuted([2, 0, 3, 1])
    one, other = plots.network(path, graph), plots.network(path, shuffled)
    assert np.array_equal(one.collections[-1].get_offsets(), other.collections[-1].get_offsets())


def test_another_number_of_nodes_is_refused():
    path = path_of_blocks()
    with pytest.raises(ValueError, match="12"):
        plots.network(path, np.ones((3, 3)))
    with pytest.raises(ValueError, match="12"):
        plots.heatmap(path, np.eye(3))
    with pytest.raises(ValueError, match="positions"):
        plots.network(path, neighbours(path), positions=np.zeros((3, 2)))


def test_given_positions_are_used():
    path = path_of_blocks()
    places = np.random.default_rng(0).normal(size=(12, 2))
    ax = plots.network(path, neighbours(path), positions=places)
    assert np.array_equal(ax.collections[-1].get_offsets(), places)
    assert ax.get_xlim()[0] < places[:, 0].min()
    assert ax.get_ylim()[1] > places[:, 1].max()


def test_edges_inside_and_between_clusters_are_all_drawn():
    path = path_of_blocks()
    between, inside = plots.network(path, neighbours(path), n_clusters=3).collections[:2]
    assert len(between.get_segments()) == 2
    assert len(inside.get_segments()) == 9


def test_long_names_do_not_overlap():
    n = 40
    names = [f"a rather long name {i}" for i in range(n)]
    path = made_path([1.0, 2.0], [range(n), [0] * n], names=names, centroids=False)
    ax = plots.network(path, neighbours(path))
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert boxes
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_discs_are_where_the_centroids_are():
    K = np.kron(np.eye(3), np.ones((3, 3))) + 0.1 + np.eye(9)
    path = convexhc.solve_path(K)
    ax = plots.coalescence(path, n_clusters=3)
    assert len(ax.collections[-1].get_offsets()) == 3
    trails = ax.collections[0].get_segments()
    assert len(trails) == 9
    # All trails end in the consensus.
    ends = np.array([trail[-1] for trail in trails])
    assert np.ptp(ends, axis=0) == pytest.approx(0.0, abs=1e-8)
    assert len(plots.coalescence(path, n_clusters=3, trails=False).collections) == 1


def test_a_heat_map_is_in_tree_order_with_lines_between_clusters():
    path = made_path([1.0, 2.0, 3.0], [range(6), [0, 1, 0, 1, 0, 1], [0] * 6])
    K = np.kron(np.ones((3, 3)), np.eye(2))
    ax = plots.heatmap(path, K, n_clusters=2)
    cells = ax.collections[0].get_array().reshape(6, 6)
    assert np.array_equal(cells, np.kron(np.eye(2), np.ones((3, 3))))
    lines = {tuple(segment.ravel()) for segment in ax.collections[-1].get_segments()}
    assert lines == {(0.0, 3.0, 6.0, 3.0), (3.0, 0.0, 3.0, 6.0)}
    assert [text.get_text() for text in ax.get_yticklabels()] == list("024135")


def test_a_heat_map_of_the_centroids_shows_pi():
    path = path_of_blocks()
    ax = plots.heatmap(path, n_clusters=3)
    order = path.tree.leaf_order()
    pi = path.pi(2.0)[np.ix_(order, order)]
    assert np.allclose(ax.collections[0].get_array().reshape(12, 12), pi)


def test_negative_similarities_are_shown_around_zero():
    path = ODD_PATHS["two nodes"]
    low, high = plots.heatmap(path, np.array([[1.0, -0.5], [-0.5, 1.0]])).collections[0].get_clim()
    assert low == -high < 0


def test_the_panels_of_a_scan_share_lam_and_mark_the_selected_scales():
    path = path_of_blocks()
    panels = plots.scan(path, n_clusters=[6, 3], lam=0.2)
    limits = {panel.get_xlim() for panel in panels}
    assert len(limits) == 1
    low, high = limits.pop()
    assert low < path.lambdas[0]
    assert high > path.lambdas[-1]
    assert [text.get_text() for text in panels[0].texts] == ["12", "6", "3"]
    marked = [{line.get_xdata()[0] for line in panel.lines[-3:]} for panel in panels]
    assert marked[0] == marked[1] == marked[2]
    assert len(marked[0]) == 3


def test_a_scan_shows_the_numbers_of_the_path():
    path = path_of_blocks()
    counts, persistence, information = plots.scan(path)
    staircase, rank = counts.lines[:2]
    assert staircase.get_ydata()[:-1].tolist() == path.n_clusters.tolist()
    assert rank.get_ydata().tolist() == path.effective_rank.tolist()
    heights = [bar.get_height() for bar in persistence.patches]
    widths = [plateau.log_width / np.log(10.0) for plateau in path.plateaus]
    assert heights == pytest.approx(widths)
    shown = information.collections[0].get_array()
    assert np.array_equal(shown, partition_distances(path).distance)
