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
from typing import NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray
from scipy.sparse import csc_array

from convexhc._types import FloatArray, IntArray
from convexhc.kernels.compile import FAST, blocks, compiled, pays_to_compile
from convexhc.kernels.prox import split, split_rows
from convexhc.kernels.threads import thread_count


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
    """Allocate the outputs of `ascend` or `z_and_dual_update` for n rows of m columns."""
    # Below a million entries a pass takes about a millisecond: too short for threads.
    threads = thread_count() if edges.tail.size * m > 1_000_000 else 1
    return Scratch(np.zeros(edges.tail.size, np.bool_), np.zeros((threads, n, m)), np.zeros((n, m)))


def differences(C: FloatArray, edges: Edges) -> FloatArray:
    """D C, one row per edge. O(E m)."""
    out = C[edges.tail]
    for some in blocks(out.shape):
        out[some] -= C[edges.head[some]]
    return out


def adjoint(Y: FloatArray, edges: Edges, n: int) -> FloatArray:
    """D' Y: sum over outgoing minus sum over incoming edges of every node. O(E m)."""
    size = edges.tail.size
    if pays_to_compile(Y.size, by=_adjoint):
        return _adjoint(Y, edges, n)
    ends = np.column_stack([edges.tail, edges.head]).ravel()
    signs = np.tile([1.0, -1.0], size)
    incidence = csc_array((signs, ends, np.arange(0, 2 * size + 1, 2)), shape=(n, size))
    return np.asarray(incidence @ Y)


@compiled()
def _adjoint(Y: FloatArray, edges: Edges, n: int) -> FloatArray:
    out = np.zeros((n, Y.shape[1]))
    for e in range(Y.shape[0]):
        one, other = out[edges.tail[e]], out[edges.head[e]]
        for k in range(Y.shape[1]):
            one[k] += Y[e, k]
            other[k] -= Y[e, k]
    return out


def right_hand_side(Y: FloatArray, Z: FloatArray, rho: float, edges: Edges, n: int) -> FloatArray:
    """D'(rho R Z - Y), R the stiffness, as in `z_and_dual_update`. O(E m)."""
    out = np.zeros((n, Y.shape[1]))
    for some in blocks(Y.shape, least=2 * n):
        term = (rho * edges.stiffness[some, None]) * Z[some]
        term -= Y[some]
        out += adjoint(term, edges.at(some), n)
    return out


def penalty_value(C: FloatArray, edges: Edges) -> float:
    """sum_e block_e |C_i - C_j|_2 + soft_e |C_i - C_j|_1, without storing differences. O(E m)."""
    if pays_to_compile(edges.tail.size * C.shape[1]):
        return float(_penalty_value(C, edges))
    D = differences(C, edges)
    lengths, absolutes = np.sqrt(np.einsum("ek,ek->e", D, D)), np.abs(D).sum(axis=1)
    return float(edges.block @ lengths + edges.soft @ absolutes)


@compiled(fastmath=FAST)
def _penalty_value(C: FloatArray, edges: Edges) -> float:
    total = 0.0
    for e in range(edges.tail.size):
        i, j = edges.tail[e], edges.head[e]
        squares, absolutes = 0.0, 0.0
        for k in range(C.shape[1]):
            d = C[i, k] - C[j, k]
            squares += d * d
            absolutes += abs(d)
        total += edges.block[e] * math.sqrt(squares) + edges.soft[e] * absolutes
    return total


def project_dual(Y: FloatArray, edges: Edges, out: FloatArray) -> None:
    """Project every row of Y on its dual ball, into ``out``, which may be Y. O(E m)."""
    if pays_to_compile(Y.size, every_iteration=True):
        _project_dual(Y, edges, out)
    else:
        split_rows(Y, edges.soft, edges.block, out)


@compiled()
def _project_dual(Y: FloatArray, edges: Edges, out: FloatArray) -> None:
    for e in range(Y.shape[0]):
        split(Y[e], edges.soft[e], edges.block[e], out[e])


def sizes(Y: FloatArray, Z: FloatArray, stiffness: FloatArray) -> tuple[float, float]:
    """Norms of a dual and of differences: |Y R^-1/2| and |R^1/2 Z|, R the stiffness. O(E m)."""
    dual, copies = np.einsum("ek,ek->e", Y, Y), np.einsum("ek,ek->e", Z, Z)
    return math.sqrt(float((dual / stiffness).sum())), math.sqrt(float(copies @ stiffness))


