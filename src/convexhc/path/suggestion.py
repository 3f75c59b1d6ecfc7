"""The scale that a path suggests, with the evidence for it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from convexhc._types import Labels
from convexhc.tree import Plateau

if TYPE_CHECKING:
    from convexhc.path.path import Path


@dataclass(frozen=True, eq=False)
class Suggestion:
    """A partition to start from, and how far to trust it.

    Attributes
    ----------
    n_clusters : int
        Number of clusters.
    labels : (n,) ndarray of int
        The partition.
    modularity : float or None
        Its modularity on the graph; None if the path knows no graph.
    plateau : Plateau
        The range of lam whose partition is nearest to it.
    caution : str
        What speaks against it, in a few words: no groups beyond chance, or a path that collapses.
        Empty if nothing does.
    border_density : float or None
        For points: density between the clusters, as a share of that inside the sparser one of two.
    """

    n_clusters: int
    labels: Labels = field(repr=False)
    modularity: float | None
    plateau: Plateau
    caution: str = ""
    border_density: float | None = None

    @property
    def confident(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.caution

    def __str__(self) -> str:
        noun = "cluster" if self.n_clusters == 1 else "clusters"
        reason = "" if self.modularity is None else f", modularity {self.modularity:.2f}"
        if self.border_density is not None:
            reason += f", density at its borders {100 * self.border_density:.0f} % of that inside"
        near = f", near lam {self.plateau.lam_from:.4g} to {self.plateau.lam_to:.4g}"
        against = f"; not to be trusted: {self.caution}" if self.caution else ""
        return f"{self.n_clusters} {noun}{reason}{near}{against}"


def doubt(path: Path) -> str:
    """Why the suggestion of a path is not to be trusted, and what to do."""
    structure = path.structure
    if path.suggestion.n_clusters == 1:
        # One cluster claims no groups: only a collapse speaks against it.
        structure = None
    if structure is not None and not structure.tested:
        return f"the graph has {structure}: the suggested clusters may be made of noise."
    if structure is not None and not structure.found:
        return (
            f"the graph has {structure}: the suggested clusters are likely made of noise. Do "
            "not read meaning into them; more or better edges may show groups."
        )
    return (
        f"the path collapses, {100 * path.largest_drop:.0f} % of the nodes fuse at one step of "
        "lam: the scales in between are not told apart. Give other weights or another similarity."
    )


def suggest(path: Path, min_cluster_size: int | None = None) -> Suggestion:
    """The pruning that `Reading.best_scale` finds; without a graph, that of `Tree.suggest`."""
    found = path.reading.best_scale(min_cluster_size)
    if found is None:
        plateau, labels = path.tree.suggest(min_cluster_size=min_cluster_size or 1)
        count = int(labels.max()) + 1
        return Suggestion(count, labels, None, plateau, _caution(path, count))
    count = found.n_clusters
    labels = path.reading.labels(count, min_cluster_size)
    return Suggestion(
        count,
        labels,
        found.modularity,
        _nearest(path, labels),
        _caution(path, count),
        None if found.valley is None else math.exp(-found.valley),
    )


def _caution(path: Path, count: int) -> str:
    """What speaks against so many clusters; one cluster claims no groups."""
    if path.structure is not None and not path.structure.found and count > 1:
        return "no groups beyond chance" if path.structure.tested else "too small to tell"
    return "the path collapses" if path.collapses else ""


def _nearest(path: Path, labels: Labels) -> Plateau:
    """The plateau whose partition agrees most with these labels; the widest of equal ones."""
    from sklearn.metrics import adjusted_rand_score

    plateaus = path.plateaus
    agreement = [
        adjusted_rand_score(labels, path.tree.labels(lam=plateau.lam_from)) for plateau in plateaus
    ]
    widths = np.array([plateau.log_width for plateau in plateaus])
    order = np.lexsort((widths, np.round(agreement, 9)))
    return plateaus[int(order[-1])]
