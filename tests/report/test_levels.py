"""The levels in the page are those of the path."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import given
from report.examples import made_path, twelve, unruly
from tree.paths import paths

from convexhc.layout import cluster_ranks
from convexhc.report.levels import label_changes, levels
from convexhc.report.packing import unpacked


def read_partitions(changes, n):
    """What the page does with the changes: the smallest member of each cluster, level by level."""
    nodes, firsts = unpacked(changes["nodes"]), unpacked(changes["firsts"])
    stops = np.cumsum(changes["counts"])
    row, rows = np.arange(n), []
    for start, stop in zip([0, *stops[:-1]], stops, strict=True):
        row = row.copy()
        row[nodes[start:stop]] = firsts[start:stop]
        rows.append(row)
    return rows


@given(paths())
def test_changes_give_back_every_partition(drawn):
    _, partitions = drawn
    rows = read_partitions(label_changes(list(partitions)), partitions.shape[1])
    for first, labels in zip(rows, partitions, strict=True):
        together = labels[:, None] == labels[None, :]
        assert (together.argmax(axis=1) == first).all()


def test_levels_that_do_not_change_cost_nothing():
    path = made_path(np.arange(1.0, 9.0), [[0, 0, 1]] * 8)
    assert levels(path)["changes"]["counts"] == [1, 0, 0, 0, 0, 0, 0, 0]


def test_a_level_says_what_its_point_says():
    path = twelve()
    said = levels(path)
    assert said["lam"] == path.lambdas.tolist()
    assert said["gap"] == path.relative_gap.tolist()
    assert said["iterations"] == [point.n_iter for point in path.levels]
    assert said["names"] == list(path.names)
    assert said["plateaus"][said["suggested"]][0] == path.suggested_plateau.n_clusters


def test_the_first_level_shown_is_no_giant_with_stragglers():
    # Pairs of nodes for a while; then all but one pair together for longer.
    nodes = np.arange(12)
    rows = [nodes, nodes // 2, nodes // 10, 0 * nodes]
    path = made_path([0.1, 0.2, 2.0, 40.0], rows)
    said = levels(path)
    assert said["plateaus"][said["suggested"]][0] == 6


def test_where_all_fuses_at_once_there_is_a_first_level_still():
    said = levels(made_path([1.0, 2.0], [[0, 1, 2], [0, 0, 0]]))
    assert said["plateaus"][said["suggested"]][0] == 1


def test_the_tree_can_be_rebuilt():
    path = twelve()
    tree = levels(path)["tree"]
    nodes = path.tree.nodes
    parent = unpacked(tree["parent"])
    assert (parent[:-1] == nodes.parent[:-1]).all()
    assert parent[-1] == parent.size - 1
    assert tree["height"] == nodes.height[12:].tolist()
    assert unpacked(tree["order"]).tolist() == path.tree.leaf_order().tolist()


def test_ranks_give_the_colours_that_the_plots_have():
    path = twelve()
    ranks = unpacked(levels(path)["ranks"])
    for point in path.levels:
        members = [np.flatnonzero(point.labels == k) for k in range(point.n_clusters)]
        read = [int(ranks[m].min()) if m.size > 1 else -1 for m in members]
        assert read == cluster_ranks(point.labels, ranks).tolist()


def test_splits_joins_and_missing_numbers_are_said():
    said = levels(unruly())
    assert said["effectiveRank"][1] is None
    assert said["splits"]["count"] == 1
    assert said["splits"]["listed"][0]["parted"] == [2]
    assert (said["components"], said["rootJoins"]) == (2, 1)
    assert json.loads(json.dumps(said, allow_nan=False)) is not None
