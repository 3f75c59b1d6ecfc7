"""The points model: which clusters of a solution are those of the exact minimiser."""

from __future__ import annotations

import numpy as np

from convexhc._types import FloatArray
from convexhc.fusion.partition_proof import InnerFlow, Leaving, coarsest, proven_groups
from convexhc.kernels import edges as edge_kernels
from convexhc.kernels.dual_errors import dual_errors, minorant_gap
from convexhc.model.problem import FusionProblem, fuse
from convexhc.model.proof import Proof
from convexhc.solvers.solution import Solution

_EPS = float(np.finfo(float).eps)


def prove_points(problem: FusionProblem, solution: Solution) -> Proof:
    """Bound the clusters of the minimiser of a points problem by a solution. O(E m + E log E).

    Parameters
    ----------
    problem : FusionProblem
        Squared distances, fusion penalty, no constraint.
    solution : Solution
        Its solution, clusters fused, with a feasible dual.
    """
    C, Y, labels = solution.centroids, solution.dual, solution.labels
    edges, X = problem.penalty.edges, problem.fidelity.target
    n, m = X.shape
    pulled = X - edge_kernels.adjoint(Y, edges, n)
    round_off = _round_off(problem, C)
    reach = _error_of_differences(problem, C, Y, pulled, round_off)
    cluster = labels[edges.tail]
    inside = cluster == labels[edges.head]
    out, within = edges.at(np.flatnonzero(~inside)), edges.at(np.flatnonzero(inside))
    has_signs = bool(edges.soft.any())
    signs = np.zeros((out.tail.size if has_signs else 0, m))
    length, error = dual_errors(C, Y[~inside], out, reach, signs)
    none = Leaving(np.zeros(n), np.zeros((n, m)) if has_signs else None)
    leaving = none.plus(out.tail, out.head, error, signs)
    unmet = np.linalg.norm(pulled - fuse(pulled, labels), axis=1) + 2.0 * round_off
    finest = proven_groups(labels, InnerFlow(within, Y[inside], unmet), leaving)
    apart = length > reach
    return Proof(finest, coarsest(labels, labels[out.tail], labels[out.head], apart))


def _round_off(problem: FusionProblem, C: FloatArray) -> FloatArray:
    """Bound on the rounding error of every row of X - D'Y and of C - X + D'Y."""
    edges, X = problem.penalty.edges, problem.fidelity.target
    n, m = X.shape
    radius = edges.block + edges.soft * m**0.5
    total, count = np.zeros(n), np.zeros(n)
    for end in (edges.tail, edges.head):
        total += np.bincount(end, radius, n)
        count += np.bincount(end, minlength=n)
    size = np.linalg.norm(X, axis=1) + np.linalg.norm(C, axis=1) + total
    return np.asarray(_EPS * (count + 4.0) * size)


def _error_of_differences(
    problem: FusionProblem, C: FloatArray, Y: FloatArray, pulled: FloatArray, round_off: FloatArray
) -> float:
    """Bound on |(C_i - C_j) - (C*_i - C*_j)| for any two rows: sqrt(2) times that on |C - C*|.

    The fidelity is 1-strongly convex, so |C - C*|^2 <= 2 gap. The gap is a sum of terms none of
    which is negative, 1/2 |C - X + D'Y|^2 and lam w_e Pen(C_i - C_j) - <Y_e, C_i - C_j>: it has no
    cancellation, and its rounding error is bounded.
    """
    between, penalty = minorant_gap(C, Y, problem.penalty.edges)
    apart = float(np.linalg.norm(C - pulled) + np.linalg.norm(round_off))
    terms = C.shape[1] + 8 + np.log2(1 + Y.shape[0])
    gap = 0.5 * apart**2 + between + 4.0 * _EPS * float(terms) * penalty
    return float(2.0 * np.sqrt(gap) + 8.0 * _EPS * np.abs(C).max(initial=0.0) * C.shape[1])
