"""Flat clusters of a tree: exactly k by the best pruning, and the choice of k."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, SupportsIndex

import numpy as np

from convexhc._checks import TIE, checked_count
from convexhc._types import FloatArray, IntArray
from convexhc.graph import Graph
from convexhc.similarity.edge_weights import positive_part
from convexhc.similarity.neighbors import Density
from convexhc.tree.binary import BinaryTree, resolve_polytomies
from convexhc.tree.nodes import Nodes
from convexhc.tree.pruning import (
    Prunings,
    best_prunings,
    modularities,
    regraft_small_branches,
    within_cost,
)


@dataclass(frozen=True)
class SelectionSettings:
    """Constants of the choice of flat clusters."""

    min_cluster_size: int = 5  # smaller branches are regrafted: boundary nodes use up no clusters
    min_cluster_divisor: int = 10  # in small data, branches of n / 10 nodes may be clusters
    max_tabulated: int = 200  # largest k tabulated at first, and considered as a scale
    clear_valley: float = math.log(2.0)  # depth of a density valley: half the density of clusters
    min_modularity_ratio: float = 0.5  # modularity without a clear valley, relative to the largest


SETTINGS = SelectionSettings()


class BestScale(NamedTuple):
    """A number of clusters, the modularity of its pruning, and its valley depth.

    ``valley_depth`` is None without densities.
    """

    n_clusters: int
    modularity: float
    valley_depth: float | None = None


@dataclass(frozen=True, eq=False)
class FlatClusters:
    """Flat clusters of a tree, judged by the features and the graph of its leaves."""

    nodes: Nodes
    # (n, r): one row per leaf; the cost of a cluster is its within-cluster sum of squares.
    # Without features, prunings undo merges from the highest down.
    features: FloatArray | None
    graph: Graph | None  # for modularity; negative weights are dropped
    # If the leaves are points: the density at each point and along the edges of the graph.
    density: Density | None = None
    _tables: dict[int, Prunings] = field(default_factory=dict, repr=False)

    @cached_property
    def binary(self) -> BinaryTree:
        """The tree with polytomies resolved by Ward's criterion."""
        return resolve_polytomies(self.nodes, self.features)

    def labels(self, n_clusters: SupportsIndex, min_cluster_size: int | None = None) -> IntArray:
        """Exactly ``n_clusters`` clusters, by the pruning of least within-cluster sum of squares.

        Branches below ``min_cluster_size`` above a split of two large branches go to the nearer of
        these, so that boundary nodes use up no clusters. Below the last such split they can still
        become clusters, if that lowers the sum of squares most.
        """
        wanted = checked_count("n_clusters", n_clusters)
        n = self.nodes.n_leaves
        if wanted > n:
            raise ValueError(f"n_clusters must be at most the {n} nodes; got {wanted}.")
        return self.prunings(wanted, min_cluster_size).labels(wanted)

    def prunings(self, max_clusters: int, min_cluster_size: int | None = None) -> Prunings:
        """Best prunings into up to ``max_clusters`` clusters or more; cached per minimum size."""
        n = self.nodes.n_leaves
        if min_cluster_size is None:
            min_size = default_min_cluster_size(n)
        else:
            min_size = checked_count("min_cluster_size", min_cluster_size)
        known = self._tables.get(min_size)
        if known is None or known.max_clusters < max_clusters:
            tree = self.binary
            if self.features is not None and min_size > 1:
                tree = regraft_small_branches(tree, self.features, min_size)
            most = min(n, max(max_clusters, SETTINGS.max_tabulated))
            known = self._tables[min_size] = best_prunings(tree, self._cost(tree), most)
        return known

    def _cost(self, tree: BinaryTree) -> FloatArray:
        """Cost of each node as a cluster: sum of squares, or without features, sum of row ranks."""
        if self.features is not None:
            return within_cost(tree, self.features)
        rank = np.arange(1.0, tree.n_leaves)
        return tree.subtree_sums(np.zeros(tree.n_leaves), rank)

    def best_scale(self, min_cluster_size: int | None = None) -> BestScale | None:
        """The pruning of largest modularity; for points, among those with clear density valleys.

        By modularity even the neighbour graph of a single cloud of points has groups. For points,
        the density between clusters must therefore be at most half of that inside. If no pruning
        has such valleys, the one with the deepest is taken among those with at least half the
        largest modularity. Ties go to fewer clusters. None without positive weights, or with fewer
        than three nodes.
        """
        n = self.nodes.n_leaves
        if self.graph is None or n < 3:
            return None
        positive = positive_part(self.graph)
        if not positive.n_edges:
            return None
        table = self.prunings(min(n - 1, SETTINGS.max_tabulated), min_cluster_size)
        found = modularities(table, positive)[: n - 1]
        if self.density is not None:
            return _best_scale_with_valleys(table, found, self.graph, self.density)
        best = int(np.argmax(found > found.max() - TIE))
        return BestScale(best + 1, float(found[best]))


def _best_scale_with_valleys(
    table: Prunings, modularity: FloatArray, graph: Graph, density: Density
) -> BestScale:
    """The pruning of largest modularity with clear valleys, else the one with the deepest."""
    deepest = BestScale(1, float(modularity[0]), 0.0)
    threshold = SETTINGS.min_modularity_ratio * float(modularity.max())
    for place in np.argsort(-modularity, kind="stable").tolist():
        if place == 0 or modularity[place] < threshold:
            break
        depth = valley_depth(graph, table.labels(place + 1), density)
        scale = BestScale(place + 1, float(modularity[place]), depth)
        if depth >= SETTINGS.clear_valley:
            return scale
        if deepest.n_clusters == 1 or depth > (deepest.valley_depth or 0.0):
            deepest = scale
    return deepest


def valley_depth(graph: Graph, labels: IntArray, density: Density) -> float:
    """How much lower the log density is between clusters than inside them; infinite if nothing is.

    The median over the edges between two clusters of the median log density of the sparser cluster
    less that at the midpoint of the edge. A cut through the middle of a cloud has depth about zero.
    """
    between = labels[graph.tail] != labels[graph.head]
    if not between.any():
        return float("inf")
    order = np.lexsort((density.nodes, labels))
    size = np.bincount(labels)
    start = np.cumsum(size) - size
    ranked = density.nodes[order]
    median = 0.5 * (ranked[start + (size - 1) // 2] + ranked[start + size // 2])
    a, b = labels[graph.tail[between]], labels[graph.head[between]]
    return float(np.median(np.minimum(median[a], median[b]) - density.edges[between]))


def default_min_cluster_size(n: int) -> int:
    """Default size below which a branch is regrafted: 5, or n / 10 if that is less."""
    return max(1, min(SETTINGS.min_cluster_size, n // SETTINGS.min_cluster_divisor))
