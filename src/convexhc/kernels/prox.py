"""The mixed norm alpha |x|_2 + (1 - alpha) |x|_1: its prox, its dual ball and its dual norm."""

from __future__ import annotations

import math

import numpy as np

from convexhc._types import FloatArray
from convexhc.kernels.compile import FAST, blocks, compiled


@compiled(fastmath=FAST, inline=True)
def split(x: FloatArray, soft: float, block: float, inside: FloatArray) -> bool:
    """Split ``x`` into its prox and its projection on the dual ball (Moreau).

    prox(x) = argmin_z 1/2 |z - x|^2 + soft |z|_1 + block |z|_2: a soft threshold by ``soft``, then
    a block shrinkage by ``block``. The remainder, ``x - prox(x)``, is the projection of ``x`` on
    soft Ball_inf + block Ball_2; it is written to ``inside``, which may be ``x`` itself.
    Returns whether the prox is exactly zero. O(m).
    """
    total = 0.0
    for k in range(x.size):
        kept = abs(x[k]) - soft
        kept = kept if kept > 0.0 else 0.0
        total += kept * kept
    norm = math.sqrt(total)
    if norm <= block:
        for k in range(x.size):
            inside[k] = x[k]
        return True
    keep = 1.0 - block / norm
    for k in range(x.size):
        kept = abs(x[k]) - soft
        kept = keep * kept if kept > 0.0 else 0.0
        inside[k] = x[k] - math.copysign(kept, x[k])
    return False


@compiled()
def norms(X: FloatArray, l1_ratio: float) -> FloatArray:
    """Mixed norm (1 - l1_ratio) |x|_2 + l1_ratio |x|_1 of every row. O(rows x columns)."""
    out = np.empty(X.shape[0])
    for e in range(X.shape[0]):
        squares, absolutes = 0.0, 0.0
        for k in range(X.shape[1]):
            squares += X[e, k] * X[e, k]
            absolutes += abs(X[e, k])
        out[e] = (1.0 - l1_ratio) * math.sqrt(squares) + l1_ratio * absolutes
    return out


def dual_norms(Y: FloatArray, l1_ratio: float) -> FloatArray:
    """Dual norm of every row: the least t with y in t ((1 - l1_ratio) Ball_2 + l1_ratio Ball_inf).

    y lies in that ball exactly when |soft(y, t l1_ratio)|_2 <= t (1 - l1_ratio). The left side
    falls and the right side grows with t, so the root is bracketed by the two pure norms and found
    by bisection to the last bit. O(rows x columns x 60).
    """
    out = np.empty(Y.shape[0])
    for some in blocks(Y.shape):
        entries = np.abs(Y[some])
        low, high = entries.max(axis=1, initial=0.0), np.sqrt((entries**2).sum(axis=1))
        for _ in range(60):
            t = 0.5 * (low + high)
            kept = np.maximum(entries - t[:, None] * l1_ratio, 0.0)
            enough = np.sqrt((kept**2).sum(axis=1)) <= t * (1.0 - l1_ratio)
            high, low = np.where(enough, t, high), np.where(enough, low, t)
        out[some] = high
    return out
