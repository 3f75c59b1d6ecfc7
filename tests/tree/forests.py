"""Random trees on the same leaves, and their clades as sets."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from tree.paths import SEEDS, leaves_under, nested_paths

from convexhc.tree import Tree


@st.composite
def forests(draw, max_trees=5):
    """Trees on the same leaves: the second and later ones differ from the first by a few swaps."""
    lambdas, partitions = draw(nested_paths(max_nodes=10))
    n = partitions.shape[1]
    rng = np.random.default_rng(draw(SEEDS))
    trees = [Tree.from_partitions(lambdas, partitions)]
    for _ in range(draw(st.integers(1, max_trees))):
        places = np.arange(n)
        for a, b in rng.integers(0, n, size=(rng.integers(0, 3), 2)):
            places[[a, b]] = places[[b, a]]
        kept = np.sort(rng.choice(len(lambdas), size=rng.integers(1, len(lambdas) + 1), replace=0))
        trees.append(Tree.from_partitions(lambdas[kept], partitions[kept][:, places]))
    return trees


def sets_of(tree):
    """The clades of a tree as sets of names."""
    merges = leaves_under(tree)[tree.n_leaves :]
    return [frozenset(tree.names[leaf] for leaf in leaves) for leaves in merges]
