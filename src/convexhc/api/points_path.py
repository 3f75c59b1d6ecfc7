"""`convexhc.solve_points_path`: classical convex clustering at every scale."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from convexhc._types import FloatArray, Labels
from convexhc.api.graph_path import choose_plan
from convexhc.api.options import POINTS, Keep, Lambdas, Monitor, OnLevel, Options, Progress
from convexhc.api.renamed import answers_other_names
from convexhc.graph import Graph
from convexhc.graph_checks import checked_names
from convexhc.io import as_graph
from convexhc.kernels.threads import threads_along
from convexhc.model.problem import FusionProblem, points_problem
from convexhc.path.cautions import warned_if_unsolved
from convexhc.path.engine import run
from convexhc.path.path import Path
from convexhc.path.points_model import PointsModel
from convexhc.provenance import Provenance
from convexhc.similarity import neighbor_weights
from convexhc.similarity.neighbors import N_NEIGHBORS
from convexhc.similarity.point_kernels import read_points
from convexhc.solvers.memory import check_memory, path_estimate

# Centroids of every lam are kept by default up to this many numbers per lam.
_KEEP_NUMBERS = 100_000


@answers_other_names
def solve_points_path(
    X: Any,
    lambdas: Lambdas = POINTS.lambdas,
    *,
    weights: Any = N_NEIGHBORS,
    l1_ratio: float = POINTS.l1_ratio,
    tol: float = POINTS.tol,
    max_iter: int = POINTS.max_iter,
    max_clusters: int | None = POINTS.max_clusters,
    lam_step: float = POINTS.lam_step,
    names: Iterable[Hashable] | None = None,
    keep: Keep | None = POINTS.keep,
    prove: bool = POINTS.prove,
    checkpoint: str | os.PathLike[str] | None = None,
    on_check: OnLevel | None = None,
    progress: Progress = False,
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
        One point per row; the index of a DataFrame names them.
    lambdas : int, iterable of float or None
        How many lam, in equal ratios from where the first points meet to where every connected
        component is one cluster, at which the path ends; exactly these; or None to find and bisect
        them as `convexhc.solve_path` does.
    weights : int or graph
        Number of nearest neighbours for `similarity.neighbor_weights`, or W itself: anything
        `convexhc.as_graph` reads, on the rows of X. Self-loops and weights below 1e-12 of the
        largest are ignored.
    l1_ratio : float
        Share of the l1 norm in the penalty, between 0 and 1.
    tol : float
        Relative duality gap at which each lam is solved.
    max_iter : int
        Iterations, of several Newton steps each, for each solve.
    max_clusters, lam_step
        As for `convexhc.solve_path`: go down from the consensus; length of the shortest step.
    names : iterable of hashable values, optional
        Names of the points, instead of the index of X.
    keep : {"all", "labels"} or callable, optional
        Which centroids to keep: of every lam, of none, or of those for which ``keep(lam)`` is true.
        Default: all if X has at most 100 000 numbers.
    prove : bool
        Where the partition is not proven (`path.proof`), lower the tolerance until it is, at most
        to 1e-10.
    checkpoint, on_check, progress
        As for `convexhc.solve_path`.

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
    options = Options(
        lambdas=lambdas,
        l1_ratio=l1_ratio,
        tol=tol,
        max_iter=max_iter,
        max_clusters=max_clusters,
        lam_step=lam_step,
        keep=keep,
        prove=prove,
    )
    table, index = read_points(X)
    chosen = checked_names(index if names is None else names, len(table))
    edges = _edge_weights(table, weights)
    return points_path(
        table,
        edges,
        options,
        Monitor(checkpoint, on_check, progress),
        names=chosen,
        record={"model": "points"},
    )


def points_path(
    X: FloatArray,
    weights: Graph,
    options: Options,
    monitor: Monitor,
    *,
    names: tuple[Hashable, ...],
    record: dict[str, Any],
    graph: Graph | None = None,
    features: FloatArray | None = None,
    leaf: Labels | None = None,
) -> Path:
    """The path of the points model, on points or on the features of ``graph``.

    ``record`` says how the points were made; it goes to the provenance. With ``leaf``, the rows of
    X are those of the leaves of a graph, and ``features`` those of its nodes.
    """
    problem = points_problem(X, weights, 0.0, l1_ratio=options.l1_ratio)
    keeper = options.keeper(small=X.size <= _KEEP_NUMBERS)
    keeps = callable(options.keep) or keeper(0.0)
    needed = path_estimate(problem, "newton", keep=keeps, solved=options.most_levels)
    check_memory(problem, "newton", needed)
    model = PointsModel(
        names,
        problem,
        problem.penalty.graph if graph is None else graph,
        options.tol,
        options.max_iter,
        options.max_clusters is not None,
        X if features is None else features,
        np.arange(len(X)) if leaf is None else leaf,
        options.prove,
    )
    provenance = Provenance.of(options.record(**record), _digest(problem))
    # Sums over points are short: two threads of BLAS take longer than one.
    threads = threads_along(problem.shape, dense=problem.fidelity.dense_products)
    with threads, monitor.listener(lambda: choose_plan(model, options)) as (plan, listen):
        path = run(
            model,
            plan,
            provenance,
            keep=keeper,
            store=monitor.store(provenance, problem),
            listen=listen,
        )
    return warned_if_unsolved(path, options.tol)


def _edge_weights(X: FloatArray, weights: Any) -> Graph:
    if isinstance(weights, int | np.integer) and not isinstance(weights, bool):
        return neighbor_weights(X, n_neighbors=int(weights))
    graph = as_graph(weights)
    if graph.n != len(X):
        raise ValueError(
            f"weights has {graph.n} nodes and X has {len(X)} rows: give weights on the same points."
        )
    return graph.without_diagonal()


def _digest(problem: FusionProblem) -> str:
    """Fingerprint of the points and of the edge weights."""
    graph, digest = problem.penalty.graph, hashlib.sha256()
    for array in (problem.fidelity.target, graph.tail, graph.head, graph.weight):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
