"""The leaf order of a tree."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from scipy.cluster import hierarchy
from tree.paths import chain, leaves_under, paths

from convexhc.tree import Tree


@given(paths())
def test_every_cluster_is_contiguous_in_the_leaf_order(path):
    tree = Tree.from_partitions(*path)
    order = tree.leaf_order()
    assert sorted(order.tolist()) == list(range(tree.n_leaves))
    place = np.argsort(order)
    for leaves in leaves_under(tree):
        places = place[list(leaves)]
        assert places.max() - places.min() == len(leaves) - 1


@given(paths())
def test_scipy_orders_the_leaves_alike(path):
    tree = Tree.from_partitions(*path)
    if tree.n_leaves > 1:
        assert hierarchy.leaves_list(tree.Z).tolist() == tree.leaf_order().tolist()


def test_a_long_chain_is_ordered_without_recursion():
    n = 50_000
    tree = Tree.from_linkage(chain(n))
    assert np.array_equal(tree.leaf_order(), np.arange(n))
    assert np.array_equal(tree.Z, chain(n))
