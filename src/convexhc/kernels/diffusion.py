"""Products of a graph Laplacian with a block of columns, and the passes of conjugate gradients.

Every kernel works on a range of rows and adds its sums to a row of a table, one row per range: the
ranges run on several threads, and the result does not depend on how many. Arrays are float32 or
float64, all of one kind; sums are float64.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from convexhc._types import FloatArray
from convexhc.kernels.compile import FAST, compiled

Index = NDArray[np.integer]
Block = NDArray[np.floating]

# Rows per range: a hundred columns of them fit into the second level of the cache.
_ROWS = 8192


def combine(
    rows: tuple[Index, Index, Block, Block],
    X: Block,
    Z: Block,
    factors: tuple[float, float, float],
    out: Block,
) -> FloatArray:
    """Write a L X + b X + c Z into ``out`` and return the dot products of X and ``out``.

    ``rows`` has the compressed rows of W (start, column, weight), symmetric with an empty diagonal,
    and the degrees: L = diag(degree) - W. One step of a three-term recurrence (Lanczos, Chebyshev,
    conjugate gradients). ``out`` may be Z, not X. O((n + entries) m).
    """
    scalars = np.array(factors, dtype=X.dtype)
    sums = _sums(X)
    _over_rows(len(X), lambda k, lo, hi: _combine(lo, hi, *rows, X, Z, scalars, out, sums[k]))
    return np.asarray(sums.sum(axis=0))


def descend(
    X: Block, R: Block, P: Block, Q: Block, step: FloatArray, inverse: Block
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """X += step P and R -= step Q; return the sums of R^2, of ``inverse`` R^2, of ``inverse`` R."""
    steps = step.astype(X.dtype)
    squares, products, totals = _sums(X), _sums(X), _sums(X)

    def task(k: int, lo: int, hi: int) -> None:
        _descend(lo, hi, X, R, P, Q, steps, inverse, squares[k], products[k], totals[k])

    _over_rows(len(X), task)
    return squares.sum(axis=0), products.sum(axis=0), totals.sum(axis=0)


def turn(
    P: Block, R: Block, ratio: FloatArray, inverse: Block, means: Block, component: Index
) -> None:
    """P = ``inverse`` R - means + ratio P, with the means of the component of every row."""
    ratios, centre = ratio.astype(P.dtype), means.astype(P.dtype)
    _over_rows(len(P), lambda k, lo, hi: _turn(lo, hi, P, R, ratios, inverse, centre, component))


def _sums(X: Block) -> FloatArray:
    return np.zeros((-(-len(X) // _ROWS), X.shape[1]))


def _over_rows(n: int, task: Callable[[int, int, int], Any]) -> None:
    """Call ``task(k, lo, hi)`` for every range of rows, on the threads of the kernels."""
    starts = range(0, n, _ROWS)
    threads = min(numba.get_num_threads(), len(starts))
    if threads == 1:
        for k, lo in enumerate(starts):
            task(k, lo, min(lo + _ROWS, n))
        return
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda k: task(k, k * _ROWS, min((k + 1) * _ROWS, n)), range(len(starts))))


@compiled(fastmath=FAST)
def _combine(
    lo: int,
    hi: int,
    start: Index,
    column: Index,
    weight: Block,
    degree: Block,
    X: Block,
    Z: Block,
    factors: Block,
    out: Block,
    sums: FloatArray,
) -> None:
    m = X.shape[1]
    a, b, c = factors[0], factors[1], factors[2]
    for i in range(lo, hi):
        own = a * degree[i] + b
        for k in range(m):
            out[i, k] = own * X[i, k] + c * Z[i, k]
        for p in range(start[i], start[i + 1]):
            j, w = column[p], a * weight[p]
            for k in range(m):
                out[i, k] -= w * X[j, k]
        for k in range(m):
            sums[k] += X[i, k] * out[i, k]


@compiled(fastmath=FAST)
def _descend(
    lo: int,
    hi: int,
    X: Block,
    R: Block,
    P: Block,
    Q: Block,
    step: Block,
    inverse: Block,
    squares: FloatArray,
    products: FloatArray,
    totals: FloatArray,
) -> None:
    for i in range(lo, hi):
        scale = inverse[i]
        for k in range(X.shape[1]):
            X[i, k] += step[k] * P[i, k]
            r = R[i, k] - step[k] * Q[i, k]
            R[i, k] = r
            squares[k] += r * r
            products[k] += scale * r * r
            totals[k] += scale * r


@compiled(fastmath=FAST)
def _turn(
    lo: int,
    hi: int,
    P: Block,
    R: Block,
    ratio: Block,
    inverse: Block,
    means: Block,
    component: Index,
) -> None:
    for i in range(lo, hi):
        scale, own = inverse[i], component[i]
        for k in range(P.shape[1]):
            P[i, k] = scale * R[i, k] - means[own, k] + ratio[k] * P[i, k]
