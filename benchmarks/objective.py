"""What is compared: how far a point is from the optimum, judged by the problem alone."""

from __future__ import annotations

import numpy as np

from convexhc.model.problem import Problem


def relative_suboptimality(problem: Problem, C: np.ndarray, best: float) -> float:
    """Distance of the objective at the exact projection of C from the best value known."""
    feasible = problem.constraint.project(np.ascontiguousarray(C)).C
    return (problem.objective(feasible) - best) / abs(best)
