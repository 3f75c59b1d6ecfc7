"""The edge copies of ADMM in one array: X = Y + rho R Z, with the dual Y and the copies Z of D C.

Y is the projection of X on the dual balls, and rho R Z = X - Y its prox, so both follow from X and
one number per edge: the share of the soft-thresholded entries that the prox keeps. That is a third
of the memory traffic of separate arrays. All arrays are in single or all in double precision.

Threads share the edges in runs, each with its own array of partial sums: no two threads write to
the same row, and the result depends only on the number of threads.
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


class Copies(NamedTuple):
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
    def of(cls, Y: FloatArray, edges: Edges, n: int, precision: DTypeLike) -> Copies:
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

    def astype(self, precision: DTypeLike) -> Copies:
        """The same in another precision; the ends of the edges are shared."""
        ends, numbers = self[:2], self[2:]
        return Copies(*ends, *(array.astype(precision) for array in numbers))

    @property
    def fused(self) -> BoolArray:
        """Edges whose prox is exactly zero."""
        return np.asarray(self.kept == 0.0)


class EdgeStep(NamedTuple):
    """Squares of a pass, weighted by the stiffness R.

    |D C - Z|^2, |change of Z|^2, |Y|^2 (divided by R) and |Z|^2.
    """

    apart: float
    moved: float
    dual: float
    copies: float


def update(C: Real, copies: Copies, rho: float, relax: float, stiffness: FloatArray) -> EdgeStep:
    """The z-update and the dual update of ADMM over the edges, in one pass. O(E m).

    X <- Y + rho R (relax D C + (1 - relax) Z), of which Y and Z are the new parts.
    """
    squares, scale = _update(C, copies, rho * stiffness, relax, -relax), stiffness * rho * rho
    apart, moved, _, size = (squares / scale).sum(axis=1)
    return EdgeStep(float(apart), float(moved), float((squares[2] / stiffness).sum()), float(size))


def rescale(copies: Copies, factor: float) -> None:
    """Multiply rho by a factor: X <- Y + factor (X - Y), and ``total`` accordingly. O(E m)."""
    _update(np.zeros_like(copies.total), copies, np.zeros(copies.tail.size), 0.0, factor - 1.0)


def _update(
    C: Real, copies: Copies, stiff: FloatArray, relax: float, along: float
) -> FloatArray:
    """X <- X + relax stiff D C + along (X - Y), with all that follows; return the squares."""
    squares, real = np.empty((4, stiff.size)), C.dtype.type
    arrays = C, *copies[:6], stiff.astype(C.dtype), real(relax), real(along), squares
    runs = len(copies.partial_sums)
    scratch = np.empty((max(runs, 1), 2, C.shape[1]), C.dtype)
    if runs:
        _update_threaded(*arrays, scratch, copies.partial_sums, copies.total)
    else:
        copies.total[:] = 0.0
        _update_run(0, stiff.size, *arrays, scratch[0], copies.total)
    return squares


@compiled(fastmath=FAST)
def _update_run(
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
def _update_threaded(
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
        _update_run(
            first, last, C, tail, head, soft, block, X, kept, stiff, relax, along, squares, few, sums
        )
    add_partial_sums(partial_sums, total)
