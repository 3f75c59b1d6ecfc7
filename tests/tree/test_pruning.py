"""Optimal prunings of a binary tree, and the modularity of their clusters."""

from __future__ import annotations

from itertools import pairwise, product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree.paths import SEEDS, chain, pairs, paths

from convexhc.graph import Graph
from convexhc.tree import Tree
from convexhc.tree.binary import BinaryTree, resolve_polytomies
from convexhc.tree.pruning import (
    best_prunings,
    inner_weight,
    modularities,
    modularity_terms,
    regraft_small_branches,
    within_cost,
)


@st.composite
def trees(draw):
    """A binary tree with features: of a path, with wide merges, or by joins at random."""
    rng = np.random.default_rng(draw(SEEDS))
    if draw(st.booleans()):
        nodes = Tree.from_partitions(*draw(paths())).nodes
        features = rng.normal(size=(nodes.n_leaves, 3))
        return resolve_polytomies(nodes, features), features
    n = draw(st.integers(1, 12))
    alive, rows = list(range(n)), []
    for row in range(n - 1):
        rows.append([alive.pop(rng.integers(len(alive))) for _ in range(2)])
        alive.append(n + row)
    left, right = np.array(rows, dtype=np.int64).reshape(-1, 2).T
    tree = BinaryTree(left, right, np.arange(1.0, n), np.zeros(n - 1, dtype=bool))
    return tree, rng.normal(size=(n, 3))


def leaves_of(tree):
    sets = [[leaf] for leaf in range(tree.n_leaves)]
    for a, b in zip(tree.left, tree.right, strict=True):
        sets.append(sets[a] + sets[b])
    return sets


def all_prunings(tree):
    """Every way to take branches that hold each leaf once."""
    ways = [[(leaf,)] for leaf in range(tree.n_leaves)]
    for row, (a, b) in enumerate(zip(tree.left, tree.right, strict=True)):
        both = [one + other for one, other in product(ways[a], ways[b])]
        ways.append([(tree.n_leaves + row,), *both])
    return ways[-1]


def random_graph(n, seed, *, loops=True):
    rng = np.random.default_rng(seed)
    matrix = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.5), 0 if loops else 1)
    return Graph.from_matrix(matrix + np.triu(matrix, 1).T)


@given(trees(), SEEDS)
def test_no_pruning_is_cheaper(drawn, seed):
    tree, _ = drawn
    cost = np.random.default_rng(seed).normal(size=2 * tree.n_leaves - 1)
    least = {}
    for way in all_prunings(tree):
        total = cost[list(way)].sum()
        least[len(way)] = min(least.get(len(way), np.inf), total)
    prunings = best_prunings(tree, cost, tree.n_leaves)
    assert prunings.cost == pytest.approx([least[k] for k in range(1, tree.n_leaves + 1)])
    for k in range(1, tree.n_leaves + 1):
        assert cost[prunings.branches(k)].sum() == pytest.approx(least[k])


@given(trees())
def test_labels_are_exactly_k_branches(drawn):
    tree, features = drawn
    n, leaves = tree.n_leaves, leaves_of(tree)
    prunings = best_prunings(tree, within_cost(tree, features), n + 3)
    assert prunings.max_clusters == n
    for k in range(1, n + 1):
        labels, branches = prunings.labels(k), prunings.branches(k)
        assert list(dict.fromkeys(labels.tolist())) == list(range(k))
        found = {frozenset(np.flatnonzero(labels == label).tolist()) for label in range(k)}
        assert found == {frozenset(leaves[branch]) for branch in branches}
    assert prunings.cost[n - 1] == 0
    assert all(more >= fewer - 1e-12 for more, fewer in pairwise(prunings.cost))


