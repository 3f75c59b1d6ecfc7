"""Validation of what a figure is given, and selection of the level it shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from convexhc._types import FloatArray, IntArray, Labels
from convexhc.layout.cluster_colors import cluster_ranks, color_ranks, rank_colors, ranks_by_size
from convexhc.path import Path
from convexhc.solvers.loop import Solution
from convexhc.tree import Tree


@dataclass(frozen=True, eq=False)
class SelectedLevel:
    """One partition, with what is needed to draw it."""

    labels: Labels
    lam: float  # the lam asked for, or a solved lam inside the plateau
    ranks: IntArray  # palette rank of each node
    order: IntArray  # nodes in an order in which clusters are contiguous
    names: tuple[Any, ...]

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
    """Select a level of a path, by default the suggested one; a solution has only one.

    Raises
    ------
    ValueError
        Both n_clusters and lam, or either for a solution.
    TypeError
        Neither a path nor a solution.
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
    if n_clusters is None and lam is None:
        lam = result.suggested_plateau.lam_from
    at = select_cut(tree, n_clusters=n_clusters, lam=lam)[1]
    if lam is None:
        labels = result.labels(n_clusters=n_clusters)
        at = float(result.lambdas[last_up_to(result.lambdas, at)])
    else:
        labels = result.labels(lam=at)
    return SelectedLevel(labels, at, color_ranks(tree), tree.leaf_order(), result.names)


def last_up_to(lambdas: FloatArray, lam: float) -> int:
    """Index of the last of some increasing values that is not above ``lam``, or 0."""
    return max(int(np.searchsorted(lambdas, lam, side="right")) - 1, 0)


def select_cut(
    tree: Tree, *, n_clusters: int | None = None, lam: float | None = None
) -> tuple[Labels, float]:
    """Labels of a cut of a tree, by default the suggested one, and its position on the lam axis."""
    if n_clusters is not None and lam is not None:
        raise ValueError(f"give n_clusters or lam, received both: {n_clusters} and {lam}.")
    if lam is not None:
        return tree.labels(lam=lam), float(lam)
    if n_clusters is None:
        n_clusters = tree.suggest()[0].n_clusters
    nodes = tree.nodes
    labels = tree.labels(n_clusters=n_clusters)
    level = int(np.argmax(nodes.level_counts <= n_clusters))
    heights = np.append(0.0, nodes.height[nodes.n_leaves + nodes.level_ends[1:] - 1])
    known = np.append(heights[heights > 0], tree.lambdas[tree.lambdas > 0])
    floor = float(known.min()) if known.size else 1.0
    below = max(float(heights[level]), 0.9 * floor)
    above = float(heights[level + 1]) if level + 1 < heights.size else 1.1 * below
    return labels, float(np.sqrt(below * max(above, below)))


def count_to_cut(result: Path | Tree, n_clusters: int | None, lam: float | None) -> int | None:
    """Number of clusters at which to cut the tree: of a path, by default the suggested level."""
    if n_clusters is None and lam is None and isinstance(result, Path):
        return result.suggested_plateau.n_clusters
    return n_clusters


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
