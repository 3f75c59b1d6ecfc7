"""Euclidean projection onto the doubly stochastic matrices, with masses on the rows.

The nearest point is C = max(X + u 1' + 1 v', 0), where (u, v) minimise the smooth convex dual

    phi(u, v) = 1/2 sum_i w_i |C_i|^2 - sum_i w_i u_i - sum_j v_j,    w = m mass / sum(mass),

whose gradient is the excess of the sums: w_i (C_i 1 - 1) for the rows, w'C - 1' for the columns.
A semismooth Newton method finds them. With A the 0/1 matrix of the support (the positive entries),
the generalised Hessian is the signless Laplacian of a weighted bipartite graph; it is reduced to
the columns and solved by conjugate gradients. Three things make it fast:

- the shortlist: the entries with X + u + v > -reach, collected at one dual point, hold the whole
  support as long as u and v together rise by no more than reach, so X itself is seldom read again;
- the dual point is a base plus a small offset, which keeps sums accurate when u and v are large;
- (u, v) of a nearby matrix are a start only a few steps from the answer.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[Any]  # float64 or float32
_Start = tuple[Vector, Vector]

# Sums may be reordered, as vector units need; NaN and infinities keep their meaning.
_FAST = {"reassoc", "nsz", "contract", "arcp"}
_compiled = njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)

_MAX_LISTED = 0.06  # a shortlist denser than this is slower than a vectorised pass over X
_MAX_SPARSE = 0.15  # a support denser than this is kept as a mask, not as lists of columns
_CLIP = 5.0  # cold start: entries this far below the largest of their row are treated alike
_SUSPECT = 1.0  # a warm start with sums this far off is compared with the cold start


class Projection(NamedTuple):
    """Nearest matrix C, its multipliers, the largest error of a sum, and the Newton steps taken."""

    C: Matrix
    u: Vector
    v: Vector
    residual: float
    n_newton: int


class _State(NamedTuple):
    """Dual point (u + du, v + dv), the Newton step there, and the excess of the sums of C."""

    u: Vector
    v: Vector
    du: Vector
    dv: Vector
    step_u: Vector
    step_v: Vector
    rows: Vector
    cols: Vector


class _Entries(NamedTuple):
    """Shortlist by rows (start, column, value at the base); support by rows or as a mask."""

    start: NDArray[np.int64]
    column: NDArray[np.int32]
    value: Vector
    support_start: NDArray[np.int64]
    support_column: NDArray[np.int32]
    mask: NDArray[np.bool_]


@njit(cache=True, nogil=True)
def _entry(x: float, a: float, b: float) -> float:
    """Return x + (a + b), rounded in this order everywhere."""
    return x + (a + b)


@_compiled
def _dot(x: Vector, y: Vector) -> float:
    total = 0.0
    for k in range(x.size):
        total += x[k] * y[k]
    return total


@_compiled
def _add_scaled(x: Vector, t: float, y: Vector) -> None:
    for k in range(x.size):
        x[k] += t * y[k]


@_compiled
def _all_finite(X: Matrix) -> bool:
    zero = 0.0
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            zero += X[i, j] * 0.0
    return zero == 0.0


@_compiled
def _phi(X: Matrix, w: Vector, u: Vector, v: Vector) -> float:
    energy = 0.0
    for i in range(X.shape[0]):
        squares = 0.0
        for j in range(X.shape[1]):
            t = max(_entry(X[i, j], u[i], v[j]), 0.0)
            squares += t * t
        energy += w[i] * squares
    for j in range(v.size):
        energy -= 2.0 * v[j]
    return 0.5 * energy - _dot(w, u)


@_compiled
def _affine_start(X: Matrix, w: Vector, u: Vector, v: Vector) -> None:
    """Write the multipliers of the clipped X for the two sums alone, C >= 0 dropped."""
    c, m = X.shape
    v[:] = 1.0 / m
    for i in range(c):
        low = X[i, 0]
        for j in range(m):
            low = max(low, X[i, j])
        low -= _CLIP
        total = 0.0
        for j in range(m):
            above = max(X[i, j] - low, 0.0)
            total += above
            v[j] -= above * w[i] / m
        u[i] = (1.0 - total) / m - low
    v -= v.mean()


@_compiled
def _share_above(X: Matrix, u: Vector, v: Vector, level: float) -> float:
    """Estimate the share of entries with X + u + v > level from about fifty rows."""
    c, m = X.shape
    stride = max(1, c // 50)
    count, seen = 0, 0
    for i in range(0, c, stride):
        seen += m
        for j in range(m):
            count += _entry(X[i, j], u[i], v[j]) > level
    return count / seen


@_compiled
def _fill_shortlist(X: Matrix, u: Vector, v: Vector, reach: float, entries: _Entries) -> bool:
    """Collect the entries with X + u + v > -reach; False when there is no room for them."""
    start, column, value = entries.start, entries.column, entries.value
    c, m = X.shape
    k = 0
    for i in range(c):
        start[i] = k
        if k + m > column.size:
            return False
        for j in range(m):
            t = _entry(X[i, j], u[i], v[j])
            if t > -reach:
                column[k] = j
                value[k] = t
                k += 1
    start[c] = k
    return True


@_compiled
def _rebase(X: Matrix, state: _State, guess: float, entries: _Entries) -> float:
    """Move the base to the dual point; return the reach of a new shortlist, -inf without one."""
    u, v, du, dv = state.u, state.v, state.du, state.dv
    u += du
    v += dv
    du[:] = 0.0
    dv[:] = 0.0
    for reach in (guess, 0.3 * guess):
        if _share_above(X, u, v, -reach) <= _MAX_LISTED:
            return reach if _fill_shortlist(X, u, v, reach, entries) else -np.inf
    return -np.inf


@_compiled
def _sum_listed(w: Vector, state: _State, entries: _Entries) -> float:
    """Fill the excesses and the support from the shortlist; return 1/2 sum_i w_i |C_i|^2."""
    start, column, value = entries.start, entries.column, entries.value
    support_start, support_column = entries.support_start, entries.support_column
    du, dv, rows, cols = state.du, state.dv, state.rows, state.cols
    cols[:] = -1.0
    energy, found = 0.0, 0
    for i in range(w.size):
        support_start[i] = found
        total, squares = 0.0, 0.0
        for k in range(start[i], start[i + 1]):
            j = column[k]
            t = _entry(value[k], du[i], dv[j])
            positive = t > 0.0
            t = t if positive else 0.0
            total += t
            squares += t * t
            cols[j] += w[i] * t
            support_column[found] = j
            found += positive
        rows[i] = total - 1.0
        energy += w[i] * squares
    support_start[w.size] = found
    return 0.5 * energy


@_compiled
def _sum_all(X: Matrix, w: Vector, state: _State, entries: _Entries) -> float:
    """Fill the excesses and the support mask from all of X; return 1/2 sum_i w_i |C_i|^2."""
    u, v, rows, cols = state.u, state.v, state.rows, state.cols
    support_start, mask = entries.support_start, entries.mask
    c, m = X.shape
    cols[:] = -1.0
    energy = 0.0
    support_start[0] = 0
    for i in range(c):
        ui, wi = u[i], w[i]
        total, squares, found = 0.0, 0.0, 0
        for j in range(m):
            t = _entry(X[i, j], ui, v[j])
            positive = t > 0.0
            t = t if positive else 0.0
            total += t
            squares += t * t
            cols[j] += wi * t
            found += positive
            mask[i, j] = positive
        rows[i] = total - 1.0
        energy += wi * squares
        support_start[i + 1] = support_start[i] + found
    return 0.5 * energy


@_compiled
def _list_support(entries: _Entries) -> None:
    """Turn the support mask into lists of columns."""
    mask, support_column = entries.mask, entries.support_column
    k = 0
    for i in range(mask.shape[0]):
        for j in range(mask.shape[1]):
            if mask[i, j]:
                support_column[k] = j
                k += 1


@_compiled
def _evaluate(
    X: Matrix, w: Vector, state: _State, entries: _Entries, reach: float, guess: float
) -> tuple[float, float]:
    """Fill excesses and support at the dual point; return phi and the reach of the shortlist."""
    if not state.du.max() + state.dv.max() <= reach:
        reach = _rebase(X, state, guess, entries)
    if reach >= 0.0:
        phi = _sum_listed(w, state, entries)
    else:
        phi = _sum_all(X, w, state, entries)
        if entries.support_start[w.size] <= _MAX_SPARSE * X.size:
            _list_support(entries)
    for i in range(w.size):
        phi -= w[i] * (state.u[i] + state.du[i])
    for j in range(state.v.size):
        phi -= state.v[j] + state.dv[j]
    return phi, reach


@_compiled
def _row_sums(entries: _Entries, sparse: bool, p: Vector, sums: Vector) -> None:
    """Write A p."""
    start, column, mask = entries.support_start, entries.support_column, entries.mask
    for i in range(sums.size):
        total = 0.0
        if sparse:
            for k in range(start[i], start[i + 1]):
                total += p[column[k]]
        else:
            for j in range(p.size):
                total += p[j] if mask[i, j] else 0.0
        sums[i] = total


@_compiled
def _add_column_sums(entries: _Entries, sparse: bool, x: Vector, sums: Vector) -> None:
    """Add A'x."""
    start, column, mask = entries.support_start, entries.support_column, entries.mask
    for i in range(x.size):
        xi = x[i]
        if sparse:
            for k in range(start[i], start[i + 1]):
                sums[column[k]] += xi
        else:
            for j in range(sums.size):
                sums[j] += xi if mask[i, j] else 0.0


