"""How far centroids stand from the data: f(C) = 1/2 <C, C H> - <T, C> up to a constant."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.sparse import csc_array, csr_array, eye_array
from scipy.sparse.linalg import eigsh

from convexhc._types import FloatArray, Labels
from convexhc.kernels.conjugate_gradients import block_conjugate_gradients
from convexhc.kernels.sparse_products import times_sparse
from convexhc.model.constraint import Constraint
from convexhc.model.factorization import Factor
from convexhc.model.metric import EUCLIDEAN, InnerProduct, averaging_matrix

# Nodes up to which all eigenvalues are cheap.
_DENSE_NODES = 400
# Density from which a dense product is faster.
_DENSE_SHARE = 0.05
# Length of a gradient step of the bound, in units of the inverse of the largest eigenvalue.
_STEP = 30.0
# Ridge added to the eigenvalues that are divided by, relative to the largest.
_RIDGE = 1e-4
# Nodes up to which the inverse or a factor is stored.
_INVERSE_NODES = 3000
# Conjugate gradient iterations on more nodes.
_CG_STEPS = 10


class Fidelity(Protocol):
    """A convex quadratic in the centroids, one row a node."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of nodes and of columns."""

    @property
    def target(self) -> FloatArray:
        """T, so that the gradient is C H - T."""

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
        """A size of the objective, below whose round-off a gap is nought."""

    def gradient(self, C: FloatArray) -> FloatArray:
        """Gradient at C, a new array."""

    def evaluate(self, C: FloatArray) -> tuple[float, FloatArray]:
        """Value and gradient at C."""

    def lower_bound(
        self, C: FloatArray, gradient: FloatArray, pull: FloatArray, constraint: Constraint
    ) -> float:
        """A lower bound of min f(Q) + <pull, Q> over the constraint, tight at a minimiser C."""

    def contract(self, labels: Labels, metric: InnerProduct) -> Fidelity:
        """The same term for centroids that are fused inside the clusters of ``labels``."""

    @property
    def operand(self) -> csr_array | FloatArray:
        """T as it is best cut and multiplied: sparse where it is."""

    @property
    def in_full(self) -> bool:
        """Whether products of full matrices are most of the work of a solver."""


@dataclass(frozen=True, eq=False)
class KernelMatrix:
    """A symmetric positive semidefinite matrix, with what is computed from it once.

    Parameters
    ----------
    sparse : csr_array
        The matrix. It is multiplied as a dense one when that is faster.
    """

    sparse: csr_array

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.sparse.shape[0])

    @property
    def is_sparse(self) -> bool:
        """Whether products are faster entry by entry."""
        return self.sparse.nnz <= _DENSE_SHARE * self.n * self.n

    @property
    def in_full(self) -> bool:
        """Whether it is multiplied in full, or divided by in full for want of a sparse factor."""
        return not self.is_sparse or (self.n <= _INVERSE_NODES and self._factor is None)

    @cached_property
    def dense(self) -> FloatArray:
        """The matrix in full."""
        return self.sparse.toarray()

    @cached_property
    def spectrum(self) -> tuple[FloatArray, FloatArray]:
        """Eigenvectors (columns) and eigenvalues. O(N^3), once."""
        kappa, Q = np.linalg.eigh(self.dense)
        return np.ascontiguousarray(Q), np.maximum(kappa, 0.0)

    @cached_property
    def largest(self) -> float:
        """Largest eigenvalue; by Lanczos, a little above the estimate, when the matrix is large."""
        if self.n <= _DENSE_NODES:
            return float(self.spectrum[1][-1])
        if not self.sparse.data.any():
            return 0.0
        start = np.random.default_rng(0).random(self.n)
        found = eigsh(self.sparse, k=1, v0=start, return_eigenvectors=False, tol=1e-6)
        return float(found[0]) * (1.0 + 1e-5)

    @cached_property
    def ridge(self) -> float:
        """A small share of the largest eigenvalue."""
        return _RIDGE * (self.largest or 1.0)

    @cached_property
    def _inverse(self) -> FloatArray:
        return np.asarray(np.linalg.inv(self.dense + self.ridge * np.eye(self.n)), np.float64)

    @cached_property
    def _factor(self) -> Factor | None:
        """Of K + ridge, if K and its factor are sparse."""
        return Factor.if_sparse(csc_array(self.sparse + self.ridge * eye_array(self.n)))

    def divided(self, G: FloatArray) -> tuple[FloatArray, FloatArray]:
        """About G (K + ridge)^-1, and that times K.

        By a sparse factor, O(N nnz(L)), or by the inverse, O(N^3); of large K some conjugate
        gradients.
        """
        if self.n <= _INVERSE_NODES and self._factor is not None:
            rows = self._factor.rows
            turned = np.ascontiguousarray(G.T[rows])
            self._factor.solve(turned)
            X = np.empty_like(G)
            X.T[rows] = turned
            return X, G - self.ridge * X
        if self.n <= _INVERSE_NODES:
            X = G @ self._inverse
            return X, G - self.ridge * X

        def apply(P: FloatArray, out: FloatArray) -> FloatArray:
            return np.add(self.after(P), np.multiply(self.ridge, P, out=out), out=out)

        X, never = np.zeros_like(G), np.full(len(G), -1.0)
        block_conjugate_gradients(apply, None, X, G.copy(), never, _CG_STEPS, axis=1)
        return X, self.after(X)

    def after(self, C: FloatArray) -> FloatArray:
        """C K. O(N nnz(K)) or O(N^3)."""
        if not self.is_sparse:
            return C @ self.dense
        K = self.sparse
        return times_sparse(C, K.indptr, K.indices, K.data)


