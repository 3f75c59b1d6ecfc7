"""Exact contraction: solve for one centroid a cluster, then certify on the full problem.

With rows fused, C = S D with S the indicator of the clusters, the problem keeps its form with
masses on the rows and summed weights on the edges between clusters, and every cost falls from
N^2 and N E to c N and c' N. Fusions may come apart again, so what is found here is only a start:
the full problem certifies it, or goes on from it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from convexhc.graph import Graph
from convexhc.problem import Labels, Problem, cluster_means
from convexhc.solvers.loop import Method, Solution, run
from convexhc.solvers.start import fusion_of
from convexhc.terms.metric import Metric
from convexhc.terms.penalty import Differences

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Contraction:
    """A problem on clusters, and the way between its edges and those of the full problem.

    Parameters
    ----------
    problem : Problem
        The contracted problem, at any lam.
    labels : (N,) ndarray of int
        Cluster of every node.
    sums : (E_c, E) csr_array
        Entry +1 or -1 where an edge runs between two clusters, by its direction.
    share : (E,) ndarray
        Weight of an edge over that of all edges between the same clusters; zero inside a cluster.
    """

    problem: Problem
    labels: Labels
    sums: csr_array
    share: Array

    def restrict(self, solution: Solution) -> Solution:
        """A solution whose clusters are these, written for the contracted problem."""
        count = self.problem.shape[0]
        return replace(
            solution,
            centroids=cluster_means(solution.centroids, self.labels),
            dual=np.asarray(self.sums @ solution.dual),
            labels=np.arange(count),
        )

    def expand(self, solution: Solution, inside: Array) -> Solution:
        """A contracted solution written for the full problem, with duals ``inside`` clusters."""
        between = self.share[:, None] * np.asarray(self.sums.T @ solution.dual)
        return replace(
            solution,
            centroids=solution.centroids[self.labels],
            dual=np.where(self.share[:, None] > 0.0, between, inside),
            labels=solution.labels[self.labels],
        )


def contract(problem: Problem, labels: Labels) -> Contraction:
    """Fuse the clusters of ``labels`` for good."""
    penalty = fusion_of(problem)
    graph = penalty.differences.graph
    metric = Metric(np.bincount(labels).astype(np.float64))
    tail, head = labels[graph.tail], labels[graph.head]
    crossing = np.flatnonzero(tail != head)
    low, high = np.minimum(tail, head)[crossing], np.maximum(tail, head)[crossing]
    count = metric.mass.size if metric.mass is not None else graph.n
    pairs, index = np.unique(low * count + high, return_inverse=True)
    weight = np.bincount(index, graph.weight[crossing], minlength=pairs.size)
    small = Graph.from_edges(count, pairs // count, pairs % count, weight)
    sign = np.where(tail[crossing] < head[crossing], 1.0, -1.0)
    shape = (pairs.size, graph.n_edges)
    share = np.zeros(graph.n_edges)
    share[crossing] = graph.weight[crossing] / weight[index]
    contracted = Problem(
        problem.fidelity.contract(cluster_means(problem.fidelity.target, labels), metric),
        replace(penalty, differences=Differences(small, metric)),
        replace(problem.constraint, metric=metric),  # type: ignore[type-var]
    )
    return Contraction(contracted, labels, csr_array((sign, (index, crossing)), shape), share)


def contracted_start(
    problem: Problem, method: Method[Any], start: Solution, *, tol: float, max_iter: int
) -> Solution:
    """A warm start for ``problem``, found on the clusters of ``start`` alone."""
    contraction = contract(problem, start.labels)
    small = run(
        contraction.problem,
        method,
        start=contraction.restrict(start),
        # Tighter, since the duals inside the clusters add a gap of their own.
        tol=0.3 * tol,
        max_iter=max_iter,
    )
    return contraction.expand(small, start.dual)
