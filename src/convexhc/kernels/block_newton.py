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
from numpy.typing import NDArray

from convexhc._types import FloatArray, IntArray
from convexhc.kernels.compile import FAST, compiled
from convexhc.kernels.components import components
from convexhc.kernels.conjugate_gradients import conjugate_gradients
from convexhc.kernels.edges import Edges
from convexhc.kernels.newton import Response

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


def blocks(sigma: float, mass: FloatArray, edges: Edges, at: Response) -> Blocks:
    """Blocks of mass + sigma D'J D. O(E m^2 + n m^3)."""
    n, m = at.total.shape
    out = Blocks(np.empty((edges.tail.size, m, m)), np.zeros((n, m, m)), np.empty((n, m, m)))
    _FILL.get(m, _fill)(sigma, mass, edges, at, out)
    return out


@compiled(inline=True)
def _fill_blocks(
    m: int, sigma: float, mass: FloatArray, edges: Edges, at: Response, out: Blocks
) -> None:
    edge, node, inverse = out
    for i in range(mass.size):
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
    for i in range(mass.size):
        for k in range(m):
            for q in range(m):
                inverse[i, k, q] = node[i, k, q]
        _invert(m, inverse[i], mass[i])


@compiled(inline=True)
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


@compiled()
def _fill(sigma: float, mass: FloatArray, edges: Edges, at: Response, out: Blocks) -> None:
    _fill_blocks(at.total.shape[1], sigma, mass, edges, at, out)


# A literal number of columns lets the compiler unroll the inner loops: half the time.
@compiled()
def _fill_2(sigma: float, mass: FloatArray, edges: Edges, at: Response, out: Blocks) -> None:
    _fill_blocks(2, sigma, mass, edges, at, out)


@compiled()
def _fill_3(sigma: float, mass: FloatArray, edges: Edges, at: Response, out: Blocks) -> None:
    _fill_blocks(3, sigma, mass, edges, at, out)


_FILL = {2: _fill_2, 3: _fill_3}


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


def _numbered(labels: IntArray) -> IntArray:
    """Number the groups of at least two nodes; -1 for single nodes."""
    several = np.bincount(labels) > 1
    number = np.where(several, np.cumsum(several) - 1, -1)
    return np.asarray(number[labels])


def _group_blocks(number: IntArray, mass: FloatArray, edges: Edges, edge: FloatArray) -> FloatArray:
    """Inverse block of every group: its mass plus H_e of the edges that leave it."""
    inside, m = number >= 0, edge.shape[1]
    weight: FloatArray = np.bincount(number[inside], mass[inside]).astype(np.float64)
    out = np.zeros((weight.size, m, m))
    _fill_groups(number, weight, edges, edge, out)
    return out


@compiled()
def _fill_groups(
    number: IntArray, weight: FloatArray, edges: Edges, edge: FloatArray, out: FloatArray
) -> None:
    m = edge.shape[1]
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


@compiled()
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


_System = tuple[int, FloatArray, Edges, Blocks, Groups, FloatArray]


@compiled(fastmath=FAST, inline=True)
def _apply(system: _System, x: FloatArray, out: FloatArray) -> float:
    """Write (mass + D'H D) x to ``out``; return its inner product with x. O(E m^2)."""
    m, mass, edges, at, _, _ = system
    _multiply_by_mass(m, mass, x, out)
    for e in range(edges.tail.size):
        i, j = edges.tail[e] * m, edges.head[e] * m
        for k in range(m):
            image = 0.0
            for q in range(m):
                image += at.edge[e, k, q] * (x[i + q] - x[j + q])
            out[i + k] += image
            out[j + k] -= image
    return _inner(x, out)


@compiled(fastmath=FAST, inline=True)
def _multiply_by_mass(m: int, mass: FloatArray, x: FloatArray, out: FloatArray) -> None:
    for i in range(mass.size):
        for k in range(m):
            out[i * m + k] = mass[i] * x[i * m + k]


@compiled(fastmath=FAST, inline=True)
def _inner(x: FloatArray, y: FloatArray) -> float:
    total = 0.0
    for k in range(x.size):
        total += x[k] * y[k]
    return total


