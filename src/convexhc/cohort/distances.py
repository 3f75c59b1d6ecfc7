"""Distances between subjects: how different two hierarchies of the same nodes are."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from convexhc._checks import checked_count, checked_number, named
from convexhc._extras import required
from convexhc._types import FloatArray
from convexhc.cohort.consensus import common_nodes
from convexhc.kernels.labels import numbered
from convexhc.metrics import (
    centroid_distances,
    cophenetic_distances,
    information_matrix,
    kendall_matrix,
    neighbor_matrix,
)
from convexhc.path.path import Path

# What each metric says of two subjects; 0 is no difference.
METRICS = {
    "cophenetic": "1 - Kendall's tau of the cophenetic distances (the lam at which nodes join)",
    "centroid": "1 - Kendall's tau of the distances between centroids at one lam",
    "neighbors": "share of nearest neighbours that differ, ties broken at random",
    "information": "variation of information at matched numbers of clusters, over log n",
}
# Fewer common nodes have no hierarchy to compare.
MIN_COMMON_NODES = 3
# Nearest neighbours of the neighbour graphs.
N_NEIGHBORS = 5


@dataclass(frozen=True, eq=False)
class SubjectDistances:
    """Distances between the subjects of a cohort.

    Attributes
    ----------
    metric : str
        One of `METRICS`.
    subjects : tuple
        Names of the subjects.
    matrix : (s, s) ndarray
        Symmetric, with a zero diagonal; NaN where a subject has no order of distances, such as one
        that is fused completely.
    n_nodes : int
        Number of common nodes, on which subjects are compared.
    lam : float or None
        Penalty at which centroids are compared.
    n_clusters : tuple of int
        Numbers of clusters at which partitions are compared.
    """

    metric: str
    subjects: tuple[Hashable, ...] = field(repr=False)
    matrix: FloatArray = field(repr=False)
    n_nodes: int
    lam: float | None = None
    n_clusters: tuple[int, ...] = ()

    @property
    def label(self) -> str:
        """Short name, for files and tables: the metric, and the lam if there is one."""
        return self.metric if self.lam is None else f"{self.metric}_lam{self.lam:g}"

    @property
    def meaning(self) -> str:
        """What the distances are, in words."""
        text = METRICS[self.metric]
        if self.n_clusters:
            text += f" ({', '.join(map(str, self.n_clusters))} clusters, mean)"
        if self.metric == "neighbors":
            text += " (by cophenetic distance)" if self.lam is None else " (by centroids)"
        return text if self.lam is None else f"{text}; lam = {self.lam:g}"

    def to_frame(self) -> Any:
        """A pandas DataFrame, subjects as rows and columns (extra: graphs)."""
        pd = required("pandas", "to_frame")
        return pd.DataFrame(self.matrix, index=self.subjects, columns=self.subjects)


def matched_counts(n: int) -> tuple[int, ...]:
    """Numbers of clusters at which partitions are compared: 2, 4, 8, ... up to half the nodes.

    Examples
    --------
    >>> matched_counts(70)
    (2, 4, 8, 16, 32)
    """
    return tuple(2**power for power in range(1, max(n, 1).bit_length()) if 2 ** (power + 1) <= n)


def subject_distances(
    paths: Mapping[Hashable, Path],
    metric: str = "cophenetic",
    *,
    lam: float | None = None,
    n_neighbors: int = N_NEIGHBORS,
    n_clusters: tuple[int, ...] | None = None,
) -> SubjectDistances:
    """Distances between every two subjects, on the nodes that all have.

    Parameters
    ----------
    paths : mapping from subject to Path
        Nodes are matched by name.
    metric : {"cophenetic", "centroid", "neighbors", "information"}
        "cophenetic": one minus Kendall's tau of the cophenetic distances, the lam at which two
        nodes join. "centroid": of the distances between the centroids at ``lam``. "neighbors":
        fraction of the nearest neighbours that differ (`metrics.neighbor_matrix`), by cophenetic
        distance, or by centroids if ``lam`` is given. "information": mean variation of information
        divided by log n, at matched numbers of clusters.
    lam : float, optional
        Penalty at which centroids are compared: the solved one nearest in ratio. The paths must
        have kept centroids (``keep="all"``).
    n_neighbors : int
        Neighbours per node, for "neighbors".
    n_clusters : tuple of int, optional
        For "information"; default 2, 4, 8, ... up to half the nodes. Partitions are
        ``path.labels(n_clusters=k)``.

    Returns
    -------
    SubjectDistances
        O(s^2 n^2 log n) for s subjects of n nodes; 300 of 70 nodes take a few seconds.

    Raises
    ------
    ValueError
        Fewer than two subjects, fewer than three common nodes, a metric that is unknown, no lam for
        centroids, or paths without centroids.

    Examples
    --------
    >>> import convexhc
    >>> from convexhc.datasets import fractal_graph
    >>> graphs = [fractal_graph(seed, n_meta=2, n_super=2, clique=4).adjacency for seed in (0, 1)]
    >>> cohort = convexhc.solve_paths(graphs)
    >>> subject_distances(cohort.paths, "information").matrix.shape
    (2, 2)
    """
    named("metric", metric, METRICS)
    if len(paths) < 2:
        raise ValueError(f"distances need two subjects or more, received {len(paths)}.")
    nodes = common_nodes({subject: path.names for subject, path in paths.items()})
    n = len(nodes.names)
    if n < MIN_COMMON_NODES:
        raise ValueError(
            f"the subjects have {n} nodes in common, of {len(nodes.union)}: hierarchies are "
            "compared on common nodes, matched by name. Give nodes the same names in every graph."
        )
    if metric == "information":
        counts = _checked_counts(n_clusters, n)
        matrix = np.zeros((len(paths), len(paths)))
        for k in counts:
            rows = [
                numbered(path.labels(n_clusters=k)[nodes.places[subject]])
                for subject, path in paths.items()
            ]
            matrix += information_matrix(rows) / (np.log(n) * len(counts))
        return SubjectDistances(metric, tuple(paths), matrix, n, n_clusters=counts)
    if metric == "centroid" and lam is None:
        raise ValueError("metric 'centroid' compares centroids at one lam: give lam.")
    strength = None if metric == "cophenetic" or lam is None else checked_number("lam", lam)
    between = [
        np.ascontiguousarray(node_distances(path, strength)[np.ix_(place, place)])
        for path, place in ((path, nodes.places[subject]) for subject, path in paths.items())
    ]
    if metric == "neighbors":
        k = min(checked_count("n_neighbors", n_neighbors), n - 1)
        matrix = neighbor_matrix(between, k)
    else:
        upper = np.triu_indices(n, 1)
        matrix = 1.0 - kendall_matrix([each[upper] for each in between])
        np.fill_diagonal(matrix, 0.0)
    return SubjectDistances(metric, tuple(paths), matrix, n, strength)


def node_distances(path: Path, lam: float | None = None) -> FloatArray:
    """Distances between the nodes of one path: cophenetic, or between centroids at ``lam``.

    Centroids on the simplex (the paper's problem) are compared in the feature space of the
    similarity, centroids in feature space as they are.
    """
    if lam is None:
        return cophenetic_distances(path.linkage)
    centroids = path.centroids(lam)
    if path.given_features is not None or path.graph is None:
        return centroid_distances(centroids)
    return centroid_distances(centroids, path.graph)


def _checked_counts(n_clusters: tuple[int, ...] | None, n: int) -> tuple[int, ...]:
    counts = matched_counts(n) or (2,) if n_clusters is None else tuple(n_clusters)
    if not counts:
        raise ValueError("n_clusters is empty: give at least one number of clusters.")
    for k in counts:
        checked_count("every entry of n_clusters", k)
        if not 1 < k <= n:
            raise ValueError(
                f"n_clusters must be between 2 and the {n} common nodes, received {k}."
            )
    return counts
