"""Resolution of polytomies by Ward's criterion."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster import hierarchy
from tree.paths import SEEDS, chain, clades, generic_features, leaves_under, paths, star

from convexhc.tree import Tree, binary
from convexhc.tree.binary import BinaryTree, resolve_polytomies, ward_rows


def scipy_clades(points):
    Z = hierarchy.linkage(points, "ward")
    rows = len(Z)
    return clades(BinaryTree(Z[:, 0], Z[:, 1], Z[:, 2], np.zeros(rows, dtype=bool)))


@given(paths(), SEEDS, st.booleans())
def test_every_cluster_of_the_path_is_kept(path, seed, without):
    tree = Tree.from_partitions(*path)
    features = None if without else generic_features(tree.n_leaves, seed)
    fine = resolve_polytomies(tree.nodes, features)
    found, expected = clades(fine), leaves_under(tree)
    assert set(expected) <= set(found)
    shown = [
        clade for clade, only in zip(found[tree.n_leaves :], fine.resolved, strict=True) if not only
    ]
    assert shown == expected[tree.n_leaves :]
    assert (np.diff(fine.height) >= 0).all()
    heights = dict(zip(expected, tree.nodes.height, strict=True))
    for clade, height in zip(found[tree.n_leaves :], fine.height, strict=True):
        assert height == min(h for other, h in heights.items() if clade <= other)


@given(paths(), SEEDS)
def test_size_start_and_leaf_order_agree(path, seed):
    tree = Tree.from_partitions(*path)
    fine = resolve_polytomies(tree.nodes, generic_features(tree.n_leaves, seed))
    assert sorted(fine.leaf_order.tolist()) == list(range(tree.n_leaves))
    for clade, size, start in zip(clades(fine), fine.size, fine.nodes.place, strict=True):
        assert len(clade) == size
        assert clade == frozenset(fine.leaf_order[start : start + size].tolist())


@given(st.integers(2, 40), SEEDS)
def test_a_single_merge_is_resolved_into_the_ward_linkage(n, seed):
    features = generic_features(n, seed)
    assert clades(resolve_polytomies(star(n), features)) == scipy_clades(features)


@given(st.lists(st.integers(1, 6), min_size=3, max_size=12), SEEDS)
def test_clusters_are_weighted_by_their_sizes(sizes, seed):
    """Ward's linkage joins coincident points first, so its top rows weight them by number."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    features = generic_features(len(sizes), seed)[group]
    path = [np.arange(group.size), group, np.zeros(group.size, dtype=int)]
    fine = resolve_polytomies(Tree.from_partitions([1.0, 2.0, 3.0], path).nodes, features)
    top = 1 - len(sizes)
    assert clades(fine)[top:] == scipy_clades(features)[top:]


@given(paths(), SEEDS)
def test_the_order_of_the_leaves_does_not_matter(path, seed):
    lambdas, partitions = path
    n = partitions.shape[1]
    features = generic_features(n, seed)
    order = np.random.default_rng(seed).permutation(n)
    found = set(
        clades(resolve_polytomies(Tree.from_partitions(lambdas, partitions).nodes, features))
    )
    moved = Tree.from_partitions(lambdas, partitions[:, order]).nodes
    again = clades(resolve_polytomies(moved, features[order]))
    assert {frozenset(order[list(clade)].tolist()) for clade in again} == found


@given(st.lists(st.integers(1, 9), min_size=3, max_size=12))
def test_without_features_the_two_smallest_are_joined_first(sizes):
    group = np.repeat(np.arange(len(sizes)), sizes)
    path = [group, np.zeros(group.size, dtype=int)]
    fine = resolve_polytomies(Tree.from_partitions([1.0, 2.0], path).nodes, None)
    left = list(sizes)
    for row in range(group.size - len(sizes), group.size - 1):
        left.sort()
        left = [left[0] + left[1], *left[2:]]
        assert fine.size[group.size + row] == left[0]


def test_without_features_a_wide_merge_gives_a_balanced_tree():
    n = 4096
    fine = resolve_polytomies(star(n), None)
    depth = np.zeros(2 * n - 1)
    for row in range(n - 2, -1, -1):
        depth[[fine.left[row], fine.right[row]]] = depth[n + row] + 1
    assert depth.max() == 12


@given(st.integers(9, 60), SEEDS)
def test_bisection_does_not_depend_on_the_order_of_the_leaves(n, seed):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(binary, "N_BISECTIONS", 3)
        features = generic_features(n, seed)
        order = np.random.default_rng(seed).permutation(n)
        found = clades(resolve_polytomies(star(n), features))
        again = clades(resolve_polytomies(star(n), features[order]))
    assert len(found) == 2 * n - 1
    assert {frozenset(order[list(clade)].tolist()) for clade in again} == set(found)


@given(st.integers(9, 60), st.floats(0.3, 0.7), SEEDS)
def test_bisection_cuts_at_gaps(n, share, seed):
    group = np.random.default_rng(seed).permutation(np.arange(n) < share * n)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(binary, "N_BISECTIONS", 3)
        found = clades(
            resolve_polytomies(star(n), generic_features(n, seed) + 100.0 * group[:, None])
        )
    assert frozenset(np.flatnonzero(group).tolist()) in found


@pytest.mark.parametrize("r", [1, 5])
def test_bisection_separates_distant_groups(r):
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, size=5000)
    features = rng.normal(size=(group.size, r)) + 100.0 * group[:, None]
    found = clades(resolve_polytomies(star(group.size), features))
    assert len(found[-1]) == group.size
    for label in range(3):
        assert frozenset(np.flatnonzero(group == label).tolist()) in found


@pytest.mark.parametrize("m", [3, 50, 2100])
def test_equal_features_are_accepted(m):
    rows = ward_rows(np.zeros((m, 2)), np.ones(m, dtype=np.int64))
    assert sorted(np.ravel(rows)) == list(range(2 * m - 2))


def test_one_and_two_leaves():
    alone = resolve_polytomies(Tree.from_partitions([1.0], [[0]]).nodes, [[3.0]])
    assert (alone.n_leaves, alone.size.tolist(), alone.leaf_order.tolist()) == (1, [1], [0])
    two = resolve_polytomies(Tree.from_partitions([1.0], [[0, 1]]).nodes, [[3.0], [1.0]])
    assert (two.left.tolist(), two.right.tolist(), two.resolved.tolist()) == ([0], [1], [False])


def test_a_long_chain_is_kept():
    n = 50_000
    nodes = Tree.from_linkage(chain(n)).nodes
    features = np.arange(n)[:, None]
    fine = resolve_polytomies(nodes, features)
    assert np.array_equal(np.column_stack([fine.left, fine.right, fine.height]), chain(n)[:, :3])
    assert np.array_equal(fine.leaf_order, np.arange(n))


def test_invalid_features_are_refused():
    for features in ([[0.0], [1.0]], [0.0, 1.0, 2.0], np.empty((3, 0))):
        with pytest.raises(ValueError, match="a row for each of 3 leaves"):
            resolve_polytomies(star(3), features)
    with pytest.raises(ValueError, match="finite"):
        resolve_polytomies(star(3), [[0.0], [np.nan], [1.0]])