# Edges with the same tail follow each other: its row is read and written once for all of them.
# With two columns that takes half the time, with three two thirds.
@compiled(fastmath=FAST, inline=True)
def _apply_2(system: _System, x: FloatArray, out: FloatArray) -> float:
    """`_apply` to two columns."""
    _, mass, edges, at, _, _ = system
    _multiply_by_mass(2, mass, x, out)
    i, x0, x1, sum0, sum1 = 0, x[0], x[1], 0.0, 0.0
    for e in range(edges.tail.size):
        if 2 * edges.tail[e] != i:
            out[i] += sum0
            out[i + 1] += sum1
            i = 2 * edges.tail[e]
            x0, x1, sum0, sum1 = x[i], x[i + 1], 0.0, 0.0
        j, block = 2 * edges.head[e], at.edge[e]
        d0, d1 = x0 - x[j], x1 - x[j + 1]
        image0 = block[0, 0] * d0 + block[0, 1] * d1
        image1 = block[0, 1] * d0 + block[1, 1] * d1
        sum0 += image0
        sum1 += image1
        out[j] -= image0
        out[j + 1] -= image1
    out[i] += sum0
    out[i + 1] += sum1
    return _inner(x, out)


@compiled(fastmath=FAST, inline=True)
def _apply_3(system: _System, x: FloatArray, out: FloatArray) -> float:
    """`_apply` to three columns."""
    _, mass, edges, at, _, _ = system
    _multiply_by_mass(3, mass, x, out)
    i, x0, x1, x2, sum0, sum1, sum2 = 0, x[0], x[1], x[2], 0.0, 0.0, 0.0
    for e in range(edges.tail.size):
        if 3 * edges.tail[e] != i:
            out[i] += sum0
            out[i + 1] += sum1
            out[i + 2] += sum2
            i = 3 * edges.tail[e]
            x0, x1, x2, sum0, sum1, sum2 = x[i], x[i + 1], x[i + 2], 0.0, 0.0, 0.0
        j, block = 3 * edges.head[e], at.edge[e]
        d0, d1, d2 = x0 - x[j], x1 - x[j + 1], x2 - x[j + 2]
        image0 = block[0, 0] * d0 + block[0, 1] * d1 + block[0, 2] * d2
        image1 = block[0, 1] * d0 + block[1, 1] * d1 + block[1, 2] * d2
        image2 = block[0, 2] * d0 + block[1, 2] * d1 + block[2, 2] * d2
        sum0 += image0
        sum1 += image1
        sum2 += image2
        out[j] -= image0
        out[j + 1] -= image1
        out[j + 2] -= image2
    out[i] += sum0
    out[i + 1] += sum1
    out[i + 2] += sum2
    return _inner(x, out)


@compiled(fastmath=FAST, inline=True)
def _precondition(system: _System, r: FloatArray, out: FloatArray) -> tuple[float, float]:
    """Write the preconditioner times r to ``out``; return its inner product with r. O(n m^2)."""
    m, mass, _, at, groups, pooled = system
    inner = 0.0
    for i in range(mass.size):
        for k in range(m):
            total = 0.0
            for q in range(m):
                total += at.inverse[i, k, q] * r[i * m + q]
            out[i * m + k] = total
            inner += total * r[i * m + k]
    for g in range(pooled.shape[0]):
        for k in range(m):
            pooled[g, k] = 0.0
    for p in range(groups.node.size):
        for k in range(m):
            pooled[groups.group[p], k] += r[groups.node[p] * m + k]
    for p in range(groups.node.size):
        i, g = groups.node[p] * m, groups.group[p]
        for k in range(m):
            total = 0.0
            for q in range(m):
                total += groups.inverse[g, k, q] * pooled[g, q]
            out[i + k] += total
            inner += total * r[i + k]
    return inner, inner


@compiled(fastmath=FAST)
def _solve(system: _System, work: FloatArray, tol: float, max_iter: int) -> bool:
    return conjugate_gradients(_apply, _precondition, system, work, tol, 0.0, max_iter)


# A literal number of columns lets the compiler unroll the inner loops: half the time.
@compiled(fastmath=FAST)
def _solve_2(system: _System, work: FloatArray, tol: float, max_iter: int) -> bool:
    _, mass, edges, at, groups, pooled = system
    return conjugate_gradients(
        _apply_2, _precondition, (2, mass, edges, at, groups, pooled), work, tol, 0.0, max_iter
    )


@compiled(fastmath=FAST)
def _solve_3(system: _System, work: FloatArray, tol: float, max_iter: int) -> bool:
    _, mass, edges, at, groups, pooled = system
    return conjugate_gradients(
        _apply_3, _precondition, (3, mass, edges, at, groups, pooled), work, tol, 0.0, max_iter
    )


_SOLVE = {2: _solve_2, 3: _solve_3}


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
    work = np.empty((5, G.size))
    np.negative(G.ravel(), out=work[1])
    system = (m, mass, edges, at, groups, pooled)
    converged = _SOLVE.get(m, _solve)(system, work, tol, max_iter)
    return work[0].reshape(G.shape), bool(converged)
