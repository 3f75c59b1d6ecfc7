"""The methods that are compared, behind one protocol: a graph or points in, partitions out.

A method never sees the known groups. Only their number is told, to `Found.at`; methods without a
tree get it beforehand. What a method is not made for it leaves out: spectral clustering has no
scale of its own, HDBSCAN no number of clusters to be asked for.

The rivals get the better of what could be chosen for them: Ward and average linkage the cut of
largest modularity as the scale they would choose, Leiden the best of 40 resolutions as its tree.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from convexhc import ConvexHierarchicalClustering, similarity
from convexhc.path.cautions import FewerClustersWarning
from convexhc.similarity.structure import NoStructureWarning
from convexhc.tree import Tree
from experiments.baselines import Linkage, Louvain, Paris, Spectral
from experiments.quality.collection import Labels

FloatArray = NDArray[np.float64]

# Largest number of clusters among which the best cut is searched.
MOST_CLUSTERS = 60
# Leiden: numbers of communities from one to more than any known level has.
RESOLUTIONS = np.geomspace(0.05, 20.0, 40)
SEED = 0
# Number of Infomap trials, of which the best is kept.
TRIALS = 10


@dataclass(frozen=True, eq=False)
class Given:
    """Input of a method: a graph, and the points whose neighbour graph it is, if any."""

    adjacency: sparse.csr_array
    points: FloatArray | None = None

    @property
    def n(self) -> int:
        """Number of nodes."""
        return int(self.adjacency.shape[0])


@dataclass(frozen=True, eq=False)
class Found:
    """Result of a method.

    Attributes
    ----------
    seconds : float
        CPU time of the fit, without cutting the tree.
    at : callable or None
        ``at(k)``: the partition to score for k clusters.
    cuts : callable
        All partitions among which the best is searched.
    chosen : (n,) labels or None
        The partition chosen by the method.
    linkage : (n - 1, 4) array or None
        The tree in scipy's form.
    counts : (L,) integers or None
        Number of clusters at every lam, for a path.
    confident : bool or None
        Whether the method reports that there are groups; None if it does not report.
    """

    seconds: float
    at: Callable[[int], Labels] | None = None
    cuts: Callable[[], Sequence[Labels]] = tuple
    chosen: Labels | None = None
    linkage: FloatArray | None = None
    counts: NDArray[np.int64] | None = None
    confident: bool | None = None


class Method(Protocol):
    """A clustering method of the benchmark."""

    @property
    def name(self) -> str:
        """Name in tables and figures."""

    def missing(self) -> str | None:
        """The missing package, or None."""

    def applies(self, given: Given) -> bool:
        """Whether the method accepts the data."""

    def fit(self, given: Given, known: Sequence[int]) -> Found:
        """Cluster; ``known`` are the numbers of clusters that will be requested."""


class _Always:
    """A method without further requirements that accepts graphs and points."""

    def missing(self) -> str | None:
        """Return None: nothing has to be installed."""
        return None

    def applies(self, given: Given) -> bool:
        """Return True: graphs and points are accepted."""
        return True


@dataclass(frozen=True)
class Convex(_Always):
    """This package with its defaults for graphs, and for points."""

    name: str = "convexhc"

    def fit(self, given: Given, known: Sequence[int]) -> Found:
        """Solve the path; its suggestion is the chosen partition."""

        def fit() -> Any:
            if given.points is None:
                return ConvexHierarchicalClustering(similarity="graph").fit(given.adjacency)
            return ConvexHierarchicalClustering(similarity="nearest_neighbors").fit(given.points)

        seconds, model = _timed_quietly(fit)
        return _read(given, seconds, model, model.path_.labels, model.labels_)


@dataclass(frozen=True)
class ConvexBefore(_Always):
    """The former defaults of this package, with horizontal cuts and the former choice of scale."""

    name: str = "convexhc before"

    def fit(self, given: Given, known: Sequence[int]) -> Found:
        """Solve the path in the space of the similarity, with ten strongest neighbours."""

        def fit() -> Any:
            if given.points is None:
                return _former("diffusion").fit(given.adjacency)
            K = similarity.knn(given.points, n_neighbors=10, shift="auto")
            return _former("precomputed").fit(K)

        seconds, model = _timed_quietly(fit)
        cut = model.path_.tree.labels
        return _read(given, seconds, model, cut, model.path_.tree.suggest()[1])


def _former(similarity: str) -> ConvexHierarchicalClustering:
    return ConvexHierarchicalClustering(similarity=similarity, weights=10, space="similarity")


def _timed_quietly(fit: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds and the estimator; the warning about missing groups is suppressed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoStructureWarning)
        return _timed(fit)


def _read(
    given: Given, seconds: float, model: Any, cut: Callable[..., Labels], chosen: Labels
) -> Found:
    """Result of a fitted path with one kind of cut."""
    structure = getattr(model.path_, "structure", None)

    def at(k: int) -> Labels:
        with warnings.catch_warnings():
            # A horizontal cut with fewer clusters gets the score it deserves.
            warnings.simplefilter("ignore", FewerClustersWarning)
            return cut(n_clusters=k)

    return Found(
        seconds=seconds,
        at=at,
        cuts=lambda: [at(k) for k in _numbers(given.n)],
        chosen=chosen,
        linkage=model.path_.linkage,
        counts=model.path_.n_clusters,
        confident=None if structure is None else bool(structure.found),
    )


@dataclass(frozen=True)
class SameKernel(_Always):
    """A standard linkage on the default similarity of this package."""

    method: Literal["single", "average", "complete", "ward"]
    choose: bool = False

    @property
    def name(self) -> str:
        """Name of the linkage."""
        return Linkage(self.method).name

    def fit(self, given: Given, known: Sequence[int]) -> Found:
        """Compute K and the tree; the chosen cut has the largest modularity on the graph."""

        def fit() -> FloatArray:
            if given.points is None:
                K = similarity.from_graph(given.adjacency)
            else:
                K = similarity.from_points(given.points)
            Z = Linkage(self.method).fit(K).linkage
            assert Z is not None
            return Z

        seconds, Z = _timed(fit)
        cuts = [exact_cut(Z, k) for k in _numbers(given.n)]
        best = max(cuts, key=lambda cut: modularity(given.adjacency, cut)) if self.choose else None
        return Found(seconds, lambda k: exact_cut(Z, k), lambda: cuts, best, Z)


@dataclass(frozen=True)
class ParisTree(_Always):
    """Paris (scikit-network) on the graph."""

    name: str = "paris"

    def missing(self) -> str | None:
        """scikit-network, if it is not installed."""
        return _not_installed("sknetwork", "scikit-network")

    def fit(self, given: Given, known: Sequence[int]) -> Found:
        """Compute the tree."""
        seconds, found = _timed(lambda: Paris().fit(given.adjacency))
        Z = found.linkage
        assert Z is not None
        cuts = [exact_cut(Z, k) for k in _numbers(given.n)]
        return Found(seconds, lambda k: exact_cut(Z, k), lambda: cuts, None, Z)


@dataclass(frozen=True)
class LouvainTree(_Always):
    """The aggregations of Louvain (scikit-network) on the graph; the last is the chosen one."""

    name: str = "louvain"

    def missing(self) -> str | None:
        """scikit-network, if it is not installed."""
        return _not_installed("sknetwork", "scikit-network")

    def fit(self, given: Given, known: Sequence[int]) -> Found:
        """Aggregate at resolution 1."""
        seconds, found = _timed(lambda: Louvain().fit(given.adjacency))
        Z = found.linkage
        assert Z is not None
        # One height per level; the artificial root is above the last level.
        heights = np.unique(Z[:, 2])
        tree = Tree.from_linkage(Z)
        levels = [tree.labels(lam=float(height)) for height in heights]
        top = [level for level in levels if _count(level) > 1]
        chosen = top[-1] if top else levels[-1]
        return Found(seconds, lambda k: _closest(levels, k), lambda: levels, chosen, Z)


@dataclass(frozen=True)
class Leiden(_Always):
    """Leiden (leidenalg) at 40 resolutions; the chosen partition is that at resolution 1."""

    name: str = "leiden"

    def missing(self) -> str | None:
        """leidenalg, if it is not installed."""
        return _not_installed("leidenalg", "leidenalg")

    def fit(self, given: Given, known: Sequence[int]) -> Found:
        """Scan the resolutions; at k, the partition whose number of clusters is closest to k."""
        seconds, (scan, chosen) = _timed(lambda: self._scan(given))
        return Found(seconds, lambda k: _closest(scan, k), lambda: scan, chosen)

    def _scan(self, given: Given) -> tuple[list[Labels], Labels]:
        import igraph
        import leidenalg

        tail, head, weight = _upper(given.adjacency)
        graph = igraph.Graph(given.n, np.column_stack([tail, head]).tolist())

        def at(resolution: float) -> Labels:
            found = leidenalg.find_partition(
                graph,
                leidenalg.RBConfigurationVertexPartition,
                weights=weight.tolist(),
                resolution_parameter=resolution,
                seed=SEED,
            )
            return np.array(found.membership, dtype=np.int64)

        return [at(float(resolution)) for resolution in RESOLUTIONS], at(1.0)


@dataclass(frozen=True)
class MapEquation(_Always):
    """Infomap: its modules at every level, and those of its two-level search."""

    name: str = "infomap"

    def missing(self) -> str | None:
        """Infomap, if it is not installed."""
        return _not_installed("infomap", "infomap")

    def fit(self, given: Given, known: Sequence[int]) -> Found:
        """Search with and without levels; the chosen partition is the top level of the default."""
        seconds, levels = _timed(lambda: [*self._levels(given, False), *self._levels(given, True)])
        return Found(seconds, lambda k: _closest(levels, k), lambda: levels, levels[0])

    def _levels(self, given: Given, two_level: bool) -> list[Labels]:
        """Modules from the top level to the bottom."""
        from infomap import Infomap

        search = Infomap(two_level=two_level, seed=SEED + 1, num_trials=TRIALS)
        search.add_nodes(range(given.n))
        tail, head, weight = _upper(given.adjacency)
        search.add_links(list(zip(tail.tolist(), head.tolist(), weight.tolist(), strict=True)))
        result = search.run()
        levels = []
        for depth in range(1, max(2, result.num_levels)):
            modules = result.modules(depth)
            levels.append(np.array([modules[node] for node in range(given.n)], dtype=np.int64))
        return levels


@dataclass(frozen=True)
class SpectralGivenK(_Always):
    """Spectral clustering of the graph with the known number of clusters."""

    name: str = "spectral"

    def fit(self, given: Given, known: Sequence[int]) -> Found:
        """Cluster once for every known number; the seconds are the mean of these."""
        found = Spectral(random_state=SEED).fit(given.adjacency)
        with warnings.catch_warnings():
            # Disconnected graphs are part of the benchmark.
            warnings.filterwarnings("ignore", "Graph is not fully connected", UserWarning)
            seconds, labels = _timed(lambda: {k: found.labels(k) for k in known})
        return Found(seconds / max(len(labels), 1), labels.__getitem__)


@dataclass(frozen=True)
class Density(_Always):
    """HDBSCAN of points with its defaults; noise counts as a cluster."""

    name: str = "hdbscan"

    def applies(self, given: Given) -> bool:
        """Return True for points only."""
        return given.points is not None

    def fit(self, given: Given, known: Sequence[int]) -> Found:
        """Cluster the points."""
        from sklearn.cluster import HDBSCAN

        seconds, labels = _timed(lambda: HDBSCAN(copy=True).fit_predict(given.points))
        return Found(seconds, chosen=np.asarray(labels, dtype=np.int64))


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Convex(),
        ConvexBefore(),
        SameKernel("single"),
        SameKernel("average", choose=True),
        SameKernel("complete"),
        SameKernel("ward", choose=True),
        ParisTree(),
        LouvainTree(),
        Leiden(),
        MapEquation(),
        SpectralGivenK(),
        Density(),
    )
}
# Methods that are run on graphs with removed edges, and on graphs without groups.
LOSS_METHODS = (
    *("convexhc", "ward linkage", "average linkage", "complete linkage", "single linkage"),
    *("spectral", "leiden"),
)
NOISE_METHODS = ("convexhc", "leiden", "infomap")
OURS = ("convexhc", "convexhc before")
# Methods whose results depend on the code of the package.
OF_PACKAGE = (*OURS, *(name for name in METHODS if name.endswith("linkage")))


def exact_cut(Z: FloatArray, k: int) -> Labels:
    """Exactly k clusters: the cut below the last k - 1 rows of a linkage.

    Examples
    --------
    >>> exact_cut(np.array([[0, 1, 1.0, 2], [2, 3, 1.0, 2], [4, 5, 1.0, 4]]), 2)
    array([0, 0, 1, 1])
    """
    ranked = np.array(Z, dtype=np.float64)
    # Distinct heights, because a tree has rows of equal height as one merge.
    ranked[:, 2] = np.arange(1, len(ranked) + 1)
    return Tree.from_linkage(ranked).labels(n_clusters=k)


def modularity(adjacency: sparse.csr_array, labels: Labels) -> float:
    """Modularity of a partition at resolution 1.

    Examples
    --------
    >>> pairs = sparse.csr_array(np.kron(np.eye(2), [[0, 1], [1, 0]]))
    >>> modularity(pairs, np.array([0, 0, 1, 1]))
    0.5
    """
    edges = adjacency.tocoo()
    total = float(edges.data.sum())
    inside = float(edges.data[labels[edges.row] == labels[edges.col]].sum())
    shares = np.bincount(labels, weights=np.asarray(adjacency.sum(axis=1)).ravel()) / total
    return inside / total - float(shares @ shares)


def _numbers(n: int) -> range:
    """Numbers of clusters among which the best cut is searched."""
    return range(2, min(n - 1, MOST_CLUSTERS) + 1)


def _closest(partitions: Sequence[Labels], k: int) -> Labels:
    """The first partition whose number of clusters is closest to k."""
    return min(partitions, key=lambda labels: abs(_count(labels) - k))


def _count(labels: Labels) -> int:
    return int(np.unique(labels).size)


def _upper(adjacency: sparse.csr_array) -> tuple[Labels, Labels, FloatArray]:
    """Ends and weights of the edges, each edge once."""
    half = sparse.triu(adjacency, k=1).tocoo()
    return half.row.astype(np.int64), half.col.astype(np.int64), half.data


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def _not_installed(module: str, package: str) -> str | None:
    return None if find_spec(module) is not None else f"pip install {package}"
