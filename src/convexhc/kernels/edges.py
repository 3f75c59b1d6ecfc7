"""Passes over the edges of a graph: differences, their adjoint, and the fused dual updates.

(D C)_e = C[tail[e]] - C[head[e]] and D' is its adjoint. The penalty of edge e is
block_e |.|_2 + soft_e |.|_1, its dual ball soft_e Ball_inf + block_e Ball_2. Steps along an edge
are multiplied by its stiffness, which also weights the norm of edge vectors.

The threaded passes split the edges into one run per thread, and every run adds to its own array of
partial sums: no two threads write to the same row, and the result depends only on the number of
threads.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray
from scipy.sparse import csc_array

from convexhc._types import FloatArray, IntArray
from convexhc.kernels.compile import FAST, blocks, compiled
from convexhc.kernels.prox import split
from convexhc.kernels.rows import lengths
from convexhc.kernels.threads import runs_for

Real = NDArray[Any]

# Numbers from which a projection on the dual balls is compiled: below, numpy takes a millisecond.
_WORTH_COMPILING = 100_000


class Edges(NamedTuple):
    """Edge ends, the two penalty thresholds and the stiffness of every edge, each of length E."""

    tail: IntArray
    head: IntArray
    soft: FloatArray
    block: FloatArray
    stiffness: FloatArray

    def at(self, chosen: IntArray | slice) -> Edges:
        """The edges with the given indices."""
        return Edges.of(
            self.tail[chosen],
            self.head[chosen],
            self.soft[chosen],
            self.block[chosen],
            self.stiffness[chosen],
        )

    @staticmethod
    def of(
        tail: IntArray,
        head: IntArray,
        soft: FloatArray,
        block: FloatArray,
        stiffness: FloatArray,
    ) -> Edges:
        """Edges with read-only arrays, all of them: a kernel is compiled once per type."""
        edges = Edges(tail.view(), head.view(), soft.view(), block.view(), stiffness.view())
        for array in edges:
            array.flags.writeable = False
        return edges


class Scratch(NamedTuple):
    """Outputs of a pass: fused flags (E), partial sums (threads, n, m), their sum (n, m)."""

    fused: NDArray[np.bool_]
    partial_sums: FloatArray
    total: FloatArray


def scratch(edges: Edges, n: int, m: int) -> Scratch:
    """Allocate the outputs of `ascend` for n rows of m columns."""
    size, total = edges.tail.size, np.zeros((n, m))
    return Scratch(np.zeros(size, np.bool_), np.zeros((runs_for(size * m), n, m)), total)


def differences(C: FloatArray, edges: Edges) -> FloatArray:
    """D C, one row per edge. O(E m)."""
    out = C[edges.tail]
    for some in blocks(out.shape):
        out[some] -= C[edges.head[some]]
    return out


def adjoint(Y: FloatArray, edges: Edges, n: int) -> FloatArray:
    """D' Y: sum over outgoing minus sum over incoming edges of every node. O(E m)."""
    return np.asarray(incidence(edges.tail, edges.head, n) @ Y)


def incidence(tail: IntArray, head: IntArray, n: int) -> csc_array:
    """D' as a sparse matrix. O(E)."""
    size = tail.size
    ends, signs = np.empty((size, 2), np.int32), np.empty((size, 2))
    ends[:, 0], ends[:, 1], signs[:] = tail, head, (1.0, -1.0)
    first = np.arange(0, 2 * size + 1, 2, dtype=np.int32)
    return csc_array((signs.ravel(), ends.ravel(), first), shape=(n, size))


def separations(C: FloatArray, edges: Edges) -> tuple[FloatArray, FloatArray]:
    """|C_i - C_j|_2 and |C_i - C_j|_1 of every edge, without storing differences. O(E m)."""
    length, absolute = np.empty((2, edges.tail.size))
    _separations(C, edges.tail, edges.head, length, absolute)
    return length, absolute


@compiled(fastmath=FAST)
def _separations(
    C: FloatArray, tail: IntArray, head: IntArray, length: FloatArray, absolute: FloatArray
) -> None:
    for e in range(tail.size):
        here, there, squares, total = C[tail[e]], C[head[e]], 0.0, 0.0
        for k in range(here.size):
            d = here[k] - there[k]
            squares += d * d
            total += abs(d)
        length[e] = math.sqrt(squares)
        absolute[e] = total


def penalty_value(C: FloatArray, edges: Edges) -> float:
    """sum_e block_e |C_i - C_j|_2 + soft_e |C_i - C_j|_1. O(E m)."""
    length, absolute = separations(C, edges)
    return float(edges.block @ length + edges.soft @ absolute)


