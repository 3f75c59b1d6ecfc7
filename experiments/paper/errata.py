"""Errors of the paper that a number shows: the printed value and the correct one."""

from __future__ import annotations

import numpy as np

from convexhc._types import FloatArray
from convexhc.api.single_lam import solve
from convexhc.datasets import fractal_graph
from convexhc.model.constraint import project_doubly_stochastic
from convexhc.similarity import two_hop
from convexhc.smooth import SmoothModel
from experiments.paper.printed import alternate
from experiments.results import Row

ALPHA = 0.95


def errata() -> list[Row]:
    """One row per error: a number that should be zero or one, as printed and corrected."""
    return [*_projection(), *_constants(), *_gradient(), _resolvent(), _shrinkage(), _components()]


def _row(what: str, printed: float, right: float) -> Row:
    return {"what": what, "printed": float(printed), "right": float(right)}


def _projection() -> list[Row]:
    """Limit of Algorithm 2 compared with the nearest doubly stochastic matrix."""
    rows = []
    for n in (8, 49, 196):
        Y = np.random.default_rng(n).standard_normal((n, n)) + np.eye(n)
        nearest = project_doubly_stochastic(Y)
        ended = alternate(Y, passes=100_000, tol=1e-12)
        off = float(np.linalg.norm(ended - nearest))
        rows.append(_row(f"distance of the projection to the nearest point, n = {n}", off, 0.0))
    return rows


def _constants() -> list[Row]:
    """Lipschitz constant of the dual gradient over lam^2, and the three printed ones."""
    K = two_hop(fractal_graph(0).adjacency, shift=1e-3).dense()
    squares = 2.0 * np.square(K)
    np.fill_diagonal(squares, 0.0)
    pairs = np.diag(squares.sum(axis=1)) - squares
    true = 2.0 * (ALPHA**2 + (1 - ALPHA) ** 2) * float(np.linalg.eigvalsh(pairs)[-1])
    row = float(np.linalg.norm(K, axis=1).max())
    squared = float(np.linalg.norm(K @ K, axis=1).max())
    return [
        _row("Lipschitz constant / lam^2, text of the proof", 16 * ALPHA**2 * row**2, true),
        _row("Lipschitz constant / lam^2, appendix A", 16 * ALPHA**2 * row, true),
        _row("Lipschitz constant / lam^2, proposition 1", 16 * squared, true),
    ]


def _gradient() -> list[Row]:
    """Relative error of both formulas of the gradient of the smooth objective."""
    rng = np.random.default_rng(0)
    K = two_hop(fractal_graph(0, n_meta=2, n_super=2, clique=3).adjacency, shift=0.1).dense()
    off = K - np.diag(np.diag(K))
    L, lam, n = np.diag(off.sum(axis=1)) - off, 0.7, len(K)
    pi = rng.random((n, n))
    toward = rng.standard_normal((n, n))
    step = 1e-6
    slope = (_smooth(pi + step * toward, K, L, lam) - _smooth(pi - step * toward, K, L, lam)) / (
        2 * step
    )
    degree = np.diag(off.sum(axis=1))
    printed = 2 * K @ pi - 2 * K + 2 * lam * K @ pi @ degree + 4 * lam * K @ pi @ off
    right = 2 * K @ pi @ (np.eye(n) + 2 * lam * L) - 2 * K
    errors = [float(abs(np.vdot(g, toward) - slope) / abs(slope)) for g in (printed, right)]
    return [_row("gradient of appendix D: relative error of a slope", *errors)]


def _smooth(pi: FloatArray, K: FloatArray, L: FloatArray, lam: float) -> float:
    """Objective of appendix D: Tr[pi'K pi (I + 2 lam L)] - 2 Tr[K pi]."""
    gram = pi.T @ K @ pi
    return float(np.trace(gram) - 2 * np.trace(K @ pi) + 2 * lam * np.trace(gram @ L))


def _resolvent() -> Row:
    """How far (I + 2 lam L)^-1 is from feasible and stationary; the paper iterates instead."""
    K = two_hop(fractal_graph(0, n_meta=2, n_super=2, clique=3).adjacency, shift=0.1).dense()
    off = K - np.diag(np.diag(K))
    L, lam = np.diag(off.sum(axis=1)) - off, 0.7
    pi = SmoothModel.of(K).pi(lam)
    slope = float(np.abs(2 * K @ pi @ (np.eye(len(K)) + 2 * lam * L) - 2 * K).max())
    sums = float(np.abs(np.concatenate([pi.sum(axis=0), pi.sum(axis=1)]) - 1).max())
    residual = max(slope, sums, max(-float(pi.min()), 0.0))
    return _row("residual of the closed form of appendix D", float("nan"), residual)


def _shrinkage() -> Row:
    """Appendix C's update of Z, after 100 rounds from its own start Z = 0, against the prox.

    The objective is 1/2 |z - x|^2 + soft |z|_1 + block |z|_2; the value is the excess of each over
    the smaller of the two.
    """
    x = np.array([1.5, -0.4, 0.2, 0.05])
    soft, block = 0.1, 0.5
    z = np.zeros_like(x)
    for _ in range(100):
        size = float(np.linalg.norm(z))
        scale, threshold = (size / (size + block), soft * size / (size + block))
        z = np.sign(x) * np.maximum(np.abs(scale * x) - threshold, 0.0)
    kept = np.sign(x) * np.maximum(np.abs(x) - soft, 0.0)
    prox = kept * max(0.0, 1.0 - block / float(np.linalg.norm(kept)))

    def value(at: FloatArray) -> float:
        norms = soft * np.abs(at).sum() + block * np.linalg.norm(at)
        return float(0.5 * np.square(at - x).sum() + norms)

    least = min(value(z), value(prox))
    what = "appendix C's update of Z from zero: objective above the least"
    return _row(what, value(z) - least, value(prox) - least)


def _components() -> Row:
    """Number of clusters at a large lam on a graph of two components; the paper says one."""
    K = np.kron(np.eye(2), np.ones((3, 3))) + np.eye(6)
    return _row("clusters of two components at lam = 1000", 1, solve(K, 1000.0).n_clusters)
