"""Passes of ADMM over the entries of the centroids, in single or in double precision.

The copies V >= 0 of the centroids and their dual S <= 0 are the two parts of one array,
W = S + tau V: no entry of both differs from zero.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from convexhc._types import FloatArray
from convexhc.kernels.compile import FAST, compiled
from convexhc.kernels.threads import runs_for

Real = NDArray[Any]


class EntryStep(NamedTuple):
    """Squares of a pass: |C - V|^2, |change of V|^2, |S|^2 and |V|^2."""

    apart: float
    moved: float
    dual: float
    copies: float


class Tangent(NamedTuple):
    """Of the quadratic: the point C, the product C H, and the curvature that replaces H."""

    C: Real
    product: Real
    curvature: float


def nonnegativity_update(C: Real, W: Real, tau: float, relax: float) -> EntryStep:
    """Update the copy V >= 0 of C and its dual S <= 0 in one pass. O(n m).

    W <- S + tau (relax C + (1 - relax) V), of which S and V are the new parts.
    """
    squares, real, runs = np.empty((4, len(C))), C.dtype.type, runs_for(4 * C.size)
    if runs > 1:
        _nonnegativity_threaded(runs, C, W, real(tau), real(relax), squares)
    else:
        _nonnegativity(0, len(C), C, W, real(tau), real(relax), squares)
    apart, moved, dual, copies = squares.sum(axis=1).tolist()
    return EntryStep(apart / tau**2, moved / tau**2, dual, copies / tau**2)


@compiled(fastmath=FAST)
def _nonnegativity(
    first: int, last: int, C: Real, W: Real, tau: Any, relax: Any, squares: FloatArray
) -> None:
    zero = tau - tau
    for i in range(first, last):
        apart, moved, dual, copies = zero, zero, zero, zero
        for k in range(C.shape[1]):
            old = W[i, k] if W[i, k] > zero else zero
            x = W[i, k] + relax * (tau * C[i, k] - old)
            new = x if x > zero else zero
            s, change, residual = x - new, new - old, tau * C[i, k] - new
            apart += residual * residual
            moved += change * change
            dual += s * s
            copies += new * new
            W[i, k] = x
        squares[0, i], squares[1, i], squares[2, i], squares[3, i] = apart, moved, dual, copies


@compiled(parallel=True)
def _nonnegativity_threaded(
    runs: int, C: Real, W: Real, tau: Any, relax: Any, squares: FloatArray
) -> None:
    n = C.shape[0]
    for run in prange(runs):
        _nonnegativity(run * n // runs, (run + 1) * n // runs, C, W, tau, relax, squares)


def rescale_copies(W: Real, factor: float) -> None:
    """Multiply tau by a factor: the positive entries are tau V. O(n m)."""
    np.multiply(W, W.dtype.type(factor), out=W, where=W > 0.0)


def right_hand_side(
    total: Real, mass: FloatArray | None, W: Real, target: Real, tangent: Tangent | None
) -> Real:
    """Right-hand side of a centroid step, in a new array. O(n m).

    total / mass + tau V - S + T, plus curvature C - C H where the quadratic is linearised.
    """
    if tangent is None:
        R: Real = total if mass is None else total / mass.astype(total.dtype)[:, None]
        R = R + np.abs(W)
        R += target
        return R
    inverse = (np.ones(len(W)) if mass is None else 1.0 / mass).astype(W.dtype)
    C, product, curvature = tangent
    R, runs = np.empty_like(W), runs_for(4 * W.size)
    arrays = total, inverse, W, target, C, product, W.dtype.type(curvature), R
    if runs > 1:
        _right_hand_side_threaded(runs, *arrays)
    else:
        _right_hand_side(0, len(W), *arrays)
    return R


@compiled(fastmath=FAST)
def _right_hand_side(
    first: int,
    last: int,
    total: Real,
    inverse: Real,
    W: Real,
    target: Real,
    C: Real,
    product: Real,
    curvature: Any,
    R: Real,
) -> None:
    for i in range(first, last):
        scale = inverse[i]
        for k in range(W.shape[1]):
            tangent = curvature * C[i, k] - product[i, k]
            R[i, k] = scale * total[i, k] + abs(W[i, k]) + target[i, k] + tangent


@compiled(parallel=True)
def _right_hand_side_threaded(
    runs: int,
    total: Real,
    inverse: Real,
    W: Real,
    target: Real,
    C: Real,
    product: Real,
    curvature: Any,
    R: Real,
) -> None:
    n = W.shape[0]
    for run in prange(runs):
        first, last = run * n // runs, (run + 1) * n // runs
        _right_hand_side(first, last, total, inverse, W, target, C, product, curvature, R)
