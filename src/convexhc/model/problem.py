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

# Edges below this share of the largest weight count as none: double precision cannot hold the lam
# at which they would fuse beside those of the others.
WEAKEST = 1e-7
# The same for points, whose flows keep more digits.
WEAKEST_OF_POINTS = 1e-12


class Certificate(NamedTuple):
    """Proof of how good a point is.

    The true minimum lies between ``objective - gap`` and ``objective`` (of the halved problem);
    ``residual`` tells how exactly the point satisfies its constraint.
    """

    objective: float
    gap: float
    residual: float
    floor: float

    @property
    def relative_gap(self) -> float:
        """Gap over the size of the objective; round-off of a vanishing objective counts as zero."""
        return max(self.gap, 0.0) / max(abs(self.objective), self.floor)


@dataclass(frozen=True, eq=False)
class Problem:
    """min f(C) + penalty(C) over a constraint set, C one centroid a row.

    Parameters
    ----------
    fidelity : Fidelity
        Quadratic distance to the data.
    penalty : Penalty
        What fuses the rows, with its strength ``lam``.
    constraint : Constraint
        Where the rows may be.
    """

    fidelity: Fidelity
    penalty: Penalty
    constraint: Constraint

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
        """Least objective that a gap is compared with: what is smaller is round-off."""
        # Without any similarity only the penalty is left to measure round-off by.
        return max(1e-12 * (self.fidelity.scale or self.lam), float(np.finfo(float).tiny))

    def at(self, lam: float) -> Self:
        """The same problem at another strength; everything precomputed is shared."""
        return replace(self, penalty=replace(self.penalty, lam=float(lam)))  # type: ignore[type-var]

    def objective(self, C: FloatArray) -> float:
        """Halved objective at C, each edge once."""
        return self.fidelity.evaluate(C)[0] + self.penalty.value(C)

    def certify(self, C: FloatArray, Y: FloatArray) -> Certificate:
        """Bound the suboptimality of a feasible C with the help of a feasible edge dual Y.

        The penalty is replaced by an affine minorant <D'Y, .>, and what remains is minimised over
        the constraint set: exactly for squared distances (Fenchel dual), after linearising at C for
        a kernel. Never below the true suboptimality, up to the reported residual. Cost: two passes
        over the edges, one gradient, one assignment or projection.
        """
        value, gradient = self.fidelity.evaluate(C)
        offset, pull = self.penalty.minorant(C, Y)
        objective = value + self.penalty.value(C)
        bound = offset + self.fidelity.lower_bound(C, gradient, pull, self.constraint)
        return Certificate(objective, objective - bound, self.constraint.residual(C), self.floor)


@dataclass(frozen=True, eq=False)
class FusionProblem(Problem):
    """A problem whose penalty fuses centroids exactly."""

    penalty: Fusion


@dataclass(frozen=True, eq=False)
class SmoothProblem(Problem):
    """A problem with the squared penalty of appendix D, which never fuses."""

    penalty: SquaredFusion


def fuse(C: FloatArray, labels: Labels, mass: FloatArray | None = None) -> FloatArray:
    """Replace the rows of every cluster by their mean, rows counting as often as their mass.

    The mean over clusters is itself a doubly stochastic map, so a feasible C stays feasible, and
    fused rows are equal to the last bit. O(N m).
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
    """The paper's problem (eq. 4) for a similarity and edge weights, by default its own."""
    felt = (weights if weights is not None else kernel).without_weak(WEAKEST)
    fusion = Fusion(Differences(felt), lam, l1_ratio)
    K = KernelMatrix(kernel.matrix())
    return FusionProblem(Kernel(K), fusion, constraint or DoublyStochastic())


def points_problem(
    X: FloatArray, weights: Graph, lam: float, *, l1_ratio: float = 0.0
) -> FusionProblem:
    """Classical convex clustering of the rows of X (eq. 1)."""
    felt = weights.without_weak(WEAKEST_OF_POINTS)
    return FusionProblem(Proximity(X), Fusion(Differences(felt), lam, l1_ratio), Free())


def denoising_problem(
    B: FloatArray,
    weights: Graph,
    lam: float,
    *,
    l1_ratio: float = 0.05,
    constraint: Constraint | None = None,
) -> FusionProblem:
    """The rows nearest to B with few differences (eq. 5), doubly stochastic by default."""
    fusion = Fusion(Differences(weights.without_weak(WEAKEST)), lam, l1_ratio)
    return FusionProblem(Proximity(B), fusion, constraint or DoublyStochastic())


def smooth_problem(kernel: Graph, lam: float) -> SmoothProblem:
    """The squared penalty of appendix D on a similarity ``kernel``."""
    matrix = KernelMatrix(kernel.matrix())
    penalty = SquaredFusion(laplacian(kernel, kernel.weight), matrix.dense, lam)
    return SmoothProblem(Kernel(matrix), penalty, DoublyStochastic())
