"""The result of a path: partitions, certificates, tree, summary, storage."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from convexhc import _views
from convexhc._checks import checked_number
from convexhc._types import FloatArray, Labels
from convexhc.graph import Graph
from convexhc.io.archive import File, read_npz, write_npz
from convexhc.path.cautions import warned_if_fewer
from convexhc.path.exports import Exports, summary_of
from convexhc.path.level import Level
from convexhc.path.packing import checked_path, pack_path, unpacked_fields
from convexhc.path.proof import PathProof
from convexhc.path.scales import Scale, scales_of
from convexhc.path.suggestion import Suggestion, made_suggestion
from convexhc.provenance import Provenance
from convexhc.similarity import spectral_features
from convexhc.similarity.neighbors import Density
from convexhc.similarity.spectral import N_FEATURES
from convexhc.similarity.structure import Structure
from convexhc.solvers.solution import members
from convexhc.tree import Plateau, Split, Tree
from convexhc.tree.cut import Small
from convexhc.tree.flat_clusters import FlatClusters

By = Literal["pruning", "lam"]

# From fewer clusters than this a fall to one is no collapse: small data have few scales.
MANY_CLUSTERS = 30

__all__ = ["Path", "Provenance"]


@dataclass(frozen=True, eq=False)
class Path(Exports):
    """A multiscale clustering: one certified partition per lam, and the tree they make.

    Attributes
    ----------
    levels : tuple of Level
        Every solved lam, in increasing order.
    names : tuple
        Names of the nodes.
    components : (n,) ndarray of int
        Connected component of every node; components never fuse.
    complete : bool
        Whether the end was reached; False if `on_check` stopped the run or the consensus was not
        met in the range searched.
    provenance : Provenance
        Version, options and fingerprints.
    graph : Graph or None
        The graph or similarity that was clustered, by which cuts are judged.
    given_features : (n, r) ndarray or None
        One row per node, if the path was solved in feature space or for points.
    structure : Structure or None
        Whether the graph has groups beyond chance, if this was tested (`similarity.structure`).
    density : Density or None
        For nodes that are points: the density at each and along the edges, which judges scales.
    """

    levels: tuple[Level, ...] = field(repr=False)
    names: tuple[Hashable, ...] = field(repr=False)
    components: Labels = field(repr=False)
    complete: bool
    provenance: Provenance = field(repr=False)
    graph: Graph | None = field(default=None, repr=False)
    given_features: FloatArray | None = field(default=None, repr=False)
    structure: Structure | None = field(default=None, repr=False)
    density: Density | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        counts = " ".join(str(k) for k in self.available_n_clusters[:8])
        more = " ..." if len(self.available_n_clusters) > 8 else ""
        return (
            f"Path(n={len(self.names)}, lambdas={len(self.levels)} in "
            f"[{self.lambdas[0]:.3g}, {self.lambdas[-1]:.3g}], clusters {counts}{more}, "
            f"largest gap {self.relative_gap.max():.1e})"
        )

    @cached_property
    def lambdas(self) -> FloatArray:
        """Solved lam, increasing."""
        return np.array([level.lam for level in self.levels])

    @cached_property
    def n_clusters(self) -> NDArray[np.int64]:
        """Number of clusters at every lam."""
        return np.array([level.n_clusters for level in self.levels])

    @cached_property
    def partitions(self) -> NDArray[np.int64]:
        """Labels at every lam, one row each."""
        return np.array([level.labels for level in self.levels])

    @cached_property
    def relative_gap(self) -> FloatArray:
        """Certified relative duality gap at every lam."""
        return np.array([level.relative_gap for level in self.levels])

    @cached_property
    def objective(self) -> FloatArray:
        """Objective (eq. 4) at every lam."""
        return np.array([level.objective for level in self.levels])

    @cached_property
    def effective_rank(self) -> FloatArray:
        """Effective rank of the similarity between centroids at every lam."""
        return np.array([level.effective_rank for level in self.levels])

    @property
    def seconds(self) -> float:
        """Time the solver took for all lam together."""
        return sum(level.seconds for level in self.levels)

    @cached_property
    def tree(self) -> Tree:
        """The tree: nodes join at the smallest lam from which on they stay together."""
        return Tree.from_partitions(
            self.lambdas, self.partitions, names=self.names, components=self.components
        )

    @property
    def linkage(self) -> FloatArray:
        """The tree as a scipy linkage, with lam as height."""
        return self.tree.Z

    @property
    def splits(self) -> tuple[Split, ...]:
        """Every cluster that did not stay together as lam grew."""
        return self.tree.splits

    @property
    def is_nested(self) -> bool:
        """Whether no cluster ever split."""
        return self.tree.is_nested

    @property
    def available_n_clusters(self) -> tuple[int, ...]:
        """Numbers of clusters that `labels` can give, largest first: all of them."""
        return tuple(range(len(self.names), 0, -1))

    @property
    def level_n_clusters(self) -> tuple[int, ...]:
        """Numbers of clusters of the levels of the tree, largest first: those one lam can give."""
        return tuple(sorted(self.tree.available_n_clusters, reverse=True))

    @cached_property
    def features(self) -> FloatArray | None:
        """One row per node: what was given, or the leading features of the similarity."""
        if self.given_features is not None or self.graph is None:
            return self.given_features
        return spectral_features(self.graph, min(N_FEATURES, self.graph.n))

    @cached_property
    def flat_clusters(self) -> FlatClusters:
        """Flat clusters by pruning: exactly k of them, and the best k."""
        return FlatClusters(self.tree.nodes, self.features, self.graph, self.density)

    @cached_property
    def suggestion(self) -> Suggestion:
        """The scale to take when none is asked for, and how far to trust it.

        Of the best prunings of the tree, the one with the largest modularity on the graph; for
        points, of those with valleys of density between their clusters; without a graph, the
        plateau of `Tree.suggest`.

        Examples
        --------
        >>> import convexhc
        >>> graph = convexhc.datasets.fractal_graph(n_meta=3, n_super=4, clique=6)
        >>> suggestion = convexhc.cluster(graph.adjacency).suggestion
        >>> suggestion.n_clusters, suggestion.confident
        (12, True)
        """
        return made_suggestion(self)

    @cached_property
    def proof(self) -> PathProof:
        """Which clusters are proven to be those of the exact minimiser, at every lam."""
        return PathProof.of(self)

    @property
    def merge_proof(self) -> NDArray[np.bool_]:
        """For every row of the linkage, whether the clusters on both sides of it are proven."""
        return self.proof.of_rows(self.linkage, self.tree.root_joins)

    @property
    def largest_drop(self) -> float:
        """Largest fall in the number of clusters from one lam to the next, as a share of n."""
        counts = np.append(len(self.names), self.n_clusters)
        return float(-np.diff(counts).min(initial=0)) / len(self.names)

    @property
    def collapses(self) -> bool:
        """Whether one step of lam takes most single nodes to one cluster per component, or nearly.

        Then the path says nothing about the scales in between.
        """
        counts = np.append(len(self.names), self.n_clusters)
        few = int(self.components.max()) + 2
        falls = (counts[:-1] > max(MANY_CLUSTERS, len(self.names) // 2)) & (counts[1:] <= few)
        return bool(falls.any())

    @property
    def plateaus(self) -> tuple[Plateau, ...]:
        """Ranges of lam over which the tree does not change."""
        return self.tree.plateaus()

    @property
    def suggested_plateau(self) -> Plateau:
        """The range of lam whose partition is nearest (adjusted Rand index) to the suggested."""
        return self.suggestion.plateau

    @cached_property
    def scales(self) -> tuple[Scale, ...]:
        """Up to three scales that last and are informative; `support` tells which are robust."""
        return scales_of(self)

    def support(self, **settings: Any) -> Any:
        """How sure each branch is, by resampling the graph; see `convexhc.support`."""
        return _views.path_support(self, **settings)

    def labels(
        self,
        *,
        lam: float | None = None,
        n_clusters: int | None = None,
        by: By = "pruning",
        min_cluster_size: int | None = None,
        small: Small = "nearest",
    ) -> Labels:
        """Cluster of every node at one scale.

        Parameters
        ----------
        lam : float, optional
            The partition of the largest solved lam that is not above it (single nodes below the
            first).
        n_clusters : int, optional
            Number of clusters, at most that of the nodes.
        by : {"pruning", "lam"}
            With ``n_clusters``: exactly this many, by the pruning of the tree with the least
            within-cluster sum of squares in feature space; or by a horizontal cut, at the finest
            level of the tree with at most this many.
        min_cluster_size : int, optional
            Smaller clusters do not count. By default 1 for a lam and for ``by="lam"``, and for
            ``by="pruning"`` 5, or a tenth of the nodes if that is less: boundary nodes that join
            late then go with the nearer cluster instead of using one up.
        small : {"nearest", "noise"}
            With a lam, or ``by="lam"``: they join the cluster they meet first in the tree, or are
            labelled -1.

        Returns
        -------
        ndarray
            Labels numbered by first occurrence.

        Raises
        ------
        ValueError
            Both or neither of lam and n_clusters, or more clusters than nodes.

        Warns
        -----
        FewerClustersWarning
            The horizontal cut has fewer clusters than were asked for.
        """
        if (lam is None) == (n_clusters is None):
            raise ValueError("give either lam or n_clusters, received both or neither.")
        if by not in ("pruning", "lam"):
            raise ValueError(f"by must be 'pruning' or 'lam', received {by!r}.")
        if n_clusters is not None and by == "pruning" and small == "nearest":
            return self.flat_clusters.labels(n_clusters, min_cluster_size)
        least = 1 if min_cluster_size is None else min_cluster_size
        if lam is not None and least == 1:
            strength = checked_number("lam", lam, finite=False)
            at = int(np.searchsorted(self.lambdas, strength, side="right")) - 1
            return np.arange(len(self.names)) if at < 0 else self.levels[at].labels.copy()
        labels = self.tree.labels(
            lam=lam, n_clusters=n_clusters, min_cluster_size=least, small=small
        )
        finest = max((k for k in self.level_n_clusters if k <= (n_clusters or 0)), default=0)
        return warned_if_fewer(labels, n_clusters, finest)

    def clusters(
        self,
        *,
        lam: float | None = None,
        n_clusters: int | None = None,
        by: By = "pruning",
        min_cluster_size: int | None = None,
        small: Small = "nearest",
    ) -> tuple[tuple[Hashable, ...], ...]:
        """Names of the members of every cluster at one scale, in the order of `labels`.

        Takes what `labels` takes; nodes labelled -1 are in none.

        Examples
        --------
        >>> import convexhc
        >>> K = [[3, 1, 0], [1, 3, 0.1], [0, 0.1, 3]]
        >>> path = convexhc.solve_path(convexhc.as_graph(K, names=["ann", "bob", "cid"]))
        >>> path.clusters(n_clusters=2)
        (('ann', 'bob'), ('cid',))
        """
        labels = self.labels(
            lam=lam, n_clusters=n_clusters, by=by, min_cluster_size=min_cluster_size, small=small
        )
        return members(labels, self.names)

    def renamed(self, names: Iterable[Hashable]) -> Path:
        """The same path with other names of the nodes."""
        chosen = tuple(names)
        graph = None if self.graph is None else replace(self.graph, names=chosen)
        return replace(self, names=chosen, graph=graph)

    def centroids(self, lam: float) -> FloatArray:
        """Centroids (rows) at the solved lam nearest to ``lam`` in ratio."""
        kept = [level for level in self.levels if level.cluster_centroids is not None]
        if not kept:
            raise ValueError(
                "no centroids were kept: run solve_path with keep='all', or solve(K, lam) again."
            )
        level = min(kept, key=lambda p: abs(np.log((p.lam + 1e-300) / (lam + 1e-300))))
        assert level.cluster_centroids is not None
        return level.cluster_centroids[level.labels]

    def pi(self, lam: float) -> FloatArray:
        """The paper's matrix (columns are centroids) at the solved lam nearest to ``lam``."""
        return self.centroids(lam).T

    def summary(self) -> str:
        """A short text: size, range, certificate, splits, the suggested scale, plateaus."""
        return summary_of(self)

    def _repr_html_(self) -> str:
        return _views.notebook_view(self)

    def save(self, file: File) -> None:
        """Write the path to one npz file, whole or not at all."""
        write_npz(file, *pack_path(self))

    @classmethod
    def load(cls, file: File) -> Path:
        """Read a path that `save` wrote."""
        return read_npz(file, "path", unpack_path)


def unpack_path(text: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Path:
    """Inverse of `pack_path`; ValueError if it is not a valid path."""
    return checked_path(Path(**unpacked_fields(text, arrays)))
