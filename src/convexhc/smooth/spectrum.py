"""The effective rank of the smooth model, from the spectrum of the Laplacian."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from convexhc._types import FloatArray
from convexhc.smooth.diffusion import Diffusion
from convexhc.smooth.modes import ROUND_OFF, Modes


@dataclass(frozen=True)
class SpectrumSettings:
    """Constants of the sampling of the spectrum."""

    # Random vectors that sample the modes that were not computed.
    probes: int = 8
    # Most Lanczos steps per random vector.
    steps: int = 60
    # Steps between two evaluations.
    check: int = 10
    # The quadrature has converged once its change is this fraction of the standard error.
    converged: float = 0.05


SETTINGS = SpectrumSettings()


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
        if (np.abs(values - before) <= SETTINGS.converged * error).all():
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
    signs = np.random.default_rng(0).integers(0, 2, (diffusion.n, SETTINGS.probes))
    Q = (2.0 * signs - 1.0).astype(np.float64)
    for diagonal, offdiagonal in _lanczos(diffusion, modes, Q):
        rules = []
        for k in range(SETTINGS.probes):
            mu, vectors = linalg.eigh_tridiagonal(diagonal[:, k], offdiagonal[:-1, k])
            rules.append((np.maximum(mu, 0.0), np.square(vectors[0])))
        yield rules


def _lanczos(diffusion: Diffusion, modes: Modes, Q: FloatArray) -> Iterator[Rule]:
    """Tridiagonal matrices of L on the Krylov spaces of the columns of Q, modes projected out.

    Round-off reintroduces the modes with zero weight: the weights are those of the first vector.
    """
    scale = float(diffusion.degree.max())
    diagonal, offdiagonal = np.zeros((2, SETTINGS.steps, SETTINGS.probes))
    diffusion.centre(Q)
    modes.remove(Q)
    order, L = diffusion.ordered
    Q = Q[order]
    Q /= np.linalg.norm(Q, axis=0)
    before, after = np.zeros_like(Q), np.empty_like(Q)
    for step in range(SETTINGS.steps):
        L.combine(Q, 1.0, 0.0, out=after)
        diagonal[step] = np.einsum("ij,ij->j", Q, after)
        after -= diagonal[step] * Q
        if step:
            after -= offdiagonal[step - 1] * before
        sizes = np.linalg.norm(after, axis=0)
        # A column with an exhausted Krylov space continues as zero, with weight zero.
        sizes[sizes <= ROUND_OFF * scale] = 0.0
        offdiagonal[step] = sizes
        after *= np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0.0)
        before, Q, after = Q, after, before
        if (step + 1) % SETTINGS.check == 0:
            yield diagonal[: step + 1], offdiagonal[: step + 1]
