"""Fuse clusters of a solution where that lowers the objective.

Objectives converge before clusters do, most of all where many clusters meet at once: a solution
within the tolerance may have a dozen clusters where the minimiser has one. Averaging over coarser
clusters keeps every point feasible and the lower bound as it is, so that a lower objective is a
smaller gap: nothing else has to be proven.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree

from convexhc._types import FloatArray, IntArray, Labels
from convexhc.fusion.graph_solve import ContractedSolution
from convexhc.kernels.compile import blocks
from convexhc.kernels.components import components
from convexhc.kernels.labels import numbered_by_first
from convexhc.model.problem import FusionProblem, fuse
from convexhc.solvers.solution import Solution, Status

# Merges that raise the objective, one after another, after which only the coarsest is tried.
_PATIENCE = 2


def merge_clusters(problem: FusionProblem, solution: ContractedSolution) -> ContractedSolution:
    """Replace a solution by one with fewer clusters, as long as one has a lower objective.

    Tried are 1, 2, 4, ... and all merges of neighbouring clusters, the nearest first. Groups, dual
    and lower bound stay. A solution that did not reach its tolerance is returned as it is.
    O(c nnz(K) + E_c m) for each, about as much as an iteration.
    """
    contracted = solution.contraction.problem.at(problem.lam)
    best, last = solution.small, None
    while best is not last and best.status is Status.SOLVED:
        best, last = _best_merger(contracted, best), best
    return replace(solution, small=best)


def _best_merger(problem: FusionProblem, small: Solution) -> Solution:
    """The solution, or the one with merged clusters that has the lowest objective."""
    edges = problem.penalty.edges
    tree = _tree(small.centroids, small.labels, edges.tail, edges.head)
    count, rises, best = 1, 0, small
    while count < 2 * len(tree):
        if rises == _PATIENCE:
            count, rises = max(count, len(tree)), 0
        found = _merged(problem, small, tree[:count])
        rises = rises + 1 if found.certificate.objective >= best.certificate.objective else 0
        best = best if rises else found
        count *= 2
    return best


def _tree(C: FloatArray, labels: Labels, tail: IntArray, head: IntArray) -> IntArray:
    """Shortest spanning trees of neighbouring clusters, one edge per row, the shortest first."""
    n = labels.size
    between = np.flatnonzero(labels[tail] != labels[head])
    ends = np.sort(np.stack([labels[tail[between]], labels[head[between]]]), axis=0)
    pairs, first = np.unique(ends[0] * n + ends[1], return_index=True)
    i, j = tail[between[first]], head[between[first]]
    # Explicit zeros would not count as edges.
    length = np.full(pairs.size, 1e-300)
    for some in blocks((pairs.size, C.shape[1])):
        length[some] += np.linalg.norm(C[i[some]] - C[j[some]], axis=1)
    graph = csr_array((length, (pairs // n, pairs % n)), shape=(n, n))
    tree = minimum_spanning_tree(graph).tocoo()
    nearest = np.argsort(tree.data, kind="stable")
    return np.stack(tree.coords, axis=1)[nearest].astype(np.int64)


def _merged(problem: FusionProblem, small: Solution, pairs: IntArray) -> Solution:
    """The solution with some pairs of clusters merged, and what its certificate then is."""
    everyone = np.ones(len(pairs), np.bool_)
    joined = components(small.labels.size, pairs[:, 0], pairs[:, 1], everyone)
    labels = numbered_by_first(joined[small.labels])
    C, before = fuse(small.centroids, labels, problem.fidelity.metric.mass), small.certificate
    objective = problem.objective(C)
    certificate = before._replace(
        objective=objective,
        gap=before.gap + objective - before.objective,
        residual=problem.constraint.residual(C),
    )
    return replace(small, centroids=C, labels=labels, certificate=certificate)
