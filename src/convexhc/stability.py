"""Stability of one flat clustering, however it is made, when some edges are left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import joblib
import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.cluster import contingency_matrix

from convexhc._types import FloatArray, Labels
from convexhc.graph import Graph
from convexhc.io import as_graph
from convexhc.kernels.labels import numbered
from convexhc.progress_line import ProgressLine, count_listener, shown
from convexhc.resampling.draws import draws

__all__ = ["Stability", "bootstrap"]


@dataclass(frozen=True, eq=False)
class Stability:
    """Agreement of a clustering with those of graphs that lack some edges.

    Attributes
    ----------
    labels : (n,) ndarray of int
        Clusters of the whole graph.
    adjusted_rand : (B,) ndarray
        Adjusted Rand index of each resample with ``labels``.
    jaccard : (B, c) ndarray
        For every resample and cluster of ``labels``, the Jaccard index |a & b| / |a | b| with the
        most similar cluster of the resample.
    """

    labels: Labels = field(repr=False)
    adjusted_rand: FloatArray = field(repr=False)
    jaccard: FloatArray = field(repr=False)

    def __repr__(self) -> str:
        return (
            f"Stability(n_resamples={len(self.adjusted_rand)}, "
            f"mean adjusted Rand {self.adjusted_rand.mean():.2f}, "
            f"least stable cluster {self.per_cluster.min():.2f})"
        )

    @property
    def per_cluster(self) -> FloatArray:
        """Mean Jaccard index of each cluster; above 0.75 it is commonly called stable."""
        return np.asarray(self.jaccard.mean(axis=0))


def bootstrap(
    graph: Any,
    cluster: Callable[[Graph], ArrayLike],
    *,
    n_resamples: int = 20,
    share: float = 0.9,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: bool | ProgressLine | Callable[[int, int], object] = False,
) -> Stability:
    """Cluster resampled graphs and compare with the clusters of the whole graph.

    Each resample keeps all nodes, and every edge independently with probability ``share``.

    Parameters
    ----------
    graph : anything `convexhc.as_graph` reads
        The observed graph; not a similarity, which would not stay positive semidefinite without
        some of its entries.
    cluster : callable
        Takes a graph and returns one label per node: build K, solve, cut.
    n_resamples : int
        Number of resamples.
    share : float
        Probability that an edge is kept; above 0, at most 1.
    random_state : int
        Seed of the resamples.
    n_jobs : int, optional
        Number of threads, as in joblib.
    progress : bool or callable
        True shows the clusterings done and the time left on a terminal or in a notebook; a callable
        is called as ``progress(done, total)``.

    Returns
    -------
    Stability
        Agreement of the partitions and of each cluster. Costs ``n_resamples + 1`` calls of
        ``cluster``.

    Raises
    ------
    ValueError
        A number out of range, or not one label per node.

    Examples
    --------
    >>> import convexhc
    >>> graph = convexhc.datasets.fractal_graph(n_meta=2, n_super=3, clique=6)
    >>> def six(graph):
    ...     K = convexhc.similarity.two_hop(graph)
    ...     return convexhc.solve_path(K, lam_step=0.5).labels(n_clusters=6)
    >>> bootstrap(graph.adjacency, six, n_resamples=5).per_cluster.min() > 0.75
    np.True_
    """
    whole = as_graph(graph)
    resamples = draws(
        whole, "drop", n_resamples=n_resamples, share=share, random_state=random_state
    )
    workers = joblib.Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
    found = workers(joblib.delayed(_labels)(one, cluster) for one in [whole, *resamples])
    with shown(progress) as line:
        count = count_listener(line, progress, 1 + n_resamples, "clustering")
        clustered = []
        for labels in found:
            clustered.append(labels)
            count(len(clustered))
    labels, *others = clustered
    return Stability(
        labels,
        np.array([adjusted_rand_score(labels, other) for other in others]),
        np.array([_best_jaccard(labels, other) for other in others]),
    )


def _labels(graph: Graph, cluster: Callable[[Graph], ArrayLike]) -> Labels:
    """Labels of the clustering, numbered from 0; noise, labelled -1, counts as a cluster."""
    found = np.asarray(cluster(graph))
    if found.shape != (graph.n,):
        raise ValueError(
            f"cluster must return one label for each of the {graph.n} nodes, received shape "
            f"{found.shape}."
        )
    return numbered(found)


def _best_jaccard(labels: Labels, other: Labels) -> FloatArray:
    """Largest Jaccard index of each cluster of ``labels`` with a cluster of ``other``."""
    common = contingency_matrix(labels, other)
    union = common.sum(axis=1, keepdims=True) + common.sum(axis=0, keepdims=True) - common
    return np.asarray((common / union).max(axis=1))
