"""The level of a path that a figure shows, and the colours of its clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from convexhc._types import IntArray
from convexhc.graph import Graph
from convexhc.io import as_graph
from convexhc.layout import (
    cluster_ranks,
    color_ranks,
    colors_of,
    ranks_by_size,
)
from convexhc.path import Path
from convexhc.solvers.loop import Solution
from convexhc.tree import Plateau, Tree


@dataclass(frozen=True, eq=False)
class Level:
    """One partition, with what is needed to draw it.

    Parameters
    ----------
    labels : (n,) int64 array
        Cluster of every node.
    lam : float
        Where it stands on the axis of lam; in the middle of its plateau if asked for by number.
    ranks : (n,) int64 array
        Queue of the nodes for colours.
    order : (n,) int64 array
        Nodes in an order in which clusters are contiguous (those of the tree, at any level).
    names : tuple
        Names of the nodes.
    """

    labels: IntArray
    lam: float
    ranks: IntArray
    order: IntArray
    names: tuple[Any, ...]

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.labels.max()) + 1

    def cluster_colors(self, *, dark: bool) -> list[str]:
        """Colour of each cluster."""
        return colors_of(cluster_ranks(self.labels, self.ranks), dark=dark)


def chosen_level(
    result: Path | Solution, *, n_clusters: int | None = None, lam: float | None = None
) -> Level:
    """The level asked for, or the suggested one; of a solution, the only one.

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
        return Level(labels, result.lam, ranks_by_size(labels), order, names)
    if not isinstance(result, Path):
        raise TypeError(
            f"this figure needs a Path or a Solution, received {type(result).__name__}: give what "
            "convexhc.solve_path or convexhc.solve returned."
        )
    tree = result.tree
    if n_clusters is None and lam is None:
        lam = _inside(result.suggested_plateau)
    if n_clusters is not None and lam is None:
        labels = result.labels(n_clusters=n_clusters)
        at = tree_cut(tree, n_clusters=n_clusters)[1]
    else:
        labels, at = tree_cut(tree, n_clusters=n_clusters, lam=lam)
        labels = result.labels(lam=at)
    return Level(labels, at, color_ranks(tree), tree.leaf_order(), result.names)


def tree_cut(
    tree: Tree, *, n_clusters: int | None = None, lam: float | None = None
) -> tuple[IntArray, float]:
    """A cut of a tree, by default the suggested one, and where on the axis of lam it is."""
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


def _inside(plateau: Plateau) -> float:
    """A lam at which the partition is that of a plateau."""
    return plateau.lam_from


def tree_of(result: Path | Tree) -> Tree:
    """The tree of a path, or the tree itself."""
    if isinstance(result, Path):
        return result.tree
    if isinstance(result, Tree):
        return result
    raise TypeError(
        f"this figure needs a Path or a Tree, received {type(result).__name__}: give what "
        "convexhc.solve_path returned, or Tree.from_linkage of a linkage."
    )


def path_of(result: Path) -> Path:
    """Verify that a figure was given a path."""
    if not isinstance(result, Path):
        raise TypeError(
            f"this figure needs a Path, received {type(result).__name__}: give what "
            "convexhc.solve_path returned."
        )
    return result


def aligned_graph(data: Any, names: tuple[Any, ...], *, signed: bool = False) -> Graph:
    """Read a graph or a similarity on the nodes of a result, and put them in its order.

    Nodes are matched by name where both have the same names, otherwise by their order.

    Raises
    ------
    ValueError
        Another number of nodes.
    """
    graph = as_graph(data, signed=signed)
    if graph.n != len(names):
        raise ValueError(
            f"the graph has {graph.n} nodes and the result {len(names)}: give the graph or the "
            "similarity that the result was computed from."
        )
    if graph.names == names or set(graph.names) != set(names):
        return graph
    place = {name: at for at, name in enumerate(graph.names)}
    return graph.permuted([place[name] for name in names])
