"""One path compared with another: nodes by plain sets, levels and scales by their partitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plots.made import made_path
from sklearn.metrics import adjusted_mutual_info_score
from tree.forests import forests, sets_of

import naive
from convexhc.metrics import variation_of_information
from convexhc.resampling.comparison import Reference, node_recovery
from convexhc.tree import clades as module


@given(forests(), st.sampled_from([module.BLOCK_ENTRIES, 11]))
def test_the_recovery_of_nodes_agrees_with_plain_sets(trees, block):
    first, *others = trees
    for other in others:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(module, "BLOCK_ENTRIES", block)
            found = node_recovery(first, other)
        sets = sets_of(first), sets_of(other)
        expected = [naive.node_recovery(node, *sets, first.names) for node in first.names]
        np.testing.assert_allclose(found, expected, atol=1e-12)


@given(forests(max_trees=1))
def test_a_tree_recovers_all_of_its_own_nodes(trees):
    found = node_recovery(trees[0], trees[0])
    assert np.all((found == 1.0) | np.isnan(found))


def test_a_node_that_moves_is_less_stable_than_those_it_leaves():
    halves = np.repeat([0, 1], 10)
    moved = np.where(np.arange(20) == 0, 1, halves)
    one, two = (
        made_path([1.0, 2.0], [labels, np.zeros(20, int)]).tree for labels in (halves, moved)
    )
    found = node_recovery(one, two)
    assert found[0] == 0.5
    assert found[1:].min() == 0.9


def test_levels_are_compared_at_the_same_lam():
    ours = made_path([1.0, 2.0, 4.0], [[0, 0, 1, 2], [0, 0, 1, 1], [0, 0, 0, 0]])
    theirs = made_path([0.5, 3.0], [[0, 0, 0, 1], [0, 0, 1, 1]])
    found = Reference(ours, ()).compare(theirs)
    matched = [theirs.levels[0].labels, theirs.levels[0].labels, theirs.levels[1].labels]
    for level, labels, ami, vi in zip(ours.levels, matched, found.ami, found.vi, strict=True):
        assert ami == adjusted_mutual_info_score(level.labels, labels)
        assert vi == variation_of_information(level.labels, labels)


def test_a_path_agrees_with_itself():
    path = made_path([1.0, 2.0, 4.0], [[0, 0, 1, 2, 3], [0, 0, 1, 1, 1], [0, 0, 0, 0, 0]])
    found = Reference(path, path.scales).compare(path)
    assert found.transfer.tolist() == found.ami.tolist() == [1.0, 1.0, 1.0]
    assert found.vi.tolist() == [0.0, 0.0, 0.0]
