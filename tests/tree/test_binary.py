"""Wide merges resolved by Ward's rule, and small branches put in their place."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster import hierarchy
from tree.paths import chain, leaves_under, paths

from convexhc.tree import Tree, ward
from convexhc.tree.binary import BinaryTree, refine, replace_stragglers
from convexhc.tree.ward import ward_rows

SEEDS = st.integers(0, 2**32 - 1)


def generic_features(n, seed, r=3):
    return np.random.default_rng(seed).normal(size=(n, r))


def clades(tree):
    """Set of leaves of each node, by the rows."""
    sets = [frozenset([leaf]) for leaf in range(tree.n_leaves)]
    for a, b in zip(tree.left, tree.right, strict=True):
        assert not sets[a] & sets[b]
        sets.append(sets[a] | sets[b])
    return sets


def star(n):
    """All leaves meet at one lam."""
    return Tree.from_partitions([0.5, 1.0], [np.arange(n), np.zeros(n, dtype=int)]).nodes


def scipy_clades(points):
    Z = hierarchy.linkage(points, "ward")
    rows = len(Z)
    return clades(BinaryTree(Z[:, 0], Z[:, 1], Z[:, 2], np.zeros(rows, dtype=bool)))


def random_tree(n, seed, features):
    """Wide and narrow merges, balanced and not, of more leaves than `paths` draws."""
    rng = np.random.default_rng(seed)
    rows = [np.arange(n)]
    while rows[-1].max() > 0:
        groups = rows[-1].max() + 1
        lonely = rng.random() < 0.5
        joined = rng.integers(0, groups, size=2 if lonely else groups)
        label = np.arange(groups)
        label[joined] = joined.min() if lonely else rng.permutation(joined)
        rows.append(np.unique(label[rows[-1]], return_inverse=True)[1])
    return refine(Tree.from_partitions(np.arange(1.0, len(rows) + 1), rows).nodes, features)


@given(paths(), SEEDS, st.booleans())
def test_every_cluster_of_the_path_is_kept(path, seed, without):
    tree = Tree.from_partitions(*path)
    features = None if without else generic_features(tree.n_leaves, seed)
    fine = refine(tree.nodes, features)
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
def test_sizes_places_and_order_agree(path, seed):
    tree = Tree.from_partitions(*path)
    fine = refine(tree.nodes, generic_features(tree.n_leaves, seed))
    assert sorted(fine.leaf_order.tolist()) == list(range(tree.n_leaves))
    for clade, size, start in zip(clades(fine), fine.size, fine.start, strict=True):
        assert len(clade) == size
        assert clade == frozenset(fine.leaf_order[start : start + size].tolist())


@given(st.integers(2, 40), SEEDS)
def test_where_all_meet_at_once_it_is_the_ward_linkage(n, seed):
    features = generic_features(n, seed)
    assert clades(refine(star(n), features)) == scipy_clades(features)


@given(st.lists(st.integers(1, 6), min_size=3, max_size=12), SEEDS)
def test_a_cluster_weighs_as_much_as_its_leaves(sizes, seed):
    """Ward's linkage of points that lie on each other joins those first."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    features = generic_features(len(sizes), seed)[group]
    path = [np.arange(group.size), group, np.zeros(group.size, dtype=int)]
    fine = refine(Tree.from_partitions([1.0, 2.0, 3.0], path).nodes, features)
    top = 1 - len(sizes)
    assert clades(fine)[top:] == scipy_clades(features)[top:]


@given(paths(), SEEDS)
def test_the_order_of_the_leaves_does_not_matter(path, seed):
    lambdas, partitions = path
    n = partitions.shape[1]
    features = generic_features(n, seed)
    order = np.random.default_rng(seed).permutation(n)
    found = set(clades(refine(Tree.from_partitions(lambdas, partitions).nodes, features)))
    moved = Tree.from_partitions(lambdas, partitions[:, order]).nodes
    again = clades(refine(moved, features[order]))
    assert {frozenset(order[list(clade)].tolist()) for clade in again} == found


@given(st.lists(st.integers(1, 9), min_size=3, max_size=12))
def test_without_features_the_two_smallest_are_joined_first(sizes):
    group = np.repeat(np.arange(len(sizes)), sizes)
    path = [group, np.zeros(group.size, dtype=int)]
    fine = refine(Tree.from_partitions([1.0, 2.0], path).nodes, None)
    left = list(sizes)
    for row in range(group.size - len(sizes), group.size - 1):
        left.sort()
        left = [left[0] + left[1], *left[2:]]
        assert fine.size[group.size + row] == left[0]


