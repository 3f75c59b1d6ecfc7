"""Newton systems with few columns: the curvature of every edge as an explicit m x m block.

With H_e = sigma J_e, the Jacobian of `convexhc.kernels.newton` times sigma, the system is

    (mass + D'H D) X = -G.

J_e is nearly singular along a long difference, which couples the columns of a node: the inverse of
its whole block, mass_i plus the sum of H_e over its edges, is a far better preconditioner than that
of the diagonal. Nodes joined by stiff edges move together, restrained only by their mass and by the
edges that leave the group. For harder systems the preconditioner therefore adds the inverse blocks
of such groups, joined by fused edges, by edges of a tenth of their stiffness, and so on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from convexhc._types import FloatArray, IntArray
from convexhc.kernels.components import components
from convexhc.kernels.conjugate_gradients import conjugate_gradients
from convexhc.kernels.edges import Edges
from convexhc.kernels.newton import Response

_FAST = {"reassoc", "contract", "nsz"}
# Least stiffness of the edges that join a group, in units of sigma, one set of groups each.
_STIFF = (1.0, 0.1, 0.01, 0.001)


class Blocks(NamedTuple):
    """H_e of every edge (E x m x m), diagonal block of every node and its inverse (n x m x m)."""

    edge: FloatArray
    node: FloatArray
    inverse: FloatArray


class Groups(NamedTuple):
    """Nodes in groups, the group of each, and the inverse block of every group (g x m x m).

    A node is listed once for every group that contains it.
    """

    node: IntArray
    group: IntArray
    inverse: FloatArray


@njit(cache=True, nogil=True)
def blocks(sigma: float, mass: FloatArray, edges: Edges, at: Response) -> Blocks:
    """Blocks of mass + sigma D'J D. O(E m^2 + n m^3)."""
    # A literal number of columns lets the compiler unroll the inner loops: half the time.
    if at.total.shape[1] == 2:
        return _blocks(2, sigma, mass, edges, at)
    if at.total.shape[1] == 3:
        return _blocks(3, sigma, mass, edges, at)
    return _blocks(at.total.shape[1], sigma, mass, edges, at)


@njit(cache=True, nogil=True, inline="always")
def _blocks(m: int, sigma: float, mass: FloatArray, edges: Edges, at: Response) -> Blocks:
    n = mass.size
    edge, node = np.empty((edges.tail.size, m, m)), np.zeros((n, m, m))
    for i in range(n):
        for k in range(m):
            node[i, k, k] = mass[i]
    for e in range(edges.tail.size):
        i, j = edges.tail[e], edges.head[e]
        bent, rest = sigma * at.bend[e], sigma * (1.0 - at.shrink[e])
        for k in range(m):
            for q in range(m):
                entry = -bent * at.kept[e, k] * at.kept[e, q]
                if k == q:
                    entry += rest if at.kept[e, k] != 0.0 else sigma
                edge[e, k, q] = entry
                node[i, k, q] += entry
                node[j, k, q] += entry
    inverse = node.copy()
    for i in range(n):
        _invert(m, inverse[i], mass[i])
    return Blocks(edge, node, inverse)


@njit(cache=True, nogil=True, inline="always")
def _invert(m: int, A: FloatArray, least: float) -> None:
    """Invert a symmetric matrix in place; no eigenvalue, hence no pivot, is below ``least``."""
    for p in range(m):
        pivot = 1.0 / max(A[p, p], least)
        A[p, p] = 1.0
        for q in range(m):
            A[p, q] *= pivot
        for k in range(m):
            if k != p:
                factor = A[k, p]
                A[k, p] = 0.0
                for q in range(m):
                    A[k, q] -= factor * A[p, q]


def no_groups(m: int) -> Groups:
    """No groups: the preconditioner is that of the nodes alone."""
    return Groups(np.empty(0, np.int64), np.empty(0, np.int64), np.empty((0, m, m)))


def stiff_groups(mass: FloatArray, edges: Edges, at: Response, here: Blocks) -> Groups:
    """Groups of nodes joined by stiff edges, for every level of stiffness. O(E m^2 + n m^3)."""
    left = np.where(at.fused, 1.0, 1.0 - at.shrink)
    found = []
    for least in _STIFF:
        joined = at.fused if least == 1.0 else left >= least
        number = _numbered(components(mass.size, edges.tail, edges.head, joined))
        found.append((number, _group_blocks(number, mass, edges, here.edge)))
    nodes = [np.flatnonzero(number >= 0) for number, _ in found]
    first = np.cumsum([0] + [inverse.shape[0] for _, inverse in found])
    return Groups(
        np.concatenate(nodes),
        np.concatenate([found[k][0][nodes[k]] + first[k] for k in range(len(found))]),
        np.concatenate([inverse for _, inverse in found]),
    )


@njit(cache=True, nogil=True)
def _numbered(labels: IntArray) -> IntArray:
    """Number the groups of at least two nodes; -1 for single nodes."""
    size = np.bincount(labels)
    number, count = np.empty(size.size, np.int64), 0
    for g in range(size.size):
        number[g] = count if size[g] > 1 else -1
        count += size[g] > 1
    return number[labels]


