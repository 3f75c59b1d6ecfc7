"""`convexhc.solve_features_path`: a similarity at every scale, with the penalty in its features."""

from __future__ import annotations

import os
from typing import Any

from convexhc._checks import named
from convexhc.api.options import FEATURES, Keep, Lambdas, Monitor, OnLevel, Options, Progress
from convexhc.api.points_path import points_path
from convexhc.api.renamed import explains_renamed_options
from convexhc.api.single_lam import edge_weights, similarity_record
from convexhc.io import as_graph
from convexhc.path.path import Path
from convexhc.similarity import multiscale_weights, require_psd, spectral_features
from convexhc.similarity.edge_weights import positive_part
from convexhc.similarity.spectral import N_FEATURES

SPACES = ("auto", "features", "similarity")


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
