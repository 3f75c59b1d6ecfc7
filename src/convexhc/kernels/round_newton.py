"""Edge passes of Newton systems with round dual balls and many columns.

For round balls the Newton matrix is mass + sigma D'J D with J_e = c_e (I - p_e p_e'), p_e the
direction of the dual of edge e, zero if the edge is fused. Most of the time of a product goes into
reading the p_e. They are stored in single precision; all sums are in double precision.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from convexhc._types import FloatArray, IntArray
from convexhc.kernels.compile import FAST, compiled
from convexhc.kernels.edges import Edges
from convexhc.kernels.newton import Response

# Factor on the p_e, beyond their relative round-off: I - p_e p_e' stays positive semidefinite.
_SHORTENED = 1.0 - 2.0 * float(np.finfo(np.float32).eps)


class RoundSystem(NamedTuple):
    """The Newton matrix, one column of which acts on all nodes.

    Masses (n), ends (E), stiffness sigma c_e (E), and sqrt(sigma c_e) p_e (E x m, float32).
    """

    mass: FloatArray
    tail: IntArray
    head: IntArray
    stiffness: FloatArray
    bent: NDArray[np.float32]


@compiled(fastmath=FAST)
def _fill(
    system: RoundSystem,
    heavy: IntArray,
    roots: FloatArray,
    kept: FloatArray,
    diagonal: FloatArray,
) -> None:
    n, m = diagonal.shape
    for i in range(n):
        for k in range(m):
            diagonal[i, k] = system.mass[i]
    for at in range(heavy.size):
        i, j, stiffness, e = system.tail[at], system.head[at], system.stiffness[at], heavy[at]
        root, row = roots[at], system.bent[at]
        one, other, y = diagonal[i], diagonal[j], kept[e]
        for k in range(m):
            p = root * y[k]
            row[k] = p
            entry = stiffness - p * p
            one[k] += entry
            other[k] += entry


def round_system(
    sigma: float, mass: FloatArray, edges: Edges, at: Response, light: float = 0.0
) -> tuple[RoundSystem, FloatArray]:
    """The Newton system of a round response, and its diagonal (n x m). O(E m).

    An edge whose stiffness is below a share ``light`` of the sums at both ends is left out, and its
    stiffness added to the masses of its ends: as if the other end did not move.
    """
    n, m = mass.size, at.kept.shape[1]
    stiffness = sigma * (1.0 - at.shrink)
    total = mass + _sums_at_ends(edges.tail, edges.head, stiffness, n)
    share = stiffness / np.minimum(total[edges.tail], total[edges.head])
    heavy = np.flatnonzero(share >= light)
    tail, head, stiffness = edges.tail[heavy], edges.head[heavy], stiffness[heavy]
    rest = total - _sums_at_ends(tail, head, stiffness, n)
    bent = np.empty((heavy.size, m), np.float32)
    system = RoundSystem(np.maximum(rest, mass), tail, head, stiffness, bent)
    diagonal = np.empty((n, m))
    _fill(system, heavy, _SHORTENED * np.sqrt(sigma * at.bend[heavy]), at.kept, diagonal)
    return system, diagonal


def _sums_at_ends(tail: IntArray, head: IntArray, value: FloatArray, n: int) -> FloatArray:
    return np.asarray(np.bincount(tail, value, n) + np.bincount(head, value, n), np.float64)


@compiled(fastmath=FAST)
def curvature_product(system: RoundSystem, X: FloatArray, out: FloatArray) -> float:
    """Write (mass + sigma D'J D) X to ``out``; return its inner product with X. O(E m)."""
    n, m = X.shape
    inner = 0.0
    for i in range(n):
        mass, x, image = system.mass[i], X[i], out[i]
        for k in range(m):
            image[k] = mass * x[k]
    for e in range(system.tail.size):
        i, j, stiffness, p = system.tail[e], system.head[e], system.stiffness[e], system.bent[e]
        here, there, one, other = X[i], X[j], out[i], out[j]
        along = 0.0
        for k in range(m):
            along += p[k] * (here[k] - there[k])
        for k in range(m):
            image_k = stiffness * (here[k] - there[k]) - along * p[k]
            one[k] += image_k
            other[k] -= image_k
    for i in range(n):
        x, image = X[i], out[i]
        for k in range(m):
            inner += x[k] * image[k]
    return inner


def advance(
    step: float,
    P: FloatArray,
    Q: FloatArray,
    X: FloatArray,
    R: FloatArray,
    Z: FloatArray,
    diagonal: FloatArray,
) -> float:
    """X += step P, R -= step Q, Z = R / diagonal; return <R, Z>. O(n m)."""
    X += np.multiply(step, P, out=Z)
    R -= np.multiply(step, Q, out=Z)
    np.divide(R, diagonal, out=Z)
    return float(np.vdot(R, Z))
