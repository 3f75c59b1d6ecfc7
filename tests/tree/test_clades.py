"""Clades, their support and the majority-rule consensus, against plain sets."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree.forests import forests, sets_of
from tree.paths import SEEDS, chain, leaves_under

import naive
from convexhc.tree import Tree
from convexhc.tree import clades as module
from convexhc.tree.clades import clades, majority_consensus, transfer_distances, transfer_support


def clade_support(reference, others):
    """Share of the other trees with each clade, and its mean transfer support."""
    transfer = np.array([transfer_support(reference, other) for other in others])
    return SimpleNamespace(share=(transfer == 1.0).mean(axis=0), transfer=transfer.mean(axis=0))


@given(forests())
def test_clades_are_the_leaves_below_each_merge(trees):
    for tree in trees:
        rows = [frozenset(np.flatnonzero(row).tolist()) for row in clades(tree)]
        assert rows == leaves_under(tree)[tree.n_leaves :]


@given(forests(), st.sampled_from([module.BLOCK_ENTRIES, 11]))
def test_support_agrees_with_plain_sets(trees, block):
    first, *others = trees
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "BLOCK_ENTRIES", block)
        support = clade_support(first, others)
        distances = [transfer_distances(first, other) for other in others]
    sets = [set(sets_of(other)) for other in others]
    for at, clade in enumerate(sets_of(first)):
        expected = naive.clade_support(clade, sets, first.names)
        assert (support.share[at], support.transfer[at]) == pytest.approx(expected, abs=1e-12)
        for distance, found in zip(distances, sets, strict=True):
            assert distance[at] == naive.transfer_distance(clade, found, first.names)


@given(forests())
def test_support_is_a_share_and_transfer_support_is_no_less(trees):
    support = clade_support(trees[0], trees)
    assert np.all((support.share >= 0) & (support.share <= support.transfer))
    assert np.all(support.transfer <= 1.0)
    assert support.share.min(initial=1.0) >= 1 / len(trees)
    assert np.all(clade_support(trees[0], [trees[0]]).share == 1.0)


@given(forests(), SEEDS)
def test_the_order_of_the_names_does_not_matter(trees, seed):
    first, *others = trees
    order = np.random.default_rng(seed).permutation(first.n_leaves)
    turned = []
    for other in others:
        partitions = np.array([other.labels(lam=lam) for lam in other.lambdas])[:, order]
        turned.append(Tree.from_partitions(other.lambdas, partitions, names=order.tolist()))
    same = [
        Tree.from_partitions(o.lambdas, [o.labels(lam=lam) for lam in o.lambdas]) for o in others
    ]
    expected, found = clade_support(first, same), clade_support(first, turned)
    np.testing.assert_array_equal(found.share, expected.share)
    np.testing.assert_array_equal(found.transfer, expected.transfer)


@given(forests(), st.sampled_from([0.5, 0.7, 1.0]))
def test_the_consensus_has_the_clades_of_most_trees(trees, threshold):
    consensus = majority_consensus(trees, threshold)
    found = dict(zip(sets_of(consensus.tree), consensus.share.tolist(), strict=True))
    expected = naive.majority_clades([set(sets_of(tree)) for tree in trees], threshold)
    assert found == pytest.approx(expected)
    nodes = consensus.tree.nodes
    assert np.all(nodes.height[:-1] <= nodes.height[nodes.parent[:-1]])
    assert np.all(np.diff(nodes.height[nodes.n_leaves :]) >= 0)


@given(forests(max_trees=1))
def test_the_consensus_of_equal_trees_is_that_tree(trees):
    tree = trees[0]
    consensus = majority_consensus([tree, tree, tree]).tree
    assert set(sets_of(consensus)) == set(sets_of(tree))
    order = {clade: at for at, clade in enumerate(sets_of(tree))}
    height = tree.nodes.height[tree.n_leaves :]
    last = height[tree.nodes.n_real - 1] if tree.nodes.n_real else 0.0
    if last > 0:
        assert consensus.root_joins == tree.root_joins
        for clade, merge in zip(sets_of(consensus), consensus.merges, strict=True):
            assert merge.lam == pytest.approx(height[order[clade]] / last)


def test_a_polytomy_has_one_clade_whatever_its_linkage():
    star = Tree.from_partitions([1.0, 2.0], [[0, 1, 2, 3, 4], [0, 0, 0, 0, 0]])
    assert clades(star).tolist() == [[True] * 5]
    assert clade_support(star, [Tree.from_linkage(chain(5))]).share.tolist() == [1.0]
    assert majority_consensus([star, Tree.from_linkage(chain(5))]).tree.merges[0].children == (
        0,
        1,
        2,
        3,
        4,
    )


def test_one_moved_leaf_costs_a_large_clade_all_its_share_but_little_transfer_support():
    halves = np.repeat([0, 1], 50)
    moved = np.where(np.arange(100) == 0, 1, halves)
    trees = [
        Tree.from_partitions([1.0, 2.0, 3.0], [np.arange(100), labels, np.zeros(100, int)])
        for labels in (halves, moved)
    ]
    support = clade_support(trees[0], trees[1:])
    assert support.share.tolist() == [0.0, 0.0, 1.0]
    assert support.transfer[:2] == pytest.approx([1 - 1 / 49, 1 - 1 / 49])


def test_a_clade_below_its_parent_in_no_tree_is_moved_below_it():
    # {0, 1} merges late where it exists; the larger clade {0, 1, 2} early where that exists.
    late = Tree.from_partitions([9.0, 10.0], [[0, 0, 1, 2], [0, 0, 0, 0]])
    one = Tree.from_partitions([6.0, 9.0, 10.0], [[0, 1, 2, 3], [0, 0, 1, 2], [0, 0, 0, 0]])
    two = Tree.from_partitions([1.0, 2.0, 10.0], [[0, 1, 2, 3], [0, 0, 0, 1], [0, 0, 0, 0]])
    three = Tree.from_partitions([1.0, 2.0, 10.0], [[0, 0, 1, 2], [0, 0, 0, 1], [0, 0, 0, 0]])
    consensus = majority_consensus([late, one, one, two, two, three, three])
    assert [merge.children for merge in consensus.tree.merges] == [(0, 1), (4, 2), (5, 3)]
    lams = [merge.lam for merge in consensus.tree.merges]
    assert lams == pytest.approx([0.2, 0.2, 1.0])
    assert lams[0] < lams[1]


def test_nested_clades_of_lam_zero_keep_their_order():
    # Both {0, 1} and {0, 1, 2} are at zero in most of the trees that have them.
    both = Tree.from_partitions([0.0, 1.0, 2.0], [[0, 0, 1, 2], [0, 0, 0, 1], [0, 0, 0, 0]])
    pair = Tree.from_partitions([0.0, 2.0], [[0, 0, 1, 2], [0, 0, 0, 0]])
    triple = Tree.from_partitions([0.0, 2.0], [[0, 0, 0, 1], [0, 0, 0, 0]])
    consensus = majority_consensus([both, pair, pair, triple, triple])
    assert consensus.tree.to_newick() == "(((0:0.0,1:0.0):0.0,2:0.0):1.0,3:1.0);"
    assert consensus.tree.nodes.size.tolist() == [1, 1, 1, 1, 2, 3, 4]


def test_no_tree_is_refused():
    with pytest.raises(ValueError, match="at least one tree"):
        majority_consensus([])


@pytest.mark.parametrize(
    "names", [("a", "b", "d"), ("a", "b"), ("a", "b", "b"), ("a", "b", "c", "d")]
)
def test_other_names_are_refused(names):
    first = Tree.from_linkage(chain(3), names="abc")
    other = Tree.from_linkage(chain(len(names)), names=names)
    with pytest.raises(ValueError, match="same 3 names"):
        clade_support(first, [other])
    with pytest.raises(ValueError, match="same 3 names"):
        majority_consensus([first, other])


@pytest.mark.parametrize("threshold", [0.4, 1.1, float("nan")])
def test_a_threshold_out_of_range_is_refused(threshold):
    with pytest.raises(ValueError, match="threshold must be"):
        majority_consensus([tree_of(3)], threshold)


def test_one_leaf_has_no_clades():
    single = Tree.from_partitions([1.0], [[0]])
    assert clades(single).shape == (0, 1)
    assert clade_support(single, [single]).share.size == 0
    assert majority_consensus([single]).tree.n_leaves == 1


def tree_of(n):
    return Tree.from_linkage(chain(n))
