"""Heat map of the similarity or of the centroids, in tree order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from convexhc._text import counted, format_number
from convexhc.io import as_graph
from convexhc.layout.graph_layout import align_nodes
from convexhc.layout.heatmap import binned_matrix, block_borders, color_limit
from convexhc.path import Path
from convexhc.plots.selection import SelectedLevel, select_level
from convexhc.plots.style import (
    Theme,
    add_lines,
    add_polygons,
    axes_or_new,
    colormap,
    hide_spines,
    length_in_points,
    rectangles,
    set_node_names,
    theme_of,
)
from convexhc.solvers.loop import Solution

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def heatmap(
    result: Path | Solution,
    K: Any = None,
    *,
    n_clusters: int | None = None,
    lam: float | None = None,
    max_cells: int = 400,
    names: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw a similarity, or the centroids pi(lam), with rows and columns in tree order.

    In tree order every cut has its blocks along the diagonal. Lines separate the blocks of the
    selected cut, and strips along two sides show its colours. The colour scale ends at the 99 %
    quantile of the off-diagonal entries.

    Parameters
    ----------
    result : Path or Solution
        Order, clusters and centroids.
    K : graph or (n, n) similarity, optional
        Matrix to draw, on the nodes of the result; by default pi, whose column i is the centroid
        of node i.
    n_clusters, lam, ax
        As for `dendrogram`; centroids are those at the lam nearest to the clusters.
    max_cells : int
        Cells per side at most; with more nodes each cell shows a mean.
    names : bool
        Label the nodes if there is room.

    Returns
    -------
    matplotlib.axes.Axes
        One unit per node, from 0 to n. O(n^2) for centroids, O(entries) for a sparse K.

    Raises
    ------
    ValueError
        A K of another size, a path without centroids, or both n_clusters and lam.

    Examples
    --------
    >>> import convexhc
    >>> K = np.kron(np.eye(2), np.ones((3, 3))) + 0.1 + np.eye(6)
    >>> heatmap(convexhc.solve_path(K), K).get_title()
    'similarity of 6 nodes, 2 clusters'
    """
    level = select_level(result, n_clusters=n_clusters, lam=lam)
    n = level.labels.size
    if K is None:
        matrix: Any = result.pi if isinstance(result, Solution) else result.pi(level.lam)
        if matrix.shape[0] != n:
            raise ValueError(
                f"the centroids have {counted(matrix.shape[0], 'coordinate')} for "
                f"{counted(n, 'node')} and do not form a square matrix: give the similarity to "
                "draw as K."
            )
        title = rf"$\pi$ at $\lambda$ = {format_number(level.lam)}"
    else:
        matrix = align_nodes(as_graph(K, signed=True), level.names).matrix()
        title = "similarity"
    side = float(np.clip(1.5 + 0.14 * n, 4.0, 7.0))
    ax = axes_or_new(ax, (side + 0.9, side))
    theme = theme_of(ax)
    _draw_cells(ax, matrix, level, theme, max_cells)
    _draw_blocks(ax, level, theme)
    ax.set_xticks([])
    set_node_names(ax, "y", [level.names[node] for node in level.order] if names else [])
    hide_spines(ax)
    clusters = counted(level.n_clusters, "cluster")
    ax.set_title(f"{title} of {counted(n, 'node')}, {clusters}", fontsize="medium")
    return ax


def _draw_cells(ax: Axes, matrix: Any, level: SelectedLevel, theme: Theme, max_cells: int) -> None:
    """Draw the matrix and its colour bar."""
    cells, borders = binned_matrix(matrix, level.order, max_cells=max_cells)
    limit = color_limit(cells)
    signed = bool(cells.min() < -1e-9 * limit)
    image = ax.pcolormesh(
        borders,
        borders,
        cells,
        cmap=colormap(theme, signed=signed),
        vmin=-limit if signed else 0.0,
        vmax=limit,
        rasterized=True,
    )
    extend = "max" if cells.max() > 1.001 * limit else "neither"
    bar = ax.figure.colorbar(image, cax=ax.inset_axes((1.02, 0.2, 0.025, 0.6)), extend=extend)
    bar.outline.set_visible(False)
    n = level.labels.size
    ax.set_xlim(-0.025 * n, n)
    ax.set_ylim(n, -0.025 * n)
    ax.set_aspect("equal")


def _draw_blocks(ax: Axes, level: SelectedLevel, theme: Theme) -> None:
    """Draw lines where the cluster changes, and strips of colour along the left and top."""
    n = level.labels.size
    borders = block_borders(level.labels, level.order).astype(np.float64)
    cluster_colors = level.cluster_colors(dark=theme.dark)
    colors = [cluster_colors[level.labels[level.order[int(at)]]] for at in borders[:-1]]
    left = rectangles(-0.022 * n, -0.006 * n, borders[:-1], borders[1:])
    strips = np.concatenate([left, left[:, :, ::-1]])
    add_polygons(ax, strips, facecolors=colors * 2, linewidths=0)
    # No lines between neighbouring single nodes.
    is_block = np.diff(borders) > 1.0
    drawn = borders[1:-1][is_block[1:] | is_block[:-1]]
    across = np.stack(np.broadcast_arrays([0.0, n], drawn[:, None]), axis=-1)
    # Lines are thin where blocks are small, so that they do not cover the cells.
    largest_block = length_in_points(ax, "y") / n * float(np.diff(borders).max())
    width = float(np.clip(largest_block / 12.0, 0.0, 0.7))
    lines = np.concatenate([across, across[:, :, ::-1]])
    add_lines(ax, lines, colors=[theme.grey(0.55)], linewidths=width)
