"""Random paths of partitions, and naive readings of paths and trees."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from convexhc.tree import Tree

SEEDS = st.integers(0, 2**32 - 1)


@st.composite
def lambda_grids(draw, length):
    """Strictly increasing values, from zero in some draws."""
    steps = draw(st.lists(st.floats(0.01, 10.0), min_size=length, max_size=length))
    grid = np.cumsum(steps)
    return grid - grid[0] if draw(st.booleans()) else grid


@st.composite
def nested_paths(draw, max_nodes=14, max_levels=7):
    """Partitions that only merge; the last one may have several clusters.

    Hypothesis draws the sizes and a seed for the merges; drawn one by one, nearly all merges would
    involve node 0.
    """
    n = draw(st.integers(1, max_nodes))
    length = draw(st.integers(1, max_levels))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    labels = rng.permutation(n)
    rows = []
    for _ in range(length):
        for a, b in rng.integers(0, n, size=(rng.integers(0, 5), 2)):
            labels = np.where(labels == labels[a], labels[b], labels)
        rows.append(labels)
    return draw(lambda_grids(length)), np.array(rows)


@st.composite
def paths(draw):
    """Partitions that merge and split: a nested path with some nodes relabelled at random."""
    lambdas, partitions = draw(nested_paths())
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    relabelled = rng.random(partitions.shape) < draw(st.sampled_from([0.0, 0.05, 0.3]))
    n = partitions.shape[1]
    return lambdas, np.where(relabelled, rng.integers(0, n + 1, size=partitions.shape), partitions)


def pairs(labels):
    """The n x n matrix of pairs in one cluster; equal for equal partitions."""
    labels = np.asarray(labels)
    return labels[:, None] == labels[None, :]


def together_from(partitions, level):
    """Pairs in one cluster in every row from ``level`` on."""
    return np.all([pairs(row) for row in partitions[level:]], axis=0)


def leaves_under(tree):
    """Set of leaves of each node, by the merges."""
    sets = [frozenset([leaf]) for leaf in range(tree.n_leaves)]
    for merge in tree.merges:
        sets.append(frozenset().union(*(sets[child] for child in merge.children)))
    return sets


def chain(n):
    """Linkage in which every row adds one leaf."""
    rows = np.arange(n - 1)
    left = np.where(rows == 0, 0, n + rows - 1)
    return np.column_stack([left, rows + 1, (rows + 1) / n, rows + 2]).astype(np.float64)


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
    """Tree in which all leaves merge at one lam."""
    return Tree.from_partitions([0.5, 1.0], [np.arange(n), np.zeros(n, dtype=int)]).nodes
