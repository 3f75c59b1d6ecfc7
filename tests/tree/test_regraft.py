"""Small branches moved below the large splits."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tree.paths import SEEDS, clades, generic_features, star

from convexhc.tree import Tree
from convexhc.tree.binary import BinaryTree, resolve_polytomies
from convexhc.tree.pruning import regraft_small_branches


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
    return resolve_polytomies(
        Tree.from_partitions(np.arange(1.0, len(rows) + 1), rows).nodes, features
    )


def large_splits(tree, least):
    sizes = tree.size[np.column_stack([tree.left, tree.right])]
    return sizes.min(axis=1) >= least


def under_large(tree, large):
    """Whether each node has a large split at it or below it."""
    return tree.subtree_sums(np.zeros(tree.n_leaves), large.astype(float)) > 0


def naive_clades(tree, features, least):
    """The clades of the regrafted tree, by recursion on sets of leaves."""
    sets, n = clades(tree), tree.n_leaves
    mean = [features[list(clade)].mean(axis=0) for clade in sets]
    has = under_large(tree, large_splits(tree, least))
    found = {sets[node] for node in range(2 * n - 1) if not has[node]}

    def down(node, moved_down):
        if not has[node]:
            made = sets[node]
            for branch in reversed(moved_down):
                made |= sets[branch]
                found.add(made)
            return made
        a, b = sorted((tree.left[node - n], tree.right[node - n]), key=lambda v: -len(sets[v]))
        if len(sets[b]) < least:
            return down(a, [*moved_down, b])
        gaps = {g: [np.linalg.norm(mean[g] - mean[v]) for v in (a, b)] for g in moved_down}
        near = [g for g in moved_down if gaps[g][0] < gaps[g][1]]
        far = [g for g in moved_down if g not in near]
        made = down(a, near) | down(b, far)
        found.add(made)
        return made

    down(2 * n - 2, [])
    return found


@given(st.integers(2, 60), st.integers(1, 9), SEEDS)
def test_small_branches_agree_with_the_naive_rule(n, least, seed):
    features = generic_features(n, seed, 2)
    tree = random_tree(n, seed, features)
    new = regraft_small_branches(tree, features, least)
    assert set(clades(new)) == naive_clades(tree, features, least)


@given(st.integers(2, 60), st.integers(1, 9), SEEDS)
def test_above_large_splits_all_splits_are_large(n, least, seed):
    features = generic_features(n, seed, 2)
    tree = random_tree(n, seed, features)
    new = regraft_small_branches(tree, features, least)
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
def test_moved_rows_keep_their_height(n, least, seed):
    features = generic_features(n, seed, 2)
    tree = random_tree(n, seed, features)
    before, after = joined_at(tree), joined_at(regraft_small_branches(tree, features, least))
    large, sets = large_splits(tree, least), clades(tree)
    has = under_large(tree, large)
    for row in np.flatnonzero(~large):
        for node in (tree.left[row], tree.right[row]):
            if not has[node]:
                lam, flag = before[sets[node]]
                assert after[sets[node]] == (lam, flag or has[n + row])


@given(st.integers(1, 60), SEEDS)
def test_without_small_or_large_branches_nothing_moves(n, seed):
    features = generic_features(n, seed)
    tree = random_tree(n, seed, features)
    for least in (1, n // 2 + 1):
        new = regraft_small_branches(tree, features, least)
        for name in ("left", "right", "height", "resolved"):
            assert np.array_equal(getattr(new, name), getattr(tree, name))


@given(st.integers(2, 60), st.integers(1, 9), SEEDS)
def test_the_order_of_the_leaves_does_not_matter(n, least, seed):
    features = generic_features(n, seed)
    tree = random_tree(n, seed, features)
    order = np.random.default_rng(seed).permutation(n)
    place = np.append(np.argsort(order), np.arange(n, 2 * n - 1))
    moved = BinaryTree(place[tree.left], place[tree.right], tree.height, tree.resolved)
    again = clades(regraft_small_branches(moved, features[order], least))
    found = set(clades(regraft_small_branches(tree, features, least)))
    assert {frozenset(order[list(clade)].tolist()) for clade in again} == found


def test_one_and_two_leaves():
    alone = resolve_polytomies(star(1), None)
    assert regraft_small_branches(alone, [[3.0]], 5).n_leaves == 1
    two = resolve_polytomies(star(2), None)
    assert regraft_small_branches(two, [[3.0], [1.0]], 2).size.tolist() == [1, 1, 2]


def test_long_chains_are_regrafted():
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
    new = regraft_small_branches(tree, np.arange(n)[:, None], half)
    # The others are all nearer to the second half.
    assert new.size[[new.left[-1], new.right[-1]]].tolist() == [half, n - half]
    assert new.resolved.sum() == n - 2 * half
