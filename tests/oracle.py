"""Every model solved by an interior-point solver, from the formulas of the paper."""

from __future__ import annotations

import contextlib
import warnings
from typing import NamedTuple

import cvxpy as cp
import numpy as np

import naive
from convexhc.graph import Graph

# Clarabel stops at 1e-8 by default; for a singular kernel it may not even reach that.
TOLERANCES = (1e-9, 1e-8, 1e-7)


class Answer(NamedTuple):
    """Centroids (rows) and the objective, each edge once and the quadratic halved."""

    C: np.ndarray
    objective: float


def _minimise(C, objective, constraint) -> Answer:
    rules = {
        "doubly_stochastic": [C >= 0, cp.sum(C, axis=1) == 1, cp.sum(C, axis=0) == 1],
        "simplex": [C >= 0, cp.sum(C, axis=1) == 1],
        "free": [],
    }
    problem = cp.Problem(cp.Minimize(objective), rules[constraint])
    for tol in TOLERANCES:
        with warnings.catch_warnings(), contextlib.suppress(cp.SolverError):
            warnings.filterwarnings("ignore", message="Solution may be inaccurate")
            problem.solve(solver=cp.CLARABEL, tol_gap_abs=tol, tol_gap_rel=tol, tol_feas=tol)
            if problem.status == "optimal":
                return Answer(C.value, float(problem.value))
    raise AssertionError(f"the oracle ended with status {problem.status}")


def _fusion(C, weights: Graph, lam: float, l1_ratio: float):
    if weights.n_edges == 0:
        return 0.0
    apart = naive.incidence(weights.n, weights.tail, weights.head) @ C
    euclidean, absolute = cp.norm(apart, 2, axis=1), cp.norm(apart, 1, axis=1)
    return lam * (weights.weight @ ((1.0 - l1_ratio) * euclidean + l1_ratio * absolute))


def _root(K):
    """R with R R' = K."""
    values, vectors = np.linalg.eigh(K)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def graph(kernel: Graph, lam, *, weights=None, l1_ratio=0.05, constraint="doubly_stochastic"):
    """Eq. 4, halved."""
    K = kernel.dense()
    C = cp.Variable(K.shape)
    quadratic = 0.5 * cp.sum_squares(C @ _root(K)) - cp.sum(cp.multiply(K, C))
    return _minimise(C, quadratic + _fusion(C, weights or kernel, lam, l1_ratio), constraint)


def proximity(B, weights: Graph, lam, *, l1_ratio, constraint="free"):
    """Eq. 1 without constraint, eq. 5 with one."""
    C = cp.Variable(B.shape)
    distance = 0.5 * cp.sum_squares(C - B)
    return _minimise(C, distance + _fusion(C, weights, lam, l1_ratio), constraint)


def smooth(kernel: Graph, lam, *, constraint="doubly_stochastic"):
    """Appendix D, halved: squared differences in the feature space of the kernel."""
    K = kernel.dense()
    root = _root(K)
    C = cp.Variable(K.shape)
    D = naive.incidence(kernel.n, kernel.tail, kernel.head)
    scaled = np.sqrt(kernel.weight)[:, None] * D
    objective = 0.5 * cp.sum_squares(C @ root) - cp.sum(cp.multiply(K, C))
    if kernel.n_edges:
        objective += lam * cp.sum_squares(scaled @ C @ root)
    return _minimise(C, objective, constraint)
