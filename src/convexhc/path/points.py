"""`convexhc.solve_points_path`: classical convex clustering at every scale, every lam certified."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexhc._checks import checked_number
from convexhc.fusion.components import Parts
from convexhc.fusion.contracted_solve import ContractedSolution
from convexhc.fusion.contraction import contract
from convexhc.fusion.lam_max import consensus_bound
from convexhc.graph import Graph
from convexhc.graph_checks import checked_names
from convexhc.io import as_graph
from convexhc.metrics import effective_rank_of
from convexhc.model.problem import FusionProblem, points_problem
from convexhc.path.checkpoint import Checkpoint, Progress
from convexhc.path.level import Level
from convexhc.path.options import Keep, checked_grid, keeper
from convexhc.path.result import Path, Provenance
from convexhc.similarity import neighbor_weights
from convexhc.similarity.point_kernels import read_points
from convexhc.solvers.loop import Solution
from convexhc.solvers.memory import check_memory

Array = NDArray[np.float64]

# Centroids of every lam are kept by default up to this many numbers each.
_KEEP_NUMBERS = 100_000


def solve_points_path(
    X: Any,
    lambdas: Iterable[float] | int = 100,
    *,
    weights: Any = 15,
    l1_ratio: float = 0.0,
    tol: float = 1e-4,
    max_iter: int = 200,
    names: Iterable[Hashable] | None = None,
    keep: Keep | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    on_check: Callable[[Level], object] | None = None,
) -> Path:
    """Cluster points at every scale (eq. 1, classical convex clustering).

    Minimises 1/2 |U - X|^2 + lam sum_{i<j} W_ij (alpha |U_i - U_j|_2 + l1_ratio |U_i - U_j|_1),
    alpha = 1 - l1_ratio, for growing lam: row U_i is the centroid of point i, and points whose
    centroids are equal form a cluster. Clusters of one lam are contracted for the next, and the
    full problem certifies every answer (`convexhc.fusion.points_solve`). Connected components of W
    are solved apart (`convexhc.fusion.components`).

    Parameters
    ----------
    X : (n, d) array or DataFrame
        One point a row; the index of a DataFrame names them.
    lambdas : int or iterable of float
        How many lam, in equal ratios from where the first points meet to where every connected
        component is one cluster, at which the path ends; or exactly these.
    weights : int or graph
        Number of nearest neighbours for `similarity.neighbor_weights`, or W itself: anything
        `convexhc.as_graph` reads, on the rows of X; self-loops play no part, nor do weights below
        1e-12 of the largest.
    l1_ratio : float
        Share of the l1 norm in the penalty, between 0 and 1.
    tol : float
        Relative duality gap at which each lam is solved.
    max_iter : int
        Iterations, of several Newton steps each, of every run a lam needs.
    names : iterable of n distinct hashable values, optional
        Names of the points, instead of the index of X.
    keep : {"all", "labels"} or callable, optional
        Which centroids to keep: of every lam, of none, or of those for which ``keep(lam)`` is true.
        Default: all if X has at most 100 000 numbers.
    checkpoint : path, optional
        File written after every lam; if it is large, when the run ends, is interrupted, or has
        gone on for a while. If it exists, the run goes on from there and ends in the same result
        as an uninterrupted one.
    on_check : callable, optional
        Called with every solved `Level`; a true answer ends the path there.

    Returns
    -------
    Path
        Partitions, certificates and the tree. ``objective`` is the formula above;
        ``effective_rank`` is that of the scatter of the centroids about their mean, one when they
        are all equal. Memory is O((n + E) d + n L) for E edges and L lam.

    Raises
    ------
    ValueError, TypeError
        X that is not a table of finite numbers, weights on other points, or an option out of its
        range; a checkpoint of another run, or a damaged one.
    MemoryError
        The problem will not fit; the message says how much it needs.

    Examples
    --------
    >>> import convexhc
    >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1]]
    >>> path = convexhc.solve_points_path(X, weights=4)
    >>> path.labels(n_clusters=2)
    array([0, 0, 0, 1, 1])
    >>> bool(path.relative_gap.max() <= 1e-4)
    True
    """
    table, index = read_points(X)
    chosen = checked_names(index if names is None else names, len(table))
    problem = points_problem(
        table,
        _edge_weights(table, weights),
        0.0,
        l1_ratio=checked_number("l1_ratio", l1_ratio, upper=1.0),
    )
    check_memory(problem, "newton")
    if isinstance(lambdas, int | np.integer):
        grid, found = _found(problem, lambdas), True
    else:
        grid, found = checked_grid(lambdas), False
    options = {
        "model": "points",
        "l1_ratio": float(l1_ratio),
        "tol": checked_number("tol", tol),
        "max_iter": int(checked_number("max_iter", max_iter)),
        "lambdas": grid,
        "to_consensus": found,
    }
    provenance = Provenance.of(options, _digest(problem))
    saved = Checkpoint(checkpoint, provenance.digest) if checkpoint is not None else None
    levels, complete = _march(
        problem, options, keeper(keep, small=table.size <= _KEEP_NUMBERS), saved, on_check
    )
    return Path(
        levels=levels,
        names=chosen,
        components=problem.penalty.graph.components()[1],
        complete=complete,
        provenance=provenance,
        graph=problem.penalty.graph,
        given_features=table,
    )


def _march(
    problem: FusionProblem,
    options: dict[str, Any],
    keep: Callable[[float], bool],
    saved: Checkpoint | None,
    on_check: Callable[[Level], object] | None,
) -> tuple[tuple[Level, ...], bool]:
    """Solve the grid upwards, each lam from the one before; tell whether the end was reached."""
    parts, single_nodes = Parts.of(problem), contract(problem, np.arange(problem.shape[0]))
    goal = problem.penalty.graph.components()[0]
    progress = (saved.load(problem) if saved is not None else None) or Progress()
    try:
        for lam in options["lambdas"][len(progress.levels) :]:
            before, behind = (
                None if one is None else one.small for one in (progress.before, progress.behind)
            )
            if behind is not None and behind.n_clusters == goal and options["to_consensus"]:
                break
            found = parts.solve(
                lam,
                start=behind,
                before=before,
                tol=options["tol"],
                max_iter=options["max_iter"],
            )
            level = _level(found, keep=keep(lam))
            progress = progress.solved(level, ContractedSolution(single_nodes, found)).advanced()
            if saved is not None:
                saved.keep(progress)
            if on_check is not None and on_check(level):
                return progress.levels, False
    finally:
        if saved is not None:
            saved.finish(progress)
    end = progress.behind
    return progress.levels, not options["to_consensus"] or (
        end is not None and end.n_clusters == goal
    )


def _level(solution: Solution, *, keep: bool) -> Level:
    """Summarise a solution; the effective rank costs O(c d^2 + d^3) for c clusters."""
    first = np.unique(solution.labels, return_index=True)[1]
    distinct = solution.centroids[first]
    size = np.bincount(solution.labels)
    around = distinct - size @ distinct / size.sum()
    scatter = (around * size[:, None]).T @ around
    return Level(
        solution.lam,
        solution.labels,
        solution.certificate.objective,
        solution.relative_gap,
        solution.certificate.residual,
        solution.n_iter,
        solution.status.name,
        effective_rank_of(scatter) if scatter.any() else 1.0,
        distinct if keep else None,
    )


def _edge_weights(X: Array, weights: Any) -> Graph:
    if isinstance(weights, int | np.integer) and not isinstance(weights, bool):
        return neighbor_weights(X, n_neighbors=int(weights))
    graph = as_graph(weights)
    if graph.n != len(X):
        raise ValueError(
            f"weights has {graph.n} nodes and X has {len(X)} rows: give weights on the same points."
        )
    return graph.without_diagonal()


def _found(problem: FusionProblem, count: int | np.integer) -> list[float]:
    """A geometric grid from where the first edges may be fused to the consensus.

    |U_i - X_i| is at most lam times the weights around i, so i and j are apart below
    lam = |X_i - X_j| / (deg_i + deg_j), up to the ratio of the norms; nine edges of ten are surely
    apart at the first lam.
    """
    if isinstance(count, bool) or count < 2:
        raise ValueError(f"lambdas must be two or more, or a sequence, received {count!r}.")
    penalty, X = problem.penalty, problem.fidelity.target
    graph = penalty.differences.graph
    degree = np.bincount(graph.tail, graph.weight, graph.n)
    degree += np.bincount(graph.head, graph.weight, graph.n)
    apart = np.linalg.norm(X[graph.tail] - X[graph.head], axis=1)
    apart /= degree[graph.tail] + degree[graph.head]
    bound = consensus_bound(problem)
    if not (apart > 0.0).any() or bound <= 0.0:
        # Nothing to fuse, or nothing apart: any strength tells the whole story.
        return [1.0]
    norm = 1.0 - penalty.l1_ratio + penalty.l1_ratio * X.shape[1] ** 0.5
    first = min(float(np.quantile(apart[apart > 0.0], 0.1)) / norm, 0.5 * bound)
    # A little above the bound, which may be met with equality.
    return [float(lam) for lam in np.geomspace(first, 1.01 * bound, int(count))]


def _digest(problem: FusionProblem) -> str:
    """Fingerprint of the points and of the edge weights."""
    graph, mark = problem.penalty.graph, hashlib.sha256()
    for array in (problem.fidelity.target, graph.tail, graph.head, graph.weight):
        mark.update(np.ascontiguousarray(array).tobytes())
    return mark.hexdigest()
