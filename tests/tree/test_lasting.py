"""Prunings that last: their plateaus are where cuts show them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree.paths import paths

from convexhc.tree import Tree
from convexhc.tree.flat_clusters import FlatClusters
from convexhc.tree.plateaus import lasting_prunings


def found_in(tree, pruning, least, width=0.0):
    return lasting_prunings(tree.nodes, tree.lambdas, pruning, least, width)


def shows(cut, labels, least):
    """Whether the counted clusters of a cut are those of a pruning, naively."""
    members = [np.flatnonzero(cut == k) for k in range(cut.max() + 1)]
    counted = [each for each in members if each.size >= least]
    if 2 * sum(each.size for each in counted) <= cut.size:
        return False
    met = sorted(tuple(sorted(set(labels[each].tolist()))) for each in counted)
    return met == [(k,) for k in range(labels.max() + 1)]


@given(paths(), st.integers(1, 3))
def test_a_plateau_is_the_widest_range_whose_cuts_show_the_pruning(path, least):
    tree = Tree.from_partitions(*path)
    prunings = FlatClusters(tree.nodes, None, None)
    found = {
        plateau.n_clusters: plateau
        for plateau, _ in found_in(tree, lambda k: prunings.labels(k, least), least)
    }
    for count in range(2, tree.n_leaves):
        labels = prunings.labels(count, least)
        widths, width = [], None
        for plateau in tree.plateaus():
            if shows(tree.labels(lam=plateau.lam_from), labels, least):
                width = (width or 0.0) + plateau.log_width
                widths.append(width)
            else:
                width = None
        assert (count in found) == bool(widths)
        if widths:
            assert found[count].log_width == pytest.approx(max(widths), abs=1e-12)
            at = tree.labels(lam=found[count].lam_from)
            assert shows(at, labels, least)


@given(paths())
def test_the_widest_come_first_and_narrow_ones_are_left_out(path):
    tree = Tree.from_partitions(*path)
    prunings = FlatClusters(tree.nodes, None, None)
    everything = found_in(tree, prunings.labels, 1)
    widths = [plateau.log_width for plateau, _ in everything]
    assert widths == sorted(widths, reverse=True)
    wide = found_in(tree, prunings.labels, 1, width=0.5)
    assert [one for one, _ in wide] == [one for one, _ in everything if one.log_width >= 0.5]


def test_only_wide_numbers_are_pruned():
    """The table of prunings grows with the number: a fine range of little width costs none."""
    rows = [np.arange(40) // size for size in (1, 2, 20, 40)]
    tree = Tree.from_partitions([1.0, 1.1, 1.2, 50.0], rows)
    asked = []

    def pruning(count):
        asked.append(count)
        return rows[2]

    (plateau, _), *others = found_in(tree, pruning, 2, width=np.log(2.0))
    assert (plateau.n_clusters, others, asked) == (2, [], [2])