def project_dual(Y: Real, edges: Edges, out: FloatArray) -> None:
    """Project every row of Y on its dual ball, into ``out``, which may be Y. O(E m).

    Computed in double precision, whatever that of Y.
    """
    if out is not Y:
        out[:] = Y
    if Y.size > _WORTH_COMPILING:
        (_project_threaded if runs_for(Y.size) > 1 else _project)(out, edges.soft, edges.block)
        return
    if not edges.soft.any():
        norm = lengths(out)
        beyond = np.flatnonzero(norm > edges.block)
        out[beyond] *= (edges.block[beyond] / norm[beyond])[:, None]
        return
    for some in blocks(Y.shape):
        inside, block = out[some], edges.block[some]
        kept = np.abs(inside)
        kept -= edges.soft[some, None]
        np.maximum(kept, 0.0, out=kept)
        norm = lengths(kept)
        beyond = np.flatnonzero(norm > block)
        share = 1.0 - block[beyond] / norm[beyond]
        inside[beyond] -= np.copysign(share[:, None] * kept[beyond], inside[beyond])


@compiled(fastmath=FAST)
def _project(Y: FloatArray, soft: FloatArray, block: FloatArray) -> None:
    for e in range(Y.shape[0]):
        split(Y[e], soft[e], block[e], Y[e])


@compiled(parallel=True)
def _project_threaded(Y: FloatArray, soft: FloatArray, block: FloatArray) -> None:
    for e in prange(Y.shape[0]):
        split(Y[e], soft[e], block[e], Y[e])


@compiled()
def extrapolate(X: FloatArray, Y: FloatArray, weight: float) -> None:
    """X <- X + weight (X - Y) and Y <- the old X, in place. O(E m)."""
    for e in range(X.shape[0]):
        for k in range(X.shape[1]):
            new = X[e, k]
            X[e, k] = new + weight * (new - Y[e, k])
            Y[e, k] = new


@compiled(parallel=True)
def add_partial_sums(partial_sums: Real, total: Real) -> None:
    """Write the sum of the arrays of all threads to ``total``."""
    for i in prange(total.shape[0]):
        for k in range(total.shape[1]):
            entry = partial_sums[0, i, k]
            for s in range(1, partial_sums.shape[0]):
                entry += partial_sums[s, i, k]
            total[i, k] = entry


@compiled(fastmath=FAST)
def _ascend_run(
    run: tuple[int, int],
    C: FloatArray,
    Y: FloatArray,
    step: float,
    edges: Edges,
    scratch: Scratch,
    partial_sum: FloatArray,
) -> float:
    m = C.shape[1]
    old = np.empty(m)
    moved = 0.0
    partial_sum[:] = 0.0
    for e in range(run[0], run[1]):
        i, j, y = edges.tail[e], edges.head[e], Y[e]
        rate, squares = step * edges.stiffness[e], 0.0
        for k in range(m):
            old[k] = y[k]
            y[k] += rate * (C[i, k] - C[j, k])
        scratch.fused[e] = split(y, edges.soft[e], edges.block[e], y)
        for k in range(m):
            change = y[k] - old[k]
            squares += change * change
            partial_sum[i, k] += y[k]
            partial_sum[j, k] -= y[k]
        moved += squares / edges.stiffness[e]
    return moved


def ascend(C: FloatArray, Y: FloatArray, step: float, edges: Edges, scratch: Scratch) -> float:
    """One projected dual ascent step in one pass over the edges.

    Y <- P(Y + step R D C), in place, P the projection on the dual balls, R the stiffness.
    ``scratch.total`` gets D' Y and ``scratch.fused`` marks the edges whose prox is exactly zero.
    Returns sum_e |change of Y_e|^2 / R_e. O(E m).
    """
    if scratch.partial_sums.shape[0] == 1:
        every = (0, edges.tail.size)
        return float(_ascend_run(every, C, Y, step, edges, scratch, scratch.total))
    return float(_ascend_threaded(C, Y, step, edges, scratch))


@compiled(parallel=True)
def _ascend_threaded(
    C: FloatArray, Y: FloatArray, step: float, edges: Edges, scratch: Scratch
) -> float:
    runs, size = scratch.partial_sums.shape[0], edges.tail.size
    moved = np.zeros(runs)
    for r in prange(runs):
        run = (r * size // runs, (r + 1) * size // runs)
        moved[r] = _ascend_run(run, C, Y, step, edges, scratch, scratch.partial_sums[r])
    add_partial_sums(scratch.partial_sums, scratch.total)
    return moved.sum()  # type: ignore[no-any-return]
