"""Newton directions of stiff systems with many columns: preconditioned by a weighted Laplacian.

For round dual balls the Newton matrix is mass + sigma sum_e c_e d_e d_e' (x) (I - p_e p_e'), where
d_e is the difference along edge e, c_e is one if the edge is fused, and p_e is the direction of its
dual, zero if it is fused. Without the p_e it is (mass + sigma L_c) (x) I: one matrix for all
columns, exact for the fused edges, whose stiffness sigma slows conjugate gradients down.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from convexhc._types import FloatArray
from convexhc.kernels.edges import Edges
from convexhc.kernels.newton import Response
from convexhc.kernels.round_newton import curvature_product

# Rows up to which a dense factor is computed: it takes as long as a few hundred edge passes.
MAX_ROWS = 4000


def laplacian_factor(
    sigma: float, mass: FloatArray, edges: Edges, at: Response
) -> FloatArray | None:
    """Cholesky factor of mass + sigma L_c; None if it is singular in double precision. O(n^3)."""
    n, stiffness = mass.size, sigma * (1.0 - at.shrink)
    matrix = np.zeros((n, n), order="F")
    matrix[edges.tail, edges.head] = -stiffness
    matrix[edges.head, edges.tail] = -stiffness
    degree = np.bincount(edges.tail, stiffness, n) + np.bincount(edges.head, stiffness, n)
    matrix[np.arange(n), np.arange(n)] = mass + degree
    factor, status = dpotrf(matrix, lower=1, overwrite_a=1)
    return None if status else factor


def preconditioned_direction(
    factor: FloatArray,
    G: FloatArray,
    sigma: float,
    mass: FloatArray,
    edges: Edges,
    at: Response,
    tol: float,
    max_iter: int,
) -> FloatArray:
    """Solve (mass + sigma D'J D) X = -G by conjugate gradients, preconditioned by a factor.

    To a relative residual of ``tol`` in the norm of the preconditioner. Any number of iterations
    gives a descent direction. O(E m + n^2 m) per iteration.
    """
    R = -G
    Z = dpotrs(factor, R, lower=1)[0]
    P, Q, X = np.ascontiguousarray(Z), np.empty_like(R), np.zeros_like(R)
    rho = float(np.vdot(R, Z))
    target = tol * tol * rho
    for _ in range(max_iter):
        if rho <= target:
            break
        curvature = curvature_product(sigma, mass, edges, at, P, Q)
        if curvature <= 0.0:
            break
        X += rho / curvature * P
        R -= rho / curvature * Q
        Z = dpotrs(factor, R, lower=1)[0]
        last, rho = rho, float(np.vdot(R, Z))
        P *= rho / last
        P += Z
    return X
