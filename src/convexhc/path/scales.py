"""Scales that last and are informative, and whether they survive resampling."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from convexhc._text import format_number
from convexhc._types import Labels
from convexhc.similarity.edge_weights import positive_part
from convexhc.similarity.scales import modularity
from convexhc.tree.flat_clusters import SETTINGS as SELECTION
from convexhc.tree.flat_clusters import default_min_cluster_size, valley_depth
from convexhc.tree.plateaus import Plateau, lasting_prunings

if TYPE_CHECKING:
    from convexhc.path.path import Path


@dataclass(frozen=True)
class ScaleSettings:
    """Constants of the choice of scales."""

    most: int = 3  # scales that are listed at most
    min_log_width: float = math.log(2.0)  # a scale lasts if it stays the same while lam doubles
    long_ratio: int = 1000  # largest growth of lam that a reason states as a number
    min_agreement: float = 0.8  # median agreement (AMI) with resamples of a scale that survives


SETTINGS = ScaleSettings()


@dataclass(frozen=True, eq=False)
class Scale:
    """A number of clusters that lasts and is informative.

    Attributes
    ----------
    n_clusters : int
        Number of clusters, as `Path.labels` takes it.
    labels : (n,) ndarray of int
        The partition: the pruning of the tree with this many clusters.
    lam_from, lam_to : float
        Range of lam over which the clusters of the tree that are not small are these
        (`tree.plateaus.lasting_prunings`).
    modularity : float or None
        Modularity of the partition; None without a graph.
    agreement : float or None
        Median agreement (adjusted mutual information) with the partitions of resamples into as many
        clusters; None without resamples.
    """

    n_clusters: int
    labels: Labels = field(repr=False)
    lam_from: float
    lam_to: float
    modularity: float | None = None
    agreement: float | None = None

    @property
    def survives(self) -> bool | None:
        """Whether the partition survives resampling; None if that is not known."""
        return None if self.agreement is None else self.agreement >= SETTINGS.min_agreement

    @property
    def reason(self) -> str:
        """Why the scale is listed, in a few words."""
        low, high = format_number(self.lam_from), format_number(self.lam_to)
        # A scale of nodes that are nearly identical begins at a lam near zero.
        long = self.lam_to > SETTINGS.long_ratio * self.lam_from
        ratio = f"over {SETTINGS.long_ratio}" if long else f"{self.lam_to / self.lam_from:.3g}"
        reasons = [f"lasts while lam grows {ratio}-fold ({low} to {high})"]
        if self.modularity is not None:
            reasons.append(f"modularity {self.modularity:.2f}")
        if self.agreement is not None:
            verb = "survives" if self.survives else "does not survive"
            reasons.append(f"{verb} resampling (median AMI {self.agreement:.2f})")
        return ", ".join(reasons)

    def __str__(self) -> str:
        return f"{self.n_clusters} clusters: {self.reason}"


def scales_of(path: Path) -> tuple[Scale, ...]:
    """Up to three scales of a path, from fine to coarse; empty if none is worth naming.

    A scale lasts: while lam doubles, the clusters that are not small hold most of the nodes, and
    each lies in another cluster of the pruning into as many. And it is informative: its modularity
    is at least half of the largest of these scales and of the suggested one, and for points there
    are valleys of density between its clusters. The widest are kept where there are more than
    three. None is listed if the graph has no groups beyond chance, or if the path collapses.
    """
    if path.collapses or (path.structure and path.structure.tested and not path.structure.found):
        return ()
    # A single node is no cluster, in small data neither.
    least = max(2, default_min_cluster_size(len(path.names)))
    found = lasting_prunings(
        path.tree.nodes,
        path.lambdas,
        lambda count: path.labels(n_clusters=count),
        least,
        SETTINGS.min_log_width,
    )
    informative = _informative(path, [_scale(path, *one) for one in found])[: SETTINGS.most]
    return tuple(sorted(informative, key=lambda scale: -scale.n_clusters))


def judged(scales: tuple[Scale, ...], agreement: Mapping[int, float]) -> tuple[Scale, ...]:
    """The scales with their median agreement with resamples, by number of clusters."""
    return tuple(replace(scale, agreement=agreement[scale.n_clusters]) for scale in scales)


def _scale(path: Path, plateau: Plateau, labels: Labels) -> Scale:
    """The scale of a pruning and its plateau."""
    found = None
    if path.graph is not None:
        found = modularity(positive_part(path.graph).without_diagonal().matrix(), labels)
    return Scale(plateau.n_clusters, labels, plateau.lam_from, plateau.lam_to, found)


def _informative(path: Path, scales: list[Scale]) -> list[Scale]:
    """Those scales that are informative."""
    if path.graph is None or not scales:
        return scales
    found = np.array([scale.modularity or 0.0 for scale in scales])
    largest = max(float(found.max()), path.suggestion.modularity or 0.0)
    kept = (found > 0.0) & (found >= SELECTION.min_modularity_ratio * largest)
    informative = [scales[at] for at in np.flatnonzero(kept)]
    if path.density is None:
        return informative
    graph, density, least = path.graph, path.density, SELECTION.clear_valley
    return [scale for scale in informative if valley_depth(graph, scale.labels, density) >= least]
