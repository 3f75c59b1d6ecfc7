"""Passes of ADMM over the entries of the centroids."""

from __future__ import annotations

from convexhc._types import FloatArray
from convexhc.kernels.compile import FAST, compiled


@compiled(fastmath=FAST)
def nonnegativity_update(
    C: FloatArray, V: FloatArray, S: FloatArray, tau: float, relax: float, right: FloatArray
) -> tuple[float, float]:
    """Update the copy V >= 0 of C and its dual S <= 0 in one pass.

    With X = S + tau (relax C + (1 - relax) V): S <- min(X, 0) and V <- (X - S) / tau, in place.
    Adds tau V - S to ``right``, the right-hand side of the next centroid step. Returns the squared
    primal residual |C - V|^2 and |change of V|^2. O(n m).
    """
    primal, moved = 0.0, 0.0
    for i in range(C.shape[0]):
        for k in range(C.shape[1]):
            x = S[i, k] + tau * (relax * C[i, k] + (1.0 - relax) * V[i, k])
            s = x if x < 0.0 else 0.0
            new = (x - s) / tau
            change, residual = new - V[i, k], C[i, k] - new
            moved += change * change
            primal += residual * residual
            V[i, k] = new
            S[i, k] = s
            right[i, k] += x - 2.0 * s
    return primal, moved


@compiled(fastmath=frozenset({"contract"}))
def add_tangent(R: FloatArray, C: FloatArray, G: FloatArray, curvature: float) -> None:
    """R <- R + curvature C - G, in place: the linearised quadratic at C. O(n m)."""
    for i in range(R.shape[0]):
        for k in range(R.shape[1]):
            R[i, k] += curvature * C[i, k] - G[i, k]