@_compiled
def _subtract_gram(entries: _Entries, sparse: bool, d: Vector, p: Vector, image: Vector) -> None:
    """Subtract A' diag(d) A p in one pass over A."""
    start, column, mask = entries.support_start, entries.support_column, entries.mask
    for i in range(d.size):
        total = 0.0
        if sparse:
            for k in range(start[i], start[i + 1]):
                total += p[column[k]]
            total *= d[i]
            for k in range(start[i], start[i + 1]):
                image[column[k]] -= total
        else:
            for j in range(p.size):
                total += p[j] if mask[i, j] else 0.0
            total *= d[i]
            for j in range(p.size):
                image[j] -= total if mask[i, j] else 0.0


@_compiled
def _solve_columns(
    entries: _Entries,
    sparse: bool,
    d: Vector,
    diagonal: Vector,
    right: Vector,
    accuracy: float,
    z: Vector,
) -> None:
    """Solve (diag(diagonal) - A' diag(d) A) z = right by Jacobi conjugate gradients.

    `right` is overwritten by the residual; the solution stops where its norm meets `accuracy`.
    """
    scale = diagonal.copy()
    _add_column_sums(entries, sparse, -d, scale)
    scale = 1.0 / scale
    p, image = scale * right, np.empty(z.size)
    z[:] = 0.0
    rho, square = _dot(right, p), _dot(right, right)
    for _ in range(2000):
        if square <= accuracy * accuracy:
            break
        for j in range(z.size):
            image[j] = diagonal[j] * p[j]
        _subtract_gram(entries, sparse, d, p, image)
        curvature = _dot(p, image)
        if curvature <= 0.0:
            break
        length, last_rho, rho, square = rho / curvature, rho, 0.0, 0.0
        for j in range(z.size):
            z[j] += length * p[j]
            right[j] -= length * image[j]
            square += right[j] * right[j]
            rho += right[j] * right[j] * scale[j]
        ratio = rho / last_rho
        for j in range(z.size):
            p[j] = scale[j] * right[j] + ratio * p[j]


