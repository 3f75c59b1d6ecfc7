"""Leaf order, dendrogram coordinates and cophenetic distances."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from scipy.cluster import hierarchy
from tree.paths import chain, leaves_under, paths

from convexhc.tree import Tree, dendrogram_layout


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
def test_tree_layout_and_scipy_order_the_leaves_alike(path):
    tree = Tree.from_partitions(*path)
    order = tree.leaf_order().tolist()
    assert tree.layout().leaf_order.tolist() == order
    if tree.n_leaves > 1:
        assert hierarchy.leaves_list(tree.Z).tolist() == order


@given(paths())
def test_brackets_are_those_of_scipy(path):
    Z = Tree.from_partitions(*path).Z
    layout = dendrogram_layout(Z)
    if Z.shape[0] == 0:
        assert layout.icoord.shape == layout.dcoord.shape == (0, 4)
        return
    scipys = hierarchy.dendrogram(Z, no_plot=True)
    assert scipys["leaves"] == layout.leaf_order.tolist()
    # Scipy starts at 5 and steps by 10, and lists the brackets in an order of its own.
    expected = np.column_stack([(np.array(scipys["icoord"]) - 5) / 10, scipys["dcoord"]])
    found = np.column_stack([layout.icoord, layout.dcoord])
    assert sorted(found.tolist()) == sorted(expected.tolist())


@given(paths())
def test_nodes_stand_in_the_middle_of_their_brackets(path):
    tree = Tree.from_partitions(*path)
    n, layout = tree.n_leaves, tree.layout()
    assert layout.x[layout.leaf_order].tolist() == list(range(n))
    assert np.array_equal(layout.height[n:], tree.Z[:, 2])
    assert not layout.height[:n].any()
    assert np.array_equal(layout.x[n:], (layout.icoord[:, 0] + layout.icoord[:, 3]) / 2)


@given(paths())
def test_cophenetic_distances_agree_with_the_cuts(path):
    tree = Tree.from_partitions(*path)
    found = tree.cophenetic()
    if tree.n_leaves == 1:
        assert found.shape == (0,)
        return
    i, j = np.triu_indices(tree.n_leaves, 1)
    for lam in tree.lambdas:
        labels = tree.labels(lam=lam)
        assert np.array_equal(labels[i] == labels[j], found <= lam)


def test_cophenetic_of_a_scipy_linkage():
    points = np.random.default_rng(5).normal(size=(60, 3))
    Z = hierarchy.linkage(points, "average")
    assert np.array_equal(Tree.from_linkage(Z).cophenetic(), hierarchy.cophenet(Z))


def test_a_long_chain_is_laid_out():
    n = 50_000
    tree = Tree.from_linkage(chain(n))
    assert np.array_equal(tree.leaf_order(), np.arange(n))
    layout = tree.layout()
    assert np.array_equal(layout.x[:n], np.arange(n))
    assert np.array_equal(tree.Z, chain(n))
