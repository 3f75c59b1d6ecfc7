"""How far the dual of an edge may be from one that is optimal, given the error of the centroids."""

from __future__ import annotations

import numpy as np

from convexhc._types import FloatArray
from convexhc.kernels.compile import blocks
from convexhc.kernels.edges import Edges, differences, separations
from convexhc.kernels.rows import lengths


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
    length, error = np.empty(Y.shape[0]), np.empty(Y.shape[0])
    for some in blocks(Y.shape):
        D, y, block = differences(C, edges.at(some)), Y[some], edges.block[some]
        soft = edges.soft[some, None]
        norm = length[some] = lengths(D)
        known = norm > reach
        turn = block.copy()
        turn[known] *= 2.0 * np.sin(0.5 * np.arcsin(reach / norm[known]))
        u = np.copysign(np.maximum(np.abs(y) - soft, 0.0), y)
        turn[~known] += lengths(u[~known])
        u[known] = (block[known] / norm[known])[:, None] * D[known]
        off = y - u
        if len(signs):
            clear = np.abs(D) > reach
            s = np.where(clear, np.copysign(soft, D), np.clip(off, -soft, soft))
            signs[some] = np.where(clear, 0.0, soft + np.abs(s))
            off -= s
        error[some] = turn + lengths(off)
    return length, error


def ball_slack(Y: FloatArray, soft: FloatArray, block: FloatArray) -> FloatArray:
    """Radius of a Euclidean ball around every row of Y that is inside its dual ball.

    Exact without a soft part. Outside the dual ball, minus a bound on the distance to it. O(E m).
    """
    if not soft.any():
        return np.asarray(block - lengths(Y))
    out = np.empty(Y.shape[0])
    for some in blocks(Y.shape):
        Z = np.abs(Y[some])
        within = soft[some] - Z.max(axis=1, initial=0.0)
        room = block[some] - lengths(np.maximum(Z - soft[some, None], 0.0))
        out[some] = np.where(within > np.maximum(room, 0.0), within, room)
    return out


def minorant_gap(C: FloatArray, Y: FloatArray, edges: Edges) -> tuple[float, float]:
    """Sum over the edges of what the penalty exceeds <Y_e, C_i - C_j>, and the penalty. O(E m)."""
    length, absolute = separations(C, edges)
    value, product = edges.block * length + edges.soft * absolute, np.empty_like(length)
    for some in blocks(Y.shape):
        np.einsum("ek,ek->e", Y[some], differences(C, edges.at(some)), out=product[some])
    return float(np.maximum(value - product, 0.0).sum()), float(value.sum())
