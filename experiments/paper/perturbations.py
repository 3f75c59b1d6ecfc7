"""Perturbations of a graph: rewired edges, outlier nodes, resampled edges."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from convexhc._types import FloatArray


def rewire(A: FloatArray, share: float, rng: np.random.Generator) -> FloatArray:
    """Move a fraction of the edges to unconnected pairs of nodes, keeping their weights.

    Examples
    --------
    >>> ring = np.roll(np.eye(6), 1, axis=1) + np.roll(np.eye(6), -1, axis=1)
    >>> moved = rewire(ring, 0.5, np.random.default_rng(0))
    >>> int(moved.sum()), int((moved != ring).sum())
    (12, 12)
    """
    upper = np.triu(np.ones_like(A, dtype=bool), 1)
    linked, free = np.argwhere(upper & (A > 0)), np.argwhere(upper & (A == 0))
    count = min(round(share * len(linked)), len(free))
    old = linked[rng.choice(len(linked), count, replace=False)]
    new = free[rng.choice(len(free), count, replace=False)]
    changed = A.copy()
    changed[new[:, 0], new[:, 1]] = A[old[:, 0], old[:, 1]]
    changed[old[:, 0], old[:, 1]] = 0.0
    return _mirrored(changed)


def add_outliers(A: FloatArray, share: float, rng: np.random.Generator) -> FloatArray:
    """Append a fraction of new nodes with random edges.

    Every new node has the median degree, with weights drawn from those of the graph.

    Examples
    --------
    >>> ring = np.roll(np.eye(6), 1, axis=1) + np.roll(np.eye(6), -1, axis=1)
    >>> larger = add_outliers(ring, 0.5, np.random.default_rng(0))
    >>> larger.shape, larger[6:].sum(axis=1)
    ((9, 9), array([2., 2., 2.]))
    """
    n, count = len(A), round(share * len(A))
    degree = int(np.median((A > 0).sum(axis=1)))
    larger = np.zeros((n + count, n + count))
    larger[:n, :n] = A
    for outlier in range(n, n + count):
        larger[rng.choice(n, degree, replace=False), outlier] = rng.choice(A[A > 0], degree)
    return _mirrored(larger)


def bootstrap(A: FloatArray, share: float, rng: np.random.Generator) -> FloatArray:
    """Draw a fraction of the edges with replacement; weights are multiplied by the counts.

    Examples
    --------
    >>> ring = np.roll(np.eye(6), 1, axis=1) + np.roll(np.eye(6), -1, axis=1)
    >>> float(bootstrap(ring, 1.0, np.random.default_rng(0)).sum())
    12.0
    """
    edges = np.argwhere(np.triu(A, 1) > 0)
    times = rng.multinomial(round(share * len(edges)), np.full(len(edges), 1 / len(edges)))
    drawn = np.zeros_like(A)
    drawn[edges[:, 0], edges[:, 1]] = times * A[edges[:, 0], edges[:, 1]]
    return _mirrored(drawn)


KINDS: dict[str, Callable[[FloatArray, float, np.random.Generator], FloatArray]] = {
    "rewired": rewire,
    "outliers": add_outliers,
    "bootstrap": bootstrap,
}


def _mirrored(A: FloatArray) -> FloatArray:
    """Symmetric matrix of an upper triangle."""
    upper = np.triu(A, 1)
    return upper + upper.T
