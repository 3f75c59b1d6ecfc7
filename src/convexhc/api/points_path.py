"""`solve_points_path` and `solve_features_path`: points, or features of K, at every scale."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from convexhc._checks import named
from convexhc._types import FloatArray, Labels
from convexhc.api.graph_path import run_model
from convexhc.api.options import (
    FEATURES,
    POINTS,
    Keep,
    Lambdas,
    Monitor,
    OnLevel,
    Options,
    Progress,
    explains_renamed_options,
)
from convexhc.api.single_lam import edge_weights, similarity_record
from convexhc.graph import Graph
from convexhc.graph_checks import checked_names
from convexhc.io import as_graph
from convexhc.model.problem import points_problem
from convexhc.path.path import Path
from convexhc.path.points_model import PointsModel
from convexhc.provenance import Provenance, digest_of
from convexhc.similarity import (
    multiscale_weights,
    neighbor_weights,
    require_psd,
    spectral_features,
)
from convexhc.similarity.edge_weights import positive_part
from convexhc.similarity.neighbors import N_NEIGHBORS
from convexhc.similarity.point_kernels import read_points
from convexhc.similarity.spectral import N_FEATURES
from convexhc.solvers.memory import check_memory, path_estimate

SPACES = ("auto", "features", "similarity")
# Centroids of every lam are kept by default up to this many numbers per lam.
_KEEP_NUMBERS = 100_000


@explains_renamed_options
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
    n_jobs: int | None = None,
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
    names : iterable of hashable values, optional
        Names of the points, instead of the index of X.
    l1_ratio, tol, max_iter, max_clusters, lam_step, keep, prove
        As for `convexhc.Options`; an iteration consists of several Newton steps.
    checkpoint, on_check, progress, n_jobs
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
    options = Options.among(locals())
    table, index = read_points(X)
    chosen = checked_names(index if names is None else names, len(table))
    edges = _edge_weights(table, weights)
    return points_path(
        table,
        edges,
        options,
        Monitor(checkpoint, on_check, progress, n_jobs),
        names=chosen,
        record={"model": "points"},
    )


@explains_renamed_options
def solve_features_path(
    K: Any,
    lambdas: Lambdas = FEATURES.lambdas,
    *,
    weights: Any = "multiscale",
    n_features: int = N_FEATURES,
    l1_ratio: float = FEATURES.l1_ratio,
    tol: float = FEATURES.tol,
    max_iter: int = FEATURES.max_iter,
    max_clusters: int | None = FEATURES.max_clusters,
    lam_step: float = FEATURES.lam_step,
    keep: Keep | None = FEATURES.keep,
    prove: bool = FEATURES.prove,
    checkpoint: str | os.PathLike[str] | None = None,
    on_check: OnLevel | None = None,
    progress: Progress = False,
    n_jobs: int | None = None,
) -> Path:
    """Cluster a similarity at every scale, with the penalty in its feature space.

    As `convexhc.solve_path`, but the penalty compares the images of the centroids, |Phi(pi_i -
    pi_j)|, before the inequality by which the paper replaces it by |pi_i - pi_j| (appendix B), and
    pi is not constrained. That is the points model on the features of K, of which the leading
    ``n_features`` are kept.

    Parameters
    ----------
    K : graph or (n, n) similarity
        As for `convexhc.solve_path`.
    lambdas : int, iterable of float or None
        As for `convexhc.solve_points_path`.
    weights : "multiscale", int, graph or None
        Edge weights W: `similarity.multiscale_weights` of K; or as for `convexhc.solve`.
    n_features : int
        Columns of X with X X' nearest to K.
    l1_ratio : float
        Share of the l1 norm in the penalty. Above 0 the answer depends on the axes of the features.
    tol, max_iter, max_clusters, lam_step, keep, prove, checkpoint, on_check, progress, n_jobs
        As for `convexhc.solve_points_path`.

    Returns
    -------
    Path
        Certified in this model. Memory is O((n + E) n_features).

    Examples
    --------
    >>> import numpy as np
    >>> import convexhc
    >>> K = np.kron(np.eye(2), np.ones((3, 3))) + 0.1 + np.eye(6)
    >>> convexhc.solve_features_path(K).labels(n_clusters=2)
    array([0, 0, 0, 1, 1, 1])
    """
    options = Options.among(locals())
    monitor = Monitor(checkpoint, on_check, progress, n_jobs)
    return features_path(K, weights, n_features, options, monitor)


def features_path(
    K: Any, weights: Any, n_features: int, options: Options, monitor: Monitor
) -> Path:
    """The path of the points model on the leading features of K."""
    graph = as_graph(K, signed=True)
    require_psd(graph)
    X = spectral_features(graph, min(int(n_features), graph.n))
    if is_multiscale(weights):
        edges = multiscale_weights(positive_part(graph).matrix(), X)
    else:
        edges = edge_weights(graph, weights)
    record = {
        "similarity": similarity_record(K),
        "weights": weights if isinstance(weights, str | int | None) else "given",
        "model": "features",
    }
    return points_path(X, edges, options, monitor, names=graph.names, record=record, graph=graph)


def is_multiscale(weights: Any) -> bool:
    """Whether the weights are "multiscale"; any other word is refused."""
    if isinstance(weights, str) and weights != "multiscale":
        raise ValueError(
            "weights must be 'multiscale', a number of neighbours, a graph or None, received "
            f"{weights!r}."
        )
    return isinstance(weights, str)


def in_feature_space(weights: Any, space: str) -> bool:
    """Whether the penalty acts in feature space: "auto" if the weights are multiscale."""
    named("space", space, dict.fromkeys(SPACES))
    multiscale = is_multiscale(weights)
    return multiscale if space == "auto" else space == "features"


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
    small, solved = X.size <= _KEEP_NUMBERS, options.most_levels
    needed = path_estimate(problem, "newton", keep=options.keeps(small=small), solved=solved)
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
    edges = problem.penalty.graph
    data = digest_of(problem.fidelity.target, edges.tail, edges.head, edges.weight)
    provenance = Provenance.of(options.record(**record), data)
    return run_model(model, options, monitor, provenance, small=small)


def _edge_weights(X: FloatArray, weights: Any) -> Graph:
    if isinstance(weights, int | np.integer) and not isinstance(weights, bool):
        return neighbor_weights(X, n_neighbors=int(weights))
    graph = as_graph(weights)
    if graph.n != len(X):
        raise ValueError(
            f"weights has {graph.n} nodes and X has {len(X)} rows: give weights on the same points."
        )
    return graph.without_diagonal()
