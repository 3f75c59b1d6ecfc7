"""Starting points of solvers, and clusters from fused edges."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from convexhc._types import FloatArray, Labels
from convexhc.kernels import edges as edge_kernels
from convexhc.kernels.components import components
from convexhc.kernels.edges import Scratch
from convexhc.model.fidelity import Kernel
from convexhc.model.problem import FusionProblem
from convexhc.solvers.loop import MAX_RESIDUAL, Solution


class Start(NamedTuple):
    """Feasible centroids, a feasible dual, and the scratch arrays of the edge passes."""

    C: FloatArray
    Y: FloatArray
    scratch: Scratch


def starting_point(problem: FusionProblem, start: Solution | None) -> Start:
    """Centroids, dual and fused edges of ``start``, or of the solution at lam = 0.

    All arrays are new: ``start`` is not altered. A start that violates the constraint is projected.
    """
    penalty = problem.penalty
    n, m = problem.shape
    if start is None:
        # The solution at lam = 0 of a full kernel; the projected target of a contracted one.
        whole = isinstance(problem.fidelity, Kernel) and n == m
        data = np.eye(n) if whole else problem.fidelity.target
        C, Y = problem.constraint.project(data).C.copy(), np.zeros((penalty.n_edges, m))
        return Start(C, Y, edge_kernels.scratch(penalty.edges, n, m))
    if start.centroids.shape != (n, m) or start.dual.shape != (penalty.n_edges, m):
        raise ValueError(
            f"start has centroids of shape {start.centroids.shape} and a dual of shape "
            f"{start.dual.shape}, the problem needs {(n, m)} and {(penalty.n_edges, m)}: "
            "start from a solution of the same graph."
        )
    C, Y = start.centroids.copy(), penalty.feasible_dual(start.dual)
    if not problem.constraint.residual(C) <= MAX_RESIDUAL:  # such as that of another constraint
        C = problem.constraint.project(C).C.copy()
    scratch, edges = edge_kernels.scratch(penalty.edges, n, m), penalty.edges
    scratch.fused[:] = start.labels[edges.tail] == start.labels[edges.head]
    return Start(C, Y, scratch)


def fused_labels(problem: FusionProblem, fused: NDArray[np.bool_]) -> Labels:
    """Clusters: connected components of the edges whose prox is exactly zero."""
    edges = problem.penalty.edges
    return components(problem.shape[0], edges.tail, edges.head, fused)
