"""The tree of a path as nested rectangles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from convexhc._types import IntArray
from convexhc.layout import (
    cluster_ranks,
    color_ranks,
    colors_of,
    inside_cluster,
    lam_limits,
    tree_rectangles,
)
from convexhc.path import Path
from convexhc.plots.chosen import tree_cut, tree_of
from convexhc.plots.style import (
    Orientation,
    Side,
    Theme,
    axes_for,
    bare,
    corners,
    counted,
    lam_axis,
    mark_lam,
    name_size,
    name_ticks,
    points_along,
    shown_name,
    sides,
    theme_of,
)
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
    """Draw the tree of a path as rectangles: one for each cluster, over the lam it lives.

    A rectangle is as broad as its cluster has nodes, starts at the lam at which the cluster is
    made and ends where a fusion takes it in. Clusters of the cut, and those above it, wear their
    colour; inside, it fades the finer they are. Single nodes are blank. After the end of the path
    nothing is drawn.

    Parameters
    ----------
    path : Path or Tree
        What to draw.
    n_clusters, lam : int, float, optional
        The cut; by default the suggested level.
    names : bool
        Name the nodes, where there is room.
    orientation : {"right", "top"}
        Where the root is.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default in a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The rectangles are its first collection, one for each fusion of the path. O(n log n).

    Raises
    ------
    ImportError
        matplotlib is missing.
    ValueError
        Both n_clusters and lam, or values out of range.

    Examples
    --------
    >>> import convexhc
    >>> K = np.kron(np.eye(2), np.ones((3, 3))) + 0.1 + np.eye(6)
    >>> path = convexhc.solve_path(K)
    >>> len(icicle(path).collections[0].get_paths()) == len(path.tree.merges)
    True
    """
    lam_side, leaf_side = sides(orientation)
    tree = tree_of(path)
    n = tree.n_leaves
    length = max(1.3 + 0.13 * n, 2.8)
    # Past the size that names need, nothing is gained.
    length = length if length <= 12.0 else 7.0
    ax = axes_for(ax, (7.0, length) if leaf_side == "y" else (max(length, 6.0), 5.0))
    theme = theme_of(ax)
    labels, at = tree_cut(tree, n_clusters=n_clusters, lam=lam)
    shown = tree.nodes.height[n : n + tree.nodes.n_real]
    limits = lam_limits(shown if (shown > 0).any() else tree.lambdas, margin=0.08)
    _draw(ax, tree, labels, limits, theme, lam_side)
    lam_axis(ax, limits, which=lam_side)
    if limits[0] < at < limits[1]:
        mark_lam(ax, at, theme, which=lam_side)
    if leaf_side == "y":
        ax.set_ylim(n, 0)
    else:
        ax.set_xlim(0, n)
    size = name_size(ax, leaf_side, n) if names else 0.0
    order = tree.leaf_order() if size else tree.leaf_order()[:0]
    texts = [shown_name(tree.names[node]) for node in order]
    name_ticks(ax, leaf_side, np.arange(order.size, dtype=np.float64) + 0.5, texts, size)
    bare(ax, keep=("bottom",) if lam_side == "x" else ("left",))
    clusters = counted(int(labels.max()) + 1, "cluster")
    ax.set_title(f"{counted(n, 'node')}, cut into {clusters}", fontsize="medium")
    return ax


def _draw(
    ax: Axes,
    tree: Tree,
    labels: IntArray,
    limits: tuple[float, float],
    theme: Theme,
    lam_side: Side,
) -> None:
    """One rectangle for each fusion of the path."""
    from matplotlib.collections import PolyCollection

    n = tree.n_leaves
    box = tree_rectangles(tree)
    clusters = slice(n, n + tree.nodes.n_real)
    low = np.clip(box.lam_from[clusters], *limits)
    # What is left at the end of the path goes on to the end of the axis.
    lasts = box.lam_to[clusters] > tree.lambdas[-1]
    high = np.where(lasts, limits[1], np.clip(box.lam_to[clusters], *limits))
    start, stop = box.start[clusters], box.stop[clusters]
    along = np.stack([low, high, high, low], axis=1)
    across = np.stack([start, start, stop, stop], axis=1)
    # Borders of the ground's colour part the large rectangles and would hide the small.
    room = points_along(ax, "y" if lam_side == "x" else "x") / n
    borders = np.clip(room * (stop - start) / 8.0, 0.0, 0.8)
    ax.add_collection(
        PolyCollection(
            list(corners(along, across, lam_side)),
            facecolors=_paint(tree, labels, theme)[clusters],
            edgecolors=[theme.ground],
            linewidths=borders.tolist(),
        ),
        autolim=False,
    )


def _paint(tree: Tree, labels: IntArray, theme: Theme) -> list[tuple[float, float, float]]:
    """Colour of each node of the tree, paler the deeper it lies inside a cluster of the cut."""
    from matplotlib.colors import to_rgb

    nodes, ranks = tree.nodes, color_ranks(tree)
    inside = inside_cluster(tree, labels)
    worn = colors_of(cluster_ranks(labels, ranks), dark=theme.dark)
    # Above the cut a cluster wears the colour that it will pass on or has been passed.
    best = ranks.tolist() + [nodes.n_leaves] * nodes.n_merges
    depth = [0] * nodes.parent.size
    parent = nodes.parent.tolist()
    for node in range(len(parent) - 1):
        best[parent[node]] = min(best[parent[node]], best[node])
    for node in range(len(parent) - 2, -1, -1):
        depth[node] = depth[parent[node]] + 1 if inside[parent[node]] >= 0 else 0
    own = colors_of(np.array(best), dark=theme.dark)
    painted = []
    for node in range(len(parent)):
        rgb = np.array(to_rgb(worn[inside[node]] if inside[node] >= 0 else own[node]))
        share = 0.35 + 0.6 * 0.72 ** depth[node]
        red, green, blue = (share * rgb + (1.0 - share) * np.array(theme.ground)).tolist()
        painted.append((red, green, blue))
    return painted
