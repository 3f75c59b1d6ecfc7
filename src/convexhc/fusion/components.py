"""Solve the points problem by connected components of the edge weights.

No edge joins two components, so the objective and its dual are sums over them, and solutions of the
components form a solution of the whole. Apart, every component takes only the iterations, fusions
and splits that it needs. A component that has become one cluster needs no more: the dual that
proved it is feasible at every larger lam. Of the features of a graph, a component has only few that
are not zero: it is solved in coordinates of the space that its rows span, which centroids and dual
never leave. (The graph problem, eq. 4, does not split this way: its column sums couple the
components.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from convexhc._types import FloatArray, IntArray
from convexhc._workers import map_in_workers, worker_count
from convexhc.fusion.points_solve import solve_points
from convexhc.kernels.threads import limited_threads
from convexhc.model.constraint import Free
from convexhc.model.fidelity import Proximity
from convexhc.model.penalty import Differences
from convexhc.model.problem import FusionProblem, fuse
from convexhc.solvers.solution import Solution, Status
from convexhc.solvers.warm_start import fused_labels

# Smallest dual, in numbers, that is solved apart: below, calls cost more than they save.
_MIN_DUAL_SIZE = 100_000


@dataclass(frozen=True, eq=False)
class Part:
    """Some components of a problem, as a problem of their own."""

    # Nodes and edges of the whole problem, increasing.
    nodes: IntArray
    edges: IntArray
    # Orthonormal coordinates of the space that the rows span; None for those of the whole.
    axes: FloatArray | None
    problem: FusionProblem  # the problem on these alone, in these coordinates, at any lam
    n_components: int

    @classmethod
    def of(cls, whole: FusionProblem, nodes: IntArray, edges: IntArray, n_components: int) -> Part:
        """The part of a problem on these nodes and all of their edges."""
        X, penalty = whole.fidelity.target[nodes], whole.penalty
        # The l1 norm depends on the coordinates.
        axes = None if penalty.l1_ratio else _axes_of_span(X)
        own = FusionProblem(
            Proximity(
                X if axes is None else X @ axes,
                least=nodes.size / whole.shape[0] * whole.fidelity.floor,
            ),
            replace(penalty, differences=Differences(penalty.graph.subgraph(nodes))),
            Free(),
        )
        return cls(nodes, edges, axes, own, n_components)

    def restrict(self, solution: Solution | None) -> Solution | None:
        """A solution of the whole problem, restricted to the part; its certificate is not."""
        if solution is None:
            return None
        centroids, dual = solution.centroids[self.nodes], solution.dual[self.edges]
        if self.axes is not None:
            centroids, dual = centroids @ self.axes, dual @ self.axes
        labels = np.unique(solution.labels[self.nodes], return_inverse=True)[1]
        return replace(solution, centroids=centroids, dual=dual, labels=labels)

    def in_whole(self, rows: FloatArray) -> FloatArray:
        """Centroids or duals of the part, in the coordinates of the whole problem."""
        return rows if self.axes is None else rows @ self.axes.T

    def solve(
        self,
        lam: float,
        *,
        start: Solution | None,
        second: Solution | None,
        tol: float,
        max_iter: int,
    ) -> Solution:
        """Solve the part at ``lam``; ``start`` and ``second`` are solutions of the part.

        Where every component is one cluster at a lower lam, its mean has no penalty at any lam, and
        its dual stays inside the growing balls: if they certify the mean, it is the answer.
        """
        problem, first = self.problem.at(lam), start
        if first is not None and first.n_clusters == self.n_components and first.lam <= lam:
            mean = fuse(problem.fidelity.target, first.labels)
            proof = problem.certify(mean, first.dual)
            if proof.relative_gap <= tol:
                return Solution(
                    mean, first.dual, first.labels, proof, Status.SOLVED, 0, lam, first.method
                )
        return solve_points(
            problem,
            start=first,
            second=second,
            tol=tol,
            max_iter=max_iter,
        )


@dataclass(frozen=True, eq=False)
class Parts:
    """A points problem and the parts it is solved in."""

    problem: FusionProblem  # the whole problem, at any lam
    # Large components one by one, small ones together, nodes without edges in none; None where
    # there is a single part, and the problem is solved as it is.
    parts: tuple[Part, ...] | None

    @classmethod
    def of(cls, problem: FusionProblem) -> Parts:
        """Split a problem. O(n + E) per part."""
        graph = problem.penalty.graph
        n_components, component = graph.components()
        n_edges = np.bincount(component[graph.tail], minlength=n_components)
        bundle = np.full(n_components, -1)
        for number, together in enumerate(_bundles(n_edges * problem.shape[1])):
            bundle[together] = number
        if n_components == 1 or (bundle == 0).all():
            return cls(problem, None)
        of_node, parts = bundle[component], []
        for number in range(int(bundle.max()) + 1):
            nodes = np.flatnonzero(of_node == number)
            edges = np.flatnonzero(of_node[graph.tail] == number)
            count = int(np.count_nonzero(bundle == number))
            parts.append(Part.of(problem, nodes, edges, count))
        return cls(problem, tuple(parts))

    def solve(
        self,
        lam: float,
        *,
        start: Solution | None,
        second: Solution | None = None,
        tol: float,
        max_iter: int,
    ) -> Solution:
        """Minimise the whole problem at ``lam``. Arguments and result are of `solve_points`."""
        problem = self.problem.at(lam)
        if self.parts is None:
            return solve_points(problem, start=start, second=second, tol=tol, max_iter=max_iter)
        tasks = [
            partial(
                part.solve,
                lam,
                start=part.restrict(start),
                second=part.restrict(second),
                tol=tol,
                max_iter=max_iter,
            )
            for part in self.parts
        ]
        if worker_count() > 1 and len(tasks) > 1:
            found = map_in_workers(_on_one_thread, tasks)
        else:
            found = [task() for task in tasks]
        return self._joined(problem, found, tol)

    def _joined(self, problem: FusionProblem, found: list[Solution], tol: float) -> Solution:
        """The solution of the whole, certified on the whole problem. O(E m).

        A relative gap of at most ``tol`` in every part implies one in their sum, as no objective is
        negative. Where all parts are solved and the whole is not, the objective is round-off.
        """
        penalty = problem.penalty
        C = problem.fidelity.target.copy()
        Y = np.empty((penalty.n_edges, problem.shape[1]))
        labels = np.zeros(problem.shape[0], np.int64)
        for part, solution in zip(self.parts or (), found, strict=True):
            C[part.nodes] = part.in_whole(solution.centroids)
            Y[part.edges] = part.in_whole(solution.dual)
            labels[part.nodes] = solution.labels
        certificate = problem.certify(C, Y)
        statuses = [one.status for one in found if one.status is not Status.SOLVED]
        if not statuses and certificate.relative_gap > tol:
            statuses = [Status.ROUND_OFF]
        edges = penalty.edges
        return Solution(
            C,
            Y,
            fused_labels(problem, labels[edges.tail] == labels[edges.head]),
            certificate,
            statuses[0] if statuses else Status.SOLVED,
            sum(one.n_iter for one in found),
            problem.lam,
            found[0].method if found else "newton",
            seconds=sum(one.seconds for one in found),
        )


def _on_one_thread(task: Callable[[], Solution]) -> Solution:
    with limited_threads(1):
        return task()


def _axes_of_span(X: FloatArray) -> FloatArray | None:
    """Orthonormal columns that span the rows; None if as many as there are. O(n m^2)."""
    _, values, rows = np.linalg.svd(X, full_matrices=False)
    least = max(X.shape) * np.finfo(np.float64).eps * values[0]
    rank = max(1, int(np.count_nonzero(values > least)))
    return rows[:rank].T.copy() if rank < X.shape[1] else None


def _bundles(dual_sizes: IntArray) -> Iterator[list[int]]:
    """Components to solve together: large ones alone, small ones until they are large enough."""
    together: list[int] = []
    for component in np.flatnonzero(dual_sizes).tolist():
        if dual_sizes[component] >= _MIN_DUAL_SIZE:
            yield [component]
            continue
        together.append(component)
        if dual_sizes[together].sum() >= _MIN_DUAL_SIZE:
            yield together
            together = []
    if together:
        yield together
