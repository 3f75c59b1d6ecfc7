"""Colours: a sequence told apart by everyone on light and dark, and its assignment to clusters."""

from __future__ import annotations

from functools import cache
from importlib import resources

import numpy as np

from convexhc._types import IntArray, Labels
from convexhc.tree import Tree

# Number of distinct colours; more could not be told apart, so the sequence repeats.
N_COLORS = 256


def palette(n: int, *, dark: bool = False) -> tuple[str, ...]:
    """Hex colours for n clusters; the first ones do not depend on n, and after 256 they repeat.

    Six colours of Okabe and Ito, followed by a farthest-point sequence: each colour maximises the
    smallest Oklab distance to all before it, in normal, protanope and deuteranope vision. The dark
    variant keeps the hues and raises the lightness.
    """
    colors = _sequences()[dark]
    return tuple(colors[rank % N_COLORS] for rank in range(n))


@cache
def _sequences() -> tuple[list[str], list[str]]:
    """All colours on a light and on a dark background; ``tests/oklab.py`` makes their file."""
    file = resources.files("convexhc.layout").joinpath("palette.txt")
    colors = file.read_text(encoding="ascii").split()
    return colors[::2], colors[1::2]


def neutral(*, dark: bool = False) -> str:
    """Grey of everything that belongs to no cluster."""
    return "#7d7d7d" if dark else "#9a9a9a"


def color_ranks(tree: Tree) -> IntArray:
    """Palette rank of each node, a permutation; a cluster takes the smallest rank of its members.

    When clusters merge, the largest one (of equal ones, the one with the smallest node) keeps its
    colour. Colours that survive longest have the smallest ranks, so a cut into k clusters uses the
    first k colours, and a cluster keeps its colour until a larger one absorbs it.
    """
    nodes = tree.nodes
    n = nodes.n_leaves
    by_parent = np.lexsort((nodes.first_leaf[:-1], -nodes.size[:-1], nodes.parent[:-1]))
    starts = np.concatenate([[0], np.cumsum(nodes.n_children)[:-1]]).astype(np.int64)
    is_largest_child = np.zeros(nodes.parent.size, dtype=bool)
    is_largest_child[by_parent[starts] if nodes.n_merges else []] = True
    is_largest_child[-1] = True
    # Top-down pass: the highest ancestor that still has the colour of each node.
    top = np.arange(nodes.parent.size)
    for node in range(nodes.parent.size - 2, -1, -1):
        if is_largest_child[node]:
            top[node] = top[nodes.parent[node]]
    top = top[:n]
    parent = nodes.parent[top]
    lam_absorbed = np.where(parent >= 0, nodes.height[parent], np.inf)
    never_largest = top == np.arange(n)
    order = np.lexsort((nodes.first_leaf[top], -nodes.size[top], -lam_absorbed, never_largest))
    return np.argsort(order)


def ranks_by_size(labels: Labels) -> IntArray:
    """Palette rank of each node for a single partition, large clusters first."""
    _, inverse, counts = np.unique(labels, return_inverse=True, return_counts=True)
    return np.argsort(np.lexsort((np.arange(labels.size), inverse, -counts[inverse])))


def cluster_ranks(labels: Labels, ranks: IntArray) -> IntArray:
    """Palette rank of each cluster: the smallest rank of its members, -1 for single nodes."""
    smallest = np.full(int(labels.max()) + 1, labels.size, dtype=np.int64)
    np.minimum.at(smallest, labels, ranks)
    smallest[np.bincount(labels) < 2] = -1
    return smallest


def rank_colors(ranks: IntArray, *, dark: bool = False) -> list[str]:
    """Palette colours of some ranks; neutral for rank -1."""
    colors = palette(int(ranks.max(initial=-1)) + 1, dark=dark)
    return [colors[rank] if rank >= 0 else neutral(dark=dark) for rank in ranks]