@njit(cache=True, nogil=True)
def _group_blocks(number: IntArray, mass: FloatArray, edges: Edges, edge: FloatArray) -> FloatArray:
    """Inverse block of every group: its mass plus H_e of the edges that leave it."""
    weight, m = np.zeros(number.max() + 1), edge.shape[1]
    for i in range(mass.size):
        if number[i] >= 0:
            weight[number[i]] += mass[i]
    out = np.zeros((weight.size, m, m))
    for g in range(weight.size):
        for k in range(m):
            out[g, k, k] = weight[g]
    for e in range(edges.tail.size):
        g, h = number[edges.tail[e]], number[edges.head[e]]
        if g != h:
            for k in range(m):
                for q in range(m):
                    if g >= 0:
                        out[g, k, q] += edge[e, k, q]
                    if h >= 0:
                        out[h, k, q] += edge[e, k, q]
    for g in range(weight.size):
        _invert(m, out[g], weight[g])
    return out


@njit(cache=True, nogil=True)
def entries(edges: Edges, at: Blocks) -> tuple[NDArray[np.int32], NDArray[np.int32], FloatArray]:
    """Row, column and value of the entries of the matrix; duplicates add up. O(E m^2)."""
    n, m = at.node.shape[:2]
    count = n * m * m + 2 * edges.tail.size * m * m
    row, column = np.empty(count, np.int32), np.empty(count, np.int32)
    value = np.empty(count)
    p = 0
    for e in range(edges.tail.size):
        i, j = edges.tail[e], edges.head[e]
        for k in range(m):
            for q in range(m):
                row[p], column[p], value[p] = i * m + k, j * m + q, -at.edge[e, k, q]
                row[p + 1], column[p + 1], value[p + 1] = j * m + k, i * m + q, -at.edge[e, k, q]
                p += 2
    for i in range(n):
        for k in range(m):
            for q in range(m):
                row[p], column[p], value[p] = i * m + k, i * m + q, at.node[i, k, q]
                p += 1
    return row, column, value


@njit(cache=True, nogil=True, fastmath=_FAST)
def block_direction(
    G: FloatArray,
    mass: FloatArray,
    edges: Edges,
    at: Blocks,
    groups: Groups,
    tol: float,
    max_iter: int,
) -> tuple[FloatArray, bool]:
    """Solve (mass + D'H D) X = -G by conjugate gradients, preconditioned by nodes and groups.

    Returns X and whether its residual, in the norm of the preconditioner, is within ``tol`` of
    that of zero. Any number of iterations gives a descent direction. O(E m^2) per iteration.
    """
    m, pooled = G.shape[1], np.empty((groups.inverse.shape[0], G.shape[1]))
    # A literal number of columns lets the compiler unroll the inner loops: half the time.
    if m == 2:
        return conjugate_gradients(
            _apply, _precondition, (2, mass, edges, at, groups, pooled), -G, tol, 0.0, max_iter
        )
    if m == 3:
        return conjugate_gradients(
            _apply, _precondition, (3, mass, edges, at, groups, pooled), -G, tol, 0.0, max_iter
        )
    return conjugate_gradients(
        _apply, _precondition, (m, mass, edges, at, groups, pooled), -G, tol, 0.0, max_iter
    )


_System = tuple[int, FloatArray, Edges, Blocks, Groups, FloatArray]


@njit(cache=True, nogil=True, fastmath=_FAST, inline="always")
def _apply(system: _System, X: FloatArray, out: FloatArray) -> float:
    """Write (mass + D'H D) X to ``out``; return its inner product with X. O(E m^2)."""
    m, mass, edges, at, _, _ = system
    inner = 0.0
    for i in range(X.shape[0]):
        for k in range(m):
            out[i, k] = mass[i] * X[i, k]
    for e in range(edges.tail.size):
        i, j = edges.tail[e], edges.head[e]
        for k in range(m):
            image = 0.0
            for q in range(m):
                image += at.edge[e, k, q] * (X[i, q] - X[j, q])
            out[i, k] += image
            out[j, k] -= image
    for i in range(X.shape[0]):
        for k in range(m):
            inner += X[i, k] * out[i, k]
    return inner


@njit(cache=True, nogil=True, fastmath=_FAST, inline="always")
def _precondition(system: _System, R: FloatArray, out: FloatArray) -> tuple[float, float]:
    """Write the preconditioner times R to ``out``; return its inner product with R. O(n m^2)."""
    m, _, _, at, groups, pooled = system
    inner = 0.0
    for i in range(R.shape[0]):
        for k in range(m):
            total = 0.0
            for q in range(m):
                total += at.inverse[i, k, q] * R[i, q]
            out[i, k] = total
            inner += total * R[i, k]
    pooled[:] = 0.0
    for p in range(groups.node.size):
        for k in range(m):
            pooled[groups.group[p], k] += R[groups.node[p], k]
    for p in range(groups.node.size):
        i, g = groups.node[p], groups.group[p]
        for k in range(m):
            total = 0.0
            for q in range(m):
                total += groups.inverse[g, k, q] * pooled[g, q]
            out[i, k] += total
            inner += total * R[i, k]
    return inner, inner
