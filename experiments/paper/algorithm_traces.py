"""Gap against time and iterations, for every method on the same problem."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import numpy as np

from convexhc.api.options import Options
from convexhc.api.single_lam import read_problem
from convexhc.datasets import fractal_graph
from convexhc.model.problem import Certificate, FusionProblem, Problem
from convexhc.similarity import two_hop
from convexhc.solvers.choose import choose_method
from convexhc.solvers.loop import Candidate, Method, Solution, run
from experiments.paper.printed import PrintedFISTA
from experiments.results import Row

ITERATIVE = ("dual_fista", "admm", "primal_dual", "printed")
GENERAL = ("clarabel", "scs")
# Two-hop similarities of cliques are singular; this makes the minimiser unique.
SHIFT = 1e-3


@dataclass
class Timed:
    """A method whose steps alone are timed, without certificates."""

    method: Method[FusionProblem, Any]
    seconds: float = field(default=0.0)

    @property
    def name(self) -> str:
        """Name of the method."""
        return self.method.name

    @property
    def needs(self) -> type[Problem]:
        """The kind of problem it solves."""
        return self.method.needs

    def init(self, problem: FusionProblem, start: Solution | None) -> Any:
        """Timed."""
        begun = time.process_time()
        state = self.method.init(problem, start)
        self.seconds += time.process_time() - begun
        return state

    def step(self, problem: FusionProblem, state: Any) -> None:
        """Timed. Step lengths are not returned, so that all methods are certified equally often."""
        begun = time.process_time()
        self.method.step(problem, state)
        self.seconds += time.process_time() - begun

    def candidate(self, problem: FusionProblem, state: Any) -> Candidate:
        """Not timed."""
        return self.method.candidate(problem, state)


def fractal_problem(shape: Sequence[int], lam: float) -> FusionProblem:
    """The paper's problem on one fractal graph, alpha = 0.95."""
    graph = fractal_graph(0, n_meta=shape[0], n_super=shape[1], clique=shape[2])
    K = two_hop(graph.adjacency, shift=SHIFT)
    return read_problem(K, lam, weights=None, options=Options())[1]


def trace(shape: Sequence[int], lam: float, method: str, tol: float, budget: float) -> list[Row]:
    """Certificates during a run, with iterations and CPU seconds of the steps alone.

    Stops at the relative gap ``tol`` or after ``budget`` seconds.
    """
    timed = Timed(_method(fractal_problem((1, 2, 3), 1.0), method))
    # Compilation is not part of the method.
    run(fractal_problem((1, 2, 3), 1.0), timed, max_iter=2, tol=0.0)
    problem = fractal_problem(shape, lam)
    timed = Timed(_method(problem, method))
    rows: list[Row] = []

    def watch(n_iter: int, certificate: Certificate) -> bool:
        rows.append(
            {
                "iteration": n_iter,
                "seconds": timed.seconds,
                "objective": certificate.objective,
                "gap": certificate.gap,
                "relative_gap": certificate.relative_gap,
            }
        )
        return timed.seconds > budget

    run(problem, timed, tol=tol, max_iter=10**6, on_check=watch)
    return rows


def general(shape: Sequence[int], lam: float, solver: str) -> list[Row]:
    """Solve the same problem with CVXPY; the answer is projected to make it feasible."""
    import cvxpy

    cp: Any = cvxpy
    problem = fractal_problem(shape, lam)
    graph, n = problem.penalty.graph, problem.shape[0]
    values, vectors = np.linalg.eigh(problem.fidelity.target)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    begun = time.process_time()
    C = cp.Variable((n, n))
    apart = C[graph.tail] - C[graph.head]
    norms = 0.95 * cp.norm(apart, 2, axis=1) + 0.05 * cp.norm(apart, 1, axis=1)
    quadratic = 0.5 * cp.sum_squares(C @ root) - cp.sum(cp.multiply(problem.fidelity.target, C))
    rules = [C >= 0, cp.sum(C, axis=0) == 1, cp.sum(C, axis=1) == 1]
    model = cp.Problem(cp.Minimize(quadratic + lam * (graph.weight @ norms)), rules)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Solution may be inaccurate")
        model.solve(solver=solver.upper())
    seconds = time.process_time() - begun
    if C.value is None:
        raise RuntimeError(f"{solver} found no solution at n = {n}, lam = {lam:g}: {model.status}.")
    objective = problem.objective(problem.constraint.project(np.asarray(C.value))[0])
    return [
        {
            "iteration": int(model.solver_stats.num_iters),
            "seconds": seconds,
            "objective": objective,
            "gap": float("nan"),
            "relative_gap": float("nan"),
        }
    ]


def has_cvxpy() -> bool:
    """Whether CVXPY is installed."""
    return find_spec("cvxpy") is not None


def _method(problem: FusionProblem, name: str) -> Method[FusionProblem, Any]:
    return PrintedFISTA() if name == "printed" else choose_method(problem, name)
