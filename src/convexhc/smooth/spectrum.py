"""The spectrum of the Laplacian: its leading modes per component, and the effective rank."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import linalg
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, eigsh

from convexhc._checks import TIE
from convexhc._types import FloatArray, Labels
from convexhc.kernels.diffusion import Block
from convexhc.smooth.diffusion import Diffusion, fits_single


@dataclass(frozen=True)
class ModeSettings:
    """Constants of the computation of modes."""

    dense_nodes: int = 1000  # largest component whose modes come from a dense decomposition
    tol: float = 1e-3  # residual of a mode that has converged, as a fraction of its eigenvalue
    max_products: int = 3000  # products of the Laplacian with the block in a subspace iteration
    locked: float = 0.1  # residual, as a fraction of tol, of a mode left out of further products
    round_off: float = 30.0  # units of round-off of L x that may not exceed the tolerance


SETTINGS = ModeSettings()


@dataclass(frozen=True, eq=False)
class Modes:
    """Eigenvectors and eigenvalues of L, each supported on one connected component.

    The constant mode of a component, with eigenvalue zero, is left out.
    """

    component: Labels  # (n,): connected component of every node
    # (c, d): eigenvalues of every component in increasing order, padded with infinity.
    eigenvalues: FloatArray
    vectors: FloatArray  # (n, d): column k contains mode k of every component, padded with zeros
    # (c, d): |L v - mu v| / mu. At any lam, pi(lam) v differs from v / (1 + 2 lam mu) by at most
    # this. An eigenvalue mu below 1e-9 of the largest one is replaced by that bound.
    residual: FloatArray

    @cached_property
    def sizes(self) -> Labels:
        """Number of nodes of every component."""
        return np.bincount(self.component)

    @property
    def n_components(self) -> int:
        """Number of components."""
        return int(self.sizes.size)

    @cached_property
    def counts(self) -> Labels:
        """Number of known modes of every component, including the constant one."""
        return np.asarray(1 + np.isfinite(self.eigenvalues).sum(axis=1))

    @property
    def complete(self) -> bool:
        """Whether all modes are known."""
        return bool((self.counts == self.sizes).all())

    @property
    def horizon(self) -> float:
        """Eigenvalue below which all modes are known."""
        short = self.counts < self.sizes
        known = np.where(np.isfinite(self.eigenvalues), self.eigenvalues, 0.0)
        return float(known[short].max(axis=1, initial=0.0).min(initial=np.inf))

    def shrunk(self, lam: float, width: int | None = None) -> FloatArray:
        """The first ``width`` modes, each times 1 / (1 + 2 lam mu); one row per node. O(n d)."""
        vectors, values = self.vectors[:, :width], self.eigenvalues[:, :width]
        factor = 1.0 / (1.0 + 2.0 * lam * np.where(np.isfinite(values), values, 0.0))
        return np.asarray(vectors * (factor if len(factor) == 1 else factor[self.component]))

    def remove(self, X: FloatArray) -> None:
        """Project the modes out of every column of X, in place. O(n d m)."""
        if self.n_components == 1:
            X -= self.vectors @ (self.vectors.T @ X)
            return
        nodes = np.arange(self.component.size)
        groups = csr_array(
            (np.ones(nodes.size), (self.component, nodes)), shape=(self.n_components, nodes.size)
        )
        for x in X.T:
            shares = np.asarray(groups @ (self.vectors * x[:, None]))
            x -= np.einsum("ij,ij->i", self.vectors, shares[self.component])


class _Found(NamedTuple):
    eigenvalues: FloatArray
    vectors: FloatArray
    residual: FloatArray


def leading_modes(diffusion: Diffusion, dimensions: int | None = None) -> Modes:
    """The smoothest modes of every component, at most ``dimensions`` of each.

    Dense for small components; for large ones Chebyshev-filtered subspace iteration, with products
    with L only. The relative residual is at most 1e-3; fewer modes if the budget was spent.
    """
    most = int(diffusion.sizes.max()) - 1
    width = most if dimensions is None else min(dimensions, most)
    count = diffusion.sizes.size
    eigenvalues = np.full((count, width), np.inf)
    residual = np.zeros((count, width))
    vectors = np.zeros((diffusion.n, width))
    order = np.argsort(diffusion.component, kind="stable")
    ends = np.cumsum(diffusion.sizes)
    for c in np.flatnonzero(diffusion.sizes > 1):
        nodes = order[ends[c] - diffusion.sizes[c] : ends[c]]
        part = diffusion.restricted(nodes)
        dense = dimensions is None or nodes.size <= max(SETTINGS.dense_nodes, 3 * width)
        if not dense:
            place, part = part.ordered
            nodes = nodes[place]
        found = _dense_modes(part, width) if dense else _subspace_iteration(part, width)
        known = found.eigenvalues.size
        eigenvalues[c, :known] = found.eigenvalues
        residual[c, :known] = found.residual
        vectors[nodes, :known] = found.vectors
    return Modes(diffusion.component, eigenvalues, vectors, residual)


def _dense_modes(L: Diffusion, width: int) -> _Found:
    """The first modes of a connected graph by a dense decomposition. O(n^3)."""
    n = L.n
    dense = np.diag(L.degree) - L.weights.toarray()
    # Move the constant mode above all others, away from modes with tiny eigenvalues.
    top = 2.0 * float(L.degree.max())
    dense += 2.0 * top / n
    wanted = min(width, n - 1)
    subset = None if wanted > n // 4 else (0, wanted - 1)
    values, vectors = linalg.eigh(dense, subset_by_index=subset, overwrite_a=True)
    values = np.maximum(values[:wanted], 0.0)
    return _Found(values, vectors[:, :wanted], np.zeros(wanted))


def _subspace_iteration(L: Diffusion, width: int) -> _Found:
    """The first modes of a connected graph by Chebyshev-filtered subspace iteration.

    Only modes that have not converged are filtered on, in single precision while round-off allows.
    """
    top = _largest(L)
    # A random start misses no mode; the fixed seed makes the result reproducible.
    block = width + width // 4 + 8
    dtype = np.float32 if fits_single(L) else np.float64
    X: Block = np.random.default_rng(0).standard_normal((L.n, block), dtype=dtype)
    locked, least = X[:, :0], np.zeros(0)
    products = 0
    while True:
        L.centre(X)
        if least.size:
            X -= locked @ (locked.T @ X)
        values, X, residual = _ritz(L, X, top)
        good = residual <= SETTINGS.tol
        # A mode that was missed may lie below locked ones.
        wanted = int((values <= np.sort(np.append(least, values))[width - 1]).sum())
        if good[:wanted].all() or products >= SETTINGS.max_products:
            break
        ready = int(np.argmin(residual <= SETTINGS.locked * SETTINGS.tol))
        if ready >= block // 8:
            locked, least = np.hstack([locked, X[:, :ready]]), np.append(least, values[:ready])
            X, values = X[:, ready:].copy(), values[ready:]
        low = min(float(values[0]), float(least.min(initial=np.inf)))
        if SETTINGS.round_off * np.finfo(X.dtype).eps * top > SETTINGS.tol * low:
            locked, X = locked.astype(np.float64), X.astype(np.float64)
        degree = int(np.clip(3.0 * np.sqrt(top / values[-1]), 6, 400))
        X = _filtered(L, X, degree, float(values[0]), float(values[-1]), top)
        products += degree
    return _finished(L, np.hstack([locked, X[:, :wanted]]), width, top)


def _finished(L: Diffusion, X: Block, width: int, top: float) -> _Found:
    """The modes in the span of X that have converged, in double precision."""
    X, values, residual = X.astype(np.float64), np.zeros(0), np.zeros(0)
    # Two steps: the first leaves the round-off of a Gram matrix of nearly orthogonal columns.
    for _ in range(2):
        L.centre(X)
        values, X, residual = _ritz(L, X, top)
    good = residual[:width] <= SETTINGS.tol
    known = good.size if good.all() else int(np.argmin(good))
    return _Found(values[:known], np.array(X[:, :known], dtype=np.float64), residual[:known])


def _ritz(L: Diffusion, X: Block, top: float) -> tuple[FloatArray, Block, FloatArray]:
    """Ritz values and vectors of L on the columns of X, and relative residuals. O(n b^2)."""
    LX = L.combine(X, 1.0, 0.0)
    scale = 1.0 / np.sqrt(np.einsum("ij,ij->j", X, X, dtype=np.float64))
    gram = (X.T @ X).astype(np.float64) * scale * scale[:, None]
    sizes, basis = np.linalg.eigh(gram)
    # Directions lost to round-off are not amplified.
    floor = 10.0 * len(scale) * np.finfo(X.dtype).eps * sizes[-1]
    basis *= scale[:, None] / np.sqrt(np.maximum(sizes, floor))
    inside = basis.T @ (X.T @ LX).astype(np.float64) @ basis
    values, rotation = np.linalg.eigh((inside + inside.T) / 2.0)
    turned = (basis @ rotation).astype(X.dtype)
    X, LX = X @ turned, LX @ turned
    LX -= X * values.astype(X.dtype)
    left = np.sqrt(np.einsum("ij,ij->j", LX, LX))
    return values, X, left / np.maximum(values, TIE * top)


def _filtered(L: Diffusion, X: Block, degree: int, low: float, cut: float, top: float) -> Block:
    """T((top + cut - 2 L) / (top - cut)) X with T the Chebyshev polynomial, scaled to 1 at ``low``.

    Damps [cut, top] relative to the eigenvalues below. X is overwritten.
    """
    half, middle = (top - cut) / 2.0, (top + cut) / 2.0
    first = half / (low - middle)
    ratio = first
    before, now = X, L.combine(X, ratio / half, -ratio * middle / half)
    for _ in range(1, degree):
        new = 1.0 / (2.0 / first - ratio)
        # Overwrites the iterate before last.
        slope = 2.0 * new / half
        L.combine(now, slope, -slope * middle, before, -ratio * new, out=before)
        before, now, ratio = now, before, new
    return now


def _largest(L: Diffusion) -> float:
    """Upper bound of the largest eigenvalue, by a few percent."""
    n = L.n
    operator = LinearOperator((n, n), matvec=lambda x: L.degree * x - L.weights @ x, dtype=float)
    start = np.random.default_rng(0).standard_normal(n)
    found = eigsh(operator, k=1, which="LA", v0=start, tol=1e-2, return_eigenvectors=False)
    # No eigenvalue exceeds twice the largest degree.
    return min(1.05 * float(found[0]), 2.0 * float(L.degree.max()))


@dataclass(frozen=True)
class SpectrumSettings:
    """Constants of the sampling of the spectrum."""

    probes: int = 8  # random vectors that sample the modes that were not computed
    steps: int = 60  # most Lanczos steps per random vector
    check: int = 10  # steps between two evaluations
    converged: float = 0.05  # change of a converged quadrature, as a fraction of the standard error


SAMPLING = SpectrumSettings()


def effective_ranks(
    diffusion: Diffusion, modes: Modes, lambdas: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Effective rank of pi(lam) pi(lam)' at every lam, and its standard error.

    exp(-sum p log p) with p proportional to 1 / (1 + 2 lam mu)^2, over all eigenvalues mu of L.
    Known modes are exact. The others are estimated by stochastic Lanczos quadrature in their
    orthogonal complement, with random vectors shared by all lam; the error is that of their mean.
    """
    known = modes.eigenvalues[np.isfinite(modes.eigenvalues)]
    known = np.concatenate([np.zeros(modes.n_components), known])
    missing = diffusion.n - known.size
    exact = [_sums(known, np.ones(known.size), lam) for lam in lambdas]
    if not missing:
        values = np.array([_rank(total, entropy) for total, entropy in exact])
        return values, np.zeros(values.size)
    before = np.full(len(lambdas), np.inf)
    for rules in _quadratures(diffusion, modes):
        ranks = np.empty((len(rules), len(lambdas)))
        for i, (nodes, shares) in enumerate(rules):
            for j, lam in enumerate(lambdas):
                total, entropy = _sums(nodes, missing * shares, lam)
                ranks[i, j] = _rank(exact[j][0] + total, exact[j][1] + entropy)
        values, error = ranks.mean(axis=0), ranks.std(axis=0, ddof=1) / np.sqrt(len(rules))
        if (np.abs(values - before) <= SAMPLING.converged * error).all():
            break
        before = values
    return values, error


