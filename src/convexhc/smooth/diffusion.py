"""Products with L and linear systems with I + 2 lam L on large sparse graphs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from convexhc._types import FloatArray, Labels
from convexhc.graph import Graph
from convexhc.kernels.conjugate_gradients import block_conjugate_gradients
from convexhc.kernels.laplacian import combine
from convexhc.solvers.loop import Status


class Columns(NamedTuple):
    """Columns of pi(lam), or pi(lam) times given columns, and their residuals.

    Parameters
    ----------
    values : (n, m) ndarray
        The columns.
    residual : (m,) ndarray
        |b - (I + 2 lam L) x| / |b|, computed from the result. No eigenvalue of the matrix is below
        one, so the error of x is at most this times |b|.
    n_iter : int
        Iterations used.
    status : Status
        SOLVED if every residual is within the tolerance.
    """

    values: FloatArray
    residual: FloatArray
    n_iter: int
    status: Status


@dataclass(frozen=True, eq=False)
class Diffusion:
    """The Laplacian L of a sparse graph. Memory O(n + E).

    Parameters
    ----------
    weights : csr_array
        Symmetric, with an empty diagonal.
    component : (n,) ndarray of int
        Connected component of every node.
    """

    weights: csr_array
    component: Labels

    @classmethod
    def of(cls, graph: Graph) -> Diffusion:
        """The Laplacian of the off-diagonal entries."""
        return cls(graph.without_diagonal().matrix(), graph.components()[1])

    @property
    def n(self) -> int:
        """Number of nodes."""
        return int(self.component.size)

    @cached_property
    def degree(self) -> FloatArray:
        """Sum of the weights at every node."""
        return np.asarray(self.weights.sum(axis=1), dtype=np.float64).ravel()

    @cached_property
    def sizes(self) -> Labels:
        """Number of nodes of every component."""
        return np.bincount(self.component)

    @cached_property
    def _averages(self) -> csr_array:
        entries = (1.0 / self.sizes[self.component], (self.component, np.arange(self.n)))
        return csr_array(entries, shape=(self.sizes.size, self.n))

    def means(self, X: FloatArray) -> FloatArray:
        """Mean of every column over every component, one row per component. O(n m)."""
        if self.sizes.size == 1:
            return np.asarray(X.mean(axis=0, keepdims=True))
        return np.asarray(self._averages @ X)

    def centre(self, X: FloatArray) -> None:
        """Subtract the mean over the component, in place: project out the null space of L."""
        means = self.means(X)
        X -= means if self.sizes.size == 1 else means[self.component]

    def combine(
        self,
        X: FloatArray,
        a: float,
        b: float,
        Z: FloatArray | None = None,
        c: float = 0.0,
        *,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return a L X + b X + c Z, written to ``out``, which may be Z. One pass, O((n + E) m)."""
        # Allocation costs as much as the product: loops pass an array to reuse.
        target = np.empty_like(X) if out is None else out
        W, addend = self.weights, X if Z is None else Z
        combine(W.indptr, W.indices, W.data, self.degree, X, addend, a, b, c, target)
        return target

    def restricted(self, nodes: Labels) -> Diffusion:
        """The Laplacian of one component."""
        if nodes.size == self.n:
            return self
        return Diffusion(self.weights[nodes][:, nodes], np.zeros(nodes.size, dtype=np.int64))

    def solve(self, lam: float, B: FloatArray, *, tol: float, max_iter: int) -> Columns:
        """Solve (I + 2 lam L) X = B by conjugate gradients.

        The mean of B over a component is its own solution. The remainder is solved in the space of
        columns of mean zero with a diagonal preconditioner. There the condition number stays below
        that of L as lam grows, and X has the column sums of B up to round-off.

        Parameters
        ----------
        lam : float
            Strength.
        B : (n, m) ndarray
            Right-hand sides.
        tol : float
            Relative residual at which a column stops.
        max_iter : int
            Iteration budget.

        Returns
        -------
        Columns
            At most seven arrays of the size of B in memory; one pass over the edges per iteration.
        """
        means = self.means(B)[self.component]
        right = B - means
        sizes = _norms(B)
        sizes[sizes == 0.0] = 1.0
        X, norms, n_iter = _conjugate_gradients(self, 2.0 * lam, right, tol * sizes, max_iter)
        X += means
        solved = bool((norms <= tol * sizes).all())
        status = Status.SOLVED if solved else Status.MAX_ITER
        return Columns(X, norms / sizes, n_iter, status)


def _conjugate_gradients(
    L: Diffusion, scale: float, right: FloatArray, targets: FloatArray, max_iter: int
) -> tuple[FloatArray, FloatArray, int]:
    """Solve (I + scale L) X = right for columns of mean zero; return X, residual norms, iterations.

    The residual of the recurrence drifts from the true one: restart from the true residual as long
    as that halves it.
    """
    inverse = (1.0 / (1.0 + scale * L.degree))[:, None]

    def apply(P: FloatArray, out: FloatArray) -> FloatArray:
        return L.combine(P, scale, 1.0, out=out)

    def precondition(R: FloatArray, out: FloatArray) -> None:
        np.multiply(inverse, R, out=out)
        L.centre(out)

    X, R, n_iter = np.zeros_like(right), right.copy(), 0
    before = np.inf
    while True:
        norms = _norms(R)
        worst = float((norms / targets).max())
        if worst <= 1.0 or worst > 0.5 * before or n_iter >= max_iter:
            return X, norms, n_iter
        before = worst
        n_iter += block_conjugate_gradients(
            apply, precondition, X, R, targets, max_iter - n_iter, axis=0
        )
        L.combine(X, -scale, -1.0, right, 1.0, out=R)


def _norms(X: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt(np.einsum("ij,ij->j", X, X)))
