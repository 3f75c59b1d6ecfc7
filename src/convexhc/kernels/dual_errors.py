"""How far the dual of an edge may be from one that is optimal, given the error of the centroids."""

from __future__ import annotations

import math

import numpy as np

from convexhc._types import FloatArray
from convexhc.kernels.compile import compiled
from convexhc.kernels.edges import Edges


@compiled()
def dual_errors(
    C: FloatArray, Y: FloatArray, edges: Edges, reach: float, signs: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Bounds on |Y_e - y| for subgradients y at differences within ``reach`` of C_i - C_j.

    A subgradient is block u + soft s, with u the direction of the difference and s its signs. The
    direction turns by at most arcsin(reach / |C_i - C_j|), or arbitrarily if that is above one; a
    sign is known where the entry exceeds ``reach``. Returned are the distances |C_i - C_j| and the
    bounds without the unknown signs. Row e of ``signs`` gets the bounds of what the unknown signs
    add, entry by entry; it has no rows if no ball has a soft part. O(E m).
    """
    n_edges, m = Y.shape
    length, error = np.empty(n_edges), np.empty(n_edges)
    for e in range(n_edges):
        i, j, soft, block = edges.tail[e], edges.head[e], edges.soft[e], edges.block[e]
        squares = 0.0
        for k in range(m):
            d = C[i, k] - C[j, k]
            squares += d * d
        norm = math.sqrt(squares)
        length[e] = norm
        known = norm > reach
        turn = 2.0 * block * math.sin(0.5 * math.asin(reach / norm)) if known else block
        off, rest = 0.0, 0.0
        for k in range(m):
            d, y = C[i, k] - C[j, k], Y[e, k]
            if known:
                u = block * d / norm
            else:
                u = math.copysign(max(abs(y) - soft, 0.0), y)
                rest += u * u
            s = 0.0
            if soft > 0.0:
                if abs(d) > reach:
                    s = math.copysign(soft, d)
                    signs[e, k] = 0.0
                else:
                    s = min(max(y - u, -soft), soft)
                    signs[e, k] = soft + abs(s)
            off += (y - u - s) ** 2
        error[e] = turn + math.sqrt(rest) + math.sqrt(off)
    return length, error


@compiled()
def ball_slack(Y: FloatArray, soft: FloatArray, block: FloatArray) -> FloatArray:
    """Radius of a Euclidean ball around every row of Y that is inside its dual ball.

    Exact without a soft part. Outside the dual ball, minus a bound on the distance to it. O(E m).
    """
    out = np.empty(Y.shape[0])
    for e in range(Y.shape[0]):
        squares, most = 0.0, 0.0
        for k in range(Y.shape[1]):
            over = max(abs(Y[e, k]) - soft[e], 0.0)
            squares += over * over
            most = max(most, abs(Y[e, k]))
        out[e] = block[e] - math.sqrt(squares)
        if soft[e] - most > max(out[e], 0.0):
            out[e] = soft[e] - most
    return out


@compiled()
def minorant_gap(C: FloatArray, Y: FloatArray, edges: Edges) -> tuple[float, float]:
    """Sum over the edges of what the penalty exceeds <Y_e, C_i - C_j>, and the penalty. O(E m)."""
    gap, total = 0.0, 0.0
    for e in range(Y.shape[0]):
        i, j, squares, absolutes, product = edges.tail[e], edges.head[e], 0.0, 0.0, 0.0
        for k in range(Y.shape[1]):
            d = C[i, k] - C[j, k]
            squares += d * d
            absolutes += abs(d)
            product += Y[e, k] * d
        value = edges.block[e] * math.sqrt(squares) + edges.soft[e] * absolutes
        gap += max(value - product, 0.0)
        total += value
    return gap, total
