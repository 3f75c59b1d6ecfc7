"""The points model (eq. 1) on a path: squared distances, fusion penalty, no constraint."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from convexhc._types import FloatArray, Labels
from convexhc.fusion.components import Parts
from convexhc.fusion.contraction import Contraction, contract
from convexhc.fusion.graph_proof import LEAST_TOL, TIGHTER
from convexhc.fusion.graph_solve import ContractedSolution
from convexhc.fusion.lam_max import consensus_bound
from convexhc.fusion.points_proof import prove_points
from convexhc.graph import Graph
from convexhc.metrics import effective_rank_of
from convexhc.model.problem import FusionProblem, fuse
from convexhc.path.level import Level
from convexhc.solvers.solution import Solution, Status

# Share of the edges that are provably not fused at the first lam of a geometric grid.
_APART_AT_FIRST = 0.9
# The grid ends a little above the bound on lam, which may be attained.
_ABOVE_BOUND = 1.01


@dataclass(frozen=True, eq=False)
class PointsModel:
    """Centroids of points, of the features of a graph, or of the leaves of a large one."""

    names: tuple[Hashable, ...]  # of the nodes
    problem: FusionProblem  # the points problem, at any lam, with one row per leaf
    graph: Graph  # by which cuts are judged: the edge weights, or the graph behind the features
    # Relative gap, and iterations of every solve.
    tol: float
    max_iter: int
    descending: bool  # start from one cluster per component
    features: FloatArray  # (n, r): one row per node
    # (n,): leaf of every node; a leaf is never divided. Points are their own leaves.
    leaf: Labels
    prove: bool = False  # solve more accurately wherever the partition is not proven

    @cached_property
    def components(self) -> Labels:
        """Connected components of the edge weights."""
        return self._leaf_components[self.leaf]

    @property
    def most_clusters(self) -> int:
        """The number of leaves."""
        return self.problem.shape[0]

    @cached_property
    def lam_max(self) -> float:
        """See `consensus_bound`."""
        return consensus_bound(self.problem)

    @cached_property
    def _leaf_components(self) -> Labels:
        return self.problem.penalty.graph.components()[1]

    @cached_property
    def _parts(self) -> Parts:
        return Parts.of(self.problem)

    @cached_property
    def _identity(self) -> Contraction:
        """Solutions are stored for all points; contraction is internal to a solve."""
        return contract(self.problem, np.arange(self.most_clusters))

    def unpenalized(self) -> None:
        """The points themselves are where a first solve starts anyway."""

    def solve(
        self,
        lam: float,
        *,
        start: ContractedSolution | None,
        second: ContractedSolution | None,
        max_groups: int | None,
    ) -> ContractedSolution:
        """Solve every connected component on the clusters of ``start``."""
        first = None if start is None else start.small
        if first is None and self.descending:
            first = self._consensus(lam)
        line = None if second is None or start is None else second.small
        problem, tol = self.problem.at(lam), self.tol
        while True:
            found = self._parts.solve(
                lam, start=first, second=line, tol=tol, max_iter=self.max_iter
            )
            proof = prove_points(problem, found)
            if not self.prove or proof.is_proven or tol <= LEAST_TOL:
                return ContractedSolution(self._identity, found, proof=proof)
            first, line, tol = found, None, max(tol * TIGHTER, LEAST_TOL)

    def level(self, solution: ContractedSolution, *, keep: bool) -> Level:
        """One centroid per cluster; the effective rank is that of their scatter. O(c d^2 + d^3)."""
        small, of_leaf = solution.small, solution.labels
        centroids = small.centroids[np.unique(of_leaf, return_index=True)[1]]
        labels = of_leaf[self.leaf]
        size = np.bincount(labels)
        deviation = centroids - size @ centroids / size.sum()
        scatter = (deviation * size[:, None]).T @ deviation
        return Level(
            small.lam,
            labels,
            small.certificate.objective,
            small.relative_gap,
            small.certificate.residual,
            small.n_iter,
            small.status,
            effective_rank_of(scatter) if scatter.any() else 1.0,
            centroids if keep else None,
            proof=None if solution.proof is None else solution.proof.at(self.leaf),
        )

    def only_identical(self, labels: Labels) -> bool:
        """Whether the leaves of every cluster are equal."""
        X, first = self.problem.fidelity.target, np.unique(labels, return_index=True)[1]
        return bool((X[first[labels]] == X).all())

    def geometric_grid(self, count: int) -> tuple[float, ...]:
        """Values of lam in equal ratios, from the first fusions to the consensus.

        |U_i - X_i| is at most lam times the weights at i, so i and j are apart below
        lam = |X_i - X_j| / (deg_i + deg_j), up to the ratio of the norms; nine edges of ten are
        provably apart at the first lam.
        """
        penalty, X = self.problem.penalty, self.problem.fidelity.target
        graph = penalty.graph
        degree = np.bincount(graph.tail, graph.weight, graph.n)
        degree += np.bincount(graph.head, graph.weight, graph.n)
        apart = np.linalg.norm(X[graph.tail] - X[graph.head], axis=1)
        apart /= degree[graph.tail] + degree[graph.head]
        if not (apart > 0.0).any() or self.lam_max <= 0.0:
            # Nothing to fuse, or nothing apart: every lam has the same clusters.
            return (1.0,)
        norm = 1.0 - penalty.l1_ratio + penalty.l1_ratio * X.shape[1] ** 0.5
        shortest = float(np.quantile(apart[apart > 0.0], 1.0 - _APART_AT_FIRST))
        first = min(shortest / norm, 0.5 * self.lam_max)
        return tuple(np.geomspace(first, _ABOVE_BOUND * self.lam_max, count).tolist())

    def _consensus(self, lam: float) -> Solution:
        """Every component at its mean, with a zero dual: a warm start, not yet certified."""
        problem = self.problem.at(lam)
        C = fuse(problem.fidelity.target, self._leaf_components)
        Y = np.zeros((problem.penalty.n_edges, problem.shape[1]))
        proof = problem.certify(C, Y)
        return Solution(C, Y, self._leaf_components, proof, Status.STOPPED, 0, lam, "consensus")
