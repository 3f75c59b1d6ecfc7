"""Edge passes of the semismooth Newton method: dual response, its Jacobian, linear systems.

For shifted differences V_e = Y_e + sigma (C_i - C_j) the dual response is P(V_e), the projection on
the dual ball. With s = soft(V_e, soft_e) and |s| > block_e its Jacobian is

    J x = x - shrink [s != 0] x - bend (s . x) s,   shrink = 1 - block_e / |s|,
    bend = block_e / |s|^3,

and the identity where the edge is fused, |s| <= block_e. Without soft thresholds the ball is round,
and P(V_e), a multiple of s, replaces s in the Jacobian.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from convexhc._types import BoolArray, FloatArray
from convexhc.kernels.compile import FAST, blocks, compiled
from convexhc.kernels.conjugate_gradients import conjugate_gradients
from convexhc.kernels.edges import Edges, separations
from convexhc.kernels.rows import lengths


class Response(NamedTuple):
    """Dual P(V) (E x m), fused flags (E), Jacobian (E; E; E x m), and the sums D'P(V) (n x m).

    ``kept`` is s. Where all balls are ``round``, it is the dual itself, with ``bend`` to match.
    """

    Y: FloatArray
    fused: BoolArray
    shrink: FloatArray
    bend: FloatArray
    kept: FloatArray
    total: FloatArray
    round: bool

    def into(self, Y: FloatArray) -> Response:
        """The same arrays, but with the dual written to Y."""
        return self._replace(Y=Y, kept=Y if self.round else self.kept)


def allocate_response(n_edges: int, n: int, m: int, *, round_balls: bool = False) -> Response:
    """Allocate the outputs of `dual_response`."""
    Y = np.zeros((n_edges, m))
    return Response(
        Y,
        np.zeros(n_edges, np.bool_),
        np.zeros(n_edges),
        np.zeros(n_edges),
        Y if round_balls else np.zeros((n_edges, m)),
        np.zeros((n, m)),
        round_balls,
    )


def dual_response(
    C: FloatArray, Y: FloatArray, sigma: float, edges: Edges, out: Response
) -> tuple[float, float]:
    """Write the dual response to C and its Jacobian; return two sums over the edges. O(E m).

    The first is the smoothed penalty, sum_e p_e(z_e) + |P(V_e)|^2 / (2 sigma) with z_e the prox.
    The second is the Fenchel gap, sum_e p_e(C_i - C_j) - <P(V_e), C_i - C_j>.
    """
    if out.round:
        return _round_response(C, Y, sigma, edges, out)
    return _GENERAL_RESPONSE.get(C.shape[1], _response)(C, Y, sigma, edges, out)


@compiled(fastmath=FAST)
def _round_response(
    C: FloatArray, Y: FloatArray, sigma: float, edges: Edges, out: Response
) -> tuple[float, float]:
    """`dual_response` without soft thresholds: half the arithmetic and half the memory."""
    m, smoothed, slack = C.shape[1], 0.0, 0.0
    for i in range(C.shape[0]):
        for k in range(m):
            out.total[i, k] = 0.0
    for e in range(edges.tail.size):
        i, j, block = edges.tail[e], edges.head[e], edges.block[e]
        here, there, y, shifted = C[i], C[j], Y[e], out.Y[e]
        squares, along, length = 0.0, 0.0, 0.0
        for k in range(m):
            apart = here[k] - there[k]
            v = y[k] + sigma * apart
            shifted[k] = v
            squares += apart * apart
            along += apart * v
            length += v * v
        length = math.sqrt(length)
        fused = length <= block
        left = 1.0 if fused else block / length
        out.fused[e], out.shrink[e] = fused, 1.0 - left
        inside = left * length
        out.bend[e] = 0.0 if fused or inside == 0.0 else 1.0 / (inside * length)
        one, other = out.total[i], out.total[j]
        for k in range(m):
            v = left * shifted[k]
            shifted[k] = v
            one[k] += v
            other[k] -= v
        smoothed += (1.0 - left) * block * length + 0.5 * inside * inside
        slack += block * math.sqrt(squares) - left * along
    return smoothed / sigma, slack


@compiled(fastmath=FAST, inline=True)
def _general_response(
    m: int, C: FloatArray, Y: FloatArray, sigma: float, edges: Edges, out: Response
) -> tuple[float, float]:
    smoothed, slack = 0.0, 0.0
    for i in range(C.shape[0]):
        for k in range(m):
            out.total[i, k] = 0.0
    for e in range(edges.tail.size):
        i, j, soft, block = edges.tail[e], edges.head[e], edges.soft[e], edges.block[e]
        squares, absolutes, length = 0.0, 0.0, 0.0
        for k in range(m):
            apart = C[i, k] - C[j, k]
            squares += apart * apart
            absolutes += abs(apart)
            shifted = Y[e, k] + sigma * apart
            kept = math.copysign(max(abs(shifted) - soft, 0.0), shifted)
            out.Y[e, k], out.kept[e, k] = shifted, kept
            length += kept * kept
        length = math.sqrt(length)
        fused = length <= block
        over = 0.0 if fused else 1.0 / length
        left = 1.0 if fused else block * over
        shrink = 1.0 - left
        out.fused[e], out.shrink[e], out.bend[e] = fused, shrink, left * over * over
        inside, along, prox = 0.0, 0.0, 0.0
        for k in range(m):
            kept = out.kept[e, k]
            # P(V) = clip(V, soft) + left s, without cancellation however long V is.
            y = min(max(out.Y[e, k], -soft), soft) + left * kept
            out.Y[e, k] = y
            inside += y * y
            along += y * (C[i, k] - C[j, k])
            prox += abs(kept)
            out.total[i, k] += y
            out.total[j, k] -= y
        smoothed += shrink * (soft * prox + block * length) + 0.5 * inside
        slack += block * math.sqrt(squares) + soft * absolutes - along
    return smoothed / sigma, slack


@compiled(fastmath=FAST)
def _response(
    C: FloatArray, Y: FloatArray, sigma: float, edges: Edges, out: Response
) -> tuple[float, float]:
    return _general_response(C.shape[1], C, Y, sigma, edges, out)


# A literal number of columns lets the compiler unroll the inner loops: half the time.
@compiled(fastmath=FAST)
def _response_2(
    C: FloatArray, Y: FloatArray, sigma: float, edges: Edges, out: Response
) -> tuple[float, float]:
    return _general_response(2, C, Y, sigma, edges, out)


@compiled(fastmath=FAST)
def _response_3(
    C: FloatArray, Y: FloatArray, sigma: float, edges: Edges, out: Response
) -> tuple[float, float]:
    return _general_response(3, C, Y, sigma, edges, out)


_GENERAL_RESPONSE = {2: _response_2, 3: _response_3}


def well_inside(Y: FloatArray, edges: Edges, share: float) -> BoolArray:
    """Whether every row of Y is in its dual ball scaled by ``share``. O(E m)."""
    if not edges.soft.any():
        return np.asarray(lengths(Y) <= share * edges.block)
    out = np.empty(Y.shape[0], np.bool_)
    for some in blocks(Y.shape):
        over = np.maximum(np.abs(Y[some]) - share * edges.soft[some, None], 0.0)
        out[some] = lengths(over) <= share * edges.block[some]
    return out


def cheap_to_fuse(C: FloatArray, mass: FloatArray, edges: Edges, allowance: float) -> BoolArray:
    """Whether fusing the ends of an edge costs at most ``allowance``, for every edge. O(E m).

    The cost is the penalty of the edge plus that of moving both ends to their mean. The penalty
    alone does not suffice: it is negligible for a long edge of very small weight.
    """
    length, absolute = separations(C, edges)
    one, other = mass[edges.tail], mass[edges.head]
    cost = edges.block * length + edges.soft * absolute
    cost += 0.5 * one * other / (one + other) * length**2
    return np.asarray(cost <= allowance)


def fidelity_gradient(
    C: FloatArray, target: FloatArray, mass: FloatArray, total: FloatArray, G: FloatArray
) -> tuple[float, float]:
    """Write G = mass (C - target) + total; return the fidelity and 1/2 sum_i |G_i|^2 / mass_i."""
    away = C - target
    np.multiply(mass[:, None], away, out=G)
    value = float(np.vdot(G, away))
    G += total
    return 0.5 * value, 0.5 * float((np.einsum("ik,ik->i", G, G) / mass).sum())


class _System(NamedTuple):
    """The Newton matrix mass + sigma D'J D (J from ``at``), its diagonal, and the columns."""

    m: int
    sigma: float
    mass: FloatArray
    edges: Edges
    at: Response
    diagonal: FloatArray