def _sums(mu: FloatArray, counts: FloatArray, lam: float) -> tuple[float, float]:
    """Sums of s and of s log s, s = 1 / (1 + 2 lam mu)^2, weighted by ``counts``."""
    square = 1.0 / np.square(1.0 + 2.0 * lam * mu)
    return float(counts @ square), float(counts @ (square * np.log(square)))


def _rank(total: float, entropy: float) -> float:
    return float(np.exp(np.log(total) - entropy / total))


Rule = tuple[FloatArray, FloatArray]


def _quadratures(diffusion: Diffusion, modes: Modes) -> Iterator[list[Rule]]:
    """Quadrature nodes and weights of the spectrum outside the modes, for every probe.

    Yields ever finer rules: one list after every ten steps of Lanczos.
    """
    signs = np.random.default_rng(0).integers(0, 2, (diffusion.n, SAMPLING.probes))
    Q = (2.0 * signs - 1.0).astype(np.float64)
    for diagonal, offdiagonal in _lanczos(diffusion, modes, Q):
        rules = []
        for k in range(SAMPLING.probes):
            mu, vectors = linalg.eigh_tridiagonal(diagonal[:, k], offdiagonal[:-1, k])
            rules.append((np.maximum(mu, 0.0), np.square(vectors[0])))
        yield rules


