"""Conversion between linkages and multiway trees."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from scipy.cluster import hierarchy
from tree.paths import paths

from convexhc.tree import Tree


@given(paths())
def test_a_tree_is_recovered_from_its_linkage(path):
    tree = Tree.from_partitions(*path)
    again = Tree.from_linkage(tree.Z, root_joins=tree.root_joins)
    assert again.merges == tree.merges
    assert np.array_equal(again.Z, tree.Z)


def test_only_adjacent_rows_of_equal_height_become_one_merge():
    Z = [[0, 1, 1.0, 2], [2, 3, 1.0, 2], [4, 6, 1.0, 3], [5, 7, 2.0, 5]]
    tree = Tree.from_linkage(Z)
    assert [merge.children for merge in tree.merges] == [(0, 1), (2, 3, 4), (5, 6)]


def test_merges_of_equal_height_are_sorted_by_smallest_leaf():
    swapped = Tree.from_linkage([[2, 3, 1.0, 2], [0, 1, 1.0, 2], [4, 5, 2.0, 4]])
    assert [merge.children for merge in swapped.merges] == [(0, 1), (2, 3), (4, 5)]
    assert swapped.Z[:, :2].tolist() == [[0, 1], [2, 3], [4, 5]]
    crossed = Tree.from_partitions([1.0, 2.0], [[0, 1, 1, 0], [0, 0, 0, 0]])
    assert [merge.children for merge in crossed.merges] == [(0, 3), (1, 2), (4, 5)]


def test_a_wide_merge_gives_a_shallow_linkage():
    tree = Tree.from_partitions([1.0], np.zeros((1, 3000), dtype=int))
    assert len(tree.merges) == 1
    assert len(hierarchy.dendrogram(tree.Z, no_plot=True)["leaves"]) == 3000


@pytest.mark.parametrize(
    ("Z", "message"),
    [
        ([[0, 1, 1.0]], "4 numbers"),
        ([[0, 1, np.nan, 2]], "finite"),
        ([[0, 1, -1.0, 2]], "nonnegative"),
        ([[0, 1, 2.0, 2], [2, 3, 1.0, 3]], "never fall"),
        ([[0, 2, 1.0, 2]], "below n"),
        ([[0, 1, 1.0, 2], [0, 3, 1.0, 3]], "only once"),
        ([[0, 0.5, 1.0, 2]], "other ids"),
    ],
)
def test_invalid_linkages_are_refused(Z, message):
    with pytest.raises(ValueError, match=message):
        Tree.from_linkage(Z)


def test_root_joins_must_be_above_all_other_rows():
    Z = [[0, 1, 1.0, 2], [2, 3, 1.0, 3]]
    with pytest.raises(ValueError, match="not above"):
        Tree.from_linkage(Z, root_joins=1)
    with pytest.raises(ValueError, match="between 0 and the 2"):
        Tree.from_linkage(Z, root_joins=3)