def test_without_features_many_children_make_no_deep_tree():
    n = 4096
    fine = refine(star(n), None)
    depth = np.zeros(2 * n - 1)
    for row in range(n - 2, -1, -1):
        depth[[fine.left[row], fine.right[row]]] = depth[n + row] + 1
    assert depth.max() == 12


@given(st.integers(9, 60), SEEDS)
def test_too_many_children_are_parted_first(n, seed):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ward, "HALVINGS", 3)
        patch.setattr(ward, "WIDEST_TABLE", 8)
        features = generic_features(n, seed)
        order = np.random.default_rng(seed).permutation(n)
        found = clades(refine(star(n), features))
        again = clades(refine(star(n), features[order]))
    assert len(found) == 2 * n - 1
    assert {frozenset(order[list(clade)].tolist()) for clade in again} == set(found)


@given(st.integers(9, 60), st.floats(0.3, 0.7), SEEDS)
def test_too_many_children_are_parted_at_gaps(n, share, seed):
    group = np.random.default_rng(seed).permutation(np.arange(n) < share * n)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ward, "HALVINGS", 3)
        patch.setattr(ward, "WIDEST_TABLE", 8)
        found = clades(refine(star(n), generic_features(n, seed) + 100.0 * group[:, None]))
    assert frozenset(np.flatnonzero(group).tolist()) in found


@pytest.mark.parametrize("r", [1, 5])
def test_far_apart_groups_of_many_children_come_apart(r):
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, size=5000)
    features = rng.normal(size=(group.size, r)) + 100.0 * group[:, None]
    found = clades(refine(star(group.size), features))
    assert len(found[-1]) == group.size
    for label in range(3):
        assert frozenset(np.flatnonzero(group == label).tolist()) in found


@pytest.mark.parametrize("m", [3, 50, 2100])
def test_equal_features_are_no_obstacle(m):
    rows = ward_rows(np.zeros((m, 2)), np.ones(m, dtype=np.int64))
    assert sorted(np.ravel(rows)) == list(range(2 * m - 2))


def large_splits(tree, least):
    sizes = tree.size[np.column_stack([tree.left, tree.right])]
    return sizes.min(axis=1) >= least


def under_large(tree, large):
    """Whether each node has a large split at it or below it."""
    return tree.totals(np.zeros(tree.n_leaves), large.astype(float)) > 0


def placed_naively(tree, features, least):
    """The clades, by the words of the rule and from sets of leaves."""
    sets, n = clades(tree), tree.n_leaves
    mean = [features[list(clade)].mean(axis=0) for clade in sets]
    has = under_large(tree, large_splits(tree, least))
    found = {sets[node] for node in range(2 * n - 1) if not has[node]}

    def down(node, guests):
        if not has[node]:
            made = sets[node]
            for guest in reversed(guests):
                made |= sets[guest]
                found.add(made)
            return made
        a, b = sorted((tree.left[node - n], tree.right[node - n]), key=lambda v: -len(sets[v]))
        if len(sets[b]) < least:
            return down(a, [*guests, b])
        gaps = {g: [np.linalg.norm(mean[g] - mean[v]) for v in (a, b)] for g in guests}
        near = [g for g in guests if gaps[g][0] < gaps[g][1]]
        far = [g for g in guests if g not in near]
        made = down(a, near) | down(b, far)
        found.add(made)
        return made

    down(2 * n - 2, [])
    return found


@given(st.integers(2, 60), st.integers(1, 9), SEEDS)
def test_stragglers_go_where_the_rule_says(n, least, seed):
    features = generic_features(n, seed, 2)
    tree = random_tree(n, seed, features)
    new = replace_stragglers(tree, features, least)
    assert set(clades(new)) == placed_naively(tree, features, least)


@given(st.integers(2, 60), st.integers(1, 9), SEEDS)
def test_near_the_top_both_branches_are_large(n, least, seed):
    features = generic_features(n, seed, 2)
    tree = random_tree(n, seed, features)
    new = replace_stragglers(tree, features, least)
    old_large, large = large_splits(tree, least), large_splits(new, least)
    assert (large == under_large(new, large)[n:]).all()
    assert large.sum() == old_large.sum()
    below = ~under_large(tree, old_large)
    assert {clade for clade, kept in zip(clades(tree), below, strict=True) if kept} <= set(
        clades(new)
    )
    moved = int((under_large(tree, old_large)[n:] & ~old_large).sum())
    assert sorted(new.height) == sorted(tree.height)
    assert new.resolved.sum() >= moved
    if not tree.resolved.any():
        assert new.resolved.sum() == moved


def joined_at(tree):
    """Height and flag of the row that joins each clade with another one."""
    sets = clades(tree)
    rows = zip(tree.left, tree.right, tree.height, tree.resolved, strict=True)
    return {sets[node]: (lam, flag) for a, b, lam, flag in rows for node in (a, b)}


