"""Trees of partitions, and the splits of a path."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster import hierarchy
from tree.paths import leaves_under, nested_paths, pairs, paths, together_from

from convexhc.tree import Tree


@given(paths())
def test_linkage_is_valid_finite_and_monotone(path):
    tree = Tree.from_partitions(*path)
    n = path[1].shape[1]
    assert tree.Z.shape == (n - 1, 4)
    assert np.isfinite(tree.Z).all()
    if n > 1:
        assert hierarchy.is_valid_linkage(tree.Z, throw=True)
        assert hierarchy.is_monotonic(tree.Z)
        assert tree.Z[-1, 3] == n


@given(paths())
def test_labels_are_the_meet_from_lam_upwards(path):
    lambdas, partitions = path
    tree = Tree.from_partitions(lambdas, partitions)
    for level, lam in enumerate(lambdas):
        assert np.array_equal(pairs(tree.labels(lam=lam)), together_from(partitions, level))


@given(nested_paths())
def test_a_nested_path_is_its_own_tree(path):
    lambdas, partitions = path
    tree = Tree.from_partitions(lambdas, partitions)
    assert tree.is_nested
    for lam, row in zip(lambdas, partitions, strict=True):
        assert np.array_equal(pairs(tree.labels(lam=lam)), pairs(row))


@given(paths())
def test_every_split_is_reported(path):
    lambdas, partitions = path
    tree = Tree.from_partitions(lambdas, partitions)
    expected = {}
    for level in range(len(lambdas) - 1):
        for label in np.unique(partitions[level]):
            members = np.flatnonzero(partitions[level] == label)
            n_pieces = np.unique(partitions[level + 1, members]).size
            if n_pieces > 1:
                expected[level, members[0]] = (members, n_pieces)
    assert [(split.level, split.cluster) for split in tree.splits] == sorted(expected)
    assert tree.is_nested == (not expected)
    for split in tree.splits:
        members, n_pieces = expected[split.level, split.cluster]
        assert (split.lam_from, split.lam_to) == tuple(lambdas[split.level : split.level + 2])
        assert (split.size, split.n_pieces) == (members.size, n_pieces)
        stayed = np.setdiff1d(members, split.parted)
        after = partitions[split.level + 1]
        assert np.unique(after[stayed]).size == 1
        assert not np.isin(after[list(split.parted)], after[stayed]).any()
        largest = np.unique(after[members], return_counts=True)[1].max()
        assert stayed.size == largest


def test_a_split_names_the_nodes_that_leave_the_largest_piece():
    tree = Tree.from_partitions([1.0, 2.0], [[5, 5, 5, 5, 5, 1], [0, 3, 3, 3, 4, 0]])
    (split,) = tree.splits
    assert (split.cluster, split.size, split.n_pieces) == (0, 5, 3)
    assert split.parted == (0, 4)


@given(paths())
def test_merges_form_the_multiway_tree(path):
    lambdas, partitions = path
    tree = Tree.from_partitions(lambdas, partitions)
    n = partitions.shape[1]
    leaves = leaves_under(tree)
    height = [-1.0] * n + [merge.lam for merge in tree.merges]
    used = sorted(child for merge in tree.merges for child in merge.children)
    assert used == list(range(n + len(tree.merges) - 1))
    assert leaves[-1] == frozenset(range(n))
    for merge in tree.merges:
        assert len(merge.children) > 1
        assert all(height[child] < merge.lam for child in merge.children)
        first = [min(leaves[child]) for child in merge.children]
        assert first == sorted(first)
        if not merge.artificial:
            together = pairs(tree.labels(lam=merge.lam))[first[0]]
            assert leaves[merge.parent] == frozenset(np.flatnonzero(together))
    order = [(merge.lam, min(leaves[merge.parent])) for merge in tree.merges]
    assert order == sorted(order)


@given(paths())
def test_clusters_left_at_the_end_are_merged_above_the_path_and_flagged(path):
    lambdas, partitions = path
    tree = Tree.from_partitions(lambdas, partitions)
    n_last = np.unique(partitions[-1]).size
    assert tree.root_joins == n_last - 1
    last = len(tree.Z) - tree.root_joins
    top = 1.1 * lambdas[-1] if lambdas[-1] > 0 else 1.0
    assert np.all(tree.Z[last:, 2] == top)
    assert np.all(tree.Z[:last, 2] <= lambdas[-1])
    assert sum(merge.artificial for merge in tree.merges) == (n_last > 1)


def test_components_merge_above_their_own_clusters():
    path = [[0, 1, 2, 3, 4], [0, 0, 1, 2, 2]]
    tree = Tree.from_partitions([0.5, 1.0], path, components=[7, 7, 7, 3, 3])
    closing = [merge for merge in tree.merges if merge.artificial]
    leaves = leaves_under(tree)
    assert [leaves[merge.parent] for merge in closing] == [{0, 1, 2}, {0, 1, 2, 3, 4}]
    assert 1.0 < closing[0].lam < closing[1].lam
    assert tree.root_joins == 2
    assert tree.labels(n_clusters=2).tolist() == [0, 0, 0, 1, 1]
    assert tree.labels(lam=np.inf).tolist() == [0, 0, 1, 2, 2]


def test_completely_merged_components_merge_at_one_height():
    partitions, components = [[0, 1, 2, 3], [0, 0, 1, 2]], [0, 0, 1, 2]
    with_them = Tree.from_partitions([0.5, 1.0], partitions, components=components)
    assert np.array_equal(with_them.Z, Tree.from_partitions([0.5, 1.0], partitions).Z)
    assert with_them.available_n_clusters == (4, 3, 1)


@given(paths(), st.randoms(use_true_random=False))
def test_relabelling_the_nodes_relabels_the_tree(path, random):
    lambdas, partitions = path
    n = partitions.shape[1]
    order = np.array(random.sample(range(n), n))
    tree, moved = (Tree.from_partitions(lambdas, p) for p in (partitions, partitions[:, order]))
    assert np.array_equal(tree.Z[:, 2], moved.Z[:, 2])
    assert moved.available_n_clusters == tree.available_n_clusters
    for lam in lambdas:
        assert np.array_equal(pairs(moved.labels(lam=lam)), pairs(tree.labels(lam=lam)[order]))
    for k in tree.available_n_clusters:
        cut = tree.labels(n_clusters=k)[order]
        assert np.array_equal(pairs(moved.labels(n_clusters=k)), pairs(cut))
    assert len(moved.splits) == len(tree.splits)


@given(paths())
def test_only_the_partition_matters_not_its_labels(path):
    lambdas, partitions = path
    scattered = (partitions * 10**15 + 17).astype(np.uint64)
    tree, same = Tree.from_partitions(lambdas, partitions), Tree.from_partitions(lambdas, scattered)
    assert np.array_equal(tree.Z, same.Z)
    assert tree.splits == same.splits


def test_nodes_merged_at_the_first_lam_have_that_height():
    tree = Tree.from_partitions([0.0, 2.0], [[0, 0, 1], [0, 0, 0]])
    assert tree.Z[:, 2].tolist() == [0.0, 2.0]
    assert tree.labels(lam=0.0).tolist() == [0, 0, 1]
    assert Tree.from_partitions([3.0], [[0, 0]]).Z[:, 2].tolist() == [3.0]


def test_one_node_and_all_singletons():
    alone = Tree.from_partitions([0.0, 1.0], [[0], [0]])
    assert alone.Z.shape == (0, 4)
    assert alone.merges == ()
    assert Tree.from_linkage(np.empty((0, 4))).n_leaves == 1
    apart = Tree.from_partitions([0.0], [[0, 1, 2]])
    assert apart.Z[:, 2].tolist() == [1.0, 1.0]
    assert apart.root_joins == 2
    assert apart.available_n_clusters == (3, 1)


def test_the_root_is_above_even_the_smallest_lam():
    tree = Tree.from_partitions([5e-324], [[0, 1]])
    assert tree.Z[0, 2] > 5e-324


def test_tree_is_frozen_and_input_is_copied():
    lambdas, partitions = np.array([1.0, 2.0]), np.array([[0, 1], [0, 0]])
    tree = Tree.from_partitions(lambdas, partitions)
    lambdas[0] = 9.0
    assert tree.lambdas.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        tree.Z[0, 2] = 5.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        tree.names = ("a", "b")


@pytest.mark.parametrize(
    ("lambdas", "message"),
    [
        ([], "at least one"),
        ([1.0, 1.0], "strictly increasing"),
        ([2.0, 1.0], "strictly increasing"),
        ([-1.0, 1.0], "between 0"),
        ([0.0, np.inf], "finite"),
        ([np.nan, 1.0], "finite"),
    ],
)
def test_invalid_lambdas_are_refused(lambdas, message):
    with pytest.raises(ValueError, match=message):
        Tree.from_partitions(lambdas, [[0, 1], [0, 0]])


def test_invalid_partitions_names_and_components_are_refused():
    with pytest.raises(ValueError, match="shape 2 x n"):
        Tree.from_partitions([1.0, 2.0], [[0, 1]])
    with pytest.raises(ValueError, match="n >= 1"):
        Tree.from_partitions([1.0], np.empty((1, 0), dtype=int))
    with pytest.raises(TypeError, match="integer"):
        Tree.from_partitions([1.0], [[0.5, 1.0]])
    with pytest.raises(ValueError, match="label of its own"):
        Tree.from_partitions([1.0], [[0, -1]])
    with pytest.raises(ValueError, match="one name for each of the 2"):
        Tree.from_partitions([1.0], [[0, 1]], names=["a"])
    with pytest.raises(ValueError, match="Nodes 0 and 2 share a cluster"):
        Tree.from_partitions([1.0], [[0, 1, 0]], components=[0, 0, 1])