@compiled(fastmath=FAST, inline=True)
def _apply(system: _System, x: FloatArray, out: FloatArray) -> float:
    """Write (mass + sigma D'J D) x to ``out``; return <x, out>. O(E m)."""
    m, sigma, mass, edges, at, _ = system
    for i in range(mass.size):
        for k in range(i * m, (i + 1) * m):
            out[k] = mass[i] * x[k]
    for e in range(edges.tail.size):
        i, j, kept = edges.tail[e] * m, edges.head[e] * m, at.kept[e]
        fused, along = at.fused[e], 0.0
        for k in range(m):
            along += kept[k] * (x[i + k] - x[j + k])
        along = 0.0 if fused else sigma * at.bend[e] * along
        rest = sigma if fused else sigma * (1.0 - at.shrink[e])
        for k in range(m):
            scale = rest if kept[k] != 0.0 else sigma
            image = scale * (x[i + k] - x[j + k]) - along * kept[k]
            out[i + k] += image
            out[j + k] -= image
    inner = 0.0
    for k in range(x.size):
        inner += x[k] * out[k]
    return inner


@compiled(fastmath=FAST, inline=True)
def _divide_by_diagonal(system: _System, r: FloatArray, z: FloatArray) -> tuple[float, float]:
    """Write r over the diagonal to z; return <r, z> twice."""
    diagonal, rho = system.diagonal, 0.0
    for k in range(r.size):
        z[k] = r[k] / diagonal[k]
        rho += r[k] * z[k]
    return rho, rho