@given(st.integers(2, 60), st.integers(1, 9), SEEDS)
def test_rows_that_are_moved_keep_their_height(n, least, seed):
    features = generic_features(n, seed, 2)
    tree = random_tree(n, seed, features)
    before, after = joined_at(tree), joined_at(replace_stragglers(tree, features, least))
    large, sets = large_splits(tree, least), clades(tree)
    has = under_large(tree, large)
    for row in np.flatnonzero(~large):
        for node in (tree.left[row], tree.right[row]):
            if not has[node]:
                lam, flag = before[sets[node]]
                assert after[sets[node]] == (lam, flag or has[n + row])


@given(st.integers(1, 60), SEEDS)
def test_where_nothing_is_small_or_large_nothing_moves(n, seed):
    features = generic_features(n, seed)
    tree = random_tree(n, seed, features)
    for least in (1, n // 2 + 1):
        new = replace_stragglers(tree, features, least)
        for name in ("left", "right", "height", "resolved"):
            assert np.array_equal(getattr(new, name), getattr(tree, name))


@given(st.integers(2, 60), st.integers(1, 9), SEEDS)
def test_the_order_of_the_leaves_does_not_matter_for_stragglers(n, least, seed):
    features = generic_features(n, seed)
    tree = random_tree(n, seed, features)
    order = np.random.default_rng(seed).permutation(n)
    place = np.append(np.argsort(order), np.arange(n, 2 * n - 1))
    moved = BinaryTree(place[tree.left], place[tree.right], tree.height, tree.resolved)
    again = clades(replace_stragglers(moved, features[order], least))
    found = set(clades(replace_stragglers(tree, features, least)))
    assert {frozenset(order[list(clade)].tolist()) for clade in again} == found


def test_one_and_two_leaves():
    alone = refine(Tree.from_partitions([1.0], [[0]]).nodes, [[3.0]])
    assert (alone.n_leaves, alone.size.tolist(), alone.leaf_order.tolist()) == (1, [1], [0])
    assert replace_stragglers(alone, [[3.0]], 5).n_leaves == 1
    two = refine(Tree.from_partitions([1.0], [[0, 1]]).nodes, [[3.0], [1.0]])
    assert (two.left.tolist(), two.right.tolist(), two.resolved.tolist()) == ([0], [1], [False])
    assert replace_stragglers(two, [[3.0], [1.0]], 2).size.tolist() == [1, 1, 2]


def test_a_long_chain_is_refined():
    n = 50_000
    nodes = Tree.from_linkage(chain(n)).nodes
    features = np.arange(n)[:, None]
    fine = refine(nodes, features)
    assert np.array_equal(np.column_stack([fine.left, fine.right, fine.height]), chain(n)[:, :3])
    assert np.array_equal(fine.leaf_order, np.arange(n))


def test_long_chains_of_stragglers_are_placed():
    n, half = 50_000, 12_500
    rows = []
    for start in (0, half):
        top = start
        for leaf in range(start + 1, start + half):
            rows.append((top, leaf))
            top = n + len(rows) - 1
    rows.append((n + half - 2, top))
    for leaf in range(2 * half, n):
        rows.append((n + len(rows) - 1, leaf))
    left, right = np.array(rows).T
    tree = BinaryTree(left, right, np.arange(1.0, n), np.zeros(n - 1, dtype=bool))
    new = replace_stragglers(tree, np.arange(n)[:, None], half)
    # The others are all nearer to the second half.
    assert new.size[[new.left[-1], new.right[-1]]].tolist() == [half, n - half]
    assert new.resolved.sum() == n - 2 * half


def test_what_is_no_tree_or_no_table_is_refused():
    with pytest.raises(ValueError, match="below n \\+ i"):
        BinaryTree([0, 1], [3, 2], [1.0, 2.0], [False, False])
    with pytest.raises(ValueError, match="joined once"):
        BinaryTree([0, 0], [1, 2], [1.0, 2.0], [False, False])
    with pytest.raises(ValueError, match="height must be of shape"):
        BinaryTree([0], [1], [1.0, 2.0], [False])
    for features in ([[0.0], [1.0]], [0.0, 1.0, 2.0], np.empty((3, 0))):
        with pytest.raises(ValueError, match="a row for each of 3 leaves"):
            refine(star(3), features)
    with pytest.raises(ValueError, match="finite"):
        refine(star(3), [[0.0], [np.nan], [1.0]])
    with pytest.raises(ValueError, match="min_size must be at least 1"):
        replace_stragglers(refine(star(3), None), np.zeros((3, 1)), 0)
