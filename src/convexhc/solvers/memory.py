"""What a solve will allocate, said before it is allocated."""

from __future__ import annotations

import os

from convexhc.problem import Problem
from convexhc.terms.penalty import Fusion

# Float64 arrays alive at the peak of a solve, (n x m) and (E x m) each, counted from the code.
_ARRAYS = {"admm": (14, 3), "primal_dual": (10, 2), "dual_fista": (16, 6)}


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


def smooth_dense(n: int) -> int:
    """Bytes that all modes of a Laplacian of n nodes take, while they are computed."""
    return 8 * 4 * n * n


def smooth_sparse(n: int, edges: int, dimensions: int) -> int:
    """Bytes that the first modes of a sparse Laplacian take, while they are computed."""
    block = dimensions + dimensions // 4 + 8
    # Graph and Laplacian hold an edge in about ten numbers; a filter holds five blocks at once.
    return 8 * (10 * (n + edges) + n * (5 * block + dimensions))


def require_memory(what: str, needed: int, cheaper: str) -> None:
    """Refuse, with both figures and what to do instead, what cannot fit."""
    free = available()
    if free is not None and needed > free:
        raise MemoryError(
            f"{what} needs about {needed / 1e9:.1f} GB, {free / 1e9:.1f} GB are free: {cheaper}."
        )


def check_memory(problem: Problem, method: str) -> None:
    """Refuse, with the figure and what to do, a solve that cannot fit."""
    n, m = problem.shape
    require_memory(
        f"{method} on {n} nodes and {m} columns",
        estimate(problem, method),
        "keep fewer edges (weights=10 keeps the ten strongest neighbours of every node), or use "
        "method='primal_dual', which holds least",
    )
