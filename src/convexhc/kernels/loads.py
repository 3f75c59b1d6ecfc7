"""How far a flow exceeds the dual balls, from its potentials or from a factorisation of it.

The flow itself is never stored. Threads share nodes or edges, and no two threads add to the same
number: the result does not depend on the number of threads.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from convexhc._types import BoolArray, FloatArray, IntArray
from convexhc.kernels.compile import compiled
from convexhc.kernels.threads import runs_for

Real = NDArray[Any]

# Numbers are finite here (callers check), so that maxima become vector operations.
_FINITE = frozenset({"reassoc", "contract", "nsz", "nnan"})


class Net(NamedTuple):
    """Adjacency lists: the edges of node i have positions ``start[i]`` to ``start[i + 1]``.

    Every position has the other end, the index and the conductance of an edge. ``soft`` is indexed
    by edge, as is ``peaked``: whether the largest entry of its flow is wanted.
    """

    start: IntArray
    other: IntArray
    edge: IntArray
    conductance: FloatArray
    soft: FloatArray
    peaked: BoolArray


class Tally(NamedTuple):
    """Sums and maxima over columns: three per edge and two per node."""

    excess: FloatArray
    further: FloatArray
    most: FloatArray
    wanted: FloatArray
    lacking: FloatArray

    def joined(self, other: Tally) -> Tally:
        """The tally of both sets of columns."""
        return Tally(
            self.excess + other.excess,
            self.further + other.further,
            np.maximum(self.most, other.most),
            np.maximum(self.wanted, other.wanted),
            np.maximum(self.lacking, other.lacking),
        )


def empty_tally(n_edges: int, n_nodes: int) -> Tally:
    """The tally of no columns."""
    return Tally(*np.zeros((3, n_edges)), *np.zeros((2, n_nodes)))


@compiled(fastmath=_FINITE)
def _tally_run(
    first: int, last: int, X: Real, R: FloatArray, net: Net, stretch: float, out: Tally
) -> None:
    m = X.shape[1]
    left = np.empty(m)
    for i in range(first, last):
        here = X[i]
        largest = out.wanted[i]
        for k in range(m):
            left[k] = R[i, k]
            largest = max(largest, abs(left[k]))
        out.wanted[i] = largest
        for p in range(net.start[i], net.start[i + 1]):
            there, e, c = X[net.other[p]], net.edge[p], net.conductance[p]
            if net.other[p] < i:
                for k in range(m):
                    left[k] -= c * (here[k] - there[k])
                continue
            soft, softer = net.soft[e], net.soft[e] / stretch
            excess, further = 0.0, 0.0
            for k in range(m):
                y = c * (here[k] - there[k])
                left[k] -= y
                y = abs(y)
                # Twice the positive part: unlike a comparison, a vector operation.
                over = (y - soft) + abs(y - soft)
                excess += over * over
                over = (y - softer) + abs(y - softer)
                further += over * over
            out.excess[e] += 0.25 * excess
            out.further[e] += 0.25 * further
            if net.peaked[e]:
                most = out.most[e]
                for k in range(m):
                    most = max(most, abs(c * (here[k] - there[k])))
                out.most[e] = most
        largest = out.lacking[i]
        for k in range(m):
            largest = max(largest, abs(left[k]))
        out.lacking[i] = largest


@compiled(parallel=True)
def _tally_threaded(
    runs: int, X: Real, R: FloatArray, net: Net, stretch: float, out: Tally
) -> None:
    n = X.shape[0]
    for r in prange(runs):
        _tally_run(r * n // runs, (r + 1) * n // runs, X, R, net, stretch, out)


def tally(X: Real, R: FloatArray, net: Net, stretch: float, out: Tally) -> None:
    """Accumulate norms of a block of columns of the flow Y_e = conductance_e (X_i - X_j).

    Per edge, ``excess`` is sum_k max(|Y_ek| - soft_e, 0)^2, ``further`` the same with
    soft_e / stretch, and ``most`` the largest |Y_ek| of peaked edges. Per node, ``wanted`` is the
    largest |R_ik| and ``lacking`` the largest entry of |R - D'Y|. All in place, so that the columns
    may come in any number of blocks. All but ``wanted`` are infinite if X is not finite. O(E m).
    """
    if not np.isfinite(X.sum(dtype=np.float64)):
        for found in (out.excess, out.further, out.most, out.lacking):
            found[:] = np.inf
        return
    runs = runs_for(net.edge.size * X.shape[1])
    if runs > 1:
        _tally_threaded(runs, X, R, net, stretch, out)
    else:
        _tally_run(0, X.shape[0], X, R, net, stretch, out)


@compiled(fastmath=_FINITE)
def tally_product(
    Z: FloatArray,
    D: FloatArray,
    row_norm: FloatArray,
    column_norm: FloatArray,
    soft: FloatArray,
    stretch: float,
    out: Tally,
) -> None:
    """Accumulate norms of the flow Y = Z D', one row of D per column of Y.

    |Y_ek| must be at most row_norm_e column_norm_k, with decreasing column norms: columns with a
    bound below soft_e / stretch add nothing to ``excess`` and ``further``, and their bound is
    enough for ``most``. The rest is computed. O(q) per entry computed, q columns of Z.
    """
    q, m = Z.shape[1], D.shape[0]
    for e in range(Z.shape[0]):
        threshold, softer = soft[e], soft[e] / stretch
        excess, further, most = 0.0, 0.0, out.most[e]
        for k in range(m):
            bound = row_norm[e] * column_norm[k]
            if bound <= softer:
                most = max(most, bound)
                break
            y = 0.0
            for p in range(q):
                y += Z[e, p] * D[k, p]
            y = abs(y)
            over = max(y - threshold, 0.0)
            excess += over * over
            over = max(y - softer, 0.0)
            further += over * over
            most = max(most, y)
        out.excess[e] += excess
        out.further[e] += further
        out.most[e] = most


@compiled(fastmath=frozenset({"contract"}))
def spread_columns(
    start: IntArray,
    row: IntArray,
    value: FloatArray,
    mean: FloatArray,
    cluster: IntArray,
    mass: FloatArray,
    offset: FloatArray,
    out: FloatArray,
) -> None:
    """Write mass_i (T_ik - mean of its cluster in column k) - offset_i to ``out``, T by columns.

    ``start`` has the columns of ``out``, ``mean`` one row per cluster. O(n m + nnz(T)).
    """
    for i in range(out.shape[0]):
        g, weight, shift = cluster[i], mass[i], offset[i]
        for k in range(out.shape[1]):
            out[i, k] = -weight * mean[g, k] - shift
    for k in range(out.shape[1]):
        for p in range(start[k], start[k + 1]):
            out[row[p], k] += mass[row[p]] * value[p]
