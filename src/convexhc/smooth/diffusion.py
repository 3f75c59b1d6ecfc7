"""Products with L and linear systems with I + 2 lam L on large sparse graphs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array, csr_array

from convexhc._types import FloatArray, Labels
from convexhc.graph import Graph
from convexhc.kernels.diffusion import Block, Index, combine, descend, turn
from convexhc.kernels.propagation import propagate
from convexhc.solvers.loop import Status

# Nodes from which a block of columns no longer fits into the cache: their order and the bytes per
# number decide the time of a pass.
LARGE_NODES = 30_000
# Reduction of the residual by one run in single precision; round-off stops it at about 1e-6.
SINGLE_TOL = 3e-5
# A run in single precision that leaves more than this share of the residual is the last one.
SINGLE_SLOW = 0.1
# Iterations of one run in single precision: where more are needed, round-off decides.
SINGLE_ITERATIONS = 200

# Passes of label propagation per round: more make fewer, not better groups.
PASSES = 4


class Columns(NamedTuple):
    """Columns of pi(lam), or pi(lam) times given columns, and their residuals."""

    values: FloatArray  # (n, m): the columns
    # (m,): |b - (I + 2 lam L) x| / |b|, computed from the result. No eigenvalue of the matrix is
    # below one, so the error of x is at most this times |b|.
    residual: FloatArray
    n_iter: int  # iterations used
    status: Status  # SOLVED if every residual is within the tolerance


@dataclass(frozen=True, eq=False)
class Diffusion:
    """The Laplacian L of a sparse graph. Memory O(n + E)."""

    weights: csr_array  # symmetric, with an empty diagonal
    component: Labels  # (n,): connected component of every node

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

    @cached_property
    def ordered(self) -> tuple[Labels, Diffusion]:
        """Nodes in an order with neighbours near one another, and the Laplacian in this order."""
        if self.n < LARGE_NODES:
            return np.arange(self.n), self
        order = local_order(self.weights)
        return order, Diffusion(self.weights[order][:, order], self.component[order])

    @cached_property
    def _single(self) -> tuple[Block, Block]:
        return self.weights.data.astype(np.float32), self.degree.astype(np.float32)

    def means(self, X: Block) -> FloatArray:
        """Mean of every column over every component, one row per component. O(n m)."""
        if self.sizes.size == 1:
            return np.asarray(X.mean(axis=0, keepdims=True, dtype=np.float64))
        return np.asarray(self._averages @ X)

    def centre(self, X: Block) -> None:
        """Subtract the mean over the component, in place: project out the null space of L."""
        means = self.means(X).astype(X.dtype)
        X -= means if self.sizes.size == 1 else means[self.component]

    def combine(
        self,
        X: Block,
        a: float,
        b: float,
        Z: Block | None = None,
        c: float = 0.0,
        *,
        out: Block | None = None,
    ) -> Block:
        """Return a L X + b X + c Z, written to ``out``, which may be Z. One pass, O((n + E) m).

        Arrays are float64, or all float32.
        """
        # Allocation costs as much as the product: loops pass an array to reuse.
        target = np.empty_like(X) if out is None else out
        combine(self._rows(X), X, X if Z is None else Z, (a, b, c), target)
        return target

    def product(self, X: Block, scale: float, out: Block) -> FloatArray:
        """Write X + scale L X into ``out``; return its dot products with the columns of X."""
        return combine(self._rows(X), X, X, (scale, 1.0, 0.0), out)

    def _rows(self, X: Block) -> tuple[Index, Index, Block, Block]:
        single = X.dtype == np.float32
        weight, degree = self._single if single else (self.weights.data, self.degree)
        return self.weights.indptr, self.weights.indices, weight, degree

    def restricted(self, nodes: Labels) -> Diffusion:
        """The Laplacian of one component."""
        if nodes.size == self.n:
            return self
        return Diffusion(self.weights[nodes][:, nodes], np.zeros(nodes.size, dtype=np.int64))

    def solve(self, lam: float, B: FloatArray, *, tol: float, max_iter: int) -> Columns:
        """Solve (I + 2 lam L) X = B by conjugate gradients, each to a relative residual ``tol``.

        The mean of B over a component is its own solution. The remainder is solved in the space of
        columns of mean zero: there the condition number stays below that of L as lam grows. At most
        seven arrays of the size of B in memory; one pass over the edges per iteration.
        """
        sizes = _norms(B)
        sizes[sizes == 0.0] = 1.0
        order, L = self.ordered
        means = self.means(B)
        right = B[order]
        right -= means[L.component]
        X, norms, n_iter = _refined(L, 2.0 * lam, right, tol * sizes, max_iter)
        X += means[L.component]
        right[order] = X
        solved = bool((norms <= tol * sizes).all())
        status = Status.SOLVED if solved else Status.MAX_ITER
        return Columns(right, norms / sizes, n_iter, status)


def _refined(
    L: Diffusion, scale: float, right: FloatArray, targets: FloatArray, max_iter: int
) -> tuple[FloatArray, FloatArray, int]:
    """Solve (I + scale L) X = right for columns of mean zero; return X, residual norms, iterations.

    Iterative refinement: runs of conjugate gradients reduce the true residual, in single precision
    while that reduces it tenfold, then in double as long as that halves it.
    """
    X, R, n_iter = np.zeros_like(right), right.copy(), 0
    single, before = fits_single(L, scale), np.inf
    while True:
        norms = _norms(R)
        worst = float((norms / targets).max())
        if worst <= 1.0 or n_iter >= max_iter:
            return X, norms, n_iter
        if single and not worst <= SINGLE_SLOW * before:
            single = False
            if not worst <= before:
                X[:], R[:], before = 0.0, right, np.inf
                continue
        elif worst > 0.5 * before:
            return X, norms, n_iter
        before = worst
        sizes = np.where(norms > 0.0, norms, 1.0)
        R /= sizes
        goals, budget = targets / sizes, max_iter - n_iter
        if single:
            goals, budget = np.maximum(goals, SINGLE_TOL), min(budget, SINGLE_ITERATIONS)
        part = R.astype(np.float32) if single else R
        change, used = _conjugate_gradients(L, scale, part, goals, budget)
        n_iter += used
        X += change * sizes
        L.centre(X)
        L.combine(X, -scale, -1.0, right, 1.0, out=R)


def fits_single(L: Diffusion, scale: float = 1.0) -> bool:
    """Whether to start in single precision: large arrays, and neither overflow nor underflow."""
    info, entries = np.finfo(np.float32), L.degree[L.degree > 0.0]
    if L.n < LARGE_NODES or not entries.size:
        return False
    low, high = float(entries.min()), float(entries.max())
    return bool(low > info.tiny / info.eps and max(1.0, scale) * high < info.eps * info.max)


def _conjugate_gradients(
    L: Diffusion, scale: float, R: Block, targets: FloatArray, max_iter: int
) -> tuple[Block, int]:
    """Solve (I + scale L) X = R from zero, in the precision of R, which is overwritten.

    The preconditioner is diagonal, followed by the projection to columns of mean zero.
    """
    inverse = (1.0 / (1.0 + scale * L.degree)).astype(R.dtype)
    averages = L._averages * inverse if L.sizes.size > 1 else None
    X, P, Q = np.zeros_like(R), np.zeros_like(R), np.zeros_like(R)
    squares, rho, totals = descend(X, R, P, Q, np.zeros(R.shape[1]), inverse)
    last, n_iter = np.zeros_like(rho), 0
    while n_iter < max_iter and not (np.sqrt(squares) <= targets).all():
        means = totals[None, :] / L.n if averages is None else averages @ R
        turn(P, R, _ratio(rho, last), inverse, means, L.component)
        step = _ratio(rho, L.product(P, scale, Q))
        step[np.sqrt(squares) <= targets] = 0.0
        last = rho
        squares, rho, totals = descend(X, R, P, Q, step, inverse)
        n_iter += 1
    return X, n_iter


def _ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    """Quotient of non-negative numbers; zero where the denominator is zero."""
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0.0)


def _norms(X: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt(np.einsum("ij,ij->j", X, X)))


def local_order(weights: csr_array) -> Labels:
    """Order of the nodes by groups of groups, found by label propagation.

    A product with a sparse matrix in random order waits for memory once per entry; among nodes of
    one group it finds most rows in the cache. O(entries) per round; each round merges groups.
    """
    graph, place = weights, np.arange(weights.shape[0])
    keys: list[Labels] = []
    while True:
        n = graph.shape[0]
        label, total = np.arange(n, dtype=np.int32), np.zeros(n)
        for seed in range(PASSES):
            propagate(graph.indptr, graph.indices, graph.data, label, total, seed)
        names, group = np.unique(label, return_inverse=True)
        place = group[place]
        keys.append(place)
        if names.size > n // 2:
            return np.lexsort(keys)
        graph = _contracted(graph, group, names.size)


def _contracted(graph: csr_array, group: Labels, count: int) -> csr_array:
    """The weights between groups."""
    entries = graph.tocoo()
    one, other = group[entries.row], group[entries.col]
    apart = one != other
    values: FloatArray = entries.data[apart]
    return coo_array((values, (one[apart], other[apart])), shape=(count, count)).tocsr()
