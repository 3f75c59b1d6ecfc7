"""Exact contraction of a problem: one centroid per cluster.

With fused rows, C = S D with S the indicator matrix of the clusters, the problem keeps its form:
rows have masses, and edges between two clusters have the sum of their weights. Costs decrease from
N^2 and N E to c N and E_c N. A contracted solution solves the full problem only if a flow inside
every cluster completes its dual (`graph_flows`, `point_flows`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array, eye_array

from convexhc._types import FloatArray, Labels
from convexhc.graph import Graph
from convexhc.model.metric import EUCLIDEAN, InnerProduct, averaging_matrix
from convexhc.model.penalty import Differences
from convexhc.model.problem import FusionProblem

# Least stiffness of an edge between clusters: where all edges of a group have weights far below the
# mean, their duals would take thousands of iterations.
_LEAST_STIFFNESS = 1e-2


@dataclass(frozen=True, eq=False)
class Contraction:
    """A contracted problem, and the map between its edges and those of the full problem."""

    problem: FusionProblem  # the contracted problem, at any lam
    labels: Labels  # (N,): cluster of every node
    graph: Graph  # weights of the full problem
    # (E_c, E): signed sums over the edges between two clusters: +1 or -1 by direction.
    sums: csr_array
    # (E,): weight of an edge over the weight of all edges between the same clusters; zero inside
    # a cluster.
    share: FloatArray

    @cached_property
    def mean(self) -> csr_array:
        """Matrix of means over clusters, (c, N)."""
        return averaging_matrix(self.labels)

    @cached_property
    def between(self) -> csr_array:
        """Matrix from a dual between clusters to its net flow D'Y at every node, (N, E_c)."""
        graph, signs = self.graph, self.sums.tocoo()
        pair, edge = signs.coords
        part = signs.data * self.share[edge]
        ends = np.concatenate([graph.tail[edge], graph.head[edge]]), np.tile(pair, 2)
        shape = (graph.n, self.sums.shape[0])
        return csr_array((np.concatenate([part, -part]), ends), shape=shape)


def contract(problem: FusionProblem, labels: Labels) -> Contraction:
    """Contract a problem to one row per cluster of ``labels``. O(N + E log E)."""
    penalty = problem.penalty
    graph = penalty.graph
    count = int(labels.max()) + 1
    if count == labels.size and np.array_equal(labels, np.arange(count)):
        identity = eye_array(graph.n_edges).tocsr()
        return Contraction(problem, labels, graph, identity, np.ones(graph.n_edges))
    metric = (
        InnerProduct(np.bincount(labels).astype(np.float64)) if count < labels.size else EUCLIDEAN
    )
    tail, head = labels[graph.tail], labels[graph.head]
    crossing = np.flatnonzero(tail != head)
    low, high = np.minimum(tail, head)[crossing], np.maximum(tail, head)[crossing]
    pairs, index = np.unique(low * count + high, return_inverse=True)
    weight = np.bincount(index, graph.weight[crossing], pairs.size).astype(np.float64)
    names = tuple(range(count))
    small = Graph(count, pairs // count, pairs % count, weight, np.zeros(count), names)
    sign = np.where(tail[crossing] < head[crossing], 1.0, -1.0)
    sums = csr_array((sign, (index, crossing)), (pairs.size, graph.n_edges))
    share = np.zeros(graph.n_edges)
    share[crossing] = graph.weight[crossing] / weight[index]
    contracted = FusionProblem(
        problem.fidelity.contract(labels, metric),
        replace(penalty, differences=Differences(small, metric, _LEAST_STIFFNESS)),
        replace(problem.constraint, metric=metric),  # type: ignore[type-var]
    )
    return Contraction(contracted, labels, graph, sums, share)


def alone(problem: FusionProblem) -> Contraction:
    """The contraction that fuses nothing."""
    return contract(problem, np.arange(problem.shape[0]))
