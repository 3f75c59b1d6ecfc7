"""Product with the Newton matrix of round dual balls, for conjugate gradients in numpy."""

from __future__ import annotations

from convexhc._types import FloatArray
from convexhc.kernels.compile import FAST, compiled
from convexhc.kernels.edges import Edges
from convexhc.kernels.newton import Response


@compiled(fastmath=FAST)
def curvature_product(
    sigma: float, mass: FloatArray, edges: Edges, at: Response, X: FloatArray, out: FloatArray
) -> float:
    """Write (mass + sigma D'J D) X to ``out``; return its inner product with X. O(E m)."""
    n, m, inner = X.shape[0], X.shape[1], 0.0
    for i in range(n):
        for k in range(m):
            out[i, k] = mass[i] * X[i, k]
            inner += X[i, k] * out[i, k]
    for e in range(edges.tail.size):
        i, j, along, squares = edges.tail[e], edges.head[e], 0.0, 0.0
        for k in range(m):
            apart = X[i, k] - X[j, k]
            along += at.kept[e, k] * apart
            squares += apart * apart
        rest, bent = sigma * (1.0 - at.shrink[e]), sigma * at.bend[e] * along
        inner += rest * squares - bent * along
        for k in range(m):
            image = rest * (X[i, k] - X[j, k]) - bent * at.kept[e, k]
            out[i, k] += image
            out[j, k] -= image
    return inner
