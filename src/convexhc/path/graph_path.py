"""`convexhc.cluster`: a graph of which nothing is known, at every scale, in feature space."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexhc.graph import Graph
from convexhc.io import as_graph
from convexhc.path.level import Level
from convexhc.path.options import Keep
from convexhc.path.points import solve_points_path
from convexhc.path.result import Path
from convexhc.similarity import (
    Similarity,
    diffusion_features,
    multiscale_weights,
    require_psd,
    spectral_features,
)
from convexhc.similarity.density import point_density
from convexhc.similarity.diffusion_time import N_FEATURES, diffusion_time, noise_edge
from convexhc.similarity.strongest import positive_part
from convexhc.similarity.structure import Structure, group_structure
from convexhc.solvers.provenance import Provenance
from convexhc.solvers.solve import edge_weights

Array = NDArray[np.float64]

# Values of lam of a path in feature space: their ratio is then about a fifth.
N_LAMBDAS = 60


def cluster(
    G: Any,
    lambdas: Iterable[float] | int = N_LAMBDAS,
    *,
    points: Any = None,
    time: int | None = None,
    n_features: int = N_FEATURES,
    tol: float = 1e-4,
    max_iter: int = 200,
    test_structure: bool = True,
    keep: Keep | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    on_check: Callable[[Level], object] | None = None,
) -> Path:
    """Cluster a graph of which nothing is known, at every scale.

    Features X of the graph are those of a diffusion whose time its spectrum sets
    (`similarity.diffusion_features`), edge weights W those that keep every scale
    (`similarity.multiscale_weights`). The path minimises

        1/2 |U - X|^2 + lam sum_{i<j} W_ij |U_i - U_j|

    for growing lam: the paper's objective before its inequality (appendix B), where the penalty
    acts on the centroids in feature space. Every lam is certified in that model.

    Parameters
    ----------
    G : graph
        Anything `convexhc.as_graph` reads: array, sparse matrix, DataFrame, networkx or igraph
        graph, edges, file name. Weights not negative.
    lambdas : int or iterable of float
        How many lam, in equal ratios from where the first nodes meet to where every component is
        one cluster; or exactly these.
    points : (n, d) array, optional
        The points of which G is the neighbour graph (`similarity.neighbor_graph`): the suggested
        scale then has valleys of density between its clusters.
    time : int, optional
        Steps of the diffusion, instead of the number that the spectrum sets.
    n_features : int
        Columns of X.
    tol, max_iter, keep, checkpoint, on_check
        As for `convexhc.solve_points_path`.
    test_structure : bool
        Test whether the graph has groups beyond chance (`similarity.structure.group_structure`),
        and keep the answer as ``path.structure``.

    Returns
    -------
    Path
        ``path.suggestion`` is the scale to start from, ``path.labels(n_clusters=k)`` gives exactly
        k clusters. Memory is O((n + E) n_features) for E weighted pairs, about 30 a node.

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
    graph = as_graph(G)
    density = None if points is None else point_density(points, graph)
    X = diffusion_features(graph, time=time, n_features=min(n_features, graph.n))
    edge = noise_edge(graph)
    made = {
        "kind": "diffusion",
        "time": diffusion_time(graph) if time is None else time,
        "noise_edge": edge,
        "n_features": X.shape[1],
    }
    path = _feature_path(
        X,
        multiscale_weights(graph.without_diagonal().matrix(), X),
        graph,
        {"similarity": made, "weights": "multiscale"},
        group_structure(graph) if test_structure else None,
        lambdas=lambdas,
        tol=tol,
        max_iter=max_iter,
        keep=keep,
        checkpoint=checkpoint,
        on_check=on_check,
    )
    return path if density is None else replace(path, density=density)


def solve_features_path(
    K: Any,
    lambdas: Iterable[float] | int = N_LAMBDAS,
    *,
    weights: Any = "multiscale",
    n_features: int = N_FEATURES,
    l1_ratio: float = 0.0,
    tol: float = 1e-4,
    max_iter: int = 200,
    keep: Keep | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    on_check: Callable[[Level], object] | None = None,
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
    lambdas : int or iterable of float
        How many lam, or exactly these.
    weights : "multiscale", int, graph or None
        Edge weights W: `similarity.multiscale_weights` of K; or as for `convexhc.solve`.
    n_features : int
        Columns of X with X X' nearest to K.
    l1_ratio : float
        Share of the l1 norm in the penalty. Above 0 the answer depends on the axes of the features.
    tol, max_iter, keep, checkpoint, on_check
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
    graph = as_graph(K, signed=True)
    require_psd(graph)
    X = spectral_features(graph, min(int(n_features), graph.n))
    if isinstance(weights, str):
        if weights != "multiscale":
            raise ValueError(
                f"weights must be 'multiscale', a number of neighbours, a graph or None, received "
                f"{weights!r}."
            )
        edges = multiscale_weights(positive_part(graph).matrix(), X)
    else:
        edges = edge_weights(graph, weights)
    named = weights if isinstance(weights, str | int | None) else "given"
    record = K.record if isinstance(K, Similarity) else None
    return _feature_path(
        X,
        edges,
        graph,
        {"similarity": record, "weights": named},
        None,
        l1_ratio=l1_ratio,
        lambdas=lambdas,
        tol=tol,
        max_iter=max_iter,
        keep=keep,
        checkpoint=checkpoint,
        on_check=on_check,
    )


def _feature_path(
    X: Array,
    weights: Graph,
    graph: Graph,
    record: dict[str, Any],
    structure: Structure | None,
    *,
    lambdas: Iterable[float] | int,
    **options: Any,
) -> Path:
    """The points path on features, with what it was made of."""
    path = solve_points_path(X, lambdas, weights=weights, names=graph.names, **options)
    said = {**path.provenance.options, **record, "model": "features"}
    return replace(
        path,
        provenance=Provenance.of(said, path.provenance.data),
        graph=graph,
        given_features=X,
        structure=structure,
    )
