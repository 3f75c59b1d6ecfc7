"""The graph model (eq. 4) on a path: kernel, fusion penalty, doubly stochastic centroids."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from convexhc._types import Labels
from convexhc.fusion.graph_proof import LEAST_TOL, prove_graph, prove_tighter
from convexhc.fusion.graph_solve import ContractedSolution, solve_graph, unpenalized_solution
from convexhc.fusion.lam_max import consensus_bound, consensus_estimate
from convexhc.fusion.merging import merge_clusters
from convexhc.fusion.pieces import pieces
from convexhc.fusion.settled_labels import Settling, Unsteady, clear
from convexhc.graph import Graph
from convexhc.model.problem import FusionProblem
from convexhc.path.level import Level
from convexhc.path.plan import FIRST_LAM
from convexhc.solvers.choose import choose_method
from convexhc.solvers.loop import Method, ReportsLabels
from convexhc.solvers.solution import Status

# Identical nodes may differ in their similarities by this share of the largest one.
_IDENTICAL = 1e-9
# Nodes above which a path from above starts from pieces: below, solves save what proofs cost.
_LARGE = 5000


class Effort(NamedTuple):
    """How far a solve goes on until labels are clear.

    To this share of the tolerance at the latest, within so many iterations and so many more for
    every iteration of the solve itself.
    """

    share: float
    iterations: int
    per_iteration: int


# Nodes up to which labels are settled thoroughly, for 1.9 times the time: of 775 partitions of
# graphs of up to 60 nodes, 80 were wrong without and 6 with it (docs/robustness.md). On 196 nodes
# that would take three times as long.
_THOROUGH_NODES = 100
_THOROUGH = Effort(1e-4, 300, 3)
# Nodes up to which labels are settled at all.
_SETTLED_NODES = 1000
# The effort between the two, for methods that do not report their labels.
_PLAIN = Effort(1e-2, 50, 1)
# Mean number of nodes of a piece.
_PIECE_NODES = 400


@dataclass(frozen=True, eq=False)
class GraphModel:
    """Doubly stochastic centroids of a similarity."""

    graph: Graph  # the similarity K
    problem: FusionProblem  # its problem, at any lam
    method: str | Method[FusionProblem, Any]  # as for `choose_method`
    # Relative gap, and iterations of every contracted solve.
    tol: float
    max_iter: int
    descending: bool = False  # start from one group per component instead of single nodes
    prove: bool = False  # solve more accurately wherever the partition is not proven
    thorough_nodes: int = _THOROUGH_NODES  # up to so many, labels are settled thoroughly
    features: None = None

    @property
    def names(self) -> tuple[Hashable, ...]:
        """Names of the nodes."""
        return self.graph.names

    @property
    def most_clusters(self) -> int:
        """The number of nodes."""
        return self.graph.n

    @cached_property
    def components(self) -> Labels:
        """Connected components of the edge weights."""
        return self.problem.penalty.graph.components()[1]

    @cached_property
    def lam_max(self) -> float:
        """A bound; an estimate where solves from above confirm it or look higher."""
        bound = consensus_estimate if self.descending else consensus_bound
        return bound(self.problem)

    @cached_property
    def matrix(self) -> csr_array:
        """K."""
        return self.graph.matrix()

    def unpenalized(self) -> ContractedSolution:
        """The identity matrix."""
        return unpenalized_solution(self.problem)

    def solve(
        self,
        lam: float,
        *,
        start: ContractedSolution | None,
        second: ContractedSolution | None,
        max_groups: int | None,
    ) -> ContractedSolution | None:
        """Solve on the clusters of ``start`` and prove them, or split them."""
        problem = self.problem.at(lam)
        found = solve_graph(
            problem,
            self._guess(lam, start, second, max_groups),
            self._choose,
            start=start,
            second=second,
            tol=self.tol,
            max_iter=self.max_iter,
            max_groups=max_groups,
            doubt=self.doubt,
        )
        if found is None:
            return None
        found, tol = self.settled(problem, found, max_groups)
        found = replace(found, proof=prove_graph(problem, found, thorough=self.prove))
        if not self.prove:
            return found
        return prove_tighter(problem, found, self._choose, tol=tol, max_iter=self.max_iter)

    @property
    def doubt(self) -> type[Unsteady] | None:
        """Doubt about labels within a run, where they are not settled thoroughly after it."""
        return Unsteady if self.thorough_nodes < self.graph.n <= _SETTLED_NODES else None

    def settled(
        self,
        problem: FusionProblem,
        found: ContractedSolution,
        max_groups: int | None = None,
    ) -> tuple[ContractedSolution, float]:
        """The solution with settled labels, and the tolerance it reached.

        Clusters are merged where that lowers the objective, before as well: those have to be
        settled, too.
        """
        merged = merge_clusters(problem, found)
        found, tol = self._more_accurate(problem, merged, max_groups)
        return (found if found is merged else merge_clusters(problem, found)), tol

    def _more_accurate(
        self, problem: FusionProblem, found: ContractedSolution, max_groups: int | None
    ) -> tuple[ContractedSolution, float]:
        """The solution, more accurate if its labels are in doubt, and the tolerance it reached.

        On large graphs labels are taken as they are: settled already, or too costly to settle. So
        they are where settling would take too many groups.
        """
        small, effort = found.small, self._effort
        if small.status is not Status.SOLVED or effort is None:
            return found, self.tol
        on_groups = found.contraction.problem.at(problem.lam)
        if clear(on_groups, small.centroids, small.dual, small.labels, small.certificate):
            return found, self.tol
        tighter = solve_graph(
            problem,
            found.groups,
            self._choose,
            start=found,
            tol=max(effort.share * self.tol, LEAST_TOL),
            max_iter=min(effort.iterations + effort.per_iteration * small.n_iter, self.max_iter),
            max_groups=max_groups,
            enough=Settling(small.labels, self.tol),
        )
        if tighter is None or tighter.small.relative_gap > small.relative_gap:
            return found, self.tol
        n_iter = small.n_iter + tighter.small.n_iter
        settled = replace(tighter.small, n_iter=n_iter, status=Status.SOLVED)
        return replace(tighter, small=settled), min(settled.relative_gap, self.tol)

    @cached_property
    def _effort(self) -> Effort | None:
        if self.graph.n <= self.thorough_nodes:
            return _THOROUGH
        plain = self.graph.n <= _SETTLED_NODES
        plain = plain and not isinstance(self._choose(self.problem), ReportsLabels)
        return _PLAIN if plain else None

    def _choose(self, small: FusionProblem) -> Method[FusionProblem, Any]:
        return choose_method(small, self.method)

    def _guess(
        self,
        lam: float,
        start: ContractedSolution | None,
        second: ContractedSolution | None,
        max_groups: int | None,
    ) -> Labels:
        """Groups to start from.

        From above, those proven at the nearest lower lam, or else at the last one: they most likely
        hold together, and the solver fuses those that are too fine. Where they have become many,
        the clusters of the last lam, cut into pieces.
        """
        if start is None:
            return self._pieces if self.descending else self._twins
        if not self.descending:
            return start.labels
        finest = second if second is not None and second.lam < lam else start
        if max_groups is None or 2 * (int(finest.groups.max()) + 1) <= max_groups:
            return finest.groups
        both = np.stack([start.labels, self._pieces])
        return np.asarray(np.unique(both, axis=1, return_inverse=True)[1]).ravel()

    @cached_property
    def _twins(self) -> Labels:
        """Classes of nodes with the same similarities: by symmetry they fuse at any lam."""
        K, classes = self.matrix, dict[bytes, int]()
        rows = zip(K.indptr[:-1].tolist(), K.indptr[1:].tolist(), strict=True)
        keys = [K.indices[a:b].tobytes() + K.data[a:b].tobytes() for a, b in rows]
        return np.array([classes.setdefault(key, len(classes)) for key in keys], dtype=np.int64)

    @cached_property
    def _pieces(self) -> Labels:
        """Components, cut into pieces where there are many nodes: proofs take squares of sizes."""
        n = self.graph.n
        if n <= _LARGE:
            return self.components
        return pieces(self.problem.penalty.graph, n // _PIECE_NODES)

    def level(self, solution: ContractedSolution, *, keep: bool) -> Level:
        """One centroid per cluster; without them, the effective rank is computed now."""
        small, labels = solution.small, solution.labels
        first = np.unique(labels, return_index=True)[1]
        level = Level(
            small.lam,
            labels,
            small.objective,
            small.relative_gap,
            small.certificate.residual,
            small.n_iter,
            small.status,
            cluster_centroids=small.centroids[solution.groups[first]],
            similarity=self.matrix,
            proof=solution.proof,
        )
        return level if keep else level.without_centroids()

    def geometric_grid(self, count: int) -> tuple[float, ...]:
        """Values of lam in equal ratios up to the bound."""
        bound = self.lam_max
        return tuple(np.geomspace(FIRST_LAM * bound, bound, count).tolist()) if bound else (1.0,)

    def only_identical(self, labels: Labels) -> bool:
        """Whether the rows of K are equal inside every cluster."""
        first = np.unique(labels, return_index=True)[1]
        difference = abs(self.matrix - self.matrix[first[labels]]).max()
        return bool(difference <= _IDENTICAL * abs(self.matrix).max())