def _lanczos(diffusion: Diffusion, modes: Modes, Q: FloatArray) -> Iterator[Rule]:
    """Tridiagonal matrices of L on the Krylov spaces of the columns of Q, modes projected out.

    Round-off reintroduces the modes with zero weight: the weights are those of the first vector.
    """
    scale = float(diffusion.degree.max())
    diagonal, offdiagonal = np.zeros((2, SAMPLING.steps, SAMPLING.probes))
    diffusion.centre(Q)
    modes.remove(Q)
    order, L = diffusion.ordered
    Q = Q[order]
    Q /= np.linalg.norm(Q, axis=0)
    before, after = np.zeros_like(Q), np.empty_like(Q)
    for step in range(SAMPLING.steps):
        L.combine(Q, 1.0, 0.0, out=after)
        diagonal[step] = np.einsum("ij,ij->j", Q, after)
        after -= diagonal[step] * Q
        if step:
            after -= offdiagonal[step - 1] * before
        sizes = np.linalg.norm(after, axis=0)
        # A column with an exhausted Krylov space continues as zero, with weight zero.
        sizes[sizes <= TIE * scale] = 0.0
        offdiagonal[step] = sizes
        after *= np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0.0)
        before, Q, after = Q, after, before
        if (step + 1) % SAMPLING.check == 0:
            yield diagonal[: step + 1], offdiagonal[: step + 1]
