"""The points model in parts: connected components of the weights are solved apart.

No edge joins two components, so the objective and its dual are sums over them, and a solution of
each is a solution of the whole. Apart, a component takes the steps, fusions and rounds that it
needs itself. One that has become a single cluster needs no more: by the dual that proved it, it is
optimal at every larger lam.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from convexhc.fusion.points_solve import solve_points, within
from convexhc.model.constraint import Free
from convexhc.model.fidelity import Proximity
from convexhc.model.penalty import Differences
from convexhc.model.problem import FusionProblem, fuse
from convexhc.solvers.solution import Solution, Status
from convexhc.solvers.warm_start import fused_labels

Index = NDArray[np.int64]

# Numbers in the dual of a part: below, more calls cost more than smaller problems save.
_LEAST_NUMBERS = 100_000


@dataclass(frozen=True, eq=False)
class Part:
    """Some components of a problem, as a problem of their own.

    Parameters
    ----------
    nodes, edges : ndarray of int
        Which nodes and edges of the whole problem these are, in increasing order.
    problem : FusionProblem
        On these alone, at any lam.
    n_components : int
        How many components they form.
    share : float
        Nodes of the part over those of the whole.
    """

    nodes: Index
    edges: Index
    problem: FusionProblem
    n_components: int
    share: float

    def restrict(self, solution: Solution | None) -> Solution | None:
        """A solution of the whole problem, written for the part; its certificate is not."""
        if solution is None:
            return None
        return replace(
            solution,
            centroids=solution.centroids[self.nodes],
            dual=solution.dual[self.edges],
            labels=np.unique(solution.labels[self.nodes], return_inverse=True)[1],
        )

    def solve(
        self,
        lam: float,
        *,
        start: Solution | None,
        before: Solution | None,
        tol: float,
        floor: float,
        max_iter: int,
    ) -> Solution:
        """Solve the part at ``lam``; ``start`` and ``before`` are solutions of the whole problem.

        Where each component is one cluster at a lower lam, its mean costs no penalty at any lam,
        and its dual stays in the growing balls: if they prove it, the mean is the answer.
        """
        problem, first, least = self.problem.at(lam), self.restrict(start), self.share * floor
        if first is not None and first.n_clusters == self.n_components and first.lam <= lam:
            mean = fuse(problem.fidelity.target, first.labels)
            proof = problem.certify(mean, first.dual)
            if within(proof, tol, least):
                return Solution(
                    mean, first.dual, first.labels, proof, Status.SOLVED, 0, lam, first.method
                )
        return solve_points(
            problem,
            start=first,
            before=self.restrict(before),
            tol=tol,
            max_iter=max_iter,
            least=least,
        )


@dataclass(frozen=True, eq=False)
class Parts:
    """A points problem and the parts it is solved in.

    Parameters
    ----------
    problem : FusionProblem
        The whole problem, at any lam.
    parts : tuple of Part or None
        Components of many edges one by one, the others several together, nodes without edges in
        none; None where there is one part, and the problem is solved as it is.
    """

    problem: FusionProblem
    parts: tuple[Part, ...] | None

    @classmethod
    def of(cls, problem: FusionProblem) -> Parts:
        """Take a problem apart. O(n + E) for each part."""
        penalty = problem.penalty
        graph = penalty.differences.graph
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
            own = FusionProblem(
                Proximity(problem.fidelity.target[nodes]),
                replace(penalty, differences=Differences(graph.subgraph(nodes))),
                Free(),
            )
            edges = np.flatnonzero(of_node[graph.tail] == number)
            count = int(np.count_nonzero(bundle == number))
            parts.append(Part(nodes, edges, own, count, nodes.size / graph.n))
        return cls(problem, tuple(parts))

    def solve(
        self,
        lam: float,
        *,
        start: Solution | None,
        before: Solution | None = None,
        tol: float,
        max_iter: int,
    ) -> Solution:
        """Minimise the whole problem at ``lam``; arguments and answer are of `solve_points`."""
        problem = self.problem.at(lam)
        if self.parts is None:
            return solve_points(problem, start=start, before=before, tol=tol, max_iter=max_iter)
        found = [
            part.solve(
                lam, start=start, before=before, tol=tol, floor=problem.floor, max_iter=max_iter
            )
            for part in self.parts
        ]
        return self._joined(problem, found, tol)

    def _joined(self, problem: FusionProblem, found: list[Solution], tol: float) -> Solution:
        """The whole solution, with the certificate of the whole problem. O(E m).

        A relative gap of at most ``tol`` in every part makes one in their sum, as no objective is
        negative: where all parts are solved and the whole is not, the objective is round-off.
        """
        penalty = problem.penalty
        C = problem.fidelity.target.copy()
        Y = np.empty((penalty.n_edges, problem.shape[1]))
        labels = np.zeros(problem.shape[0], np.int64)
        for part, solution in zip(self.parts or (), found, strict=True):
            C[part.nodes], Y[part.edges] = solution.centroids, solution.dual
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


def _bundles(numbers: Index) -> Iterator[list[int]]:
    """Components that are solved together, by the numbers in the dual of each."""
    together: list[int] = []
    for component in np.flatnonzero(numbers).tolist():
        if numbers[component] >= _LEAST_NUMBERS:
            yield [component]
            continue
        together.append(component)
        if numbers[together].sum() >= _LEAST_NUMBERS:
            yield together
            together = []
    if together:
        yield together
