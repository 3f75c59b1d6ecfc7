"""`convexhc.cluster`: a graph, a similarity or points, clustered at every scale."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

from convexhc._checks import named
from convexhc.api.graph_path import graph_path
from convexhc.api.options import (
    FEATURES,
    Keep,
    Lambdas,
    MethodLike,
    Monitor,
    OnLevel,
    Options,
    Progress,
    explains_renamed_options,
)
from convexhc.api.points_path import features_path, in_feature_space, is_multiscale, points_path
from convexhc.graph import Graph
from convexhc.io import as_graph
from convexhc.path.path import Path
from convexhc.progress_line import shown
from convexhc.similarity import (
    Similarity,
    diffusion,
    from_graph,
    from_points,
    heat,
    laplacian,
    multiscale_weights,
    neighbor_graph,
    normalized,
    rbf,
    self_loops,
    shift_to_positive,
    spectral_features,
    two_hop,
    two_hop_diagonal,
)
from convexhc.similarity.edge_weights import positive_part
from convexhc.similarity.leaves import has_leaves, leaves_of, node_features
from convexhc.similarity.neighbors import point_density
from convexhc.similarity.result import Shift
from convexhc.similarity.spectral import N_FEATURES, diffusion_time, noise_edge
from convexhc.similarity.structure import group_structure
from convexhc.solvers.memory import features_of_large, require_memory

# Functions that make K from a graph, by name.
FROM_GRAPH: dict[str, Callable[..., Similarity]] = {"graph": from_graph} | {
    make.__name__: make
    for make in (diffusion, two_hop, two_hop_diagonal, normalized, laplacian, self_loops, heat)
}
# Similarities of square input: one row and one column per node.
PAIRWISE = ("precomputed", *FROM_GRAPH)
# Similarities of points: one row per point.
FROM_POINTS = ("nearest_neighbors", "rbf")
SIMILARITIES = (*PAIRWISE, *FROM_POINTS)


@explains_renamed_options
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
    prove: bool = Options.prove,
    checkpoint: str | os.PathLike[str] | None = None,
    on_check: OnLevel | None = None,
    progress: Progress = False,
    n_jobs: int | None = None,
) -> Path:
    """Cluster a graph, a similarity or points at every scale.

    By default the graph determines everything: the features X are those of a diffusion whose time
    is set by the spectrum (`similarity.diffusion_features`), the edge weights W preserve every
    scale (`similarity.multiscale_weights`), and the path minimises

        1/2 |U - X|^2 + lam sum_{i<j} W_ij |U_i - U_j|

    for growing lam. This is the paper's objective before its inequality (appendix B): the penalty
    acts on the centroids in feature space. Every lam is certified in that model. Above 1500 nodes
    the rows of X are about 1200 leaves, small groups of like nodes (`similarity.leaves`), which are
    never divided: the path starts from them, and the certificate is that of the leaves.

    `ConvexHierarchicalClustering`, `tl.convexhc`, the command line and `solve_paths` call this
    function with the same options and defaults: a lam found by one can be used by another.

    Parameters
    ----------
    G : graph, (n, n) similarity or (n, d) points
        Anything `convexhc.as_graph` reads: array, sparse matrix, DataFrame, networkx or igraph
        graph, edges, file name. Weights of a graph must not be negative.
    lambdas : "auto", int, iterable of float or None
        A number of lam, in equal ratios from the first fusion to one cluster per connected
        component; exactly these lam; or None to find and bisect them. "auto" is 60 in feature
        space and None for the paper's problem.
    similarity : {"graph", "precomputed", "diffusion", "two_hop", "two_hop_diagonal", \
            "normalized", "laplacian", "self_loops", "heat", "nearest_neighbors", "rbf"}
        What G is, and how the similarity K is made from it. "precomputed": G is K. "graph"
        (`similarity.from_graph`) and the other functions of `similarity` by name: G is a graph.
        "nearest_neighbors" (`similarity.from_points`) and "rbf" (`similarity.rbf`): G has one row
        per point.
    weights : "multiscale", int, graph or None
        Edge weights W: those that preserve every scale; the strongest entries of K, this many per
        node, as connected as K; a graph on the same nodes; or None for all off-diagonal entries of
        K, none of which may be negative.
    space : {"auto", "features", "similarity"}
        Where the penalty acts: on the images of the centroids in the feature space of K, or on
        doubly stochastic pi, the paper's problem (`convexhc.solve_path`, eq. 4). "auto" is
        "features" for multiscale weights and "similarity" for others.
    points : (n, d) array, optional
        The points of which G is the neighbour graph (`similarity.neighbor_graph`). The suggested
        scale then separates clusters by valleys of density.
    n_neighbors : int, optional
        Neighbours per point, for "nearest_neighbors".
    shift : float, "auto" or None
        Added to the diagonal of K; "auto" adds the least amount that makes K positive definite.
        None is 0 for "precomputed", "auto" for points, and the default of the function that makes
        K for graphs. A K with a negative eigenvalue is refused.
    time : int, optional
        Steps of the diffusion, instead of the number set by the spectrum.
    n_features : int
        Columns of X.
    l1_ratio : float, optional
        Share of the l1 norm in the penalty. Default: 0 in feature space, whose axes are arbitrary,
        and 0.05, as in the paper, for pi.
    max_iter : int, optional
        Iteration budget per lam. Default: 200 in feature space, 20 000 for pi.
    method, tol, max_clusters, lam_step, keep, prove
        As for `convexhc.Options`.
    checkpoint, on_check, progress, n_jobs
        As for `convexhc.solve_path`.
    test_structure : bool
        Test whether the graph has groups beyond chance (`similarity.structure.group_structure`),
        and store the result as ``path.structure``. Only if the graph determines everything.

    Returns
    -------
    Path
        ``path.suggestion`` is the suggested scale, ``path.labels(n_clusters=k)`` gives exactly k
        clusters. Memory in feature space is O((n + E) n_features) for E weighted pairs, about 30
        per node or leaf. ``path.provenance.options["similarity"]["n_leaves"]`` is n up to 1500
        nodes, and the number of leaves above.

    Raises
    ------
    ValueError, TypeError
        A graph that cannot be read or has negative weights, or an option out of its range.
    MemoryError
        The features or the problem will not fit; the message says how much it needs.

    Examples
    --------
    >>> import convexhc
    >>> path = convexhc.cluster(convexhc.datasets.karate().adjacency)
    >>> path.labels(n_clusters=2).sum() in (16, 17, 18)
    True
    """
    named("similarity", similarity, dict.fromkeys(SIMILARITIES))
    if isinstance(G, Similarity) and similarity != "precomputed":
        raise ValueError(
            f"G is a similarity already, made by {G.kind!r}: pass similarity='precomputed', or the "
            "graph itself."
        )
    in_features = in_feature_space(weights, space)
    defaults = FEATURES if in_features else Options()
    lambdas = defaults.lambdas if isinstance(lambdas, str) else lambdas
    l1_ratio = defaults.l1_ratio if l1_ratio is None else l1_ratio
    max_iter = defaults.max_iter if max_iter is None else max_iter
    options = Options.among(locals())
    with shown(progress) as line:
        monitor = Monitor(checkpoint, on_check, progress if line is None else line, n_jobs)
        if line is not None:
            line.note("reading the graph and making its features ...")
        # Another diagonal or norm needs K itself.
        by_graph = similarity in ("graph", "nearest_neighbors") and shift is None
        if by_graph and in_features and is_multiscale(weights) and not options.l1_ratio:
            if similarity == "nearest_neighbors":
                points, G = G, neighbor_graph(G, n_neighbors=n_neighbors)
            return _cluster_by_graph(
                as_graph(G), options, monitor, points, time, n_features, test_structure
            )
        K = make_similarity(
            G, similarity, shift=shift, n_neighbors=n_neighbors, signed=weights is not None
        )
        solved = features_path if in_features else _path_of_similarity
        return solved(K, weights, n_features, options, monitor)


def make_similarity(
    G: Any,
    kind: str,
    *,
    shift: Shift | None = None,
    n_neighbors: int | None = None,
    signed: bool = True,
) -> Similarity:
    """Make the similarity of that name from a graph, points or K itself.

    The parameters are those of `cluster`; ``signed`` allows negative entries in a precomputed K.
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


