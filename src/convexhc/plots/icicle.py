"""Icicle plot: the tree of a path as nested rectangles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from convexhc.layout.colors import cluster_ranks, color_ranks, rank_colors
from convexhc.layout.tree_layout import enclosing_cluster, tree_rectangles
from convexhc.path import Path
from convexhc.plots.selection import check_tree
from convexhc.plots.style import RGB, add_polygons, blend, length_in_points, set_node_names
from convexhc.plots.tree_axes import Orientation, TreeAxes, tree_axes
from convexhc.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def icicle(
    path: Path | Tree,
    *,
    n_clusters: int | None = None,
    lam: float | None = None,
    names: bool = True,
    orientation: Orientation = "right",
    ax: Axes | None = None,
) -> Axes:
    """Draw the tree of a path as nested rectangles, one per cluster.

    A rectangle covers the nodes of its cluster and the range of lam over which it exists. Clusters
    of the cut and above it have their colour, which fades with the depth below the cut. Single
    nodes, and the part of the tree past the end of the path, are blank.

    Parameters
    ----------
    path, n_clusters, lam, orientation, ax
        As for `dendrogram`, which raises the same errors.
    names : bool
        Label the nodes if there is room.

    Returns
    -------
    matplotlib.axes.Axes
        Its first collection holds the rectangles, one per merge of the path. O(n log n).

    Examples
    --------
    >>> import convexhc
    >>> K = np.kron(np.eye(2), np.ones((3, 3))) + 0.1 + np.eye(6)
    >>> path = convexhc.solve_path(K)
    >>> len(icicle(path).collections[0].get_paths()) == len(path.tree.merges)
    True
    """
    tree = check_tree(path)
    n = tree.n_leaves
    axes = tree_axes(
        path,
        tree.nodes.height[n : n + tree.nodes.n_real],
        (0, n),
        n_clusters=n_clusters,
        lam=lam,
        orientation=orientation,
        ax=ax,
    )
    _draw_rectangles(axes, tree)
    if names:
        set_node_names(axes.ax, axes.leaf_side, [tree.names[node] for node in tree.leaf_order()])
    return axes.ax


def _draw_rectangles(axes: TreeAxes, tree: Tree) -> None:
    """Draw one rectangle per merge of the path."""
    n = tree.n_leaves
    rectangles = tree_rectangles(tree)
    merges = slice(n, n + tree.nodes.n_real)
    low = np.clip(rectangles.lam_from[merges], *axes.limits)
    # Clusters that remain at the end of the path extend to the end of the axis.
    remains = rectangles.lam_to[merges] > tree.lambdas[-1]
    high = np.where(remains, axes.limits[1], np.clip(rectangles.lam_to[merges], *axes.limits))
    start, stop = rectangles.start[merges], rectangles.stop[merges]
    corners = axes.xy(
        np.stack([low, high, high, low], axis=1), np.stack([start, start, stop, stop], axis=1)
    )
    # Edges separate large rectangles; on small ones they would cover the colour.
    points_per_leaf = length_in_points(axes.ax, axes.leaf_side) / n
    add_polygons(
        axes.ax,
        corners,
        facecolors=_node_colors(axes, tree)[merges],
        edgecolors=[axes.theme.background],
        linewidths=np.clip(points_per_leaf * (stop - start) / 8.0, 0.0, 0.8).tolist(),
    )


def _node_colors(axes: TreeAxes, tree: Tree) -> list[RGB]:
    """Colour of each node of the tree, paler with its depth inside a cluster of the cut."""
    from matplotlib.colors import to_rgb

    nodes, ranks, dark = tree.nodes, color_ranks(tree), axes.theme.dark
    cluster = enclosing_cluster(tree, axes.labels)
    cut_colors = rank_colors(cluster_ranks(axes.labels, ranks), dark=dark)
    # Above the cut, the smallest rank of the members gives the colour.
    rank = ranks.tolist() + [nodes.n_leaves] * nodes.n_merges
    depth = [0] * nodes.parent.size
    parent = nodes.parent.tolist()
    for node in range(len(parent) - 1):
        rank[parent[node]] = min(rank[parent[node]], rank[node])
    for node in range(len(parent) - 2, -1, -1):
        depth[node] = depth[parent[node]] + 1 if cluster[parent[node]] >= 0 else 0
    colors = rank_colors(np.array(rank), dark=dark)
    return [
        blend(
            to_rgb(cut_colors[cluster[node]] if cluster[node] >= 0 else colors[node]),
            axes.theme.background,
            0.35 + 0.6 * 0.72 ** depth[node],
        )
        for node in range(len(parent))
    ]
