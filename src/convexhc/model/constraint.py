"""Constraint sets: doubly stochastic matrices, rows on the simplex, no constraint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from convexhc._types import FloatArray
from convexhc.kernels import assignment, birkhoff, simplex
from convexhc.model.metric import EUCLIDEAN, InnerProduct


class Projected(NamedTuple):
    """A projection C = max(X + u 1' + 1 v', 0) and its multipliers (u, v), for a warm start."""

    C: FloatArray
    warm: tuple[FloatArray, FloatArray] | None


class Constraint(Protocol):
    """A convex set of centroid matrices."""

    @property
    def metric(self) -> InnerProduct:
        """Inner product in which projections are orthogonal."""

    @property
    def nonnegative(self) -> bool:
        """Whether the entries are constrained to be non-negative."""

    @property
    def unit_row_sums(self) -> bool:
        """Whether every row sums to one."""

    @property
    def unit_column_sums(self) -> bool:
        """Whether every column sums to one."""

    def project(
        self, X: FloatArray, warm: tuple[FloatArray, FloatArray] | None = None
    ) -> Projected:
        """Project X on the set, in the metric."""

    def minimum(self, G: FloatArray, potentials: tuple[FloatArray, FloatArray] | None) -> float:
        """Lower bound of min <G, Q> over the set, in its metric.

        ``potentials`` are the multipliers of a projection of Q - t G, divided by t. The bound is
        tight when Q is a minimiser.
        """

    def residual(self, C: FloatArray) -> float:
        """Largest violation of the constraint."""


@dataclass(frozen=True)
class DoublyStochastic:
    """Non-negative matrices whose rows and columns sum to one."""

    tol: float = 1e-10  # bound on the error of row and column sums after a projection
    metric: InnerProduct = EUCLIDEAN
    nonnegative: bool = True
    unit_row_sums: bool = True
    unit_column_sums: bool = True

    def project(
        self, X: FloatArray, warm: tuple[FloatArray, FloatArray] | None = None
    ) -> Projected:
        """Semismooth Newton on the multipliers: O(N^2) per step, few steps from a warm start."""
        u, v = warm if warm is not None else (None, None)
        done = birkhoff.project(X, mass=self.metric.mass, u=u, v=v, tol=self.tol, check=False)
        return Projected(done.C, (done.u, done.v))

    def minimum(self, G: FloatArray, potentials: tuple[FloatArray, FloatArray] | None) -> float:
        """Minimum of a linear assignment, bounded by dual potentials.

        At a minimiser Q, the projection of Q - t G is Q itself for any t > 0, and its multipliers
        divided by t are optimal potentials: the bound, O(N^2), is tight there.
        """
        u, v = potentials if potentials is not None else (np.zeros(n) for n in G.shape)
        return float(assignment.lower_bound(G, u, v, mass=self.metric.mass)[0])

    def residual(self, C: FloatArray) -> float:
        """Largest error of a row or column sum, or largest negative entry."""
        mass = self.metric.mass
        columns = (C.sum(axis=0) if mass is None else mass @ C) - 1.0
        rows = C.sum(axis=1) - 1.0
        return float(max(np.abs(rows).max(), np.abs(columns).max(), -C.min(initial=0.0)))


@dataclass(frozen=True)
class RowSimplex:
    """Rows on the probability simplex; a variant in the code of the paper's authors."""

    metric: InnerProduct = EUCLIDEAN
    nonnegative: bool = True
    unit_row_sums: bool = True
    unit_column_sums: bool = False

    def project(
        self, X: FloatArray, warm: tuple[FloatArray, FloatArray] | None = None
    ) -> Projected:
        """Project every row on the simplex. O(N^2)."""
        C, shift = simplex.project_rows(X)
        return Projected(C, (shift, np.zeros(X.shape[1])))

    def minimum(self, G: FloatArray, potentials: tuple[FloatArray, FloatArray] | None) -> float:
        """Sum of the smallest entries of the rows: exact. O(N^2)."""
        smallest = G.min(axis=1)
        return float(smallest.sum() if self.metric.mass is None else self.metric.mass @ smallest)

    def residual(self, C: FloatArray) -> float:
        """Largest error of a row sum, or largest negative entry."""
        return float(max(np.abs(C.sum(axis=1) - 1.0).max(), -C.min(initial=0.0)))


@dataclass(frozen=True)
class Free:
    """No constraint: the centroids of classical convex clustering (eq. 1)."""

    metric: InnerProduct = EUCLIDEAN
    nonnegative: bool = False
    unit_row_sums: bool = False
    unit_column_sums: bool = False

    def project(
        self, X: FloatArray, warm: tuple[FloatArray, FloatArray] | None = None
    ) -> Projected:
        """X itself."""
        return Projected(X, None)

    def minimum(self, G: FloatArray, potentials: tuple[FloatArray, FloatArray] | None) -> float:
        """Zero if G vanishes, minus infinity otherwise."""
        return 0.0 if not G.any() else -np.inf

    def residual(self, C: FloatArray) -> float:
        """Zero."""
        return 0.0


def project_doubly_stochastic(X: ArrayLike, *, tol: float = 1e-10) -> FloatArray:
    """Project a square matrix on the doubly stochastic matrices, exactly.

    argmin |P - X|_F over P >= 0, P 1 = 1, 1'P = 1'. The solution is max(X + u 1' + 1 v', 0), and
    the multipliers (u, v) come from a semismooth Newton method on their concave dual.

    Parameters
    ----------
    X : (n, n) array_like
        Any finite matrix.
    tol : float
        Bound on the error of every row and column sum.

    Returns
    -------
    ndarray
        The projection, float32 if X is float32, float64 otherwise. O(n^2) memory.

    Raises
    ------
    ValueError
        X is not square, is empty, or holds NaN or infinite entries.

    Examples
    --------
    >>> import numpy as np
    >>> import convexhc
    >>> convexhc.project_doubly_stochastic([[2.0, 0.0], [0.0, 0.0]])
    array([[1., 0.],
           [0., 1.]])
    """
    X = np.asarray(X)
    if X.dtype != np.float32:
        X = X.astype(np.float64, copy=False)
    if X.ndim != 2 or X.shape[0] != X.shape[1] or X.size == 0:
        raise ValueError(
            f"X must be a square matrix with at least one row, received shape {X.shape}: "
            "pass an n x n array."
        )
    return birkhoff.project(X, tol=tol).C
