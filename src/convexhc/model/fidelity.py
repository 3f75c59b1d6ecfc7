"""Distance of the centroids to the data: f(C) = 1/2 <C, C H> - <T, C> up to a constant."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, eye_array

from convexhc._types import FloatArray, Labels
from convexhc.kernels.compile import CACHED_ENTRIES
from convexhc.kernels.conjugate_gradients import block_conjugate_gradients
from convexhc.kernels.sparse_products import times_sparse
from convexhc.model.constraint import Constraint
from convexhc.model.factorization import DENSE_FACTOR_NODES, DENSE_NODES, SPARSE_DENSITY, Factor
from convexhc.model.metric import EUCLIDEAN, InnerProduct, averaging_matrix


@dataclass(frozen=True)
class FidelitySettings:
    """Constants of the lower bound of a kernel, which affect its tightness, and of the floors."""

    # Step size of the gradient step, in units of the inverse of the largest eigenvalue.
    step: float = 30.0
    # Ridge added to K before dividing by it, relative to the largest eigenvalue.
    ridge: float = 1e-4
    # Conjugate gradient iterations where no inverse or factor of K + ridge is stored: with ten,
    # certificates took two fifths of a path from above on 10 000 nodes.
    max_cg: int = 4
    # Least objective that a gap is compared with, as a share of half the largest eigenvalue: that
    # of ordinary similarities is larger at every lam.
    floor: float = 0.1
    # The same for squared distances, as a share of the objective at the mean.
    floor_of_scatter: float = 1e-12


SETTINGS = FidelitySettings()


class Fidelity(Protocol):
    """A convex quadratic function of the centroids, one row per node."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of nodes and of columns."""

    @property
    def target(self) -> FloatArray:
        """T: the gradient is C H - T."""

    @property
    def metric(self) -> InnerProduct:
        """Inner product of the centroids; gradients are taken in it."""

    @property
    def lipschitz(self) -> float:
        """Largest eigenvalue of H."""

    @property
    def spectrum(self) -> tuple[FloatArray | None, FloatArray]:
        """Eigenvectors (columns; None for the identity) and eigenvalues of H."""

    @property
    def scale(self) -> float:
        """A typical size of the objective."""

    @property
    def floor(self) -> float:
        """Least size of the objective that a gap is compared with; zero without any data."""

    def product(self, C: NDArray[Any]) -> NDArray[Any]:
        """C H, in the precision of C."""

    def gradient(self, C: FloatArray) -> FloatArray:
        """Gradient at C, as a new array."""

    def evaluate(self, C: FloatArray) -> tuple[float, FloatArray]:
        """Value and gradient at C."""

    def lower_bound(
        self, C: FloatArray, gradient: FloatArray, pull: FloatArray, constraint: Constraint
    ) -> float:
        """A lower bound of min f(Q) + <pull, Q> over the constraint, tight at a minimiser C."""

    def contract(self, labels: Labels, metric: InnerProduct) -> Fidelity:
        """The same term for centroids fused within the clusters of ``labels``."""

    @property
    def operand(self) -> csr_array | FloatArray:
        """T for slicing and products: sparse if it is."""

    @property
    def dense_products(self) -> bool:
        """Whether dense products dominate the cost of a solver."""


