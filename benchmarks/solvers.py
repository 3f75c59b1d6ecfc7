"""The compared solvers: ours, and general ones through CVXPY."""

from __future__ import annotations

import time
from typing import NamedTuple

import cvxpy as cp
import numpy as np
from scipy.sparse import csr_array

from convexhc.graph import Graph
from convexhc.model.problem import Problem
from convexhc.solvers.choose import choose_method
from convexhc.solvers.loop import Solution, run


class Curve(NamedTuple):
    """Seconds and certified relative gap at every check of one run."""

    seconds: list[float]
    gaps: list[float]
    solution: Solution


def ours(problem: Problem, method: str, tol: float) -> Curve:
    """One run from a cold start; the time includes the choice of the method, not compilation."""
    seconds: list[float] = []
    gaps: list[float] = []
    begin = time.perf_counter()
    chosen = choose_method(problem, method)

    def note(n_iter: int, certificate: object) -> None:
        seconds.append(time.perf_counter() - begin)
        gaps.append(certificate.relative_gap)  # type: ignore[attr-defined]

    solution = run(problem, chosen, tol=tol, on_check=note)
    return Curve(seconds, gaps, solution)


def general(kernel: Graph, lam: float, l1_ratio: float, solver: str) -> tuple[float, np.ndarray]:
    """Seconds of ``Problem.solve`` in CVXPY, to 1e-6 or better, and the centroids."""
    n, rows = kernel.n, np.arange(kernel.n_edges)
    D = csr_array((np.ones(rows.size), (rows, kernel.tail)), (rows.size, n)) - csr_array(
        (np.ones(rows.size), (rows, kernel.head)), (rows.size, n)
    )
    values, vectors = np.linalg.eigh(kernel.dense())
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    C = cp.Variable((n, n))
    Z = D @ C
    penalty = kernel.weight @ (
        (1.0 - l1_ratio) * cp.norm(Z, 2, axis=1) + l1_ratio * cp.norm(Z, 1, axis=1)
    )
    fidelity = 0.5 * cp.sum_squares(C @ root) - cp.sum(cp.multiply(kernel.dense(), C))
    sums = [C >= 0, cp.sum(C, axis=0) == 1, cp.sum(C, axis=1) == 1]
    problem = cp.Problem(cp.Minimize(fidelity + lam * penalty), sums)
    begin = time.perf_counter()
    # SCS stops at 1e-4 by default; the default of Clarabel is far below 1e-6.
    accuracy = {"eps_abs": 1e-6, "eps_rel": 1e-6} if solver == "SCS" else {}
    problem.solve(solver=solver, **accuracy)
    return time.perf_counter() - begin, np.asarray(C.value)
