"""How a tree is read: exactly k clusters by the best pruning, and the scale to suggest."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, SupportsIndex

import numpy as np

from convexhc._checks import checked_count
from convexhc._types import FloatArray, IntArray
from convexhc.graph import Graph
from convexhc.similarity.density import Density
from convexhc.similarity.strongest import positive_part
from convexhc.tree.binary import BinaryTree, refine, replace_stragglers
from convexhc.tree.nodes import Nodes
from convexhc.tree.pruning import Prunings, best_prunings, modularities, within_cost
from convexhc.tree.valleys import valley_depth

# Branches below this size do not use up clusters, unless told otherwise.
SMALLEST_CLUSTER = 5
# In small data a tenth of the nodes is a cluster already.
SMALLEST_SHARE = 10
# Modularities that differ by less are equal.
EQUAL = 1e-9
# Numbers of clusters that are tabulated at first, and among which a scale is chosen.
TABULATED = 200
# Depth of a valley of density that is no accident: half the density of the clusters.
CLEAR_VALLEY = math.log(2.0)
# Where no valley is that deep: share of the largest modularity that the deepest one must have.
ENOUGH_MODULARITY = 0.5


class BestScale(NamedTuple):
    """A number of clusters, the modularity of its pruning, and the depth of its valleys.

    ``valley`` is None without densities.
    """

    n_clusters: int
    modularity: float
    valley: float | None = None


@dataclass(frozen=True, eq=False)
class Reading:
    """A tree with the features and the graph of its leaves, which say which cuts are good ones.

    Parameters
    ----------
    nodes : Nodes
        The tree, with any number of children per node.
    features : (n, r) array or None
        One row per leaf; the cost of a cluster is its within-cluster sum of squares. Without them
        merges are undone from the highest down.
    graph : Graph or None
        For modularity; negative weights are left out.
    density : Density or None
        For leaves that are points: the density at each, and along the edges of the graph.
    """

    nodes: Nodes
    features: FloatArray | None
    graph: Graph | None
    density: Density | None = None
    _tables: dict[int, Prunings] = field(default_factory=dict, repr=False)

    @cached_property
    def binary(self) -> BinaryTree:
        """The tree with merges of several branches resolved by Ward's rule on their means."""
        return refine(self.nodes, self.features)

    def labels(self, n_clusters: SupportsIndex, min_cluster_size: int | None = None) -> IntArray:
        """Exactly so many clusters, by the pruning of least within-cluster sum of squares.

        Branches below ``min_cluster_size`` that leave a larger one go with the nearer of the
        clusters it falls into (`replace_stragglers`), so that boundary nodes use up no clusters.
        Below the last split of two large branches they can still be split off, where that lowers
        the sum of squares more than any other split.
        """
        wanted = checked_count("n_clusters", n_clusters)
        n = self.nodes.n_leaves
        if wanted > n:
            raise ValueError(f"n_clusters must be at most the {n} nodes; got {wanted}.")
        return self.prunings(wanted, min_cluster_size).labels(wanted)

    def prunings(self, max_clusters: int, min_cluster_size: int | None = None) -> Prunings:
        """Best prunings into up to ``max_clusters`` clusters or more; kept for the next call."""
        n = self.nodes.n_leaves
        least = smallest_cluster(n)
        if min_cluster_size is not None:
            least = checked_count("min_cluster_size", min_cluster_size)
        known = self._tables.get(least)
        if known is None or known.max_clusters < max_clusters:
            tree, cost = self.binary, self._cost(self.binary)
            if self.features is not None and least > 1:
                tree = replace_stragglers(self.binary, self.features, least)
                cost = self._cost(tree)
            most = min(n, max(max_clusters, TABULATED))
            known = self._tables[least] = best_prunings(tree, cost, most)
        return known

    def _cost(self, tree: BinaryTree) -> FloatArray:
        if self.features is not None:
            return within_cost(tree, self.features)
        # Without features a row costs its rank: the best pruning undoes the last rows.
        rank = np.arange(1.0, tree.n_leaves)
        return tree.totals(np.zeros(tree.n_leaves), rank)

    def best_scale(self, min_cluster_size: int | None = None) -> BestScale | None:
        """The pruning of largest modularity; for points, of those with a valley of density.

        The neighbour graph of one cloud of points has groups too, by modularity: its parts. So for
        points the density between clusters must be half of that inside or less (`valley_depth`). If
        no pruning has such valleys, the one with the deepest is taken among those of half the
        largest modularity or more. Of equal ones the fewest clusters. None without a graph, without
        positive weights, or with fewer than three nodes.
        """
        n = self.nodes.n_leaves
        if self.graph is None or n < 3:
            return None
        positive = positive_part(self.graph)
        if not positive.n_edges:
            return None
        table = self.prunings(min(n - 1, TABULATED), min_cluster_size)
        found = modularities(table, positive)[: n - 1]
        if self.density is not None:
            return _with_valleys(table, found, self.graph, self.density)
        best = int(np.argmax(found > found.max() - EQUAL))
        return BestScale(best + 1, float(found[best]))


def _with_valleys(
    table: Prunings, modularity: FloatArray, graph: Graph, density: Density
) -> BestScale:
    """The pruning of largest modularity with clear valleys, or else the one of the deepest."""
    deepest = BestScale(1, float(modularity[0]), 0.0)
    enough = ENOUGH_MODULARITY * float(modularity.max())
    for place in np.argsort(-modularity, kind="stable").tolist():
        if place == 0 or modularity[place] < enough:
            break
        depth = valley_depth(graph, table.labels(place + 1), density)
        scale = BestScale(place + 1, float(modularity[place]), depth)
        if depth >= CLEAR_VALLEY:
            return scale
        if deepest.n_clusters == 1 or depth > (deepest.valley or 0.0):
            deepest = scale
    return deepest


def smallest_cluster(n: int) -> int:
    """Size below which a branch uses up no cluster by default: 5, or a tenth of few nodes."""
    return max(1, min(SMALLEST_CLUSTER, n // SMALLEST_SHARE))