@given(trees(), st.integers(1, 6), SEEDS)
def test_a_smaller_limit_changes_nothing_below_it(drawn, most, seed):
    tree, _ = drawn
    cost = np.random.default_rng(seed).normal(size=2 * tree.n_leaves - 1)
    some, every = best_prunings(tree, cost, most), best_prunings(tree, cost, tree.n_leaves)
    assert some.max_clusters == min(most, tree.n_leaves)
    for k in range(1, some.max_clusters + 1):
        assert np.array_equal(some.branches(k), every.branches(k))


@given(paths(), SEEDS)
def test_the_order_of_the_leaves_does_not_matter(path, seed):
    lambdas, partitions = path
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(partitions.shape[1], 3))
    order = rng.permutation(partitions.shape[1])

    def found(rows, table):
        tree = resolve_polytomies(Tree.from_partitions(lambdas, rows).nodes, table)
        return best_prunings(tree, within_cost(tree, table), len(table))

    plain, moved = found(partitions, features), found(partitions[:, order], features[order])
    for k in range(1, len(features) + 1):
        assert np.array_equal(pairs(moved.labels(k)), pairs(plain.labels(k)[order]))


def test_ties_go_to_fewer_clusters_in_the_branch_with_fewer_leaves():
    # Leaves 0 .. 2 under node 6, the larger branch on the left; 3 and 4 under node 7.
    tree = BinaryTree([0, 5, 3, 6], [1, 2, 4, 7], [1.0] * 4, [False] * 4)
    prunings = best_prunings(tree, np.zeros(9), 5)
    assert prunings.branches(3).tolist() == [5, 2, 7]
    # Of two equal ones the left stays whole.
    tree = BinaryTree([0, 2, 4], [1, 3, 5], [1.0] * 3, [False] * 3)
    assert best_prunings(tree, np.zeros(7), 4).branches(3).tolist() == [4, 2, 3]


@given(trees(), st.sampled_from([0.0, 1e12]))
def test_within_cost_is_the_sum_of_squares_for_any_origin(drawn, offset):
    tree, features = drawn
    moved = features + offset
    found = within_cost(tree, moved)
    assert (found >= 0).all()
    for node, leaves in enumerate(leaves_of(tree)):
        under = moved[leaves] - offset
        expected = ((under - under.mean(axis=0)) ** 2).sum()
        assert found[node] == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_a_tight_cluster_far_from_the_others_keeps_its_digits():
    """Squares less the square of the mean would lose all of them."""
    features = np.array([[1e6], [1e6 + 1e-3], [0.0]])
    tree = BinaryTree([0, 3], [1, 2], [1.0, 2.0], [False, False])
    assert within_cost(tree, features)[3] == pytest.approx(5e-7, rel=1e-6)


@given(trees(), SEEDS)
def test_inner_weight_counts_each_edge_once(drawn, seed):
    tree, _ = drawn
    graph = random_graph(tree.n_leaves, seed)
    matrix, found = graph.dense(), inner_weight(tree, graph)
    for node, leaves in enumerate(leaves_of(tree)):
        expected = sum(matrix[i, j] for i in leaves for j in leaves if i <= j)
        assert found[node] == pytest.approx(expected, abs=1e-12)


@given(trees(), SEEDS)
def test_modularity_is_that_of_networkx_and_of_the_formula(drawn, seed):
    tree, features = drawn
    graph = random_graph(tree.n_leaves, seed)
    prunings = best_prunings(tree, within_cost(tree, features), tree.n_leaves)
    every = modularities(prunings, graph)
    if not graph.matrix().nnz:
        assert not every.any()
        return
    matrix = graph.dense()
    matrix += np.diag(graph.diagonal)
    degree, total = matrix.sum(axis=1), matrix.sum()
    for k in range(1, tree.n_leaves + 1):
        branches, labels = prunings.branches(k), prunings.labels(k)
        members = [np.flatnonzero(labels == label).tolist() for label in range(k)]
        naive = sum(
            matrix[i, j] / total - degree[i] * degree[j] / total**2
            for cluster in members
            for i in cluster
            for j in cluster
        )
        known = nx.community.modularity(nx.from_numpy_array(graph.dense()), members)
        assert modularity_terms(tree, graph)[branches].sum() == pytest.approx(naive, abs=1e-12)
        assert every[k - 1] == pytest.approx(known, abs=1e-12)


