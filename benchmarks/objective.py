"""Suboptimality of a point, computed from the problem alone."""

from __future__ import annotations

import numpy as np

from convexhc.model.problem import Problem


def relative_suboptimality(problem: Problem, C: np.ndarray, best: float) -> float:
    """Relative excess of the objective at the projection of C over the best known value."""
    feasible = problem.constraint.project(np.ascontiguousarray(C)).C
    return (problem.objective(feasible) - best) / abs(best)
