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
from numba import njit

from convexhc._types import FloatArray

Apply = Callable[[Any, FloatArray, FloatArray], float]
Precondition = Callable[[Any, FloatArray, FloatArray], tuple[float, float]]


# Inlined: a compiled function that takes functions as arguments cannot be cached, its callers can.
@njit(nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"}, inline="always")
def conjugate_gradients(
    apply: Apply,
    precondition: Precondition,
    system: Any,
    B: FloatArray,
    rtol: float,
    atol: float,
    max_iter: int,
) -> tuple[FloatArray, bool]:
    """Solve A X = B for a symmetric positive definite operator A.

    Parameters
    ----------
    apply : compiled function
        ``apply(system, P, Q)`` writes A P to Q and returns <P, A P>, or zero where that is
        round-off, which ends the iteration.
    precondition : compiled function
        ``precondition(system, R, Z)`` writes M R to Z and returns <R, M R> and the squared
        residual norm that the tolerances refer to.
    system : tuple
        The data of both functions.
    B : array of any shape, C-ordered
        Right-hand side; overwritten by the residual.
    rtol, atol : float
        Stop when the residual norm is at most ``max(rtol * initial norm, atol)``.
    max_iter : int
        Maximum number of iterations.

    Returns
    -------
    X : array of the shape of B
        The iterate; the first iterate is zero. Any number of iterations decreases
        1/2 <X, A X> - <B, X>.
    converged : bool
        Whether the residual norm is within the tolerance.
    """
    X, Z, P, Q = np.zeros(B.shape), np.empty(B.shape), np.zeros(B.shape), np.empty(B.shape)
    x, r, z = X.reshape(B.size), B.reshape(B.size), Z.reshape(B.size)
    p, q = P.reshape(B.size), Q.reshape(B.size)
    rho, square = precondition(system, B, Z)
    target, ratio = max(rtol * rtol * square, atol * atol), 0.0
    for _ in range(max_iter):
        if square <= target:
            break
        for k in range(z.size):
            p[k] = z[k] + ratio * p[k]
        curvature = apply(system, P, Q)
        if curvature <= 0.0:
            break
        step = rho / curvature
        for k in range(x.size):
            x[k] += step * p[k]
            r[k] -= step * q[k]
        last = rho
        rho, square = precondition(system, B, Z)
        ratio = rho / last
    return X, square <= target


def block_conjugate_gradients(
    apply: Callable[[FloatArray, FloatArray], FloatArray],
    precondition: Callable[[FloatArray, FloatArray], object] | None,
    X: FloatArray,
    R: FloatArray,
    targets: FloatArray,
    max_iter: int,
    *,
    axis: Literal[0, 1],
) -> int:
    """Reduce the residual R = B - A X of many systems with the same matrix A, in place.

    Parameters
    ----------
    apply : callable
        ``apply(P, out)`` returns A P, which may be written to ``out``.
    precondition : callable
        ``precondition(R, out)`` writes M R to ``out``; None for the identity.
    X, R : (n, m) ndarrays
        Iterates and residuals, one system per column (``axis=0``) or per row (``axis=1``).
    targets : ndarray
        Residual norm at which a system stops, one per system.
    max_iter : int
        Maximum number of iterations.
    axis : {0, 1}
        Axis along which the unknowns of a system lie.

    Returns
    -------
    int
        Iterations used: until every system has converged, at most ``max_iter``. One product with A
        per iteration, and three more arrays of the size of X.
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


def _ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    """Quotient of non-negative numbers; zero where the denominator is zero."""
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0.0)