@_compiled
def _newton_step(w: Vector, state: _State, entries: _Entries, excess: float, tol: float) -> None:
    """Write the inexact Newton step, its system regularised in proportion to the excess.

    Solved well below `tol`: once the support is right, the next sums are as exact as this solution.
    """
    start, rows, step_u = entries.support_start, state.rows, state.step_u
    c, m = state.u.size, state.v.size
    sparse = start[c] <= _MAX_SPARSE * c * m
    ridge = min(0.1, 0.1 * excess)
    d, lifted = np.empty(c), np.empty(c)
    for i in range(c):
        d[i] = w[i] / (start[i + 1] - start[i] + ridge)
        lifted[i] = d[i] * rows[i]
    diagonal, right = np.full(m, ridge), -state.cols
    _add_column_sums(entries, sparse, w, diagonal)
    _add_column_sums(entries, sparse, lifted, right)
    accuracy = max(min(0.1, excess) * np.sqrt(_dot(right, right)), 0.01 * tol)
    _solve_columns(entries, sparse, d, diagonal, right, accuracy, state.step_v)
    _row_sums(entries, sparse, state.step_v, step_u)
    for i in range(c):
        step_u[i] = -(rows[i] + step_u[i]) * d[i] / w[i]


@_compiled
def _slope(w: Vector, state: _State) -> float:
    """Return the derivative of phi along the step."""
    slope = _dot(state.cols, state.step_v)
    for i in range(w.size):
        slope += w[i] * state.rows[i] * state.step_u[i]
    return slope


