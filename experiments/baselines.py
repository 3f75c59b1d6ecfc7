"""Other clustering methods behind one interface, to run them on the same similarity.

A :class:`Baseline` has a ``name``, ``available()``, and ``fit(K)``, which returns a
:class:`Hierarchy`. The agglomerative methods use the feature-space distances of K, the others its
off-diagonal entries as edge weights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal, Protocol, SupportsIndex

import numpy as np
from scipy import sparse
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform
from sklearn.cluster import SpectralClustering

from convexhc._checks import checked_count
from convexhc._types import FloatArray, IntArray
from convexhc.graph import Graph
from convexhc.io import as_graph
from convexhc.kernels.labels import numbered_by_first
from convexhc.metrics import distances_of
from convexhc.similarity import require_psd
from convexhc.tree import Tree

__all__ = ["Baseline", "Hierarchy", "Linkage", "Louvain", "Paris", "Spectral", "all_baselines"]


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Result of a baseline.

    Parameters
    ----------
    linkage : (n - 1, 4) float64 array or None
        Linkage in scipy's form, finite and monotone; None if the method makes no tree.
    labels : callable
        ``labels(k)`` returns the clusters as (n,) integers numbered by first occurrence: for a
        tree, the finest level with at most k clusters, ties not broken by the order of the nodes;
        for a flat method, its result with k clusters.
    """

    linkage: FloatArray | None
    labels: Callable[[SupportsIndex], IntArray]


class Baseline(Protocol):
    """A method to compare with."""

    @property
    def name(self) -> str:
        """Short name for tables and figures."""

    def available(self) -> bool:
        """Whether its requirements are installed."""

    def fit(self, K: Any) -> Hierarchy:
        """Cluster the nodes of a similarity, given as anything `as_graph` reads."""


@dataclass(frozen=True)
class Linkage:
    """Standard agglomerative clustering in the feature space of the similarity.

    The distance is ``sqrt(K_ii + K_jj - 2 K_ij)``, that of points with inner products K; a shift
    of the diagonal adds a constant to every squared distance. O(n^2) time and memory (scipy),
    besides one check that K is positive semidefinite.

    Parameters
    ----------
    method : {"single", "average", "complete", "ward"}
        Linkage criterion.

    Examples
    --------
    >>> Linkage("single").fit([[1.0, 0.9, 0.0], [0.9, 1.0, 0.1], [0.0, 0.1, 1.0]]).labels(2)
    array([0, 0, 1])
    """

    method: Literal["single", "average", "complete", "ward"]

    @property
    def name(self) -> str:
        """Name of the method."""
        return f"{self.method} linkage"

    def available(self) -> bool:
        """Return True: scipy is a requirement of the package."""
        return True

    def fit(self, K: Any) -> Hierarchy:
        """Cluster; refuses a similarity that is not positive semidefinite."""
        graph = as_graph(K, signed=True)
        require_psd(graph)
        if graph.n == 1:
            return _of_linkage(np.zeros((0, 4)))
        distance = squareform(distances_of(graph.dense()), checks=False)
        return _of_linkage(linkage(distance, self.method))


@dataclass(frozen=True)
class Spectral:
    """Spectral clustering: k-means on the leading eigenvectors of the normalised Laplacian.

    The affinity is K without its diagonal, which does not affect the Laplacian. There is no tree:
    every number of clusters is a separate computation, O(n^2 k) for a dense K.

    Parameters
    ----------
    random_state : int
        Seed of the eigenvector solver and of k-means.
    n_init : int
        Number of k-means initialisations.

    Examples
    --------
    >>> pairs = np.kron(np.eye(2), np.ones((3, 3))) + 0.01
    >>> Spectral().fit(pairs).labels(2)
    array([0, 0, 0, 1, 1, 1])
    """

    random_state: int = 0
    n_init: int = 10

    @property
    def name(self) -> str:
        """Name of the method."""
        return "spectral"

    def available(self) -> bool:
        """Return True: scikit-learn is a requirement of the package."""
        return True

    def fit(self, K: Any) -> Hierarchy:
        """Read the similarity, refusing negative entries; clusters are computed by `labels`."""
        graph = as_graph(K)
        return Hierarchy(None, lambda n_clusters: self._labels(graph, n_clusters))

    def _labels(self, graph: Graph, n_clusters: SupportsIndex) -> IntArray:
        wanted = min(checked_count("n_clusters", n_clusters), graph.n)
        # Trivial partitions, for which scikit-learn has no eigenvectors.
        if wanted == 1:
            return np.zeros(graph.n, dtype=np.int64)
        if wanted == graph.n:
            return np.arange(graph.n, dtype=np.int64)
        model = SpectralClustering(
            n_clusters=wanted,
            affinity="precomputed",
            n_init=self.n_init,
            random_state=self.random_state,
        )
        return numbered_by_first(model.fit_predict(_edges_only(graph)))


@dataclass(frozen=True)
class Paris:
    """Agglomerative clustering of a graph by node pair sampling (Bonald et al., 2018).

    Clusters a and b merge at height ``p(a) p(b) / p(a, b)``, the inverse of how much more often
    than by chance an edge joins them. Needs scikit-network.

    Examples
    --------
    >>> Paris().name
    'paris'
    """

    @property
    def name(self) -> str:
        """Name of the method."""
        return "paris"

    def available(self) -> bool:
        """Whether scikit-network is installed."""
        return _has_scikit_network()

    def fit(self, K: Any) -> Hierarchy:
        """Cluster; refuses negative entries, merges components at the top."""
        _require_scikit_network(self.name)
        from sknetwork import hierarchy

        graph = as_graph(K)
        if graph.n_edges == 0:
            return _of_linkage(_partitions_linkage([np.arange(graph.n)]))
        # Isolated nodes have degree zero: they are left out and merged at the end.
        linked = np.unique([graph.tail, graph.head])
        edges = _edges_only(graph.subgraph(linked))
        merges = np.asarray(hierarchy.Paris(reorder=False).fit_transform(edges))
        return _of_linkage(_monotone_linkage(_with_isolated(merges, linked, graph.n)))


