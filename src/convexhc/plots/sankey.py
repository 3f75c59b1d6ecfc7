"""Sankey diagram of the clusters of several levels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from convexhc._text import counted, format_number
from convexhc._types import Labels
from convexhc.layout.colors import cluster_ranks, color_ranks, rank_colors
from convexhc.layout.sankey import Bars, Ribbons, partition_flow
from convexhc.path import Path
from convexhc.plots.selection import check_path, cut_by_level
from convexhc.plots.style import (
    SETTINGS,
    Theme,
    add_polygons,
    axes_or_new,
    hide_spines,
    length_in_points,
    rectangles,
    theme_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def sankey(
    path: Path,
    *,
    n_clusters: Iterable[int] | None = None,
    lam: Iterable[float] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw levels as columns of clusters, with ribbons for the nodes that clusters share.

    Levels are ordered from fine to coarse. Levels selected by number of clusters are cuts of the
    tree and only merge; levels selected by lam are the partitions of the path, so ribbons also
    show splits. A ribbon has the colour of the finer cluster.

    Parameters
    ----------
    path : Path
        The path.
    n_clusters : sequence of int, optional
        Levels by number of clusters.
    lam : sequence of float, optional
        Levels by lam. Without either, the most persistent levels and some between them.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        Column a is at x = a. O(n log n) per level.

    Raises
    ------
    ValueError
        Both n_clusters and lam, an empty sequence, or values out of range.

    Examples
    --------
    >>> import convexhc
    >>> K = np.kron(np.eye(2), np.ones((3, 3))) + 0.1 + np.eye(6)
    >>> ax = sankey(convexhc.solve_path(K), n_clusters=[6, 2, 1])
    >>> [text.get_text().splitlines()[0] for text in ax.get_xticklabels()]
    ['6 clusters', '2 clusters', '1 cluster']
    """
    path = check_path(path)
    levels = _select_levels(path, n_clusters, lam)
    ax = axes_or_new(ax, (1.5 + 1.9 * len(levels), 5.6))
    theme = theme_of(ax)
    ranks = color_ranks(path.tree)
    columns, flows = partition_flow([labels for labels, _ in levels], path.tree.leaf_order())
    colors = [rank_colors(cluster_ranks(labels, ranks), dark=theme.dark) for labels, _ in levels]
    for column, ribbons in enumerate(flows):
        _draw_ribbons(ax, column, ribbons, colors[column])
    for column, bars in enumerate(columns):
        _draw_bars(ax, column, bars, colors[column], theme)
    ax.set_xlim(-0.15, len(levels) - 0.7)
    ax.set_ylim(1.02, -0.02)
    ax.set_yticks([])
    ax.set_xticks(
        range(len(levels)),
        [
            f"{counted(bars.cluster.size, 'cluster')}\n" + rf"$\lambda$ = {format_number(at)}"
            for bars, (_, at) in zip(columns, levels, strict=True)
        ],
    )
    ax.tick_params(length=0)
    hide_spines(ax)
    return ax


def _select_levels(
    path: Path, n_clusters: Iterable[int] | None, lam: Iterable[float] | None
) -> list[tuple[Labels, float]]:
    """Labels and lam of each column, from fine to coarse."""
    if n_clusters is not None and lam is not None:
        raise ValueError("give n_clusters or lam, received both.")
    if lam is not None:
        levels = [(path.labels(lam=at), at) for at in sorted({float(at) for at in lam})]
    else:
        counts = _default_counts(path) if n_clusters is None else n_clusters
        levels = [cut_by_level(path.tree, k) for k in sorted(set(counts), reverse=True)]
    if not levels:
        raise ValueError("received no level: give at least one, and two or more to show a flow.")
    return levels


def _default_counts(path: Path) -> list[int]:
    """Numbers of clusters of the default columns: persistent ones, then evenly spaced ones."""
    # Coarser cuts than the end of the path come from merges that only complete the tree.
    available = np.array(path.level_n_clusters)
    available = available[available >= path.n_clusters[-1]]
    persistent = [p.n_clusters for count in (1, 3) for p in path.tree.notable_plateaus(count)]
    most = max(2.0, min(len(path.names) / 2.0, 60.0))
    targets = np.geomspace(2.0, most, SETTINGS.n_columns)
    nearest = [int(available[np.abs(np.log(available / target)).argmin()]) for target in targets]
    counts: list[int] = []
    for count in [*persistent, *nearest]:
        # Skip levels that are nearly the same as a selected one.
        if len(counts) < SETTINGS.n_columns and all(abs(np.log(count / k)) > 0.4 for k in counts):
            counts.append(count)
    return counts if len(counts) > 1 else available[-SETTINGS.n_columns :].tolist()


def _draw_bars(ax: Axes, column: int, bars: Bars, colors: Sequence[str], theme: Theme) -> None:
    """Draw a column of clusters, with their sizes where there is room."""
    half = SETTINGS.bar_width / 2
    corners = rectangles(column - half, column + half, bars.start, bars.stop)
    facecolors = [colors[cluster] for cluster in bars.cluster]
    add_polygons(ax, corners, facecolors=facecolors, linewidths=0, zorder=2.0)
    height = length_in_points(ax, "y")
    for start, stop, size in zip(bars.start, bars.stop, bars.size, strict=True):
        if height * (stop - start) >= 8.0 and size > 1:
            ax.text(
                column + 0.7 * SETTINGS.bar_width,
                (start + stop) / 2.0,
                str(size),
                va="center",
                fontsize=SETTINGS.font_size,
                color=theme.grey(0.85),
                zorder=3.0,
            )


def _draw_ribbons(ax: Axes, column: int, ribbons: Ribbons, colors: Sequence[str]) -> None:
    """Draw the ribbons from one column to the next, horizontal at both ends."""
    t = np.linspace(0.0, 1.0, 24)
    smoothstep = t * t * (3.0 - 2.0 * t)
    x = column + SETTINGS.bar_width / 2 + t * (1.0 - SETTINGS.bar_width)
    top = ribbons.left[:, None] + (ribbons.right - ribbons.left)[:, None] * smoothstep
    outline_x = np.concatenate([x, x[::-1]])
    outline_y = np.concatenate([top, (top + ribbons.width[:, None])[:, ::-1]], axis=1)
    outlines = np.stack([np.broadcast_to(outline_x, outline_y.shape), outline_y], axis=-1)
    facecolors = [colors[cluster] for cluster in ribbons.source]
    add_polygons(ax, outlines, facecolors=facecolors, alpha=0.4, linewidths=0, zorder=1.0)
