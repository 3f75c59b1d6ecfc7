"""Preconditioned conjugate gradients: compiled for one system, and in numpy for many at once.

Two versions remain. The compiled one has a single step size per iteration and inlines its operator.
The other solves one system per row or column, each with its own step sizes, and its operators are
products that numpy, BLAS and threaded kernels compute, which compiled code cannot call.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from convexhc._types import FloatArray
from convexhc.kernels.compile import FAST, compiled

Real = NDArray[Any]
Apply = Callable[[Any, FloatArray, FloatArray], float]
Precondition = Callable[[Any, FloatArray, FloatArray], tuple[float, float]]


# Inlined: a compiled function that takes functions as arguments cannot be cached, its callers can.
@compiled(raise_on_division=False, fastmath=FAST, inline=True)
def conjugate_gradients(
    apply: Apply,
    precondition: Precondition,
    system: Any,
    work: FloatArray,
    rtol: float,
    atol: float,
    max_iter: int,
) -> bool:
    """Solve A x = b for a symmetric positive definite operator A, by two compiled functions.

    ``apply(system, p, q)`` writes A p to q and returns <p, A p>, or zero where that is round-off,
    which ends the iteration. ``precondition(system, r, z)`` writes M r to z and returns <r, M r>
    and the squared residual norm that the tolerances refer to. ``work`` is (5, size): row 0
    receives x, row 1 contains b and receives the residual, the others are scratch.

    Stops when the residual norm is at most ``max(rtol * initial norm, atol)``; returns whether it
    is. The first iterate is zero, and any number of iterations decreases 1/2 <x, A x> - <b, x>.
    """
    x, r, z, p, q = work[0], work[1], work[2], work[3], work[4]
    for k in range(x.size):
        x[k] = 0.0
        p[k] = 0.0
    rho, square = precondition(system, r, z)
    target, ratio = max(rtol * rtol * square, atol * atol), 0.0
    for _ in range(max_iter):
        if square <= target:
            break
        for k in range(z.size):
            p[k] = z[k] + ratio * p[k]
        curvature = apply(system, p, q)
        if curvature <= 0.0:
            break
        step = rho / curvature
        for k in range(x.size):
            x[k] += step * p[k]
            r[k] -= step * q[k]
        last = rho
        rho, square = precondition(system, r, z)
        ratio = rho / last
    return square <= target


def block_conjugate_gradients(
    apply: Callable[[Real, Real], Real],
    precondition: Callable[[Real, Real], object] | None,
    X: Real,
    R: Real,
    targets: Real,
    max_iter: int,
    *,
    axis: Literal[0, 1],
) -> int:
    """Reduce the residual R = B - A X of many systems with the same matrix A, in place.

    X and R are (n, m), one system per column (``axis=0``) or per row (``axis=1``), each of which
    stops at its own residual norm, in ``targets``. ``apply(P, out)`` returns A P, which may be
    written to ``out``; ``precondition(R, out)`` writes M R to ``out``, None for the identity.

    Returns the iterations used: until every system has converged, at most ``max_iter``. One product
    with A per iteration, and three more arrays of the size of X.
    """
    dots = partial(np.einsum, "ij,ij->j" if axis == 0 else "ij,ij->i")
    P, Q, work = R.copy(), np.empty_like(R), np.empty_like(R)
    squares = dots(R, R)
    if precondition is not None:
        precondition(R, P)
    rho = squares if precondition is None else dots(R, P)
    for n_iter in range(1, max_iter + 1):
        Q = apply(P, Q)
        step = _ratio(rho, dots(P, Q))
        step[np.sqrt(squares) <= targets] = 0.0
        step = np.expand_dims(step, axis)
        X += np.multiply(step, P, out=work)
        R -= np.multiply(step, Q, out=Q)
        squares = dots(R, R)
        if (np.sqrt(squares) <= targets).all():
            return n_iter
        if precondition is not None:
            precondition(R, Q)
        last, rho = rho, squares if precondition is None else dots(R, Q)
        P *= np.expand_dims(_ratio(rho, last), axis)
        P += R if precondition is None else Q
    return max_iter


def _ratio(above: Real, below: Real) -> Real:
    """Quotient of non-negative numbers; zero where the denominator is zero."""
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0.0)
