"""`convexhc.cluster`: from a graph, a similarity or points to a path, with everything chosen."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

from convexhc._checks import named
from convexhc.api.graph_path import solve_path
from convexhc.api.options import (
    FEATURES,
    Keep,
    Lambdas,
    MethodLike,
    Monitor,
    OnLevel,
    Options,
    Progress,
)
from convexhc.api.points_path import points_path
from convexhc.api.single_lam import edge_weights, similarity_record
from convexhc.graph import Graph
from convexhc.io import as_graph
from convexhc.path.path import Path
from convexhc.similarity import (
    Similarity,
    diffusion,
    diffusion_features,
    from_graph,
    from_points,
    heat,
    laplacian,
    multiscale_weights,
    neighbor_graph,
    normalized,
    rbf,
    require_psd,
    self_loops,
    shift_to_positive,
    spectral_features,
    two_hop,
    two_hop_diagonal,
)
from convexhc.similarity.density import point_density
from convexhc.similarity.diffusion_time import N_FEATURES, diffusion_time, noise_edge
from convexhc.similarity.result import Shift
from convexhc.similarity.strongest import positive_part
from convexhc.similarity.structure import group_structure

# How a graph becomes a similarity, by name; "graph" is the choice made by the evidence.
FROM_GRAPH: dict[str, Callable[..., Similarity]] = {
    "graph": from_graph,
    "diffusion": diffusion,
    "two_hop": two_hop,
    "two_hop_diagonal": two_hop_diagonal,
    "normalized": normalized,
    "laplacian": laplacian,
    "self_loops": self_loops,
    "heat": heat,
}
# The similarities of a square input: one row and one column per node.
PAIRWISE = ("precomputed", *FROM_GRAPH)
# The similarities of points: one row per point.
FROM_POINTS = ("nearest_neighbors", "rbf")
SIMILARITIES = (*PAIRWISE, *FROM_POINTS)
SPACES = ("auto", "features", "similarity")


def cluster(
    G: Any,
    lambdas: Lambdas | Literal["auto"] = "auto",
    *,
    similarity: str = "graph",
    weights: Any = "multiscale",
    space: str = "auto",
    points: Any = None,
    n_neighbors: int | None = None,
    shift: Shift | None = None,
    time: int | None = None,
    n_features: int = N_FEATURES,
    l1_ratio: float | None = None,
    method: MethodLike = Options.method,
    tol: float = Options.tol,
    max_iter: int | None = None,
    max_clusters: int | None = Options.max_clusters,
    lam_step: float = Options.lam_step,
    test_structure: bool = True,
    keep: Keep | None = Options.keep,
    checkpoint: str | os.PathLike[str] | None = None,
    on_check: OnLevel | None = None,
    progress: Progress = False,
) -> Path:
    """Cluster a graph, a similarity or points at every scale.

    By default everything is chosen by the graph. Features X are those of a diffusion whose time
    its spectrum sets (`similarity.diffusion_features`), edge weights W preserve every scale
    (`similarity.multiscale_weights`), and the path minimises

        1/2 |U - X|^2 + lam sum_{i<j} W_ij |U_i - U_j|

    for growing lam: the paper's objective before its inequality (appendix B), where the penalty
    acts on the centroids in feature space. Every lam is certified in that model.

    The estimators, `tl`, the command line and `solve_paths` take the same options with the same
    meaning, so a lam found by one can be used by another.

    Parameters
    ----------
    G : graph, (n, n) similarity or (n, d) points
        Anything `convexhc.as_graph` reads: array, sparse matrix, DataFrame, networkx or igraph
        graph, edges, file name. Weights not negative. Points if ``similarity`` is one of points.
    lambdas : int, iterable of float or None
        How many lam, in equal ratios from where the first nodes meet to where every component is
        one cluster; exactly these; or None to find and bisect them. Default: 60 in feature space,
        and None for the paper's problem.
    similarity : {"graph", "precomputed", "diffusion", "two_hop", "two_hop_diagonal", \
            "normalized", "laplacian", "self_loops", "heat", "nearest_neighbors", "rbf"}
        What G is, and how the similarity K is made from it. "precomputed": G is K. "graph" and the
        functions of `similarity` of that name: G is a graph; "graph" is `similarity.from_graph`,
        for graphs of which nothing is known. "nearest_neighbors" (`similarity.from_points`) and
        "rbf" (`similarity.rbf`): G has one point per row.
    weights : "multiscale", int, graph or None
        Edge weights W: those that preserve every scale; the number of strongest neighbours of K to
        keep, as connected as K; a graph on the same nodes; or None for all off-diagonal entries of
        K, which then may not be negative.
    space : {"auto", "features", "similarity"}
        Where the penalty acts: on the images of the centroids in the feature space of K, or on
        doubly stochastic pi, the paper's problem (`convexhc.solve_path`, eq. 4). "auto" takes the
        features, and the paper's problem if ``weights`` are given.
    points : (n, d) array, optional
        The points of which G is the neighbour graph (`similarity.neighbor_graph`): the suggested
        scale then has valleys of density between its clusters.
    n_neighbors : int, optional
        Neighbours of a point, for "nearest_neighbors".
    shift : float, "auto" or None
        Added to the diagonal of K; "auto" adds what makes K positive definite. None is 0 for
        "precomputed", which is then refused if it has a negative eigenvalue; "auto" for points;
        and the default of the function that makes K for graphs.
    time : int, optional
        Steps of the diffusion, instead of the number that the spectrum sets.
    n_features : int
        Columns of X.
    l1_ratio : float, optional
        Share of the l1 norm in the penalty. Default: 0 for features, whose axes mean nothing, and
        0.05, as in the paper, for pi.
    method : {"auto", "dual_fista", "admm", "primal_dual"} or Method
        Solver of the paper's problem; all reach the same answer.
    tol : float
        Relative duality gap at which each lam is solved.
    max_iter : int, optional
        Iterations for each lam. Default: 200 for features, 20 000 for pi.
    max_clusters, lam_step, keep, checkpoint, on_check, progress
        As for `convexhc.solve_path`.
    test_structure : bool
        Test whether the graph has groups beyond chance (`similarity.structure.group_structure`),
        and keep the answer as ``path.structure``. Only if everything is chosen by the graph.

    Returns
    -------
    Path
        ``path.suggestion`` is the scale to start from, ``path.labels(n_clusters=k)`` gives exactly
        k clusters. Memory is O((n + E) n_features) for E weighted pairs, about 30 per node.

    Raises
    ------
    ValueError, TypeError
        A graph that cannot be read or has negative weights, or an option out of its range.

    Examples
    --------
    >>> import convexhc
    >>> path = convexhc.cluster(convexhc.datasets.karate().adjacency)
    >>> path.labels(n_clusters=2).sum() in (16, 17, 18)
    True
    """
    named("similarity", similarity, dict.fromkeys(SIMILARITIES))
    named("space", space, dict.fromkeys(SPACES))
    multiscale = is_multiscale(weights)
    in_features = multiscale if space == "auto" else space == "features"
    defaults = FEATURES if in_features else Options()
    options = Options(
        lambdas=defaults.lambdas if isinstance(lambdas, str) else lambdas,
        l1_ratio=defaults.l1_ratio if l1_ratio is None else l1_ratio,
        method=method,
        tol=tol,
        max_iter=defaults.max_iter if max_iter is None else max_iter,
        max_clusters=max_clusters,
        lam_step=lam_step,
        keep=keep,
    )
    monitor = Monitor(checkpoint, on_check, progress)
    # Another diagonal or norm needs the similarity itself.
    chosen_by_graph = similarity in ("graph", "nearest_neighbors") and shift is None
    if chosen_by_graph and in_features and multiscale and not options.l1_ratio:
        if similarity == "nearest_neighbors":
            points, G = G, neighbor_graph(G, n_neighbors=n_neighbors)
        return _cluster_by_graph(
            as_graph(G), options, monitor, points, time, n_features, test_structure
        )
    K = make_similarity(
        G, similarity, shift=shift, n_neighbors=n_neighbors, signed=weights is not None
    )
    if in_features:
        return _similarity_features(K, weights, n_features, options, monitor)
    if multiscale:
        X = spectral_features(K, min(n_features, K.graph.n))
        weights = multiscale_weights(positive_part(K.graph).matrix(), X)
    return solve_path(
        K,
        options.lambdas,
        weights=weights,
        l1_ratio=options.l1_ratio,
        method=options.method,
        tol=options.tol,
        max_iter=options.max_iter,
        max_clusters=options.max_clusters,
        lam_step=options.lam_step,
        keep=options.keep,
        checkpoint=checkpoint,
        on_check=on_check,
        progress=progress,
    )


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
    checkpoint: str | os.PathLike[str] | None = None,
    on_check: OnLevel | None = None,
    progress: Progress = False,
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
    tol, max_iter, max_clusters, lam_step, keep, checkpoint, on_check, progress
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
    options = Options(
        lambdas=lambdas,
        l1_ratio=l1_ratio,
        tol=tol,
        max_iter=max_iter,
        max_clusters=max_clusters,
        lam_step=lam_step,
        keep=keep,
    )
    monitor = Monitor(checkpoint, on_check, progress)
    return _similarity_features(K, weights, n_features, options, monitor)


def is_multiscale(weights: Any) -> bool:
    """Whether the weights are left to the evidence; other words are refused."""
    if isinstance(weights, str):
        named("weights", weights, {"multiscale": None})
        return True
    return False


def make_similarity(
    G: Any,
    kind: str,
    *,
    shift: Shift | None = None,
    n_neighbors: int | None = None,
    signed: bool = True,
) -> Similarity:
    """The similarity of that name, made from a graph, points or K itself.

    Parameters
    ----------
    G : graph, similarity or points
        As ``kind`` says.
    kind : str
        One of `SIMILARITIES`.
    shift, n_neighbors
        As for `cluster`.
    signed : bool
        Whether a precomputed K may have negative entries.
    """
    if kind == "rbf":
        return rbf(G, shift="auto" if shift is None else shift)
    if kind == "nearest_neighbors":
        return from_points(G, n_neighbors=n_neighbors, shift="auto" if shift is None else shift)
    if kind != "precomputed":
        added = {} if shift is None else {"shift": shift}
        return FROM_GRAPH[kind](as_graph(G), **added)
    given = as_graph(G, signed=signed)
    K = G if isinstance(G, Similarity) else Similarity(given, "given", 0.0, None, False)
    if shift == "auto":
        return shift_to_positive(K)
    amount = 0.0 if shift is None else float(shift)
    least = None if K.min_eigenvalue is None else K.min_eigenvalue + amount
    graph = K.graph.with_diagonal(K.graph.diagonal + amount)
    return replace(K, graph=graph, shift=K.shift + amount, min_eigenvalue=least)


def _cluster_by_graph(
    graph: Graph,
    options: Options,
    monitor: Monitor,
    points: Any,
    time: int | None,
    n_features: int,
    test_structure: bool,
) -> Path:
    """Diffusion features of the graph, and weights that preserve every scale."""
    density = None if points is None else point_density(points, graph)
    X = diffusion_features(graph, time=time, n_features=min(n_features, graph.n))
    made = {
        "kind": "diffusion",
        "time": diffusion_time(graph) if time is None else time,
        "noise_edge": noise_edge(graph),
        "n_features": X.shape[1],
    }
    path = points_path(
        X,
        multiscale_weights(graph.without_diagonal().matrix(), X),
        options,
        monitor,
        names=graph.names,
        record={"similarity": made, "weights": "multiscale", "model": "features"},
        graph=graph,
    )
    structure = group_structure(graph) if test_structure else None
    return replace(path, structure=structure, density=density)


def _similarity_features(
    K: Any, weights: Any, n_features: int, options: Options, monitor: Monitor
) -> Path:
    """The points model on the leading features of K."""
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