@compiled(fastmath=FAST)
def _diagonal(sigma: float, mass: FloatArray, edges: Edges, at: Response, out: FloatArray) -> None:
    """Write the diagonal of mass + sigma D'J D. O(E m)."""
    m = at.total.shape[1]
    for i in range(mass.size):
        for k in range(i * m, (i + 1) * m):
            out[k] = mass[i]
    for e in range(edges.tail.size):
        i, j = edges.tail[e] * m, edges.head[e] * m
        rest, bent = sigma * (1.0 - at.shrink[e]), sigma * at.bend[e]
        for k in range(m):
            kept = at.kept[e, k]
            full = kept == 0.0 and not at.round and not at.fused[e]
            entry = (sigma if full else rest) - bent * kept * kept
            out[i + k] += entry
            out[j + k] += entry


@compiled(fastmath=FAST)
def _solve(system: _System, work: FloatArray, tol: float, max_iter: int) -> bool:
    return conjugate_gradients(_apply, _divide_by_diagonal, system, work, tol, 0.0, max_iter)


def newton_direction(
    G: FloatArray,
    sigma: float,
    mass: FloatArray,
    edges: Edges,
    at: Response,
    tol: float,
    max_iter: int,
) -> tuple[FloatArray, bool]:
    """Solve (mass + sigma D'J D) X = -G by conjugate gradients with a diagonal preconditioner.

    Returns X and whether its residual, in the norm of the preconditioner, is within ``tol`` of
    that of zero. Any number of iterations gives a descent direction. O(E m) per iteration.
    """
    work = np.empty((6, G.size))
    np.negative(G.ravel(), out=work[1])
    diagonal = work[5]
    _diagonal(sigma, mass, edges, at, diagonal)
    system = _System(G.shape[1], sigma, mass, edges, at, diagonal)
    converged = _solve(system, work[:5], tol, max_iter)
    return work[0].reshape(G.shape), bool(converged)
