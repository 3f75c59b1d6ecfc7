"""Passes of ADMM over the edges and over the entries of the centroids.

On edges, X = Y + rho R Z, with the dual Y and the copies Z of D C, is one array. Y is the
projection of X on the dual balls, and rho R Z = X - Y its prox, so both follow from X and one
number per edge: the share of the soft-thresholded entries that the prox keeps. That is a third of
the memory traffic of separate arrays. Likewise the copies V >= 0 of the centroids and their dual
S <= 0 are the two parts of W = S + tau V: no entry of both differs from zero. All arrays are in
single or all in double precision.

Threads share rows and edges in runs. Every run of edges has its own array of partial sums: no two
threads write to the same row, and the result depends only on the number of threads.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import DTypeLike, NDArray

from convexhc._types import BoolArray, FloatArray, IntArray
from convexhc.kernels.compile import FAST, compiled
from convexhc.kernels.edges import Edges, add_partial_sums
from convexhc.kernels.threads import runs_for

Real = NDArray[Any]


class Step(NamedTuple):
    """Squares of a pass: |copied - copies|^2, |change of copies|^2, |dual|^2 and |copies|^2.

    Those of edges are weighted by the stiffness R, that of their dual by its inverse.
    """

    apart: float
    moved: float
    dual: float
    copies: float


class EdgeCopies(NamedTuple):
    """X (E, m), the share that its prox keeps (E), partial sums (threads, n, m), their sum.

    ``total`` is D'(rho R Z - Y): what the edges add to the right-hand side of a centroid step.
    """

    tail: IntArray
    head: IntArray
    soft: Real
    block: Real
    X: Real
    kept: Real
    partial_sums: Real
    total: Real

    @classmethod
    def of(cls, Y: FloatArray, edges: Edges, n: int, precision: DTypeLike) -> EdgeCopies:
        """Copies with X = Y, all edges fused: a pass without relaxation adds rho R D C."""
        size, m = Y.shape
        runs = runs_for(size * m)
        return cls(
            edges.tail,
            edges.head,
            edges.soft.astype(precision),
            edges.block.astype(precision),
            Y.astype(precision),
            np.zeros(size, precision),
            np.zeros((runs if runs > 1 else 0, n, m), precision),
            np.zeros((n, m), precision),
        )

    def astype(self, precision: DTypeLike) -> EdgeCopies:
        """The same in another precision; the ends of the edges are shared."""
        ends, numbers = self[:2], self[2:]
        return EdgeCopies(*ends, *(array.astype(precision) for array in numbers))

    @property
    def fused(self) -> BoolArray:
        """Edges whose prox is exactly zero."""
        return np.asarray(self.kept == 0.0)


def edge_update(
    C: Real, copies: EdgeCopies, rho: float, relax: float, stiffness: FloatArray
) -> Step:
    """The z-update and the dual update of ADMM over the edges, in one pass. O(E m).

    X <- Y + rho R (relax D C + (1 - relax) Z), of which Y and Z are the new parts.
    """
    squares, scale = (
        _pass_over_edges(C, copies, rho * stiffness, relax, -relax),
        stiffness * rho * rho,
    )
    apart, moved, _, size = (squares / scale).sum(axis=1)
    return Step(float(apart), float(moved), float((squares[2] / stiffness).sum()), float(size))


def rescale_edges(copies: EdgeCopies, factor: float) -> None:
    """Multiply rho by a factor: X <- Y + factor (X - Y), and ``total`` accordingly. O(E m)."""
    _pass_over_edges(
        np.zeros_like(copies.total), copies, np.zeros(copies.tail.size), 0.0, factor - 1.0
    )


def _pass_over_edges(
    C: Real, copies: EdgeCopies, stiff: FloatArray, relax: float, along: float
) -> FloatArray:
    """X <- X + relax stiff D C + along (X - Y), with all that follows; return the squares."""
    squares, real = np.empty((4, stiff.size)), C.dtype.type
    arrays = C, *copies[:6], stiff.astype(C.dtype), real(relax), real(along), squares
    runs = len(copies.partial_sums)
    scratch = np.empty((max(runs, 1), 2, C.shape[1]), C.dtype)
    if runs:
        _update_edges_threaded(*arrays, scratch, copies.partial_sums, copies.total)
    else:
        copies.total[:] = 0.0
        _update_edges(0, stiff.size, *arrays, scratch[0], copies.total)
    return squares


@compiled(fastmath=FAST)
def _update_edges(
    first: int,
    last: int,
    C: Real,
    tail: IntArray,
    head: IntArray,
    soft: Real,
    block: Real,
    X: Real,
    kept: Real,
    stiff: Real,
    relax: Any,
    along: Any,
    squares: FloatArray,
    scratch: Real,
    total: Real,
) -> None:
    m, pull, old = C.shape[1], scratch[0], scratch[1]
    zero = relax - relax
    for e in range(first, last):
        i, j, x, s, r, keep = tail[e], head[e], X[e], soft[e], stiff[e], kept[e]
        square = zero
        for k in range(m):
            inside = x[k] if x[k] < s else s
            inside = inside if inside > -s else -s
            outside = keep * (x[k] - inside)
            step = r * (C[i, k] - C[j, k])
            new = x[k] + relax * step + along * outside
            inside = new if new < s else s
            inside = inside if inside > -s else -s
            square += (new - inside) * (new - inside)
            pull[k], old[k], x[k] = step, outside, new
        norm = math.sqrt(square)
        keep = (norm - block[e]) / norm if norm > block[e] else zero
        kept[e] = keep
        apart, moved, dual, size = zero, zero, zero, zero
        for k in range(m):
            inside = x[k] if x[k] < s else s
            inside = inside if inside > -s else -s
            outside = keep * (x[k] - inside)
            y = x[k] - outside
            change, residual = outside - old[k], pull[k] - outside
            apart += residual * residual
            moved += change * change
            dual += y * y
            size += outside * outside
            term = outside - y
            total[i, k] += term
            total[j, k] -= term
        squares[0, e], squares[1, e], squares[2, e], squares[3, e] = apart, moved, dual, size


@compiled(parallel=True)
def _update_edges_threaded(
    C: Real,
    tail: IntArray,
    head: IntArray,
    soft: Real,
    block: Real,
    X: Real,
    kept: Real,
    stiff: Real,
    relax: Any,
    along: Any,
    squares: FloatArray,
    scratch: Real,
    partial_sums: Real,
    total: Real,
) -> None:
    runs, size = partial_sums.shape[0], tail.size
    for run in prange(runs):
        sums = partial_sums[run]
        sums[:] = 0.0
        first, last = run * size // runs, (run + 1) * size // runs
        few = scratch[run]
        _update_edges(
            first,
            last,
            C,
            tail,
            head,
            soft,
            block,
            X,
            kept,
            stiff,
            relax,
            along,
            squares,
            few,
            sums,
        )
    add_partial_sums(partial_sums, total)


class Tangent(NamedTuple):
    """Of the quadratic: the point C, the product C H, and the curvature that replaces H."""

    C: Real
    product: Real
    curvature: float


def nonnegativity_update(C: Real, W: Real, tau: float, relax: float) -> Step:
    """Update the copy V >= 0 of C and its dual S <= 0 in one pass. O(n m).

    W <- S + tau (relax C + (1 - relax) V), of which S and V are the new parts.
    """
    squares, real, runs = np.empty((4, len(C))), C.dtype.type, runs_for(4 * C.size)
    if runs > 1:
        _nonnegativity_threaded(runs, C, W, real(tau), real(relax), squares)
    else:
        _nonnegativity(0, len(C), C, W, real(tau), real(relax), squares)
    apart, moved, dual, copies = squares.sum(axis=1).tolist()
    return Step(apart / tau**2, moved / tau**2, dual, copies / tau**2)


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
