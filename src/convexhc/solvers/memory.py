"""What a solve will allocate, said before it is allocated."""

from __future__ import annotations

import os

from convexhc.problem import Problem
from convexhc.terms.penalty import Fusion

# Float64 arrays alive at the peak of a solve, (n x m) and (E x m) each, counted from the code.
_ARRAYS = {"admm": (14, 3), "primal_dual": (10, 2), "dual_fista": (16, 6), "newton": (16, 9)}


def estimate(problem: Problem, method: str) -> int:
    """Bytes a solve will hold at its peak, to within a factor of about one and a half."""
    n, m = problem.shape
    edges = problem.penalty.n_edges if isinstance(problem.penalty, Fusion) else 0
    nodes, rows = _ARRAYS[method]
    return 8 * m * (nodes * n + rows * edges)


def available() -> int | None:
    """Bytes of memory free for use, or None where the system does not tell."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def check_memory(problem: Problem, method: str) -> None:
    """Refuse, with the figure and what to do, a solve that cannot fit."""
    needed, free = estimate(problem, method), available()
    if free is not None and needed > free:
        n, m = problem.shape
        raise MemoryError(
            f"{method} on {n} nodes and {m} columns needs about {needed / 1e9:.1f} GB, "
            f"{free / 1e9:.1f} GB are free: keep fewer edges (weights=10 keeps the ten strongest "
            "neighbours of every node), or use method='primal_dual', which holds least."
        )
