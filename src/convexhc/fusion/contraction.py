"""Exact contraction: one centroid a cluster, and the way back to all nodes.

With rows fused, C = S D with S the indicator of the clusters, the problem keeps its form with
masses on the rows and summed weights on the edges between clusters, and every cost falls from
N^2 and N E to c N and c' N. Fusions may come apart again, so what is found here counts only when a
flow inside every cluster proves it on the full problem.
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
from convexhc.model.problem import FusionProblem, cluster_means
from convexhc.solvers.solution import Solution


@dataclass(frozen=True, eq=False)
class Contraction:
    """A problem on clusters, and the way between its edges and those of the full problem.

    Parameters
    ----------
    problem : FusionProblem
        The contracted problem, at any lam.
    labels : (N,) ndarray of int
        Cluster of every node.
    graph : Graph
        Weights of the full problem.
    sums : (E_c, E) csr_array
        Entry +1 or -1 where an edge runs between two clusters, by its direction.
    share : (E,) ndarray
        Weight of an edge over that of all edges between the same clusters; zero inside a cluster.
    """

    problem: FusionProblem
    labels: Labels
    graph: Graph
    sums: csr_array
    share: FloatArray

    @cached_property
    def mean(self) -> csr_array:
        """Takes rows to their means over clusters, (c, N)."""
        return averaging_matrix(self.labels)

    @cached_property
    def between(self) -> csr_array:
        """Takes a dual between the clusters to the pull D'Y at every node, (N, E_c)."""
        graph, signs = self.graph, self.sums.tocoo()
        pair, edge = signs.coords
        part = signs.data * self.share[edge]
        ends = np.concatenate([graph.tail[edge], graph.head[edge]]), np.tile(pair, 2)
        shape = (graph.n, self.sums.shape[0])
        return csr_array((np.concatenate([part, -part]), ends), shape=shape)

    def restrict(self, solution: Solution) -> Solution:
        """A solution whose clusters are these, written for the contracted problem."""
        count = self.problem.shape[0]
        return replace(
            solution,
            centroids=cluster_means(solution.centroids, self.labels),
            dual=np.asarray(self.sums @ solution.dual),
            labels=np.arange(count),
            nonneg_dual=None
            if solution.nonneg_dual is None
            else cluster_means(solution.nonneg_dual, self.labels),
        )

    def expand(self, solution: Solution, inside: FloatArray) -> Solution:
        """A contracted solution written for the full problem, with duals ``inside`` clusters."""
        between = self.share[:, None] * np.asarray(self.sums.T @ solution.dual)
        return replace(
            solution,
            centroids=solution.centroids[self.labels],
            dual=np.where(self.share[:, None] > 0.0, between, inside),
            labels=solution.labels[self.labels],
            nonneg_dual=None if solution.nonneg_dual is None else solution.nonneg_dual[self.labels],
        )


def contract(problem: FusionProblem, labels: Labels) -> Contraction:
    """Fuse the clusters of ``labels`` for good."""
    penalty = problem.penalty
    graph = penalty.differences.graph
    count = int(labels.max()) + 1
    if count == labels.size and np.array_equal(labels, np.arange(count)):
        # Every group is a node, and the full problem stands as it is.
        every = eye_array(graph.n_edges).tocsr()
        return Contraction(problem, labels, graph, every, np.ones(graph.n_edges))
    metric = (
        InnerProduct(np.bincount(labels).astype(np.float64)) if count < labels.size else EUCLIDEAN
    )
    tail, head = labels[graph.tail], labels[graph.head]
    crossing = np.flatnonzero(tail != head)
    low, high = np.minimum(tail, head)[crossing], np.maximum(tail, head)[crossing]
    pairs, index = np.unique(low * count + high, return_inverse=True)
    weight = np.zeros(pairs.size)
    np.add.at(weight, index, graph.weight[crossing])
    names = tuple(range(count))
    small = Graph(count, pairs // count, pairs % count, weight, np.zeros(count), names)
    sign = np.where(tail[crossing] < head[crossing], 1.0, -1.0)
    shape = (pairs.size, graph.n_edges)
    share = np.zeros(graph.n_edges)
    share[crossing] = graph.weight[crossing] / weight[index]
    contracted = FusionProblem(
        problem.fidelity.contract(labels, metric),
        replace(penalty, differences=Differences(small, metric)),
        replace(problem.constraint, metric=metric),  # type: ignore[type-var]
    )
    sums = csr_array((sign, (index, crossing)), shape)
    return Contraction(contracted, labels, graph, sums, share)
