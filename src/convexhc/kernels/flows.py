"""Electrical flows: triangular solves, potentials, and the surplus of a flow over the dual balls.

Threads share columns and nodes, and no two threads add to the same number: the result does not
depend on the number of threads.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray
from scipy.sparse import csc_array

from convexhc._types import FloatArray, IntArray
from convexhc.kernels.compile import FAST, blocks, compiled
from convexhc.kernels.conjugate_gradients import conjugate_gradients
from convexhc.kernels.edges import Edges, incidence
from convexhc.kernels.rows import lengths
from convexhc.kernels.threads import runs_for

Real = NDArray[Any]
Pointer = NDArray[np.int32]

# Newton steps for the surplus of a flow: hardly ever more than ten are needed.
_MAX_NEWTON = 60
# Excess over a ball that is left: relative to its radius, and round-off of the largest entry.
_ROUND_OFF = 1e-12
_EPS = 1e-15


@compiled(fastmath=FAST)
def _substitute(
    first: int, last: int, X: Real, start: Pointer, row: Pointer, value: Real, pivot: Real
) -> None:
    n = X.shape[0]
    for j in range(n):
        source = X[j, first:last]
        for p in range(start[j], start[j + 1]):
            factor, out = value[p], X[row[p], first:last]
            for k in range(last - first):
                out[k] -= factor * source[k]
    for j in range(n - 1, -1, -1):
        out, inverse = X[j, first:last], 1.0 / pivot[j]
        for k in range(last - first):
            out[k] *= inverse
        for p in range(start[j], start[j + 1]):
            factor, source = value[p], X[row[p], first:last]
            for k in range(last - first):
                out[k] -= factor * source[k]


@compiled(parallel=True)
def _substitute_threaded(
    runs: int, X: Real, start: Pointer, row: Pointer, value: Real, pivot: Real
) -> None:
    m = X.shape[1]
    for run in prange(runs):
        _substitute(run * m // runs, (run + 1) * m // runs, X, start, row, value, pivot)


def substitute(X: Real, start: Pointer, row: Pointer, value: Real, pivot: Real) -> None:
    """Solve L D L' X = R in place, X containing R; all arrays in single or in double precision.

    L is unit lower triangular, its entries below the diagonal given by columns (start, row, value),
    and D = diag(pivot). O(m nnz(L)): every step is a vector operation on a row of X.
    """
    runs = runs_for(value.size * X.shape[1])
    if runs > 1:
        _substitute_threaded(runs, X, start, row, value, pivot)
    else:
        _substitute(0, X.shape[1], X, start, row, value, pivot)


def add_squares(
    X: FloatArray, tail: IntArray, head: IntArray, conductance: FloatArray, out: FloatArray
) -> None:
    """Add sum_k Y_ek^2 of the flow Y_e = conductance_e (X_i - X_j) to ``out``. O(E m)."""
    for some in blocks((tail.size, X.shape[1])):
        apart = X[tail[some]] - X[head[some]]
        out[some] += conductance[some] ** 2 * np.einsum("ek,ek->e", apart, apart)


def delivered(X: FloatArray, tail: IntArray, head: IntArray, conductance: FloatArray) -> FloatArray:
    """What the flow Y_e = conductance_e (X_i - X_j) delivers to every node, D'Y. O(E m).

    The flow is not stored; differences of nearby potentials are exact.
    """
    out = np.zeros(X.shape)
    _deliver(X, tail, head, conductance, out)
    return out


@compiled(fastmath=frozenset({"contract"}))
def _deliver(
    X: FloatArray, tail: IntArray, head: IntArray, conductance: FloatArray, out: FloatArray
) -> None:
    for e in range(tail.size):
        i, j = tail[e], head[e]
        for k in range(X.shape[1]):
            y = conductance[e] * (X[i, k] - X[j, k])
            out[i, k] += y
            out[j, k] -= y


class _Network(NamedTuple):
    """Number of columns, edges of a weighted Laplacian, weighted degrees and their inverses."""

    m: int
    tail: IntArray
    head: IntArray
    conductance: FloatArray
    degree: FloatArray
    inverse: FloatArray


@compiled(fastmath=FAST, inline=True)
def _apply_laplacian(network: _Network, P: FloatArray, Q: FloatArray) -> float:
    """Write L P to Q; return <P, L P>, zero where P is constant up to round-off. O(E m)."""
    m, tail, head, conductance, degree, _ = network
    curvature, bound = 0.0, 0.0
    for i in range(degree.size):
        for k in range(m):
            Q[i * m + k] = 0.0
            bound += degree[i] * P[i * m + k] * P[i * m + k]
    for e in range(tail.size):
        i, j, c = tail[e] * m, head[e] * m, conductance[e]
        for k in range(m):
            apart = P[i + k] - P[j + k]
            curvature += c * apart * apart
            Q[i + k] += c * apart
            Q[j + k] -= c * apart
    return curvature if curvature > 1e-14 * bound else 0.0


@compiled(fastmath=FAST, inline=True)
def _divide_by_degree(network: _Network, R: FloatArray, Z: FloatArray) -> tuple[float, float]:
    """Write R over the degrees to Z; return <R, Z> twice."""
    m, inverse, rho = network.m, network.inverse, 0.0
    for i in range(inverse.size):
        for k in range(i * m, (i + 1) * m):
            Z[k] = inverse[i] * R[k]
            rho += R[k] * Z[k]
    return rho, rho


@compiled(fastmath=FAST)
def _solve_laplacian(network: _Network, work: FloatArray, tol: float, max_iter: int) -> bool:
    return conjugate_gradients(
        _apply_laplacian, _divide_by_degree, network, work, tol, 0.0, max_iter
    )


def potentials(
    R: FloatArray,
    tail: IntArray,
    head: IntArray,
    conductance: FloatArray,
    tol: float = 1e-10,
    max_iter: int = 500,
) -> FloatArray:
    """Solve L X = R by conjugate gradients; R must sum to zero over every component.

    Preconditioned by the diagonal, to a relative residual of ``tol`` in the norm of the
    preconditioner. O(E m) per iteration.
    """
    n, m = R.shape
    degree = np.zeros(n)
    degree += np.bincount(tail, conductance, n) + np.bincount(head, conductance, n)
    inverse = np.divide(1.0, degree, out=np.zeros(n), where=degree > 0.0)
    work = np.empty((5, n * m))
    work[1] = R.ravel()
    _solve_laplacian(_Network(m, tail, head, conductance, degree, inverse), work, tol, max_iter)
    X: FloatArray = work[0].reshape(n, m)
    return X


def gathered(
    Y: FloatArray, other: FloatArray, along: float, pair: IntArray, part: FloatArray, count: int
) -> FloatArray:
    """Sum the rows of Y + along (other - Y), each times its part, over pairs. O(E m).

    Rows with pair -1 are skipped.
    """
    kept = np.flatnonzero(pair >= 0)
    line, first = Y[kept], np.arange(kept.size + 1)
    if along != 0.0:
        line += along * (other[kept] - line)
    return np.asarray(csc_array((part[kept], pair[kept], first), (count, kept.size)) @ line)


def spread(Z: FloatArray, pair: IntArray, part: FloatArray, rest: FloatArray) -> FloatArray:
    """Inverse of `gathered`: row e is its part of the row of its pair, or row e of ``rest``."""
    out, kept = rest.copy(), np.flatnonzero(pair >= 0)
    out[kept] = part[kept, None] * Z[pair[kept]]
    return out


def scaled_inside(
    Y: FloatArray, wanted: FloatArray, edges: Edges, labels: IntArray, most: float
) -> None:
    """Scale the flow within every cluster by one factor, in place, to fit the demand ``wanted``.

    The flow between clusters is met first. The factor of a cluster is the least-squares fit to the
    rest of ``wanted`` (n x m), clipped to between zero and ``most``. O(E m).
    """
    group, net = labels[edges.tail], incidence(edges.tail, edges.head, labels.size)
    within = np.flatnonzero(group == labels[edges.head])
    inside = np.zeros_like(Y)
    inside[within] = Y[within]
    had, rest = net @ inside, wanted - net @ (Y - inside)
    along, squares = (np.bincount(labels, np.einsum("ik,ik->i", X, had)) for X in (rest, had))
    factor = np.divide(along, squares, out=np.ones_like(along), where=squares > 0.0)
    factor[squares > 0.0] = factor[squares > 0.0].clip(0.0, most)
    Y[within] *= factor[group[within], None]


def surplus(Y: FloatArray, soft: FloatArray, block: FloatArray) -> None:
    """Replace every row y by the d of least maximum norm with y - d in its dual ball.

    d = sign(y) min(t, max(|y| - soft, 0)) with the smallest t for which y - d after a soft
    threshold by ``soft`` has norm ``block``. Zero for rows inside their balls. That norm is convex
    in t: Newton's method from zero rises to the solution, in a few steps. O(E m) each.
    """
    for some in blocks(Y.shape):
        over = np.maximum(np.abs(Y[some]) - soft[some, None], 0.0)
        t, radius, largest = np.zeros(len(over)), block[some], over.max(axis=1, initial=0.0)
        enough = radius * (1.0 + _ROUND_OFF) + _EPS * largest
        for _ in range(_MAX_NEWTON):
            left = np.maximum(over - t[:, None], 0.0)
            length = lengths(left)
            outside = length > enough
            if not outside.any():
                break
            step = length * (length - radius) / np.maximum(left.sum(axis=1), 1e-300)
            t += np.where(outside, step, 0.0)
        else:
            t = np.where(outside, largest, t)
        Y[some] = np.copysign(np.minimum(t[:, None], over), Y[some])
