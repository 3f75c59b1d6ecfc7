"""Lower bounds for min <G, T> over T >= 0 with row sums mass and equal column sums.

The linear dual is max sum_i mass_i u_i + (sum(mass) / m) sum_j v_j over u_i + v_j <= G_ij. Any
feasible pair of potentials gives a lower bound; an optimal pair attains the minimum.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from convexhc._types import FloatArray
from convexhc.kernels.compile import blocks


def _largest_v(G: FloatArray, u: FloatArray) -> FloatArray:
    """Return the largest v with u_i + v_j <= G_ij: v_j = min_i G_ij - u_i."""
    v = np.full(G.shape[1], np.inf)
    for some in blocks(G.shape):
        np.minimum(v, (G[some] - u[some, None]).min(axis=0), out=v)
    return v


def _largest_u(G: FloatArray, v: FloatArray) -> FloatArray:
    """Return the largest u with u_i + v_j <= G_ij: u_i = min_j G_ij - v_j."""
    u = np.empty(G.shape[0])
    for some in blocks(G.shape):
        (G[some] - v).min(axis=1, out=u[some])
    return u


def _as_problem(G: ArrayLike, mass: ArrayLike | None) -> tuple[FloatArray, FloatArray]:
    cost = np.ascontiguousarray(G, dtype=np.float64)
    if cost.ndim != 2 or cost.size == 0:
        raise ValueError(f"G must be a non-empty matrix; got shape {cost.shape}.")
    c = cost.shape[0]
    masses = np.ones(c) if mass is None else np.asarray(mass, dtype=np.float64)
    if masses.shape != (c,):
        raise ValueError(f"mass must hold one number per row, {c}; got shape {masses.shape}.")
    if not (np.all(masses > 0.0) and np.isfinite(masses.sum())):
        raise ValueError(f"mass must be positive and finite; got minimum {masses.min()}.")
    return cost, masses


def lower_bound(
    G: ArrayLike,
    u: ArrayLike,
    v: ArrayLike,
    *,
    mass: ArrayLike | None = None,
    sweeps: int = 3,
) -> tuple[float, FloatArray, FloatArray]:
    """Bound min <G, T> from below, starting from any potentials.

    Over T >= 0 with T 1 = mass and 1'T = (sum(mass) / m) 1'. A sweep computes the largest feasible
    v_j = min_i G_ij - u_i, then u_i = min_j G_ij - v_j, or in the reverse order. The first sweep
    starts from u, the second from v, every further one from the mean of the two best pairs so far:
    the bound is concave in u, so the mean is no worse than the lower of the two and often better
    than both. More than three sweeps seldom help.

    Parameters
    ----------
    G : array of shape (c, m)
        Finite costs, not checked.
    u, v : arrays of shapes (c,) and (m,)
        Potentials, feasible or not; not altered.
    mass : array of shape (c,), optional
        Positive row masses; one by default.
    sweeps : int
        Number of sweeps, at least one. O(c m) per sweep.

    Returns
    -------
    bound : float
        sum_i mass_i u_i + (sum(mass) / m) sum_j v_j, never above the minimum but for round-off;
        equal to it when u or v is optimal.
    u, v : arrays of shapes (c,) and (m,)
        Potentials with u_i + v_j <= G_ij that attain the bound.

    Raises
    ------
    ValueError
        If a shape does not fit, a potential is not finite, or `sweeps` is below one.

    Examples
    --------
    >>> bound, u, v = lower_bound([[1.0, 3.0], [2.0, 5.0]], [0.0, 0.0], [0.0, 0.0])
    >>> bound
    5.0
    """
    cost, masses = _as_problem(G, mass)
    c, m = cost.shape
    rows, cols = np.asarray(u, dtype=np.float64), np.asarray(v, dtype=np.float64)
    if rows.shape != (c,) or cols.shape != (m,):
        raise ValueError(
            f"u and v must have the lengths of the rows and columns, {c} and {m}; "
            f"got shapes {rows.shape} and {cols.shape}."
        )
    if not (np.isfinite(rows).all() and np.isfinite(cols).all()):
        raise ValueError("u and v must be finite: pass zeros when there is nothing better.")
    if sweeps < 1:
        raise ValueError(f"sweeps must be at least 1; got {sweeps}.")
    found: list[tuple[float, FloatArray, FloatArray]] = []
    for sweep in range(sweeps):
        if sweep == 1:
            rows = _largest_u(cost, cols)
            columns = _largest_v(cost, rows)
        else:
            start = rows if sweep == 0 else 0.5 * (found[0][1] + found[1][1])
            columns = _largest_v(cost, start)
            rows = _largest_u(cost, columns)
        bound = float(masses @ rows + masses.sum() / m * columns.sum())
        found.append((bound, rows, columns))
        found.sort(key=lambda pair: pair[0], reverse=True)
    return found[0]
