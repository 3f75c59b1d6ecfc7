"""The similarity, or the centroids, as a heat map in the order of the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from convexhc.layout import block_borders, ordered_cells, shade_limit
from convexhc.path import Path
from convexhc.plots.chosen import Level, aligned_graph, chosen_level
from convexhc.plots.style import (
    Theme,
    axes_for,
    bare,
    counted,
    name_size,
    name_ticks,
    points_along,
    shades,
    shown_name,
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
    """Draw a similarity, or the centroids pi(lam), with the nodes of each cluster side by side.

    Rows and columns are in tree order, so that every cut makes blocks along the diagonal; lines
    part those of the chosen one, and a strip wears its colours. Shades end where 99 % of the
    entries off the diagonal do.

    Parameters
    ----------
    result : Path or Solution
        Order and clusters, and the centroids.
    K : graph or (n, n) similarity, optional
        What to draw, with the nodes of the result; by default the centroids: row i is where node
        i draws from, column i its centroid.
    n_clusters, lam : int, float, optional
        The cut, and the lam of the centroids; by default the suggested level.
    max_cells : int
        Cells along a side; with more nodes each shows a mean.
    names : bool
        Name the nodes, where there is room.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default in a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        Nodes are one unit long, from 0 to n. O(n^2) for centroids, O(entries) for a sparse K.

    Raises
    ------
    ImportError
        matplotlib is missing.
    ValueError
        A K of another size, a path without centroids, both n_clusters and lam.

    Examples
    --------
    >>> import convexhc
    >>> K = np.kron(np.eye(2), np.ones((3, 3))) + 0.1 + np.eye(6)
    >>> heatmap(convexhc.solve_path(K), K).get_title()
    'similarity of 6 nodes, 2 clusters'
    """
    level = chosen_level(result, n_clusters=n_clusters, lam=lam)
    n = level.labels.size
    if K is None:
        matrix: Any = result.pi if isinstance(result, Solution) else result.pi(level.lam)
        if matrix.shape[0] != n:
            raise ValueError(
                f"the centroids have {matrix.shape[0]} coordinates for {n} nodes, so they make no "
                "square: give the similarity to draw as K."
            )
        what = rf"$\pi$ at $\lambda$ = {level.lam:.3g}"
    else:
        matrix = aligned_graph(K, level.names, signed=True).matrix()
        what = "similarity"
    side = float(np.clip(1.5 + 0.14 * n, 4.0, 7.0))
    ax = axes_for(ax, (side + 0.9, side))
    theme = theme_of(ax)
    _draw_cells(ax, matrix, level, theme, max_cells)
    _draw_blocks(ax, level, theme)
    size = name_size(ax, "y", n) if names else 0.0
    order = level.order if size else level.order[:0]
    ax.set_xticks([])
    texts = [shown_name(level.names[node]) for node in order]
    name_ticks(ax, "y", np.arange(order.size, dtype=np.float64) + 0.5, texts, size)
    bare(ax)
    ax.set_title(
        f"{what} of {counted(n, 'node')}, {counted(level.n_clusters, 'cluster')}",
        fontsize="medium",
    )
    return ax


def _draw_cells(ax: Axes, matrix: Any, level: Level, theme: Theme, max_cells: int) -> None:
    """The picture and its scale."""
    cells, borders = ordered_cells(matrix, level.order, max_cells=max_cells)
    limit = shade_limit(cells)
    signed = bool(cells.min() < -1e-9 * limit)
    image = ax.pcolormesh(
        borders,
        borders,
        cells,
        cmap=shades(theme, signed=signed),
        vmin=-limit if signed else 0.0,
        vmax=limit,
        rasterized=True,
    )
    beyond = "max" if cells.max() > 1.001 * limit else "neither"
    place = ax.inset_axes((1.02, 0.2, 0.025, 0.6))
    scale = ax.figure.colorbar(image, cax=place, extend=beyond)
    scale.outline.set_visible(False)
    n = level.labels.size
    ax.set_xlim(-0.025 * n, n)
    ax.set_ylim(n, -0.025 * n)
    ax.set_aspect("equal")


def _draw_blocks(ax: Axes, level: Level, theme: Theme) -> None:
    """Lines where the cluster changes, and strips of colour along the left and the top."""
    from matplotlib.collections import LineCollection, PolyCollection

    n = level.labels.size
    borders = block_borders(level.labels, level.order).astype(np.float64)
    worn = level.cluster_colors(dark=theme.dark)
    colors = [worn[level.labels[level.order[int(at)]]] for at in borders[:-1]]
    out, depth = np.full(borders.size - 1, -0.022 * n), np.full(borders.size - 1, -0.006 * n)
    low, high = borders[:-1], borders[1:]
    left = np.stack([out, low, depth, low, depth, high, out, high], axis=1).reshape(-1, 4, 2)
    strips = PolyCollection([*left, *left[:, :, ::-1]], facecolors=colors * 2, linewidths=0)
    ax.add_collection(strips, autolim=False)
    # Many thin blocks would hide what they part.
    room = points_along(ax, "y") / n * float(np.diff(borders).max())
    # Single nodes side by side need no lines between them.
    broad = np.diff(borders) > 1.0
    inner = borders[1:-1][broad[1:] | broad[:-1]]
    lines = [[(0.0, at), (n, at)] for at in inner] + [[(at, 0.0), (at, n)] for at in inner]
    width = float(np.clip(room / 12.0, 0.0, 0.7))
    ax.add_collection(
        LineCollection(lines, colors=[theme.mixed(0.55)], linewidths=width), autolim=False
    )