@dataclass(frozen=True, eq=False)
class KernelMatrix:
    """A symmetric positive semidefinite matrix, its eigenvalues and factors, each computed once.

    Parameters
    ----------
    sparse : csr_array
        The matrix. Products are dense where that is faster.
    """

    sparse: csr_array

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.sparse.shape[0])

    @property
    def is_sparse(self) -> bool:
        """Whether sparse products are faster than dense ones."""
        return self.sparse.nnz <= SPARSE_DENSITY * self.n * self.n

    @property
    def dense_products(self) -> bool:
        """Whether products or divisions are dense, the latter for lack of a sparse factor."""
        return not self.is_sparse or (self.n <= DENSE_FACTOR_NODES and self._factor is None)

    @cached_property
    def dense(self) -> FloatArray:
        """The matrix as a dense array."""
        return self.sparse.toarray()

    @cached_property
    def spectrum(self) -> tuple[FloatArray, FloatArray]:
        """Eigenvectors (columns) and eigenvalues. O(N^3), once."""
        kappa, Q = np.linalg.eigh(self.dense)
        return np.ascontiguousarray(Q), np.maximum(kappa, 0.0)

    @cached_property
    def largest(self) -> float:
        """Largest eigenvalue; for large matrices a Lanczos estimate plus its tolerance."""
        if self.n <= DENSE_NODES:
            return float(self.spectrum[1][-1])
        if not self.sparse.data.any():
            return 0.0
        start = np.random.default_rng(0).random(self.n)
        from scipy.sparse.linalg import eigsh

        found = eigsh(self.sparse, k=1, v0=start, return_eigenvectors=False, tol=1e-6)
        return float(found[0]) * (1.0 + 1e-5)

    @cached_property
    def ridge(self) -> float:
        """A small fraction of the largest eigenvalue."""
        return SETTINGS.ridge * (self.largest or 1.0)

    @cached_property
    def _inverse(self) -> FloatArray:
        return np.asarray(np.linalg.inv(self.dense + self.ridge * np.eye(self.n)), np.float64)

    @cached_property
    def _factor(self) -> Factor | None:
        """Sparse factor of K + ridge, if there is one."""
        return Factor.if_sparse(csc_array(self.sparse + self.ridge * eye_array(self.n)))

    def solve_ridge(self, G: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Approximate X = G (K + ridge)^-1, and its exact product X K.

        By a sparse factor, O(N nnz(L)), by the inverse, O(N^3), or for large K by a few conjugate
        gradient iterations.
        """
        if self.n <= DENSE_FACTOR_NODES and self._factor is not None:
            rows = self._factor.rows
            permuted = np.ascontiguousarray(G.T[rows])
            self._factor.solve(permuted)
            X = np.empty_like(G)
            X.T[rows] = permuted
            return X, G - self.ridge * X
        if self.n <= DENSE_FACTOR_NODES:
            X = G @ self._inverse
            return X, G - self.ridge * X

        def apply(P: FloatArray, out: FloatArray) -> FloatArray:
            product: FloatArray = self.right_multiply(P)
            return np.add(product, np.multiply(P, P.dtype.type(self.ridge), out=out), out=out)

        # Any X gives a bound, so single precision will do, unless products overflow in it.
        limit = float(np.finfo(np.float32).max) ** 0.25
        single = G.size > CACHED_ENTRIES and 1.0 / limit < self.largest < limit
        R = G.astype(np.float32 if single else np.float64)
        X, targets = np.zeros_like(R), np.zeros(len(R), R.dtype)
        block_conjugate_gradients(apply, None, X, R, targets, SETTINGS.max_cg, axis=1)
        X = X.astype(np.float64, copy=False)
        return X, self.right_multiply(X)

    def right_multiply(self, C: NDArray[Any]) -> NDArray[Any]:
        """C K, in the precision of C. O(N nnz(K)) or O(N^3)."""
        if not self.is_sparse:
            return np.asarray(C @ (self._single if C.dtype == np.float32 else self.dense))
        K = self.sparse
        return times_sparse(C, K.indptr, K.indices, K.data.astype(C.dtype, copy=False))

    @cached_property
    def _single(self) -> NDArray[np.float32]:
        return self.dense.astype(np.float32)


@dataclass(frozen=True, eq=False)
class Kernel:
    """Distance to the data in the feature space of a positive semidefinite kernel (eq. 3, halved).

    f(C) = 1/2 Tr(C K C') - <T, C>, gradient C K - T, with T = K.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> K = KernelMatrix(csr_array(np.eye(3)))
    >>> value, gradient = Kernel(K).evaluate(np.eye(3))
    >>> value, float(abs(gradient).max())
    (-1.5, 0.0)
    """

    matrix: KernelMatrix  # K, N x N
    # T of a contracted problem: the means of the rows of K over clusters. None if T = K.
    means: FloatArray | None = None
    metric: InnerProduct = EUCLIDEAN  # of the centroids

    @property
    def target(self) -> FloatArray:
        """T as a dense array."""
        return self.matrix.dense if self.means is None else self.means

    @property
    def shape(self) -> tuple[int, int]:
        """Number of centroids and number of nodes."""
        return self.matrix.n if self.means is None else self.means.shape[0], self.matrix.n

    @property
    def lipschitz(self) -> float:
        """Largest eigenvalue of K."""
        return self.matrix.largest

    @property
    def spectrum(self) -> tuple[FloatArray | None, FloatArray]:
        """Eigenvectors and eigenvalues of K."""
        return self.matrix.spectrum

    @property
    def scale(self) -> float:
        """Half the trace: the objective at the identity, up to sign."""
        return 0.5 * float(self.matrix.sparse.trace())

    @property
    def floor(self) -> float:
        """A share of half the largest eigenvalue of K.

        The objective at the consensus is -1/2 u'Ku with u = 1 / sqrt(N): zero if the rows of K sum
        to zero. Half the largest eigenvalue is its largest size over all unit vectors u.
        """
        return 0.5 * SETTINGS.floor * self.lipschitz

    def product(self, C: NDArray[Any]) -> NDArray[Any]:
        """C K."""
        return self.matrix.right_multiply(C)

    def gradient(self, C: FloatArray) -> FloatArray:
        """C K - T: one product."""
        gradient: FloatArray = self.product(C)
        gradient -= self.target
        return gradient

    def evaluate(self, C: FloatArray) -> tuple[float, FloatArray]:
        """Value and gradient with one product C K."""
        gradient, inner = self.gradient(C), self.metric.inner
        return 0.5 * (inner(C, gradient) - inner(C, self.target)), gradient

    def lower_bound(
        self, C: FloatArray, gradient: FloatArray, pull: FloatArray, constraint: Constraint
    ) -> float:
        """Minimise the tangent of f at some W over the constraint: f lies above all its tangents.

        The tangent at W = C is loose to first order in the error of C. One approximate Newton
        correction makes the error second order: W = C - g (K + r I)^-1, where g is the projected
        gradient at C and r the ridge.
        """
        step = SETTINGS.step / (self.lipschitz or 1.0)
        nearest, multipliers = constraint.project(C - step * (gradient + pull))
        move, change = self.matrix.solve_ridge((nearest - C) / step)
        slope = gradient + change
        tangent = -0.5 * self.metric.inner(C + move, slope + self.target)
        potentials = None if multipliers is None else (multipliers[0] / step, multipliers[1] / step)
        return tangent + constraint.minimum(slope + pull, potentials)

    def contract(self, labels: Labels, metric: InnerProduct) -> Kernel:
        """The same term for centroids fused within the clusters of ``labels``."""
        means = averaging_matrix(labels) @ (
            self.matrix.sparse if self.means is None else self.means
        )
        return Kernel(
            self.matrix, means if isinstance(means, np.ndarray) else means.toarray(), metric
        )

    @property
    def operand(self) -> csr_array | FloatArray:
        """K itself, or the means of its rows."""
        if self.means is not None:
            return self.means
        return self.matrix.sparse if self.matrix.is_sparse else self.matrix.dense

    @property
    def dense_products(self) -> bool:
        """Whether K or its factors are dense."""
        return self.matrix.dense_products


@dataclass(frozen=True, eq=False)
class Proximity:
    """Squared distance to given rows: the points (eq. 1) and denoising (eq. 5) models, halved.

    f(C) = 1/2 |C - B|^2, gradient C - B.
    """

    target: FloatArray  # B, one row per node
    metric: InnerProduct = EUCLIDEAN  # of the centroids
    # The floor, where the rows are a part or a contraction of others; None for that of B.
    least: float | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of nodes and of columns."""
        return self.target.shape[0], self.target.shape[1]

    @property
    def lipschitz(self) -> float:
        """The Hessian is the identity."""
        return 1.0

    @property
    def spectrum(self) -> tuple[FloatArray | None, FloatArray]:
        """Identity eigenvectors, all eigenvalues one."""
        return None, np.ones(self.target.shape[1])

    @cached_property
    def scale(self) -> float:
        """The objective at the mean: half the total variance."""
        return 0.5 * float(np.square(self.target - self.target.mean(axis=0)).sum())

    @cached_property
    def floor(self) -> float:
        """Objective that is round-off: a share of the scatter of the rows, or of their squares."""
        if self.least is not None:
            return self.least
        squares = 0.5 * float(np.square(self.target).sum())
        # Coordinates are exact to 1e-16 of their size, and squares to the square of that.
        return max(SETTINGS.floor_of_scatter * self.scale, SETTINGS.floor_of_scatter**2 * squares)

    def product(self, C: NDArray[Any]) -> NDArray[Any]:
        """C itself."""
        return C

    def gradient(self, C: FloatArray) -> FloatArray:
        """C - B."""
        return C - self.target

    def evaluate(self, C: FloatArray) -> tuple[float, FloatArray]:
        """Value and gradient."""
        gradient = self.gradient(C)
        return 0.5 * self.metric.inner(gradient, gradient), gradient

    def lower_bound(
        self, C: FloatArray, gradient: FloatArray, pull: FloatArray, constraint: Constraint
    ) -> float:
        """The exact minimum, attained by the projection of B - pull (the Fenchel dual)."""
        best = constraint.project(self.target - pull).C
        return self.evaluate(best)[0] + self.metric.inner(pull, best)

    def contract(self, labels: Labels, metric: InnerProduct) -> Proximity:
        """The same term for fused centroids, up to the variance within clusters."""
        return Proximity(averaging_matrix(labels) @ self.target, metric, self.floor)

    @property
    def operand(self) -> csr_array | FloatArray:
        """B itself."""
        return self.target

    @property
    def dense_products(self) -> bool:
        """False: there is no matrix to multiply by."""
        return False
