"""The data of the report agrees with the path."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import given
from report.examples import decode_array, made_path, twelve, unruly
from tree.paths import paths

from convexhc.layout.colors import cluster_ranks
from convexhc.report.path_data import label_changes, path_data


def read_partitions(changes, n):
    """Decode the changes as the page does: the smallest member of each cluster, level by level."""
    nodes, firsts = decode_array(changes["nodes"]), decode_array(changes["firsts"])
    stops = np.cumsum(changes["counts"])
    row, rows = np.arange(n), []
    for start, stop in zip([0, *stops[:-1]], stops, strict=True):
        row = row.copy()
        row[nodes[start:stop]] = firsts[start:stop]
        rows.append(row)
    return rows


@given(paths())
def test_partitions_are_recovered_from_the_changes(drawn):
    _, partitions = drawn
    rows = read_partitions(label_changes(list(partitions)), partitions.shape[1])
    for first, labels in zip(rows, partitions, strict=True):
        together = labels[:, None] == labels[None, :]
        assert (together.argmax(axis=1) == first).all()


def test_equal_partitions_need_no_data():
    path = made_path(np.arange(1.0, 9.0), [[0, 0, 1]] * 8)
    assert path_data(path)["changes"]["counts"] == [1, 0, 0, 0, 0, 0, 0, 0]


def test_levels_have_the_values_of_the_path():
    path = twelve()
    data = path_data(path)
    assert data["lam"] == path.lambdas.tolist()
    assert data["gap"] == path.relative_gap.tolist()
    assert data["iterations"] == [point.n_iter for point in path.levels]
    assert data["names"] == list(path.names)
    assert data["plateaus"][data["suggested"]][0] == path.suggested_plateau.n_clusters


def test_the_suggested_plateau_is_not_one_giant_cluster_with_few_others():
    # Pairs of nodes for a while; then all but one pair together for longer.
    nodes = np.arange(12)
    rows = [nodes, nodes // 2, nodes // 10, 0 * nodes]
    path = made_path([0.1, 0.2, 2.0, 40.0], rows)
    data = path_data(path)
    assert data["plateaus"][data["suggested"]][0] == 6


def test_a_path_that_fuses_at_once_has_a_suggested_plateau():
    data = path_data(made_path([1.0, 2.0], [[0, 1, 2], [0, 0, 0]]))
    assert data["plateaus"][data["suggested"]][0] == 1


def test_the_tree_is_recovered():
    path = twelve()
    tree = path_data(path)["tree"]
    nodes = path.tree.nodes
    parent = decode_array(tree["parent"])
    assert (parent[:-1] == nodes.parent[:-1]).all()
    assert parent[-1] == parent.size - 1
    assert tree["height"] == nodes.height[12:].tolist()
    assert decode_array(tree["order"]).tolist() == path.tree.leaf_order().tolist()


def test_the_page_and_the_plots_use_the_same_colours():
    path = twelve()
    ranks = decode_array(path_data(path)["ranks"])
    for point in path.levels:
        members = [np.flatnonzero(point.labels == k) for k in range(point.n_clusters)]
        read = [int(ranks[m].min()) if m.size > 1 else -1 for m in members]
        assert read == cluster_ranks(point.labels, ranks).tolist()


def test_splits_merges_and_missing_numbers_are_included():
    data = path_data(unruly())
    assert data["effectiveRank"][1] is None
    assert data["splits"]["count"] == 1
    assert data["splits"]["listed"][0]["parted"] == [2]
    assert (data["components"], data["rootJoins"]) == (2, 1)
    assert json.loads(json.dumps(data, allow_nan=False)) is not None
