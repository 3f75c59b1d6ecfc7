"""Validation of what a figure is given, and selection of the level it shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from convexhc._text import counted, format_number
from convexhc._types import FloatArray, IntArray, Labels
from convexhc.layout.colors import cluster_ranks, color_ranks, rank_colors, ranks_by_size
from convexhc.path import Path
from convexhc.path.suggestion import nearest_plateau
from convexhc.solvers.loop import Solution
from convexhc.tree import Plateau, Tree


@dataclass(frozen=True, eq=False)
class SelectedLevel:
    """One partition, with what is needed to draw it."""

    labels: Labels
    lam: float  # the lam asked for, or where the plateau nearest to a pruning begins
    ranks: IntArray  # palette rank of each node
    order: IntArray  # nodes in an order in which clusters are contiguous
    names: tuple[Any, ...]
    exact: bool = True  # whether the clusters are those at lam; a pruning may be at none

    @property
    def title(self) -> str:
        """Numbers of nodes and clusters, and where on the path the clusters are."""
        sizes = f"{counted(self.labels.size, 'node')}, {counted(self.n_clusters, 'cluster')}"
        return rf"{sizes} {'at' if self.exact else 'near'} $\lambda$ = {format_number(self.lam)}"

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.labels.max()) + 1

    def cluster_colors(self, *, dark: bool) -> list[str]:
        """Colour of each cluster."""
        return rank_colors(cluster_ranks(self.labels, self.ranks), dark=dark)


def select_level(
    result: Path | Solution, *, n_clusters: int | None = None, lam: float | None = None
) -> SelectedLevel:
    """Select the clusters that a figure shows; a solution has only one level.

    A number of clusters is a pruning, by default the suggested one; a lam is a level.
    """
    if isinstance(result, Solution):
        if n_clusters is not None or lam is not None:
            raise ValueError(
                f"a solution has one level, lam = {result.lam:g}: leave out n_clusters and lam, "
                "or give a path."
            )
        labels = np.asarray(result.labels, dtype=np.int64)
        names = result.names or tuple(range(labels.size))
        order = np.argsort(labels, kind="stable")
        return SelectedLevel(labels, result.lam, ranks_by_size(labels), order, names)
    if not isinstance(result, Path):
        raise _wrong_type(result, "a Path or a Solution", "solve_path or convexhc.solve returned")
    tree = result.tree
    check_one_scale(n_clusters, lam)
    if lam is None:
        labels, plateau = pruning_of(result, n_clusters)
        at = plateau.lam_from
        exact = np.array_equal(labels, result.labels(lam=at))
    else:
        labels, at, exact = result.labels(lam=lam), float(lam), True
    return SelectedLevel(labels, at, color_ranks(tree), tree.leaf_order(), result.names, exact)


def pruning_of(path: Path, n_clusters: int | None) -> tuple[Labels, Plateau]:
    """The pruning of a path into so many clusters, by default the suggested one; its plateau."""
    if n_clusters is None:
        return path.suggestion.labels, path.suggested_plateau
    labels = path.labels(n_clusters=n_clusters)
    return labels, nearest_plateau(path, labels)


def check_one_scale(n_clusters: object, lam: object) -> None:
    """Refuse two scales for one figure."""
    if n_clusters is not None and lam is not None:
        raise ValueError(f"give n_clusters or lam, received both: {n_clusters} and {lam}.")


def last_up_to(lambdas: FloatArray, lam: float) -> int:
    """Index of the last of some increasing values that is not above ``lam``, or 0."""
    return max(int(np.searchsorted(lambdas, lam, side="right")) - 1, 0)


def select_cut(
    result: Path | Tree, *, n_clusters: int | None = None, lam: float | None = None
) -> tuple[Labels, float | None]:
    """Labels that a figure of a tree shows, and where on the lam axis they are a cut, if anywhere.

    A number of clusters is a pruning of a path, by default the suggested one, or a level of a tree.
    """
    tree = check_tree(result)
    check_one_scale(n_clusters, lam)
    if lam is not None:
        return tree.labels(lam=lam), float(lam)
    if isinstance(result, Tree):
        return cut_by_level(tree, n_clusters or tree.suggest()[0].n_clusters)
    labels, _ = pruning_of(result, n_clusters)
    level, at = cut_by_level(tree, int(labels.max()) + 1)
    return labels, at if np.array_equal(labels, level) else None


def cut_by_level(tree: Tree, n_clusters: int) -> tuple[Labels, float]:
    """Labels of the finest level with at most so many clusters, and the middle of its range."""
    nodes = tree.nodes
    labels = tree.labels(n_clusters=n_clusters)
    level = int(np.argmax(nodes.level_counts <= n_clusters))
    heights = np.append(0.0, nodes.height[nodes.n_leaves + nodes.level_ends[1:] - 1])
    known = np.append(heights[heights > 0], tree.lambdas[tree.lambdas > 0])
    floor = float(known.min()) if known.size else 1.0
    below = max(float(heights[level]), 0.9 * floor)
    above = float(heights[level + 1]) if level + 1 < heights.size else 1.1 * below
    return labels, float(np.sqrt(below * max(above, below)))


def check_tree(result: Path | Tree) -> Tree:
    """Return the tree of a path, or the tree itself."""
    if isinstance(result, Path):
        return result.tree
    if isinstance(result, Tree):
        return result
    raise _wrong_type(
        result, "a Path or a Tree", "solve_path returned, or Tree.from_linkage of a linkage"
    )


def check_path(result: Path) -> Path:
    """Return the path, or raise TypeError for anything else."""
    if not isinstance(result, Path):
        raise _wrong_type(result, "a Path", "solve_path returned")
    return result


def _wrong_type(result: object, needed: str, source: str) -> TypeError:
    return TypeError(
        f"this figure needs {needed}, received {type(result).__name__}: give what "
        f"convexhc.{source}."
    )
