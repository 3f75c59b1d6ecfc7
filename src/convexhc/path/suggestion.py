"""The number of clusters that a path suggests, and the evidence for it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from convexhc._text import format_number
from convexhc._types import Labels
from convexhc.tree import Plateau

if TYPE_CHECKING:
    from convexhc.path.path import Path


@dataclass(frozen=True, eq=False)
class Suggestion:
    """The suggested partition, with its evidence.

    Attributes
    ----------
    n_clusters : int
        Number of clusters.
    labels : (n,) ndarray of int
        The partition.
    modularity : float or None
        Its modularity on the graph; None if the path has no graph.
    plateau : Plateau
        The plateau of the path whose partition is most similar to it.
    caution : str
        Why not to trust it, in a few words: no groups beyond chance, or a path that collapses.
        Empty if there is no reason.
    border_density : float or None
        For points: density between clusters, as a fraction of that inside the sparser cluster.
    """

    n_clusters: int
    labels: Labels = field(repr=False)
    modularity: float | None
    plateau: Plateau
    caution: str = ""
    border_density: float | None = None

    @property
    def confident(self) -> bool:
        """True if there is no caution."""
        return not self.caution

    def __str__(self) -> str:
        noun = "cluster" if self.n_clusters == 1 else "clusters"
        text = f"{self.n_clusters} {noun}"
        if self.modularity is not None:
            text += f", modularity {self.modularity:.2f}"
        if self.border_density is not None:
            text += f", density at its borders {100 * self.border_density:.0f} % of that inside"
        low, high = format_number(self.plateau.lam_from), format_number(self.plateau.lam_to)
        text += f", near lam {low} to {high}"
        if self.caution:
            text += f"; not to be trusted: {self.caution}"
        return text


def warning_text(path: Path) -> str:
    """Why not to trust the suggestion of a path, and what to do; only if it is not confident."""
    # A single cluster does not claim that there are groups.
    structure = path.structure if path.suggestion.n_clusters > 1 else None
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
    """`Path.suggestion`, or with another minimum size of clusters the one so made."""
    return path.suggestion if min_cluster_size is None else made_suggestion(path, min_cluster_size)


def made_suggestion(path: Path, min_cluster_size: int | None = None) -> Suggestion:
    """The pruning of `FlatClusters.best_scale`; without a graph, the plateau of `Tree.suggest`."""
    scale = path.flat_clusters.best_scale(min_cluster_size)
    if scale is None:
        plateau, labels = path.tree.suggest(min_cluster_size=min_cluster_size or 1)
        count = int(labels.max()) + 1
        return Suggestion(count, labels, None, plateau, _caution(path, count))
    labels = path.flat_clusters.labels(scale.n_clusters, min_cluster_size)
    return Suggestion(
        scale.n_clusters,
        labels,
        scale.modularity,
        nearest_plateau(path, labels),
        _caution(path, scale.n_clusters),
        None if scale.valley_depth is None else math.exp(-scale.valley_depth),
    )


def _caution(path: Path, n_clusters: int) -> str:
    """Why not to trust a suggestion, in a few words; empty if there is no reason."""
    if path.structure is not None and not path.structure.found and n_clusters > 1:
        return "no groups beyond chance" if path.structure.tested else "too small to tell"
    return "the path collapses" if path.collapses else ""


def nearest_plateau(path: Path, labels: Labels) -> Plateau:
    """The plateau with the largest adjusted Rand index to ``labels``; ties go to the widest."""
    from sklearn.metrics import adjusted_rand_score

    plateaus = path.plateaus
    agreement = [
        adjusted_rand_score(labels, path.tree.labels(lam=plateau.lam_from)) for plateau in plateaus
    ]
    widths = np.array([plateau.log_width for plateau in plateaus])
    order = np.lexsort((widths, np.round(agreement, 9)))
    return plateaus[int(order[-1])]
