"""The choice of a plateau when no scale is given."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree.paths import chain, pairs, paths

from convexhc.tree import Plateau, Tree
from convexhc.tree.plateaus import informative_fractions


def suggested(tree):
    return tree.suggest()[0]


def informative_fraction(labels):
    """Fraction of the nodes that are neither singletons nor in the largest cluster, naively."""
    sizes = np.bincount(labels)
    largest = int(sizes.argmax())
    placed = [label != largest and sizes[label] > 1 for label in labels]
    return sum(placed) / labels.size if sizes.max() > 1 else 0.0


def eligible(tree):
    between = [p for p in tree.plateaus() if 1 < p.n_clusters < tree.n_leaves]
    return [p for p in between if p.lam_from > tree.lambdas[0]] or between


@given(paths())
def test_informative_fractions_are_those_of_the_cuts(path):
    tree = Tree.from_partitions(*path)
    expected = [informative_fraction(tree.labels(n_clusters=k)) for k in tree.available_n_clusters]
    assert informative_fractions(tree.nodes) == pytest.approx(expected, abs=1e-12)


@given(paths())
def test_the_suggested_plateau_has_the_largest_score(path):
    tree = Tree.from_partitions(*path)
    plateau, labels = tree.suggest()
    assert plateau in tree.plateaus()
    assert np.array_equal(labels, tree.labels(lam=plateau.lam_from))
    between = eligible(tree)
    if not between:
        assert plateau == tree.plateaus()[-1]
        return
    scores = {p: p.log_width * informative_fraction(tree.labels(lam=p.lam_from)) for p in between}
    if not any(scores.values()):
        scores = {p: p.log_width for p in between}
    assert scores[plateau] == pytest.approx(max(scores.values()), abs=1e-12)


@given(paths(), st.integers(0, 2**32 - 1))
def test_the_order_of_the_nodes_does_not_matter(path, seed):
    lambdas, partitions = path
    order = np.random.default_rng(seed).permutation(partitions.shape[1])
    plateau, labels = Tree.from_partitions(lambdas, partitions).suggest()
    again, permuted = Tree.from_partitions(lambdas, partitions[:, order]).suggest()
    assert again == plateau
    assert np.array_equal(pairs(permuted), pairs(labels[order]))


@given(paths(), st.integers(1, 4))
def test_notable_plateaus_have_positive_scores_and_include_the_suggested(path, count):
    tree = Tree.from_partitions(*path)
    found = tree.notable_plateaus(count)
    assert len(found) <= count
    assert set(found) <= set(eligible(tree))
    assert all(p.log_width * informative_fraction(tree.labels(lam=p.lam_from)) > 0 for p in found)
    assert list(found) == sorted(found, key=lambda plateau: plateau.lam_from)
    if found:
        assert suggested(tree) in found
        assert tree.notable_plateaus(1) == (suggested(tree),)


@given(paths(), st.integers(2, 5))
def test_small_clusters_do_not_count(path, least):
    tree = Tree.from_partitions(*path)
    least = min(least, tree.n_leaves)
    plateau, labels = tree.suggest(min_cluster_size=least)
    inside = [p for p in tree.plateaus() if plateau.lam_from <= p.lam_from <= plateau.lam_to]
    large = [np.sum(np.bincount(tree.labels(lam=p.lam_from)) >= least) for p in inside]
    assert large[0] == plateau.n_clusters
    assert plateau.log_width == pytest.approx(
        sum(p.log_width for p, count in zip(inside, large, strict=True) if count == large[0])
    )
    assert labels.max() + 1 == max(plateau.n_clusters, 1)
    assert np.bincount(labels).min() >= least


def test_a_long_plateau_of_single_nodes_is_not_suggested():
    n = 40
    nearly_apart = np.append([0, 0], np.arange(1, n - 1))
    rows = [np.arange(n), nearly_apart, np.arange(n) // 10, np.zeros(n, dtype=int)]
    tree = Tree.from_partitions([1.0, 1.1, 50.0, 100.0], rows)
    assert max(eligible(tree), key=lambda p: p.log_width).n_clusters == n - 1
    assert suggested(tree).n_clusters == 4
    assert [plateau.n_clusters for plateau in tree.notable_plateaus()] == [4]


@pytest.mark.parametrize("alone", [1, 15])
def test_a_giant_with_single_nodes_around_it_is_not_suggested(alone):
    n = 40
    giant = np.maximum(np.arange(n) - (n - 1 - alone), 0)
    halves = np.where(np.arange(n) < n - alone, np.arange(n) // (n // 2), np.arange(n))
    rows = [np.arange(n), halves, giant, np.zeros(n, dtype=int)]
    tree = Tree.from_partitions([1.0, 1.1, 1.5, 100.0], rows)
    assert suggested(tree).lam_from == 1.1


def test_without_informative_plateaus_the_widest_is_suggested():
    giant = [[0, 1, 2, 3], [0, 0, 1, 2], [0, 0, 0, 1], [0, 0, 0, 0]]
    tree = Tree.from_partitions([1.0, 2.0, 30.0, 60.0], giant)
    assert suggested(tree).n_clusters == 3
    assert tree.notable_plateaus() == ()


def test_ties_go_to_fewer_clusters():
    # Both place half of the nodes: two pairs beside a half, and two halves.
    rows = [np.arange(8), [0, 0, 0, 0, 1, 1, 2, 2], [0, 0, 0, 0, 1, 1, 1, 1], [0] * 8]
    tree = Tree.from_partitions(np.geomspace(0.1, 0.7, 4), rows)
    assert suggested(tree).n_clusters == 2


@pytest.mark.parametrize("first", [1e-9, 1e-3, 1.0])
def test_the_first_lam_does_not_matter(first):
    """Nodes 0 and 1 are twins, and so are 2 and 3, together at any lam."""
    path = [[0, 0, 1, 1, 2, 3], [0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 1, 1], [0] * 6]
    tree = Tree.from_partitions([first, 2.0, 6.0, 9.0], path)
    assert suggested(tree) == Plateau(3, 2.0, 6.0, pytest.approx(np.log(3.0)))


def test_without_proper_plateaus_the_coarsest_is_suggested():
    log3 = pytest.approx(np.log(3.0))
    at_once = Tree.from_partitions([1.0, 2.0, 6.0], [[0, 1, 2], [0, 0, 0], [0, 0, 0]])
    assert suggested(at_once) == Plateau(1, 2.0, 6.0, log3)
    never = Tree.from_partitions([2.0, 6.0], [[0, 1], [0, 1]])
    assert suggested(never) == Plateau(2, 2.0, 6.0, log3)
    alone = Tree.from_partitions([0.0], [[0]])
    assert suggested(alone) == Plateau(1, 0.0, 0.0, 0.0)
    apart = Tree.from_partitions([1.0, 2.0], [[0, 1, 2, 3], [0, 0, 1, 1]], components=[0, 0, 1, 1])
    assert suggested(apart) == Plateau(2, 2.0, 2.0, 0.0)
    for tree in (at_once, never, alone):
        assert tree.notable_plateaus() == ()


def test_a_plateau_from_zero_counts_from_the_first_positive_lam():
    tree = Tree.from_partitions([0.0, 1.0, 2.0], [[0, 0, 1], [0, 0, 1], [0, 0, 0]])
    assert suggested(tree) == Plateau(2, 0.0, 2.0, pytest.approx(np.log(2.0)))


def test_a_long_chain_has_a_suggestion():
    tree = Tree.from_linkage(chain(50_000))
    assert suggested(tree) in tree.plateaus()


def test_a_size_below_one_is_refused():
    with pytest.raises(ValueError, match="min_cluster_size must be at least 1, received 0"):
        Tree.from_partitions([1.0], [[0, 1]]).suggest(min_cluster_size=0)