@dataclass(frozen=True)
class Louvain:
    """Communities of communities: every aggregation of the Louvain algorithm is a level.

    The tree has one level per aggregation, so ``labels(k)`` may have far fewer clusters than k;
    the clusters of the last level are merged at the top. Needs scikit-network.

    Parameters
    ----------
    resolution : float
        Resolution of the modularity; larger values give smaller communities.

    Examples
    --------
    >>> Louvain(resolution=2.0)
    Louvain(resolution=2.0)
    """

    resolution: float = 1.0

    @property
    def name(self) -> str:
        """Name of the method."""
        return "louvain"

    def available(self) -> bool:
        """Whether scikit-network is installed."""
        return _has_scikit_network()

    def fit(self, K: Any) -> Hierarchy:
        """Cluster; refuses negative entries, merges components at the top.

        The levels are collected here because scikit-network's own Louvain hierarchies recurse
        once per community, and miscount leaves.
        """
        _require_scikit_network(self.name)
        from sknetwork.clustering import Louvain as Aggregation

        graph = as_graph(K)
        levels = [np.arange(graph.n)]
        adjacency = _edges_only(graph)
        # Nodes are visited in order, without shuffling, so there is no seed.
        pass_once = Aggregation(
            self.resolution, n_aggregations=1, return_probs=False, return_aggregate=False
        )
        while adjacency.nnz:
            labels = pass_once.fit_predict(adjacency)
            count = int(labels.max()) + 1
            if count == adjacency.shape[0]:
                break
            levels.append(np.asarray(labels[levels[-1]]))
            ones = np.ones(labels.size)
            members = sparse.csr_matrix((ones, (labels, np.arange(labels.size))))
            adjacency = sparse.csr_matrix(members @ adjacency @ members.T)
        return _of_linkage(_partitions_linkage(levels))


def all_baselines() -> tuple[Baseline, ...]:
    """Every baseline whose requirements are installed, with its default options.

    Returns
    -------
    tuple of Baseline
        Agglomerative methods first, in a fixed order.

    Examples
    --------
    >>> [baseline.name for baseline in all_baselines()][:4]
    ['single linkage', 'average linkage', 'complete linkage', 'ward linkage']
    """
    every: tuple[Baseline, ...] = (
        Linkage("single"),
        Linkage("average"),
        Linkage("complete"),
        Linkage("ward"),
        Spectral(),
        Paris(),
        Louvain(),
    )
    return tuple(baseline for baseline in every if baseline.available())


def _has_scikit_network() -> bool:
    return find_spec("sknetwork") is not None


def _require_scikit_network(name: str) -> None:
    if not _has_scikit_network():
        raise ImportError(f"{name} needs scikit-network: pip install scikit-network")


def _of_linkage(Z: FloatArray) -> Hierarchy:
    """Hierarchy of a linkage."""
    return Hierarchy(Z, lambda n_clusters: Tree.from_linkage(Z).labels(n_clusters=n_clusters))


def _edges_only(graph: Graph) -> sparse.csr_matrix:
    """Off-diagonal entries with the index type of scikit-network and scikit-learn."""
    edges = graph.without_diagonal().matrix()
    indices = edges.indices.astype(np.int32), edges.indptr.astype(np.int32)
    return sparse.csr_matrix((edges.data, *indices), shape=edges.shape)


def _partitions_linkage(levels: list[IntArray]) -> FloatArray:
    """Linkage of nested partitions, from fine to coarse; remaining clusters merge at the top."""
    return Tree.from_partitions(np.arange(len(levels), dtype=np.float64), levels).Z


def _with_isolated(merges: FloatArray, linked: IntArray, n: int) -> FloatArray:
    """Merges of the linked nodes, extended to all n nodes by merging the others at infinity."""
    isolated = np.setdiff1d(np.arange(n), linked)
    number = np.concatenate([linked, np.arange(n, n + len(merges))])
    root = n + len(merges) - 1 + np.arange(isolated.size)
    far = np.full(isolated.size, np.inf)
    own = np.column_stack([number[merges[:, :2].astype(np.int64)], merges[:, 2]])
    return np.concatenate([own, np.column_stack([root, isolated, far])])


def _monotone_linkage(merges: FloatArray) -> FloatArray:
    """Linkage, with leaf counts, of (id, id, height) merges that list children before parents.

    A merge below its children, by single precision, is raised to their height; a merge at
    infinity, of two components, is put at 1.1 times the largest finite height.
    """
    n = len(merges) + 1
    pairs = merges[:, :2].astype(np.int64).tolist()
    finite = merges[np.isfinite(merges[:, 2]), 2]
    top = 1.1 * float(finite.max()) if finite.size else 1.0
    height, size = [0.0] * n, [1] * n
    for (a, b), own in zip(pairs, merges[:, 2].tolist(), strict=True):
        height.append(max(min(own, top), height[a], height[b]))
        size.append(size[a] + size[b])
    # A stable sort keeps children before parents at equal heights.
    order = np.argsort(height[n:], kind="stable")
    renumbered = np.arange(2 * n - 1)
    renumbered[n + order] = np.arange(n, 2 * n - 1)
    ids = np.sort(renumbered[np.array(pairs, dtype=np.int64)], axis=1)
    return np.column_stack([ids, height[n:], size[n:]]).astype(np.float64)[order]