@dataclass(frozen=True, eq=False)
class Kernel:
    """Distance to the data in the feature space of a positive semidefinite kernel (eq. 3, halved).

    f(C) = 1/2 Tr(C K C') - <T, C>, gradient C K - T, with T = K.

    Parameters
    ----------
    matrix : KernelMatrix
        K, N x N.
    means : ndarray or None
        T of a contracted problem: the mean of the rows of K over every cluster.
    metric : InnerProduct
        Inner product of the centroids.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csc_array, csr_array, eye_array
    >>> K = KernelMatrix(csr_array(np.eye(3)))
    >>> value, gradient = Kernel(K).evaluate(np.eye(3))
    >>> value, float(abs(gradient).max())
    (-1.5, 0.0)
    """

    matrix: KernelMatrix
    means: FloatArray | None = None
    metric: InnerProduct = EUCLIDEAN

    @property
    def target(self) -> FloatArray:
        """T in full."""
        return self.matrix.dense if self.means is None else self.means

    @property
    def shape(self) -> tuple[int, int]:
        """Number of centroids, and of nodes they are written in."""
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

    def gradient(self, C: FloatArray) -> FloatArray:
        """C K - T: one product."""
        gradient = self.matrix.after(C)
        gradient -= self.target
        return gradient

    def evaluate(self, C: FloatArray) -> tuple[float, FloatArray]:
        """Value and gradient with one product C K."""
        gradient, inner = self.gradient(C), self.metric.inner
        return 0.5 * (inner(C, gradient) - inner(C, self.target)), gradient

    def lower_bound(
        self, C: FloatArray, gradient: FloatArray, pull: FloatArray, constraint: Constraint
    ) -> float:
        """The term lies above its tangent at any W, and a linear function is easily minimised.

        The tangent at C itself loses what its gradient has in error, entry by entry, and no error
        averages out. So the projected gradient at C, which vanishes at a minimiser, is led back to
        a change of C: at the W that this gives the loss is of second order.
        """
        step = _STEP / (self.lipschitz or 1.0)
        nearest, multipliers = constraint.project(C - step * (gradient + pull))
        move, change = self.matrix.divided((nearest - C) / step)
        slope = gradient + change
        tangent = -0.5 * self.metric.inner(C + move, slope + self.target)
        potentials = None if multipliers is None else (multipliers[0] / step, multipliers[1] / step)
        return tangent + constraint.minimum(slope + pull, potentials)

    def contract(self, labels: Labels, metric: InnerProduct) -> Kernel:
        """The same term for centroids that are fused inside the clusters of ``labels``."""
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
    def in_full(self) -> bool:
        """Whether K is full, or its factors."""
        return self.matrix.in_full


@dataclass(frozen=True, eq=False)
class Proximity:
    """Squared distance to given rows: the points (eq. 1) and denoising (eq. 5) models, halved.

    f(C) = 1/2 |C - B|^2, gradient C - B.

    Parameters
    ----------
    target : ndarray
        B, one row a node.
    """

    target: FloatArray
    metric: InnerProduct = EUCLIDEAN

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
        """No rotation, all eigenvalues one."""
        return None, np.ones(self.target.shape[1])

    @cached_property
    def scale(self) -> float:
        """The objective at the mean: half the total variance."""
        return 0.5 * float(np.square(self.target - self.target.mean(axis=0)).sum())

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
        """The minimum itself: the projection of B - pull attains it (the Fenchel dual)."""
        best = constraint.project(self.target - pull).C
        return self.evaluate(best)[0] + self.metric.inner(pull, best)

    def contract(self, labels: Labels, metric: InnerProduct) -> Proximity:
        """The same term for fused centroids, up to the variance inside the clusters."""
        return Proximity(averaging_matrix(labels) @ self.target, metric)

    @property
    def operand(self) -> csr_array | FloatArray:
        """B itself."""
        return self.target

    @property
    def in_full(self) -> bool:
        """There is no matrix to multiply by."""
        return False