@_compiled
def _search(
    X: Matrix,
    w: Vector,
    state: _State,
    entries: _Entries,
    length: float,
    phi: float,
    reach: float,
) -> tuple[float, float, float]:
    """Move along the step until its slope has clearly changed and phi has not risen.

    Returns the length taken, and phi and the reach there.
    """
    step_u, step_v = state.step_u, state.step_v
    guess = 2.0 * max(step_u.max() + step_v.max(), -step_u.min() - step_v.min())
    if guess < 0.1 * reach and entries.start[w.size] > 4 * entries.support_start[w.size]:
        reach = -np.inf  # a far shorter list will do from here on
    slope_start = _slope(w, state)
    ceiling = phi + 1e-11 * (1.0 + abs(phi))
    low, high, slope_low, slope_high, done = 0.0, np.inf, slope_start, 0.0, 0.0
    for _ in range(40):
        _add_scaled(state.du, length - done, step_u)
        _add_scaled(state.dv, length - done, step_v)
        done = length
        phi, reach = _evaluate(X, w, state, entries, reach, guess)
        slope = _slope(w, state)
        if abs(slope) <= -0.95 * slope_start and phi <= ceiling:
            break
        if slope >= 0.0:
            high, slope_high = length, slope
        else:
            low, slope_low = length, slope
        if high < np.inf:
            secant = slope_low / (slope_low - slope_high)
            length = low + (high - low) * min(max(secant, 0.1), 0.9)
        else:
            length *= 8.0
    return done, phi, reach


@_compiled
def _largest_excess(state: _State) -> float:
    largest: float = max(np.abs(state.rows).max(), np.abs(state.cols).max())
    return largest


@_compiled
def _write(X: Matrix, state: _State, entries: _Entries, reach: float, out: Matrix) -> None:
    for i in range(X.shape[0]):
        if reach >= 0.0:
            out[i, :] = 0.0
            for k in range(entries.start[i], entries.start[i + 1]):
                j = entries.column[k]
                out[i, j] = max(_entry(entries.value[k], state.du[i], state.dv[j]), 0.0)
        else:
            for j in range(X.shape[1]):
                out[i, j] = max(_entry(X[i, j], state.u[i], state.v[j]), 0.0)


@_compiled
def _allocate(u: Vector, v: Vector) -> tuple[_State, _Entries]:
    c, m = u.size, v.size
    room = int(_MAX_SPARSE * c * m) + 2 * m
    state = _State(
        u, v, np.zeros(c), np.zeros(m), np.empty(c), np.empty(m), np.empty(c), np.empty(m)
    )
    entries = _Entries(
        np.zeros(c + 1, np.int64),
        np.empty(room, np.int32),
        np.empty(room),
        np.zeros(c + 1, np.int64),
        np.empty(room, np.int32),
        np.empty((c, m), np.bool_),
    )
    return state, entries


@_compiled
def _newton(
    X: Matrix,
    w: Vector,
    u: Vector,
    v: Vector,
    out: Matrix,
    tol: float,
    max_newton: int,
    start_limit: float,
    accept: float,
) -> tuple[float, int]:
    """Improve (u, v) in place until the sums are met to `tol`; return the residual and the steps.

    Takes no step when the residual of the start is not below `start_limit`. Writes C to `out`,
    which may be X, at the end and unless the residual exceeds `accept`.
    """
    m = v.size
    state, entries = _allocate(u, v)
    guess = 0.25 / (_share_above(X, u, v, 0.0) * m + 1.0)
    phi, reach = _evaluate(X, w, state, entries, -np.inf, guess)
    residual = _largest_excess(state)
    if not residual < start_limit:
        return residual, 0
    length, steps, stalled = 1.0, 0, 0
    while residual > tol and steps < max_newton and 2 * stalled < max_newton:
        if reach < 0.0 and residual <= 2e-16 * m * (np.abs(u).max() + np.abs(v).max()):
            break  # round-off of X + u + v, which only a new centre can lower
        _newton_step(w, state, entries, residual, tol)
        last_phi, last_residual = phi, residual
        length, phi, reach = _search(X, w, state, entries, min(1.0, 2.0 * length), phi, reach)
        residual = _largest_excess(state)
        steps += 1
        flat = last_phi - phi <= 1e-15 * abs(phi) and residual > 0.5 * last_residual
        stalled = stalled + 1 if flat else 0
    if not residual > accept:
        _write(X, state, entries, reach, out)
    u += state.du
    v += state.dv
    return residual, steps


def _first_try(
    X: Matrix, w: Vector, start: _Start | None, out: Matrix, tol: float, max_newton: int
) -> tuple[_Start, float, int]:
    """Solve from the warm start, from the cold one when that is absent or clearly better."""
    if start is not None:
        residual, steps = _newton(X, w, *start, out, tol, max_newton, _SUSPECT, tol)
        if steps > 0 or residual < _SUSPECT:
            return start, residual, steps
    cold = np.empty(w.size), np.empty(X.shape[1])
    _affine_start(X, w, *cold)
    if start is None or not _phi(X, w, *start) <= _phi(X, w, *cold):
        start = cold
    residual, steps = _newton(X, w, *start, out, tol, max_newton, np.inf, tol)
    return start, residual, steps


