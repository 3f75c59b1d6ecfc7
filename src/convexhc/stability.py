"""Whether the clusters would be the same if a few edges had not been seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import adjusted_rand_score

from convexhc._types import FloatArray, Labels
from convexhc.graph import Graph
from convexhc.io import as_graph
from convexhc.kernels.labels import numbered

__all__ = ["Stability", "bootstrap"]


@dataclass(frozen=True, eq=False)
class Stability:
    """How well a clustering survives the loss of some edges.

    Attributes
    ----------
    labels : (n,) ndarray of int
        Clusters of the whole graph.
    adjusted_rand : (B,) ndarray
        Agreement of each resample with ``labels``: 1 if equal, about 0 if unrelated.
    jaccard : (B, c) ndarray
        For every resample and cluster of ``labels``, the overlap |a & b| / |a | b| with the most
        similar cluster of the resample.
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
        """Mean overlap of every cluster: above 0.75 it is commonly called stable."""
        return np.asarray(self.jaccard.mean(axis=0))


def bootstrap(
    graph: Any,
    cluster: Callable[[Graph], ArrayLike],
    *,
    n_resamples: int = 20,
    share: float = 0.9,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Stability:
    """Cluster again with some edges left out, and compare.

    Each resample keeps every edge with probability ``share``, independently, and all nodes. Only
    the drawing of the edges is random.

    Parameters
    ----------
    graph : anything `convexhc.as_graph` reads
        The graph whose edges were observed; not a similarity, which may not lose entries and stay
        positive semidefinite.
    cluster : callable
        Takes a graph and returns one label a node: build K, solve, cut.
    n_resamples : int
        Number of resamples.
    share : float
        Above 0, at most 1.
    random_state : int
        Seed of the resamples.
    n_jobs : int, optional
        Threads, as joblib counts them.

    Returns
    -------
    Stability
        Agreement in all, and cluster by cluster. Costs ``n_resamples + 1`` calls of ``cluster``.

    Raises
    ------
    ValueError
        A number out of range, or labels that are not one for each node.

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
    if n_resamples < 1:
        raise ValueError(f"n_resamples must be at least 1, received {n_resamples}.")
    if not 0.0 < share <= 1.0:
        raise ValueError(f"share must be above 0 and at most 1, received {share}.")
    whole = as_graph(graph)
    random = np.random.default_rng(random_state)
    resamples = [_thinned(whole, random.random(whole.n_edges) < share) for _ in range(n_resamples)]
    call = joblib.delayed(_labels)
    found = joblib.Parallel(n_jobs=n_jobs, prefer="threads")(
        call(one, cluster) for one in [whole, *resamples]
    )
    labels, *others = found
    return Stability(
        labels,
        np.array([adjusted_rand_score(labels, other) for other in others]),
        np.array([_overlaps(labels, other) for other in others]),
    )


def _thinned(graph: Graph, kept: NDArray[np.bool_]) -> Graph:
    parts = {name: getattr(graph, name)[kept] for name in ("tail", "head", "weight")}
    return replace(graph, **parts)


def _labels(graph: Graph, cluster: Callable[[Graph], ArrayLike]) -> Labels:
    """Labels 0, 1, ...; noise, labelled -1, is a group like any other."""
    found = np.asarray(cluster(graph))
    if found.shape != (graph.n,):
        raise ValueError(
            f"cluster must return one label for each of the {graph.n} nodes, received shape "
            f"{found.shape}."
        )
    return numbered(found)


def _overlaps(labels: Labels, other: Labels) -> FloatArray:
    """Largest Jaccard overlap of every cluster of ``labels`` with one of ``other``."""
    both = np.zeros((int(labels.max()) + 1, int(other.max()) + 1))
    np.add.at(both, (labels, other), 1.0)
    union = both.sum(axis=1, keepdims=True) + both.sum(axis=0, keepdims=True) - both
    return np.asarray((both / union).max(axis=1))
