"""Euclidean projection onto the doubly stochastic matrices, with masses on the rows.

The projection is C = max(X + u 1' + 1 v', 0). A semismooth Newton method finds the multipliers
(u, v), in a few steps from those of a nearby matrix. Masses enter as w = m mass / sum(mass), so
that every row sum and weighted column sum is one. This module chooses the starting points; the
Newton method is in `birkhoff_dual`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from convexhc._types import FloatArray
from convexhc.kernels.birkhoff_dual import dual_value, newton

Matrix = NDArray[Any]  # float64 or float32
_Start = tuple[FloatArray, FloatArray]

# Cold start: entries this far below the largest of their row are treated as equal.
_CLIP = 5.0
# A warm start with a residual above this is compared with the cold start.
_MAX_WARM_RESIDUAL = 1.0


class Projection(NamedTuple):
    """Projection C, its multipliers, the largest error of a sum, and the number of Newton steps."""

    C: Matrix
    u: FloatArray
    v: FloatArray
    residual: float
    n_newton: int


def _affine_start(X: Matrix, w: FloatArray) -> _Start:
    """Return the multipliers of the clipped X without the constraint C >= 0."""
    m = X.shape[1]
    low = X.max(axis=1).astype(np.float64) - _CLIP
    above = np.maximum(X - low[:, None], 0.0)
    v = (1.0 - w @ above) / m
    return (1.0 - above.sum(axis=1)) / m - low, v - v.mean()


def _first_attempt(
    X: Matrix, w: FloatArray, start: _Start | None, out: Matrix, tol: float, max_newton: int
) -> tuple[_Start, float, int]:
    """Solve from the warm start, or from the cold start if there is none or it is worse."""
    if start is not None:
        residual, steps = newton(X, w, *start, out, tol, max_newton, _MAX_WARM_RESIDUAL, tol)
        if steps > 0 or residual < _MAX_WARM_RESIDUAL:
            return start, residual, steps
    cold = _affine_start(X, w)
    if start is None or not dual_value(X, w, *start) <= dual_value(X, w, *cold):
        start = cold
    residual, steps = newton(X, w, *start, out, tol, max_newton, np.inf, tol)
    return start, residual, steps


def _scaled_start(X: Matrix, w: FloatArray, u: FloatArray, v: FloatArray, max_newton: int) -> int:
    """Follow the multipliers of s X from a small s to s = 1 into (u, v); return the Newton steps.

    For entries far above one the projection is nearly a linear assignment, and Newton's method
    converges slowly from a distant start. The multipliers of s X are nearly proportional to s, so
    each stage starts close to its solution.
    """
    spread = float(X.max()) - float(X.min())
    scale = min(1.0, _CLIP / spread) if spread > 0.0 else 1.0
    scaled = scale * X.astype(np.float64)
    u[:], v[:] = _affine_start(scaled, w)
    steps = 0
    while 0.0 < scale < 1.0:
        steps += newton(scaled, w, u, v, scaled, 1e-4, max_newton, np.inf, -1.0)[1]
        factor = min(8.0, 1.0 / scale)
        scale *= factor
        u *= factor
        v *= factor
        np.multiply(X, scale, out=scaled)
    return steps


def _second_attempt(
    X: Matrix,
    w: FloatArray,
    u: FloatArray,
    v: FloatArray,
    out: Matrix,
    tol: float,
    max_newton: int,
    residual: float,
) -> tuple[float, int]:
    """Solve again around the last point, or around a better one if its residual is large.

    Offsets from the new centre X + u + v are small, which reduces the round-off of the sums.
    """
    steps = _scaled_start(X, w, u, v, max_newton) if residual > 1e-3 else 0
    centred = X + (u[:, None] + v)
    du, dv = np.zeros_like(u), np.zeros_like(v)
    residual, more = newton(centred, w, du, dv, centred, tol, 3 * max_newton, np.inf, np.inf)
    out[...] = centred
    u += du
    v += dv
    return residual, steps + more


def _as_matrix(X: ArrayLike, check: bool) -> Matrix:
    matrix = np.ascontiguousarray(X)
    if matrix.dtype != np.float32:
        matrix = matrix.astype(np.float64, copy=False)
    if matrix.ndim != 2 or matrix.size == 0:
        raise ValueError(f"X must be a non-empty matrix; got shape {matrix.shape}.")
    if check and not np.isfinite(matrix).all():
        raise ValueError("X contains NaN or infinite entries: replace them before projecting.")
    return matrix


def _row_weights(mass: ArrayLike | None, c: int, m: int) -> FloatArray:
    """Return the masses scaled to the sum m, so that every column sum is one."""
    if mass is None:
        return np.full(c, m / c)
    given = np.asarray(mass, dtype=np.float64)
    if given.shape != (c,):
        raise ValueError(f"mass must hold one number per row, {c}; got shape {given.shape}.")
    if not (np.all(given > 0.0) and np.isfinite(given.sum())):
        raise ValueError(f"mass must be positive and finite; got minimum {given.min()}.")
    weights: FloatArray = given * (m / given.sum())
    return weights


def _usable_start(u: ArrayLike | None, v: ArrayLike | None, c: int, m: int) -> _Start | None:
    """Return copies of a finite warm start, None without one."""
    if u is None or v is None:
        return None
    start_u, start_v = np.array(u, dtype=np.float64), np.array(v, dtype=np.float64)
    if start_u.shape != (c,) or start_v.shape != (m,):
        raise ValueError(
            f"u and v must have the lengths of the rows and columns, {c} and {m}; "
            f"got shapes {start_u.shape} and {start_v.shape}."
        )
    finite = np.isfinite(start_u).all() and np.isfinite(start_v).all()
    return (start_u, start_v) if finite else None


def project(
    X: ArrayLike,
    *,
    mass: ArrayLike | None = None,
    u: ArrayLike | None = None,
    v: ArrayLike | None = None,
    tol: float = 1e-10,
    max_newton: int = 100,
    out: Matrix | None = None,
    check: bool = True,
) -> Projection:
    """Project X onto the doubly stochastic matrices whose row i represents mass_i equal rows.

    C = argmin sum_i mass_i |C_i - X_i|^2  over  C >= 0, C 1 = 1, mass'C = (sum(mass) / m) 1',
    and C = max(X + u 1' + 1 v', 0). Repeating each row as often as its mass says, projecting and
    dropping the copies gives the same C.

    Parameters
    ----------
    X : array of shape (c, m)
        float32 is kept, anything else becomes float64; the arithmetic is float64 either way.
    mass : array of shape (c,), optional
        Positive row masses; one by default.
    u, v : arrays of shapes (c,) and (m,), optional
        Multipliers of a nearby matrix, for a warm start; not altered. Ignored if not finite or
        worse than a cold start.
    tol : float
        Bound on the residual, the largest of |C 1 - 1| and |mass'C m / sum(mass) - 1|.
    max_newton : int
        Newton steps of the first attempt; a second attempt from a new centre may take more.
    out : array of shape (c, m), optional
        Where to write C; of the type of X, C-ordered, may be X itself.
    check : bool
        Whether to check for NaN and infinities, one more pass over X.

    Returns
    -------
    Projection
        C, u, v, residual, n_newton. A residual above `tol` means that the step limit or the level
        of round-off was reached; C is then the best matrix found. With float32 the residual is
        that of C before rounding.

    Raises
    ------
    ValueError
        On NaN, infinities, masses that are not positive, and shapes that do not fit.

    Notes
    -----
    A cold start takes 4 to 40 passes over X; a good warm start with a sparse support one pass to
    read, one to write, and a few products with the support. Memory: up to 3 c m bytes beside X, C.
    The error of C is of the order of the residual, up to about a thousand times as much where the
    support consists of weakly linked blocks.

    Examples
    --------
    >>> C, u, v, residual, n_newton = project([[0.5, 0.0], [0.0, 0.0]])
    >>> C.round(3)
    array([[0.625, 0.375],
           [0.375, 0.625]])
    """
    X = _as_matrix(X, check)
    c, m = X.shape
    w = _row_weights(mass, c, m)
    if out is None:
        out = np.empty_like(X)
    elif out.shape != X.shape or out.dtype != X.dtype or not out.flags.c_contiguous:
        raise ValueError(
            f"out must be C-ordered with shape {X.shape} and type {X.dtype}; "
            f"got shape {out.shape} and type {out.dtype}."
        )
    start = _usable_start(u, v, c, m)
    start, residual, steps = _first_attempt(X, w, start, out, tol, max_newton)
    if not residual <= tol:
        residual, more = _second_attempt(X, w, *start, out, tol, max_newton, residual)
        steps += more
    return Projection(out, *start, residual, steps)