@compiled()
def extrapolate(X: FloatArray, Y: FloatArray, weight: float) -> None:
    """X <- X + weight (X - Y) and Y <- the old X, in place. O(E m)."""
    for e in range(X.shape[0]):
        for k in range(X.shape[1]):
            new = X[e, k]
            X[e, k] = new + weight * (new - Y[e, k])
            Y[e, k] = new


@compiled(parallel=True)
def _add_partial_sums(partial_sums: FloatArray, total: FloatArray) -> None:
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
    _add_partial_sums(scratch.partial_sums, scratch.total)
    return moved.sum()  # type: ignore[no-any-return]


@compiled(fastmath=FAST)
def _update_run(
    run: tuple[int, int],
    C: FloatArray,
    Y: FloatArray,
    Z: FloatArray,
    rho: float,
    relax: float,
    edges: Edges,
    scratch: Scratch,
    partial_sum: FloatArray,
) -> tuple[float, float]:
    m = C.shape[1]
    x = np.empty(m)
    apart, moved = 0.0, 0.0
    partial_sum[:] = 0.0
    for e in range(run[0], run[1]):
        i, j, y, z = edges.tail[e], edges.head[e], Y[e], Z[e]
        stiff = rho * edges.stiffness[e]
        inverse, changes, residuals = 1.0 / stiff, 0.0, 0.0
        for k in range(m):
            x[k] = y[k] + stiff * (relax * (C[i, k] - C[j, k]) + (1.0 - relax) * z[k])
        scratch.fused[e] = split(x, edges.soft[e], edges.block[e], y)
        for k in range(m):
            scaled = x[k] - y[k]
            new = inverse * scaled
            change = new - z[k]
            residual = C[i, k] - C[j, k] - new
            changes += change * change
            residuals += residual * residual
            z[k] = new
            term = scaled - y[k]
            partial_sum[i, k] += term
            partial_sum[j, k] -= term
        moved += edges.stiffness[e] * changes
        apart += edges.stiffness[e] * residuals
    return apart, moved


def z_and_dual_update(
    C: FloatArray,
    Y: FloatArray,
    Z: FloatArray,
    rho: float,
    relax: float,
    edges: Edges,
    scratch: Scratch,
) -> tuple[float, float]:
    """The z-update and the dual update of ADMM over the edges, in one pass.

    With X = Y + rho R (relax D C + (1 - relax) Z), R the stiffness: Y <- P(X) and
    Z <- (X - Y) / (rho R), both in place. ``scratch.total`` gets D'(rho R Z - Y), the right-hand
    side of the next centroid step. Returns |D C - Z|^2 and |change of Z|^2, weighted by R. O(E m).
    """
    if not pays_to_compile(Y.size, every_iteration=True):
        return _update_in_numpy(C, Y, Z, rho, relax, edges, scratch)
    if scratch.partial_sums.shape[0] == 1:
        every = (0, edges.tail.size)
        found = _update_run(every, C, Y, Z, rho, relax, edges, scratch, scratch.total)
    else:
        found = _update_threaded(C, Y, Z, rho, relax, edges, scratch)
    return float(found[0]), float(found[1])


def _update_in_numpy(
    C: FloatArray,
    Y: FloatArray,
    Z: FloatArray,
    rho: float,
    relax: float,
    edges: Edges,
    scratch: Scratch,
) -> tuple[float, float]:
    D, stiff = differences(C, edges), rho * edges.stiffness[:, None]
    X = relax * D
    X += (1.0 - relax) * Z
    X *= stiff
    X += Y
    scratch.fused[:] = split_rows(X, edges.soft, edges.block, Y)
    X -= Y
    new = X / stiff
    D -= new
    apart = np.einsum("ek,ek->e", D, D)
    Z -= new
    moved = np.einsum("ek,ek->e", Z, Z)
    Z[:] = new
    X -= Y
    scratch.total[:] = adjoint(X, edges, C.shape[0])
    return float(edges.stiffness @ apart), float(edges.stiffness @ moved)


@compiled(parallel=True)
def _update_threaded(
    C: FloatArray,
    Y: FloatArray,
    Z: FloatArray,
    rho: float,
    relax: float,
    edges: Edges,
    scratch: Scratch,
) -> tuple[float, float]:
    runs, size = scratch.partial_sums.shape[0], edges.tail.size
    apart, moved = np.zeros(runs), np.zeros(runs)
    for r in prange(runs):
        run = (r * size // runs, (r + 1) * size // runs)
        apart[r], moved[r] = _update_run(
            run, C, Y, Z, rho, relax, edges, scratch, scratch.partial_sums[r]
        )
    _add_partial_sums(scratch.partial_sums, scratch.total)
    return apart.sum(), moved.sum()
