"""The centroid step of ADMM: C H + (rho D'D + tau I) C = R with fixed row and column sums.

The equation is diagonal in the eigenbases of H and D'D. When the quadratic is linearised, H is a
multiple of the identity and all columns of C share one system, which is factored if its factor is
sparse, and inverted otherwise.

R changes ever less from step to step: the effect of a change can be computed in single precision,
at half the cost and without loss of accuracy.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, diags_array

from convexhc._types import FloatArray
from convexhc.kernels import rows
from convexhc.model.factorization import DenseInverse, Factor
from convexhc.model.problem import FusionProblem
from convexhc.model.weighted_laplacian import laplacian

Single = NDArray[np.float32]
Real = NDArray[Any]


class CentroidStep(Protocol):
    """The centroid step for given rho and tau."""

    rho: float
    tau: float
    n_solved: int

    def solve(self, R: Real) -> Real:
        """The centroids for the right-hand side R, in its precision."""

    def change(self, R: FloatArray) -> FloatArray:
        """Change of the centroids for a change R of the right-hand side, in single precision."""

    def at(self, rho: float, tau: float) -> CentroidStep:
        """The same step for other penalty parameters."""


def centroid_step(problem: FusionProblem, rho: float, tau: float, *, linear: bool) -> CentroidStep:
    """The step with the exact quadratic; with ``linear``, |H| I replaces H."""
    return Factored(problem, rho, tau) if linear else Rotated(problem, rho, tau)


def factors_sparsely(problem: FusionProblem) -> bool:
    """Whether the linearised step has a sparse factor. Costs one factorisation."""
    return Factor.if_sparse(_system(problem, 1.0, 1.0)) is not None


def _system(problem: FusionProblem, rho: float, tau: float) -> csc_array:
    """Return rho L + (|H| + tau) diag(mass), the system of every column if H = |H| I."""
    differences = problem.penalty.differences
    mass = differences.metric.mass
    level = problem.fidelity.lipschitz + tau * problem.constraint.nonnegative
    diagonal = level * (np.ones(problem.shape[0]) if mass is None else mass)
    stiff = rho * laplacian(differences.graph, differences.stiffness)
    return csc_array(stiff + diags_array(diagonal))


class Factored:
    """Linearised centroid step by a factor, or the inverse, of rho D'D + (|H| + tau) I.

    In the metric of a contracted problem the matrix is rho L + (|H| + tau) diag(mass), applied to R
    times the mass. The multipliers of the sums add a constant to every row and to every column.
    """

    def __init__(self, problem: FusionProblem, rho: float, tau: float) -> None:
        self.problem, self.rho, self.tau, self.n_solved = problem, rho, tau, 0
        system = _system(problem, rho, tau)
        self.factor = Factor.if_sparse(system) or DenseInverse(system)
        mass = problem.penalty.differences.metric.mass
        self.mass = np.ones(problem.shape[0]) if mass is None else mass

    def at(self, rho: float, tau: float) -> Factored:
        """The same step for other penalty parameters: one factorisation."""
        return Factored(self.problem, rho, tau)

    def solve(self, R: Real) -> Real:
        """The centroids for the right-hand side R. O(nnz(L) m)."""
        return self._solve(R, R.dtype.type, 1.0)

    def change(self, R: FloatArray) -> FloatArray:
        """Change of the centroids for a change R, in single precision. O(nnz(L) m)."""
        return self._solve(R, np.float32, 0.0)

    def _solve(self, R: Real, precision: type, total: float) -> Real:
        constraint, order = self.problem.constraint, self.factor.rows
        X: NDArray[Any] = np.empty(R.shape, precision)
        rows.gather_rows(R, order, self.mass, X)
        self.factor.solve(X)
        if not constraint.unit_row_sums:
            return rows.scatter_rows(X, order)
        columns = constraint.unit_column_sums
        return rows.scatter_rows_with_sums(X, order, self.mass, total, columns=columns)


class Rotated:
    """Centroid step in the eigenbases of H and D'D, where the equation is diagonal.

    Fixed row sums subtract a multiple of one vector from every rotated row; fixed column sums
    determine the first rotated row.
    """

    def __init__(self, problem: FusionProblem, rho: float, tau: float) -> None:
        constraint, self.problem = problem.constraint, problem
        self.rho, self.tau, self.n_solved = rho, tau, 0
        self.Q: FloatArray | None
        self.Q, kappa = problem.fidelity.spectrum
        self.basis, self.inverse, gamma = problem.penalty.differences.spectrum
        stiffness = rho * gamma + tau * constraint.nonnegative
        self.weights = 1.0 / (kappa + stiffness[:, None])
        self.unit_column_sums = constraint.unit_column_sums
        self.sums = np.ones(kappa.size) if self.Q is None else self.Q.sum(axis=0)
        # Coefficient of the constant vector, which has norm one in the metric: the root of N.
        self.top = float(self.inverse[0].sum())
        self.correction = None
        if constraint.unit_row_sums:
            correction = self.weights * self.sums
            self.correction = correction / (correction @ self.sums)[:, None]

    def at(self, rho: float, tau: float) -> Rotated:
        """The same step for other penalty parameters: no factorisation. O(N^2)."""
        return Rotated(self.problem, rho, tau)

    def solve(self, R: Real) -> Real:
        """The centroids for the right-hand side R. O(N^3)."""
        if R.dtype == np.float32:
            return self._rotate(R, self.top)
        rotated = self.inverse @ R if self.Q is None else self.inverse @ R @ self.Q
        self._scale(rotated, self.top)
        return self.basis @ rotated if self.Q is None else self.basis @ rotated @ self.Q.T

    def change(self, R: FloatArray) -> FloatArray:
        """Change of the centroids for a change R, in single precision. O(N^3)."""
        return self._rotate(R.astype(np.float32), 0.0).astype(np.float64)

    def _rotate(self, R: Single, top: float) -> Single:
        basis, inverse, Q = self._single
        product = inverse @ R
        rotated = (product if Q is None else product @ Q).astype(np.float64)
        self._scale(rotated, top)
        product = basis @ rotated.astype(np.float32)
        return product if Q is None else product @ Q.T

    @cached_property
    def _single(self) -> tuple[Single, Single, Single | None]:
        Q = None if self.Q is None else self.Q.astype(np.float32)
        return self.basis.astype(np.float32), self.inverse.astype(np.float32), Q

    def _scale(self, rotated: FloatArray, top: float) -> None:
        """Divide by the diagonal, then correct the row and column sums, in place."""
        rotated *= self.weights
        if self.correction is not None:
            excess = rotated @ self.sums
            excess[0] -= top
            rotated -= excess[:, None] * self.correction
            if self.unit_column_sums:
                rotated[0] = self.sums * (top / self.top**2)