def _scaled_start(X: Matrix, w: Vector, u: Vector, v: Vector, max_newton: int) -> int:
    """Follow the multipliers of s X from a small s to s = 1 into (u, v); return the Newton steps.

    Entries far above one make the projection nearly a linear assignment, which Newton steps from
    afar approach slowly. The multipliers of s X are nearly proportional to s, so that each stage
    starts close to its end.
    """
    spread = float(X.max()) - float(X.min())
    scale = min(1.0, _CLIP / spread) if spread > 0.0 else 1.0
    scaled = scale * X.astype(np.float64)
    _affine_start(scaled, w, u, v)
    steps = 0
    while 0.0 < scale < 1.0:
        steps += _newton(scaled, w, u, v, scaled, 1e-4, max_newton, np.inf, -1.0)[1]
        factor = min(8.0, 1.0 / scale)
        scale *= factor
        u *= factor
        v *= factor
        np.multiply(X, scale, out=scaled)
    return steps


def _second_try(
    X: Matrix,
    w: Vector,
    u: Vector,
    v: Vector,
    out: Matrix,
    tol: float,
    max_newton: int,
    residual: float,
) -> tuple[float, int]:
    """Solve around the point reached, or around a better one when it is far from the answer.

    Offsets from the new centre X + u + v are small, which lowers the round-off of the sums.
    """
    steps = _scaled_start(X, w, u, v, max_newton) if residual > 1e-3 else 0
    centred = X + (u[:, None] + v)
    du, dv = np.zeros_like(u), np.zeros_like(v)
    residual, more = _newton(centred, w, du, dv, centred, tol, 3 * max_newton, np.inf, np.inf)
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
    if check and not _all_finite(matrix):
        raise ValueError("X contains NaN or infinite entries: replace them before projecting.")
    return matrix


def _row_weights(mass: ArrayLike | None, c: int, m: int) -> Vector:
    """Return the masses scaled to the sum m, so that every column sum is one."""
    if mass is None:
        return np.full(c, m / c)
    given = np.asarray(mass, dtype=np.float64)
    if given.shape != (c,):
        raise ValueError(f"mass must hold one number per row, {c}; got shape {given.shape}.")
    if not (np.all(given > 0.0) and np.isfinite(given.sum())):
        raise ValueError(f"mass must be positive and finite; got minimum {given.min()}.")
    weights: Vector = given * (m / given.sum())
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
    """Project X onto the doubly stochastic matrices whose row i stands for mass_i equal rows.

    C = argmin sum_i mass_i |C_i - X_i|^2  over  C >= 0, C 1 = 1, mass'C = (sum(mass) / m) 1',
    and C = max(X + u 1' + 1 v', 0). Repeating each row as often as its mass says, projecting and
    dropping the copies gives the same C.

    Parameters
    ----------
    X : array of shape (c, m)
        float32 is kept, anything else becomes float64; the arithmetic is float64 either way.
    mass : array of shape (c,), optional
        Positive row masses; one each by default.
    u, v : arrays of shapes (c,) and (m,), optional
        Multipliers of a nearby matrix to start from; not altered. A start that is not finite, or
        worse than none, is not used.
    tol : float
        Bound on the residual, the largest of |C 1 - 1| and |mass'C m / sum(mass) - 1|.
    max_newton : int
        Newton steps of one try; a second try from a new centre may take more.
    out : array of shape (c, m), optional
        Where to write C; of the type of X, C-ordered, may be X itself.
    check : bool
        Whether to look for NaN and infinities, one more reading of X.

    Returns
    -------
    Projection
        C, u, v, residual, n_newton. A residual above `tol` means that the steps ran out or that
        round-off forbids more; C is then the best matrix found and the caller decides. With
        float32 the residual is that of C before rounding.

    Raises
    ------
    ValueError
        On NaN, infinities, masses that are not positive, and shapes that do not fit.

    Notes
    -----
    From nothing, 4 to 40 readings of X; from a good start with a sparse support, one reading, one
    writing, and a few products with the support. Memory: up to 3 c m bytes beside X and C.
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
    start, residual, steps = _first_try(X, w, start, out, tol, max_newton)
    if not residual <= tol:
        residual, more = _second_try(X, w, *start, out, tol, max_newton, residual)
        steps += more
    return Projection(out, *start, residual, steps)
