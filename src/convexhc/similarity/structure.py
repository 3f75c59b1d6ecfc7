"""Test for community structure by cross-validation over edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from convexhc._types import FloatArray, IntArray, Labels
from convexhc.graph import Graph
from convexhc.io import as_graph
from convexhc.similarity.leaves import SETTINGS as LEAVES
from convexhc.similarity.leaves import has_leaves, leaves_of, node_features
from convexhc.similarity.scales import modularity


@dataclass(frozen=True)
class StructureSettings:
    """Constants of the test for groups."""

    n_folds: int = 5  # of the cross-validation
    few_edges: int = 1000  # below, twice as many folds: more edges are left for training
    significant_z: float = 3.0  # z-score at which groups count as found: one false alarm in 700


SETTINGS = StructureSettings()


class NoStructureWarning(UserWarning):
    """A number of clusters was suggested for data without significant groups."""


@dataclass(frozen=True)
class Structure:
    """Evidence for groups: share of held-out edges inside groups found without them.

    Attributes
    ----------
    z_score : float
        Standard deviations above the expected share.
    inside, chance : float
        Share of the held-out weight inside groups, and its expectation given the degrees.
    """

    z_score: float
    inside: float
    chance: float

    @property
    def found(self) -> bool:
        """Whether the graph has groups beyond chance."""
        return self.z_score >= SETTINGS.significant_z

    @property
    def tested(self) -> bool:
        """Whether there were enough nodes and edges for a test."""
        return self.chance > 0.0

    def __str__(self) -> str:
        if not self.tested:
            return "too few nodes and edges to tell groups from chance"
        verdict = "groups found" if self.found else "no groups beyond chance"
        return (
            f"{verdict}: {100 * self.inside:.0f} % of the edges set aside lie inside groups found "
            f"without them, {100 * self.chance:.0f} % expected (z = {self.z_score:.1f})"
        )


def group_structure(A: Any, *, random_state: int = 0) -> Structure:
    """Test whether a graph has groups beyond chance, by cross-validation over its edges.

    Groups are found on four fifths of the edges (nine tenths of few): the partition of largest
    modularity of `refined_scales`. The held-out edges inside them are counted; under the null
    hypothesis an edge falls inside with the probability given by the degrees of the held-out edges.
    Negative weights are left out. Each fold is held out once; four folds of 1501 nodes, and ever
    fewer of larger graphs.
    """
    graph = as_graph(A, signed=True)
    positive = np.flatnonzero(graph.weight > 0)
    n_folds = SETTINGS.n_folds if positive.size >= SETTINGS.few_edges else 2 * SETTINGS.n_folds
    fold = np.random.default_rng(random_state).permutation(positive.size) % n_folds
    inside = chance = total = variance = 0.0
    # Few folds of a large graph have enough edges to tell.
    largest = SETTINGS.n_folds * LEAVES.max_nodes
    for held_out in range(max(1, largest // graph.n) if has_leaves(graph.n) else n_folds):
        test, train = positive[fold == held_out], positive[fold != held_out]
        labels = _groups(graph, train)
        if labels is None or not test.size:
            continue
        weight = graph.weight[test]
        tail, head = graph.tail[test], graph.head[test]
        share = _expected_share(labels, tail, head, weight)
        inside += float(weight[labels[tail] == labels[head]].sum())
        chance += share * float(weight.sum())
        variance += share * (1.0 - share) * float(np.square(weight).sum())
        total += float(weight.sum())
    if variance <= 0.0:
        return Structure(0.0, 0.0, 0.0)
    return Structure((inside - chance) / float(np.sqrt(variance)), inside / total, chance / total)


def _groups(graph: Graph, kept: IntArray) -> Labels | None:
    """Partition of largest modularity among the scales of some edges; None if there is none."""
    n = graph.n
    ends = (graph.tail[kept], graph.head[kept])
    half = sparse.coo_array((graph.weight[kept], ends), shape=(n, n))
    adjacency = sparse.csr_array(half + half.T)
    if n < 4 or not adjacency.nnz:
        return None
    leaves = leaves_of(adjacency, node_features(as_graph(adjacency)))
    scales = leaves.scales(thorough=False)
    found = [scales.labels(scale)[leaves.labels] for scale in range(len(scales.n_groups))]
    return max(found, key=lambda labels: modularity(adjacency, labels), default=None)


def _expected_share(labels: Labels, tail: IntArray, head: IntArray, weight: FloatArray) -> float:
    """Probability that a random edge with these degrees, no self-loop, is inside a group."""
    n = labels.size
    degree = np.bincount(tail, weight, n) + np.bincount(head, weight, n)
    volume = np.bincount(labels, degree)
    loops = float(np.square(degree).sum())
    pairs = float(degree.sum()) ** 2 - loops
    return (float(np.square(volume).sum()) - loops) / pairs if pairs > 0.0 else 1.0
