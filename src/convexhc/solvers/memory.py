"""Memory estimates, checked before anything is allocated."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path as File

from convexhc.model.factorization import DENSE_FACTOR_NODES
from convexhc.model.penalty import Fusion
from convexhc.model.problem import FusionProblem

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

# Float64 arrays alive at the peak of a solve, (n x m) and (E x m) each, counted from the code.
_ARRAYS = {"admm": (14, 3), "primal_dual": (10, 2), "dual_fista": (16, 6), "newton": (16, 9)}
_LEAST = "primal_dual"
_MEMINFO, _OWN_GROUP, _GROUPS = "/proc/meminfo", "/proc/self/cgroup", "/sys/fs/cgroup"
_OWN_SIZE = "/proc/self/statm"


def estimate(problem: FusionProblem, method: str) -> int:
    """Peak memory of a solve in bytes, to within a factor of about 1.5."""
    return _solve_bytes(method, *problem.shape, _edges(problem))


def path_estimate(problem: FusionProblem, method: str, *, keep: bool, solved: int = 40) -> int:
    """Peak memory of a path in bytes: one solve, its warm starts, and the centroids kept.

    Bisection of lam holds up to about six solutions, each of five (n x m) arrays (centroids,
    multipliers, the contracted data, eigenvectors of the differences and their inverse) and an
    (E x m) array. Settling labels holds a solution beside the one it goes on from, and a proof the
    errors of the duals: an (E x m) array each. Kept centroids have one row per cluster, half of the
    nodes on average, at ``solved`` values of lam.
    """
    n, m = problem.shape
    ahead = 8 * m * (6 * 5 * n + (6 + 2) * _edges(problem))
    return estimate(problem, method) + ahead + (8 * solved * n * m // 2 if keep else 0)


def coarse_path_estimate(
    problem: FusionProblem, method: str, groups: int, pairs: int, *, kept: int
) -> int:
    """Peak memory in bytes of a path from above with so many groups and pairs of neighbours.

    ``kept`` levels keep their centroids. Duals are between groups, not between nodes; the graph is
    added, and up to 3000 nodes the inverse of K.
    """
    n, m = problem.shape
    inverse = 4 * n * n if n <= DENSE_FACTOR_NODES else 0
    arrays = 8 * (inverse + 40 * (n + _edges(problem)) + m * (6 * (groups + pairs) + kept * groups))
    return _solve_bytes(method, groups, m, pairs) + arrays


def feature_path(rows: int, pairs: int, n_features: int) -> int:
    """Peak memory in bytes of a path in feature space: one solve, before W is known."""
    return _solve_bytes("newton", rows, n_features, pairs)


def smooth_dense(n: int) -> int:
    """Peak memory in bytes of computing all modes of a Laplacian of n nodes."""
    return 8 * 4 * n * n


def smooth_sparse(n: int, edges: int, dimensions: int) -> int:
    """Peak memory in bytes of computing the first modes of a sparse Laplacian."""
    block = dimensions + dimensions // 4 + 8
    # Graph and Laplacian need about ten numbers per edge, the filter four blocks.
    return 8 * (10 * (n + edges) + n * (4 * block + dimensions))


def features_of_large(n: int, edges: int, n_features: int) -> int:
    """Peak memory in bytes of the features, groups and levels of a graph that has leaves."""
    # Lanczos holds 2 r + 1 vectors, the features and their copies 5 r; sixty levels of labels, the
    # tree and sparse memberships 300 numbers per node; graph and products ten per edge.
    return 8 * (n * (7 * n_features + 300) + 10 * edges)


def available() -> int | None:
    """Available memory in bytes, or None if the system does not report it.

    Includes memory the system can reclaim from its file cache; limited by the control groups of
    the process, as in a container or a cluster job, and by its address space (``ulimit -v``).
    """
    limits = [*_system(), *_limits(), *_address_space()]
    return min(limits) if limits else None


def require_memory(what: str, needed: int, cheaper: str) -> None:
    """Raise MemoryError, with both figures and an alternative, if ``needed`` bytes do not fit."""
    free = available()
    if free is not None and needed > free:
        raise MemoryError(
            f"{what} needs about {needed / 1e9:.1f} GB, {free / 1e9:.1f} GB are free: {cheaper}."
        )


def check_memory(problem: FusionProblem, method: str, needed: int | None = None) -> None:
    """Raise MemoryError, with alternatives, if a solve does not fit, or a path that needs more."""
    n, m = problem.shape
    edges = _edges(problem)
    few = _solve_bytes(_LEAST, n, m, min(edges, 10 * n))
    alternatives = [
        f"keep fewer edges (weights=10, the ten strongest neighbours of every node: at most "
        f"{few / 1e9:.1f} GB with {_LEAST})"
    ]
    if method != _LEAST:
        least = _solve_bytes(_LEAST, n, m, edges)
        alternatives.insert(0, f"use method={_LEAST!r} ({least / 1e9:.1f} GB)")
    if n == m:
        smooth = smooth_sparse(n, edges, 32)
        alternatives.append(f"take the smooth model, smooth_path ({smooth / 1e9:.1f} GB)")
    what = f"{method} on {n} nodes and {m} columns"
    require_memory(
        what, estimate(problem, method) if needed is None else needed, ", or ".join(alternatives)
    )


def _edges(problem: FusionProblem) -> int:
    return problem.penalty.n_edges if isinstance(problem.penalty, Fusion) else 0


def _solve_bytes(method: str, n: int, m: int, edges: int) -> int:
    nodes, rows = _ARRAYS[method]
    return 8 * m * (nodes * n + rows * edges)


def _system() -> Iterator[int]:
    """Available memory of the machine: MemAvailable on Linux, else free pages."""
    for line in _lines(_MEMINFO):
        if line.startswith("MemAvailable:"):
            yield 1024 * int(line.split()[1])
            return
    try:
        yield os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return


def _address_space() -> Iterator[int]:
    """Address space left to the process, where it is limited."""
    if resource is None:
        return
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    used = _lines(_OWN_SIZE)
    if most != resource.RLIM_INFINITY:
        yield max(0, most - (int(used[0].split()[0]) * resource.getpagesize() if used else 0))


def _limits() -> Iterator[int]:
    """Memory left by the control groups of the process and their parents (Linux)."""
    for line in _lines(_OWN_GROUP):
        _, kind, place = line.split(":", 2)
        if kind not in ("", "memory"):
            continue
        root = File(_GROUPS, kind)
        most, now = (
            ("memory.limit_in_bytes", "memory.usage_in_bytes")
            if kind
            else ("memory.max", "memory.current")
        )
        group = root / place.strip("/")
        for folder in (group, *group.parents):
            limit, used = _lines(folder / most), _lines(folder / now)
            if limit and used and limit[0].isdigit():
                yield max(0, int(limit[0]) - int(used[0]) + _cached(folder))
            if folder == root:
                break


def _cached(folder: File) -> int:
    """Reclaimable file cache of the group in bytes."""
    for line in _lines(folder / "memory.stat"):
        name, value = line.split()
        if name in ("inactive_file", "total_inactive_file"):
            return int(value)
    return 0


def _lines(file: str | File) -> list[str]:
    try:
        return File(file).read_text().splitlines()
    except OSError:
        return []
