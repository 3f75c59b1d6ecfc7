"""How far centroids stand from the data: quadratic terms f(C) = 1/2 <C, C H> - <T, C> + constant."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.linalg import eigsh

from convexhc.terms.constraint import Constraint

Array = NDArray[np.float64]

# Below this many nodes, or above this density, a dense product beats a sparse one.
_DENSE_NODES, _DENSE_SHARE = 400, 0.15


class Fidelity(Protocol):
    """A convex quadratic in the centroids, one row a node."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of nodes and of columns."""

    @property
    def target(self) -> Array:
        """T, so that the gradient is C H - T."""

    @property
    def lipschitz(self) -> float:
        """Largest eigenvalue of H."""

    @property
    def spectrum(self) -> tuple[Array | None, Array]:
        """Eigenvectors (columns; None for the identity) and eigenvalues of H."""

    @property
    def scale(self) -> float:
        """A size of the objective, below whose round-off a gap is nought."""

    def evaluate(self, C: Array) -> tuple[float, Array]:
        """Value and gradient at C."""

    def lower_bound(
        self, C: Array, value: float, gradient: Array, pull: Array, constraint: Constraint
    ) -> float:
        """A lower bound of min f(Q) + <pull, Q> over the constraint, tight at a minimiser C."""


@dataclass(frozen=True, eq=False)
class Kernel:
    """Distance to the data in the feature space of a positive semidefinite kernel (eq. 3, halved).

    f(C) = 1/2 Tr(C K C') - <K, C>, gradient C K - K, with K symmetric N x N.

    Parameters
    ----------
    K : csr_array
        The kernel. It is multiplied as a dense matrix when that is faster.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> value, gradient = Kernel(csr_array(np.eye(3))).evaluate(np.eye(3))
    >>> value, float(abs(gradient).max())
    (-1.5, 0.0)
    """

    K: csr_array
    target: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Keep one dense copy: the target, and the factor where dense products win."""
        object.__setattr__(self, "target", self.K.toarray())

    @property
    def shape(self) -> tuple[int, int]:
        """Number of nodes, twice."""
        n = self.K.shape[0]
        return n, n

    @cached_property
    def _factor(self) -> Array | csr_array:
        n = self.K.shape[0]
        dense = n <= _DENSE_NODES or self.K.nnz > _DENSE_SHARE * n * n
        return self.target if dense else self.K

    @cached_property
    def lipschitz(self) -> float:
        """Largest eigenvalue of K, by Lanczos, a little above the estimate to be safe."""
        n = self.K.shape[0]
        if n <= _DENSE_NODES:
            return float(self.spectrum[1][-1])
        start = np.random.default_rng(0).random(n)
        largest = eigsh(self.K, k=1, v0=start, return_eigenvectors=False, tol=1e-6)
        return float(largest[0]) * (1.0 + 1e-5)

    @cached_property
    def spectrum(self) -> tuple[Array | None, Array]:
        """Eigenvectors and eigenvalues of K. O(N^3), once."""
        kappa, Q = np.linalg.eigh(self.target)
        return np.ascontiguousarray(Q), np.maximum(kappa, 0.0)

    @cached_property
    def scale(self) -> float:
        """Half the trace: the objective at the identity, up to sign."""
        return 0.5 * float(self.K.trace())

    def evaluate(self, C: Array) -> tuple[float, Array]:
        """Value and gradient with one product C K."""
        gradient = np.asarray(C @ self._factor) - self.target
        return 0.5 * float(np.vdot(C, gradient) - np.vdot(C, self.target)), gradient

    def lower_bound(
        self, C: Array, value: float, gradient: Array, pull: Array, constraint: Constraint
    ) -> float:
        """f lies above its tangent at C, and a linear function is minimised exactly."""
        return value - float(np.vdot(gradient, C)) + constraint.minimum(gradient + pull, C)


@dataclass(frozen=True, eq=False)
class Proximity:
    """Squared distance to given rows: the points (eq. 1) and denoising (eq. 5) models, halved.

    f(C) = 1/2 |C - B|^2, gradient C - B.

    Parameters
    ----------
    target : ndarray
        B, one row a node.
    """

    target: Array

    @property
    def shape(self) -> tuple[int, int]:
        """Number of nodes and of columns."""
        return self.target.shape[0], self.target.shape[1]

    @property
    def lipschitz(self) -> float:
        """The Hessian is the identity."""
        return 1.0

    @property
    def spectrum(self) -> tuple[Array | None, Array]:
        """No rotation, all eigenvalues one."""
        return None, np.ones(self.target.shape[1])

    @cached_property
    def scale(self) -> float:
        """The objective at the mean: half the total variance."""
        return 0.5 * float(np.square(self.target - self.target.mean(axis=0)).sum())

    def evaluate(self, C: Array) -> tuple[float, Array]:
        """Value and gradient."""
        gradient = C - self.target
        return 0.5 * float(np.vdot(gradient, gradient)), gradient

    def lower_bound(
        self, C: Array, value: float, gradient: Array, pull: Array, constraint: Constraint
    ) -> float:
        """The minimum itself: the projection of B - pull attains it (the Fenchel dual)."""
        best = constraint.project(self.target - pull).C
        return self.evaluate(best)[0] + float(np.vdot(pull, best))
