"""Horizontal cuts and plateaus of a tree."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster import hierarchy
from tree.paths import chain, leaves_under, pairs, paths

from convexhc.tree import Tree


def is_finer(fine, coarse):
    return bool((pairs(fine) <= pairs(coarse)).all())


def is_numbered_by_first(labels):
    seen = dict.fromkeys(label for label in labels.tolist() if label >= 0)
    return list(seen) == list(range(len(seen)))


@given(paths())
def test_a_cut_by_number_is_the_finest_with_at_most_k(path):
    tree = Tree.from_partitions(*path)
    n = tree.n_leaves
    available = tree.available_n_clusters
    assert available[0] == n
    assert available[-1] == 1
    assert list(available) == sorted(set(available), reverse=True)
    for k in range(1, n + 2):
        labels = tree.labels(n_clusters=k)
        assert is_numbered_by_first(labels)
        assert labels.max() + 1 == max(m for m in available if m <= k)


@given(paths())
def test_cuts_are_nested(path):
    tree = Tree.from_partitions(*path)
    by_number = [tree.labels(n_clusters=k) for k in tree.available_n_clusters]
    by_lam = [tree.labels(lam=lam) for lam in tree.lambdas]
    for cuts in (by_number, by_lam):
        for fine, coarse in pairwise(cuts):
            assert is_finer(fine, coarse)


@given(paths())
def test_between_computed_lam_the_cut_is_that_of_the_lower_one(path):
    lambdas, partitions = path
    tree = Tree.from_partitions(lambdas, partitions)
    for low, high in pairwise(lambdas):
        middle = tree.labels(lam=(low + high) / 2)
        assert np.array_equal(middle, tree.labels(lam=low))
    if lambdas[0] > 0:
        below = tree.labels(lam=lambdas[0] / 2)
        assert np.array_equal(below, np.arange(tree.n_leaves))
    assert np.array_equal(pairs(tree.labels(lam=np.inf)), pairs(partitions[-1]))


def naive_large_cut(tree, k, least):
    """Try every level; a small cluster joins within the smallest clade with a large cluster."""
    real = [np.arange(tree.n_leaves)] + [
        tree.labels(lam=merge.lam) for merge in tree.merges if not merge.artificial
    ]
    closed = [tree.labels(n_clusters=j) for j in tree.available_n_clusters]
    closed = [cut for cut in closed if cut.max() < real[-1].max()]

    def large(cut):
        return [c for c in range(cut.max() + 1) if np.count_nonzero(cut == c) >= least]

    fitting = [cut for cut in real if 1 <= len(large(cut)) <= k]
    if not fitting or len(large(real[-1])) > k:
        fitting = [cut for cut in closed if 1 <= len(large(cut)) <= k]
    most = max(len(large(cut)) for cut in fitting)
    cut = [cut for cut in fitting if len(large(cut)) == most][-1]
    noise = np.where(np.isin(cut, large(cut)), cut, -1)
    nearest = noise.copy()
    for leaf in np.flatnonzero(noise < 0):
        around = [s for s in leaves_under(tree) if leaf in s and (noise[list(s)] >= 0).any()]
        met = noise[list(min(around, key=len))]
        nearest[leaf] = min(large(cut), key=lambda c: (c not in met, -np.sum(cut == c), c))
    return noise, nearest


@given(paths(), st.integers(1, 4), st.integers(2, 4))
def test_a_cut_with_a_minimum_size_equals_the_naive_one(path, k, least):
    tree = Tree.from_partitions(*path)
    if least > tree.n_leaves:
        with pytest.raises(ValueError, match="at most the number of nodes"):
            tree.labels(n_clusters=k, min_cluster_size=least)
        return
    noise, nearest = naive_large_cut(tree, k, least)
    found = tree.labels(n_clusters=k, min_cluster_size=least, small="noise")
    assert is_numbered_by_first(found)
    assert np.array_equal(found < 0, noise < 0)
    assert np.array_equal(pairs(found), pairs(noise))
    joined = tree.labels(n_clusters=k, min_cluster_size=least, small="nearest")
    assert is_numbered_by_first(joined)
    assert np.array_equal(pairs(joined), pairs(nearest))


def test_a_minimum_size_ignores_nodes_that_merge_last():
    """Two groups of four that fuse, then their boundary nodes one by one."""
    groups = [0, 0, 0, 0, 1, 1, 1, 1]
    path = [[*groups, 2, 3], [0] * 8 + [1, 2], [0] * 9 + [1], [0] * 10]
    tree = Tree.from_partitions([1.0, 2.0, 3.0, 4.0], path)
    assert tree.labels(n_clusters=2).tolist() == [0] * 9 + [1]
    noise = tree.labels(n_clusters=2, min_cluster_size=3, small="noise")
    assert noise.tolist() == [*groups, -1, -1]
    nearest = tree.labels(n_clusters=2, min_cluster_size=3)
    assert nearest.tolist() == [*groups, 0, 0]


def test_a_small_cluster_joins_the_largest_sibling():
    tree = Tree.from_partitions([1.0, 2.0], [[0, 0, 1, 1, 1, 2], [0] * 6])
    assert tree.labels(n_clusters=2, min_cluster_size=2).tolist() == [0, 0, 1, 1, 1, 1]


def test_small_clusters_may_merge_before_they_join_a_large_one():
    """The pair 6, 7 fuses first, then joins the group of 3, 4, 5, not the larger one."""
    path = [
        [0, 0, 0, 1, 1, 1, 2, 3, 0],
        [0, 0, 0, 1, 1, 1, 2, 2, 0],
        [0, 0, 0, 1, 1, 1, 1, 1, 0],
        [0] * 9,
    ]
    tree = Tree.from_partitions([1.0, 2.0, 3.0, 4.0], path)
    labels = tree.labels(lam=1.0, min_cluster_size=3)
    assert labels.tolist() == [0, 0, 0, 1, 1, 1, 1, 1, 0]


def test_surplus_large_components_are_merged_at_an_artificial_level():
    tree = Tree.from_partitions([1.0, 2.0], [[0, 0, 1, 1, 2, 3], [0, 0, 1, 1, 2, 2]])
    assert tree.labels(n_clusters=2, min_cluster_size=2).tolist() == [0] * 6


def test_a_cut_with_a_minimum_size_at_a_lam():
    tree = Tree.from_partitions([1.0, 2.0], [[0, 0, 1], [0, 0, 0]])
    assert tree.labels(lam=1.0, min_cluster_size=2, small="noise").tolist() == [0, 0, -1]
    assert tree.labels(lam=1.0, min_cluster_size=2).tolist() == [0, 0, 0]
    assert tree.labels(lam=0.5, min_cluster_size=2, small="noise").tolist() == [-1, -1, -1]
    with pytest.raises(ValueError, match="have none to join"):
        tree.labels(lam=0.5, min_cluster_size=2)


@pytest.mark.parametrize("method", ["single", "complete", "average", "ward"])
def test_cuts_agree_with_scipy(method):
    rng = np.random.default_rng(3)
    # Whole numbers make ties, also among neighbouring heights.
    points = rng.integers(0, 12, size=(40, 2)) + np.arange(40)[:, None] % 7 * 0.125
    Z = hierarchy.linkage(points, method)
    # With heights above zero, a threshold can leave every leaf alone.
    Z[:, 2] += 1.0
    tree = Tree.from_linkage(Z)
    for k in range(1, 41):
        expected = pairs(hierarchy.fcluster(Z, k, "maxclust"))
        assert np.array_equal(pairs(tree.labels(n_clusters=k)), expected)
    for height in np.unique(Z[:, 2]):
        expected = pairs(hierarchy.fcluster(Z, height, "distance"))
        assert np.array_equal(pairs(tree.labels(lam=height)), expected)


@given(paths())
def test_tree_and_its_linkage_are_cut_alike(path):
    tree = Tree.from_partitions(*path)
    again = Tree.from_linkage(tree.Z)
    for k in range(1, tree.n_leaves + 1):
        assert np.array_equal(again.labels(n_clusters=k), tree.labels(n_clusters=k))
    for lam in tree.lambdas:
        assert np.array_equal(again.labels(lam=lam), tree.labels(lam=lam))


def test_one_leaf_is_one_cluster():
    tree = Tree.from_partitions([1.0], [[5]])
    assert tree.available_n_clusters == (1,)
    for labels in (tree.labels(n_clusters=1), tree.labels(lam=0.0), tree.labels(n_clusters=3)):
        assert labels.tolist() == [0]
    empty = Tree.from_linkage(np.empty((0, 4)))
    assert empty.labels(n_clusters=1).tolist() == [0]
    assert empty.labels(lam=2.0).tolist() == [0]


def test_a_long_chain_is_cut():
    n = 50_000
    Z = chain(n)
    tree = Tree.from_linkage(Z)
    half = np.maximum(np.arange(n) - n // 2 + 1, 0)
    assert np.array_equal(tree.labels(n_clusters=n // 2 + 1), half)
    assert np.array_equal(tree.labels(lam=(n // 2 - 1) / n), half)
    nearest = tree.labels(n_clusters=3, min_cluster_size=10)
    assert nearest.max() == 0
    assert len(tree.plateaus()) == n


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, ValueError, "neither"),
        ({"lam": 1.0, "n_clusters": 2}, ValueError, "both"),
        ({"n_clusters": 0}, ValueError, "at least 1, received 0"),
        ({"n_clusters": 1.5}, TypeError, "must be an integer, received 1.5"),
        ({"lam": np.nan}, ValueError, "at least 0, received nan"),
        ({"lam": -1.0}, ValueError, "at least 0, received -1"),
        ({"n_clusters": 1, "min_cluster_size": 0}, ValueError, "min_cluster_size must be"),
        ({"n_clusters": 1, "small": "drop"}, ValueError, '"nearest" or "noise"; got \'drop\''),
    ],
)
def test_invalid_arguments_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        Tree.from_partitions([1.0], [[0, 1]]).labels(**arguments)


@given(paths())
def test_plateaus_tile_the_path(path):
    lambdas, _ = path
    tree = Tree.from_partitions(*path)
    found = tree.plateaus()
    assert found[0].lam_from == lambdas[0]
    assert found[-1].lam_to == lambdas[-1]
    for here, following in pairwise(found):
        assert here.lam_to == following.lam_from > here.lam_from
        assert here.n_clusters > following.n_clusters
    for plateau in found:
        assert tree.labels(lam=plateau.lam_from).max() + 1 == plateau.n_clusters
        assert np.isfinite(plateau.log_width)
        assert plateau.log_width >= 0
        if plateau.lam_from > 0:
            width = np.log(plateau.lam_to / plateau.lam_from)
            assert plateau.log_width == pytest.approx(width, abs=1e-12)