@given(trees(), SEEDS)
def test_prunings_maximise_modularity(drawn, seed):
    tree, _ = drawn
    graph = random_graph(tree.n_leaves, seed, loops=False)
    prunings = best_prunings(tree, -modularity_terms(tree, graph), tree.n_leaves)
    best = max(modularity_terms(tree, graph)[list(way)].sum() for way in all_prunings(tree))
    assert -prunings.cost.min() == pytest.approx(best, abs=1e-12)
    assert -prunings.cost == pytest.approx(modularities(prunings, graph), abs=1e-12)


def two_groups_under_a_chain():
    """Two groups of 10 that meet, and then six leaves that join one by one, far from both."""
    rows = [np.arange(26), np.r_[np.zeros(10), np.ones(10), np.arange(2, 8)]]
    rows += [np.maximum(np.arange(26) - 19 - step, 0) for step in range(7)]
    nodes = Tree.from_partitions(np.arange(1.0, 10.0), np.array(rows, dtype=int)).nodes
    features = np.random.default_rng(1).normal(size=(26, 2))
    features[:10, 0] += 6.0
    features[10:20, 0] -= 6.0
    features[20:, 0] += np.where(np.arange(6) % 2, -4.0, 4.0)
    features[20:, 1] += 40.0
    return nodes, features


def test_regrafting_reveals_two_equal_groups():
    nodes, features = two_groups_under_a_chain()
    tree = resolve_polytomies(nodes, features)
    placed = regraft_small_branches(tree, features, 5)
    labels = best_prunings(placed, within_cost(placed, features), 2).labels(2)
    assert labels.tolist() == [0] * 10 + [1] * 10 + [0, 1] * 3
    alone = best_prunings(tree, within_cost(tree, features), 2).labels(2)
    assert np.bincount(alone).tolist() == [25, 1]


def test_one_and_two_leaves():
    one = resolve_polytomies(Tree.from_partitions([1.0], [[0]]).nodes, None)
    prunings = best_prunings(one, within_cost(one, [[4.0]]), 9)
    assert prunings.labels(1).tolist() == [0]
    assert prunings.branches(1).tolist() == [0]
    loop = Graph.from_matrix([[2.0]])
    assert inner_weight(one, loop).tolist() == [2.0]
    assert modularities(prunings, loop).tolist() == [0.0]
    two = BinaryTree([0], [1], [1.0], [False])
    prunings = best_prunings(two, within_cost(two, [[4.0], [6.0]]), 2)
    assert prunings.cost.tolist() == [2.0, 0.0]
    assert [prunings.labels(k).tolist() for k in (1, 2)] == [[0, 0], [0, 1]]
    assert inner_weight(two, Graph.from_edges(2, [0], [1], [3.0])).tolist() == [0.0, 0.0, 3.0]


def test_a_long_chain_is_pruned():
    n = 20_000
    tree = resolve_polytomies(Tree.from_linkage(chain(n)).nodes, None)
    # In a chain on a line every pruning is a first stretch and single leaves.
    cost = within_cost(tree, np.arange(n)[:, None])
    prunings = best_prunings(tree, cost, 200)
    for k in (1, 2, 200):
        assert prunings.branches(k).tolist()[0] == 2 * n - 1 - k
        assert np.array_equal(prunings.labels(k), np.maximum(np.arange(n) - (n - k), 0))
    ring = Graph.from_edges(n, np.arange(n), np.roll(np.arange(n), -1))
    assert np.array_equal(inner_weight(tree, ring)[n:], np.append(np.arange(1, n - 1), n))


def test_negative_weights_count_inside():
    tree = BinaryTree([0, 3], [1, 2], [1.0, 2.0], [False, False])
    signed = Graph.from_edges(3, [0], [1], [-1.0], signed=True)
    assert inner_weight(tree, signed)[3] == -1.0
