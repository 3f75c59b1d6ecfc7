"""Does a graph have groups at all? Edges that were set aside tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from convexhc.graph import Graph
from convexhc.io import as_graph
from convexhc.similarity.block_model import modularity
from convexhc.similarity.diffusion_time import diffusion_features
from convexhc.similarity.scales import refined_scales

# Parts into which the edges are dealt; each is set aside in turn.
PARTS = 5
# Graphs with fewer edges than this have twice as many parts: groups need the edges that are left.
FEW_EDGES = 1000
# Standard deviations above chance from which on groups count as found: one false alarm in 700.
CONFIDENT = 3.0


class NoStructureWarning(UserWarning):
    """A scale was suggested where the data show none."""


@dataclass(frozen=True)
class Structure:
    """Evidence for groups: how far set-aside edges fall inside groups found without them.

    Attributes
    ----------
    z_score : float
        Standard deviations above chance.
    inside, chance : float
        Share of the set-aside weight inside groups, and the share expected with the same degrees.
    """

    z_score: float
    inside: float
    chance: float

    @property
    def found(self) -> bool:
        """Whether the graph has groups beyond chance."""
        return self.z_score >= CONFIDENT

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
    """Test whether a graph has groups: find them on some edges, count the others.

    A fifth of the edges is set aside (a tenth if there are few), groups are found on the rest
    (`refined_scales`, the scale of largest modularity), and the set-aside edges are counted inside
    them; every part takes its turn. Without groups an edge falls inside with the probability its
    degrees give, whatever was found on the others.

    Parameters
    ----------
    A : anything :func:`convexhc.io.as_graph` reads
        The graph; weights not negative, negative ones are left out.
    random_state : int
        Seed of the deal.

    Returns
    -------
    Structure
        Five or ten times the cost of the features and the scales.

    Examples
    --------
    >>> from convexhc.datasets import fractal_graph
    >>> group_structure(fractal_graph().adjacency).found
    True
    """
    graph = as_graph(A, signed=True)
    positive = np.flatnonzero(graph.weight > 0)
    parts = PARTS if positive.size >= FEW_EDGES else 2 * PARTS
    part = np.random.default_rng(random_state).permutation(positive.size) % parts
    inside = chance = total = variance = 0.0
    for turn in range(parts):
        aside, rest = positive[part == turn], positive[part != turn]
        labels = _groups(graph, rest)
        if labels is None or not aside.size:
            continue
        weight = graph.weight[aside]
        tail, head = graph.tail[aside], graph.head[aside]
        share = _chance(labels, tail, head, weight)
        inside += float(weight[labels[tail] == labels[head]].sum())
        chance += share * float(weight.sum())
        variance += share * (1.0 - share) * float(np.square(weight).sum())
        total += float(weight.sum())
    if variance <= 0.0:
        return Structure(0.0, 0.0, 0.0)
    return Structure((inside - chance) / float(np.sqrt(variance)), inside / total, chance / total)


def _groups(graph: Graph, kept: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Partition of largest modularity among the scales of some edges."""
    n = graph.n
    ends = (graph.tail[kept], graph.head[kept])
    half = sparse.coo_array((graph.weight[kept], ends), shape=(n, n))
    adjacency = sparse.csr_array(half + half.T)
    if n < 4 or not adjacency.nnz:
        return None
    scales = refined_scales(adjacency, diffusion_features(adjacency), thorough=False)
    found = [scales.labels(scale) for scale in range(len(scales.n_groups))]
    if not found:
        return None
    return max(found, key=lambda labels: modularity(adjacency, labels))


def _chance(labels: Any, tail: Any, head: Any, weight: Any) -> float:
    """Probability that both ends of an edge with such degrees share a group; no self-pairs."""
    n = labels.size
    degree = np.bincount(tail, weight, n) + np.bincount(head, weight, n)
    volume = np.bincount(labels, degree)
    alone = float(np.square(degree).sum())
    every = float(degree.sum()) ** 2 - alone
    return (float(np.square(volume).sum()) - alone) / every if every > 0.0 else 1.0
