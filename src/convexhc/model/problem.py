"""A convex clustering problem: fidelity + lam * penalty + constraint, and its certificate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np

from convexhc._types import FloatArray, Labels
from convexhc.graph import Graph
from convexhc.kernels.rows import group_means
from convexhc.model.constraint import Constraint, DoublyStochastic, Free
from convexhc.model.fidelity import Fidelity, Kernel, KernelMatrix, Proximity
from convexhc.model.penalty import Differences, Fusion, Penalty, SquaredFusion
from convexhc.model.weighted_laplacian import laplacian

# Edges below this fraction of the largest weight are dropped: double precision cannot resolve the
# lam at which they fuse next to those of the others.
WEAKEST = 1e-7
# The same for points, whose flows are more accurate.
WEAKEST_OF_POINTS = 1e-12


class Certificate(NamedTuple):
    """Bound on the suboptimality of a point.

    The minimum lies between ``objective - gap`` and ``objective``: inside the solvers that of the
    halved problem, in what `convexhc.solve` returns and reports that of the paper's (eq. 4).
    ``residual`` is the largest violation of the constraint, ``floor`` the least size of the
    objective that a gap is compared with (`Problem.floor`).
    """

    objective: float
    gap: float
    residual: float
    floor: float

    @property
    def scale(self) -> float:
        """What the gap is compared with: the absolute objective, or the floor if that is larger."""
        return max(abs(self.objective), self.floor)

    @property
    def relative_gap(self) -> float:
        """Gap divided by the scale."""
        return max(self.gap, 0.0) / self.scale

    def scaled(self, factor: float) -> Certificate:
        """The certificate of the problem whose objective is ``factor`` times this one."""
        return self._replace(
            objective=factor * self.objective, gap=factor * self.gap, floor=factor * self.floor
        )


@dataclass(frozen=True, eq=False)
class Problem:
    """min f(C) + penalty(C) over a constraint set; C has one centroid per row."""

    fidelity: Fidelity  # quadratic distance to the data
    penalty: Penalty  # penalty on differences of rows, with its strength ``lam``
    constraint: Constraint  # constraint set of C

    @property
    def lam(self) -> float:
        """Strength of the penalty."""
        return self.penalty.lam

    @property
    def shape(self) -> tuple[int, int]:
        """Number of nodes and of columns of a centroid."""
        return self.fidelity.shape

    @property
    def floor(self) -> float:
        """Least size of the objective that a gap is compared with: that of the fidelity.

        It is in the unit of the objective: c times K and lam, or points, give c or c^2 times it.
        """
        # Where the fidelity vanishes, the penalty sets the unit.
        return max(self.fidelity.floor or 1e-12 * self.lam, float(np.finfo(float).tiny))

    def at(self, lam: float) -> Self:
        """The same problem at another ``lam``; shares everything precomputed."""
        return replace(self, penalty=replace(self.penalty, lam=float(lam)))  # type: ignore[type-var]

    def objective(self, C: FloatArray) -> float:
        """Halved objective at C; each edge counts once."""
        return self.fidelity.evaluate(C)[0] + self.penalty.value(C)

    def certify(self, C: FloatArray, Y: FloatArray) -> Certificate:
        """Bound the suboptimality of a feasible C by means of a feasible edge dual Y.

        The penalty is replaced by the affine minorant <D'Y, .>. The rest is minimised over the
        constraint set: exactly for squared distances (Fenchel dual), after linearisation for a
        kernel. The gap is never below the true suboptimality, up to the reported residual. Cost:
        two passes over the edges, one gradient, one assignment or projection.
        """
        value, gradient = self.fidelity.evaluate(C)
        offset, pull = self.penalty.minorant(C, Y)
        objective = value + self.penalty.value(C)
        bound = offset + self.fidelity.lower_bound(C, gradient, pull, self.constraint)
        return Certificate(objective, objective - bound, self.constraint.residual(C), self.floor)


@dataclass(frozen=True, eq=False)
class FusionProblem(Problem):
    """A problem with a fusion penalty: neighbouring centroids become exactly equal."""

    penalty: Fusion


@dataclass(frozen=True, eq=False)
class SmoothProblem(Problem):
    """A problem with the squared penalty of appendix D: no fusions."""

    penalty: SquaredFusion


def fuse(C: FloatArray, labels: Labels, mass: FloatArray | None = None) -> FloatArray:
    """Replace the rows of every cluster by their mean, weighted by mass.

    Averaging over clusters is a doubly stochastic map, so a feasible C stays feasible. Fused rows
    are equal to the last bit. O(N m).
    """
    if int(labels.max()) + 1 == labels.size:
        return C
    return np.ascontiguousarray(cluster_means(C, labels, mass)[labels])


def cluster_means(C: FloatArray, labels: Labels, mass: FloatArray | None = None) -> FloatArray:
    """Mean row of every cluster. O(N m)."""
    return group_means(C, labels, np.ones(labels.size) if mass is None else mass)


def graph_problem(
    kernel: Graph,
    lam: float,
    *,
    weights: Graph | None = None,
    l1_ratio: float = 0.05,
    constraint: Constraint | None = None,
) -> FusionProblem:
    """The paper's problem (eq. 4). The edge weights are those of the kernel by default."""
    edges = (weights if weights is not None else kernel).without_weak(WEAKEST)
    fusion = Fusion(Differences(edges), lam, l1_ratio)
    K = KernelMatrix(kernel.matrix())
    return FusionProblem(Kernel(K), fusion, constraint or DoublyStochastic())


def points_problem(
    X: FloatArray, weights: Graph, lam: float, *, l1_ratio: float = 0.0
) -> FusionProblem:
    """Classical convex clustering of the rows of X (eq. 1)."""
    edges = weights.without_weak(WEAKEST_OF_POINTS)
    return FusionProblem(Proximity(X), Fusion(Differences(edges), lam, l1_ratio), Free())


def smooth_problem(kernel: Graph, lam: float) -> SmoothProblem:
    """The squared penalty of appendix D on a similarity ``kernel``."""
    matrix = KernelMatrix(kernel.matrix())
    penalty = SquaredFusion(laplacian(kernel, kernel.weight), matrix.dense, lam)
    return SmoothProblem(Kernel(matrix), penalty, DoublyStochastic())