def _path_of_similarity(
    K: Similarity, weights: Any, n_features: int, options: Options, monitor: Monitor
) -> Path:
    """The path of the paper's problem."""
    if is_multiscale(weights):
        X = spectral_features(K, min(n_features, K.graph.n))
        weights = multiscale_weights(positive_part(K.graph).matrix(), X)
    return graph_path(K, weights, options, monitor)


def _cluster_by_graph(
    graph: Graph,
    options: Options,
    monitor: Monitor,
    points: Any,
    time: int | None,
    n_features: int,
    test_structure: bool,
) -> Path:
    """The path on the diffusion features of the graph, with multiscale weights."""
    if has_leaves(graph.n):
        needed = features_of_large(graph.n, graph.n_edges, n_features)
        require_memory(f"the features of {graph.n} nodes", needed, "ask for fewer (n_features)")
    density = None if points is None else point_density(points, graph)
    X = node_features(graph, time=time, n_features=min(n_features, graph.n))
    leaves = leaves_of(graph.without_diagonal().matrix(), X)
    made = {
        "kind": "diffusion",
        "time": diffusion_time(graph) if time is None else time,
        "noise_edge": noise_edge(graph),
        "n_features": X.shape[1],
        "n_leaves": len(leaves.features),
    }
    path = points_path(
        leaves.features,
        leaves.weights(),
        options,
        monitor,
        names=graph.names,
        record={"similarity": made, "weights": "multiscale", "model": "features"},
        graph=graph,
        features=X,
        leaf=leaves.labels,
    )
    structure = group_structure(graph) if test_structure else None
    return replace(path, structure=structure, density=density)
