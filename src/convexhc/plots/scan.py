"""Scan over all scales of a path: cluster counts, persistence, and distances between levels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from convexhc.layout.colors import palette
from convexhc.layout.heatmap import partition_distances
from convexhc.path import Path
from convexhc.plots.selection import check_path, cut_by_level
from convexhc.plots.style import (
    Limits,
    Theme,
    axes_or_new,
    colormap,
    hide_spines,
    lam_limits,
    length_in_points,
    mark_lam,
    set_lam_axis,
    theme_of,
)
from convexhc.tree import Plateau

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def scan(
    path: Path,
    *,
    n_clusters: int | Iterable[int] | None = None,
    lam: float | Iterable[float] | None = None,
    max_levels: int = 60,
    ax: Axes | None = None,
) -> tuple[Axes, Axes, Axes]:
    """Draw three indicators of good scales over one axis of log lam.

    From the top: the number of clusters and the effective rank; the persistence of each plateau
    of the tree, in decades of lam; the variation of information between the partitions at any two
    lam, divided by log n, in which a persistent scale is a dark square. Selected scales are marked
    in all three.

    Parameters
    ----------
    path : Path
        The path.
    n_clusters, lam : number or sequence of numbers, optional
        Levels to mark; by default up to three notable plateaus.
    max_levels : int
        Number of partitions compared at most; a sample represents more of them.
    ax : matplotlib.axes.Axes, optional
        Axes to replace by the three panels; by default those of a new figure.

    Returns
    -------
    tuple of three matplotlib.axes.Axes
        Counts, persistence, variation of information. O(max_levels^2 n log n).

    Raises
    ------
    ValueError
        Scales out of range.

    Examples
    --------
    >>> import convexhc
    >>> K = np.kron(np.eye(2), np.ones((3, 3))) + 0.1 + np.eye(6)
    >>> counts, persistence, information = scan(convexhc.solve_path(K))
    >>> [text.get_text() for text in counts.texts]
    ['2']
    """
    path = check_path(path)
    host = axes_or_new(ax, (7.0, 8.4))
    theme = theme_of(host)
    host.set_axis_off()
    limits = lam_limits(path.lambdas)
    marks = [mark for mark in _marks(path, n_clusters, lam) if limits[0] < mark[0] < limits[1]]
    counts = host.inset_axes((0.0, 0.70, 1.0, 0.30))
    persistence = host.inset_axes((0.0, 0.52, 1.0, 0.14), sharex=counts)
    information = host.inset_axes((0.0, 0.0, 1.0, 0.48), sharex=counts)
    color_bar = host.inset_axes((1.02, 0.0, 0.02, 0.48))
    _draw_counts(counts, path, limits, theme_of(counts))
    _draw_persistence(persistence, path.plateaus, marks, limits, theme)
    _draw_information(information, color_bar, path, limits, theme, max_levels)
    for panel in (counts, persistence, information):
        set_lam_axis(panel, limits, label=panel is information)
        panel.tick_params(axis="x", which="both", labelbottom=panel is information)
        for at, _ in marks:
            mark_lam(panel, at, theme)
    _write_marks(counts, marks)
    return counts, persistence, information


def _marks(
    path: Path, n_clusters: int | Iterable[int] | None, lam: float | Iterable[float] | None
) -> list[tuple[float, int]]:
    """Position on the lam axis and number of clusters of each selected scale."""
    if n_clusters is None and lam is None:
        selected: Sequence[int] = [plateau.n_clusters for plateau in path.tree.notable_plateaus()]
    else:
        selected = [] if n_clusters is None else np.atleast_1d(np.array(n_clusters)).tolist()
    lams = [] if lam is None else np.atleast_1d(np.array(lam, dtype=np.float64)).tolist()
    cuts = [cut_by_level(path.tree, count) for count in selected]
    cuts += [(path.labels(lam=at), at) for at in lams]
    return sorted({(at, int(labels.max()) + 1) for labels, at in cuts})


def _draw_counts(ax: Axes, path: Path, limits: Limits, theme: Theme) -> None:
    """Draw the number of clusters as steps and the effective rank as a line."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    blue, orange = palette(2, dark=theme.dark)
    lambdas = np.maximum(path.lambdas, limits[0])
    # The last partition extends to the end of the axis.
    ax.step(
        np.append(lambdas, limits[1]),
        np.append(path.n_clusters, path.n_clusters[-1]),
        where="post",
        color=blue,
        linewidth=1.8,
        label="clusters",
    )
    if np.isfinite(path.effective_rank).any():
        ax.plot(
            lambdas,
            path.effective_rank,
            color=orange,
            linewidth=1.2,
            marker="o",
            markersize=2.5,
            label="effective rank",
        )
    ax.set_yscale("log")
    ax.set_ylim(0.8, 1.4 * len(path.names))
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=20))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.legend(frameon=False, fontsize="small", loc="best")
    hide_spines(ax, keep=("left", "bottom"))


def _draw_persistence(
    ax: Axes,
    plateaus: Sequence[Plateau],
    marks: list[tuple[float, int]],
    limits: Limits,
    theme: Theme,
) -> None:
    """Draw one bar per plateau: its width is the range of lam, its height the number of decades."""
    bars = [(max(p.lam_from, limits[0]), min(p.lam_to, limits[1]), p) for p in plateaus]
    heights = np.array([p.log_width / np.log(10.0) for _, _, p in bars])
    accent = palette(1, dark=theme.dark)[0]
    marked = [any(low <= at <= high for at, _ in marks) for low, high, _ in bars]
    ax.bar(
        [low for low, _, _ in bars],
        heights,
        width=[high - low for low, high, _ in bars],
        align="edge",
        color=[accent if is_marked else theme.grey(0.3) for is_marked in marked],
        edgecolor=theme.background,
        linewidth=0.6,
    )
    ax.set_ylim(0.0, 1.3 * max(float(heights.max()), 0.1))
    points_per_log = length_in_points(ax, "x") / np.log(limits[1] / limits[0])
    for (low, high, plateau), height in zip(bars, heights, strict=True):
        text = str(plateau.n_clusters)
        if points_per_log * np.log(max(high / low, 1.0)) > 6.0 * len(text) + 2.0:
            ax.text(
                np.sqrt(low * high),
                height,
                text,
                ha="center",
                va="bottom",
                fontsize="x-small",
                bbox={"facecolor": theme.background, "edgecolor": "none", "pad": 0.8},
            )
    ax.locator_params(axis="y", nbins=3)
    ax.set_ylabel("persistence\n(decades)", fontsize="small")
    hide_spines(ax, keep=("left", "bottom"))


def _draw_information(
    ax: Axes, color_bar: Axes, path: Path, limits: Limits, theme: Theme, max_levels: int
) -> None:
    """Draw the distances between the partitions at any two lam."""
    found = partition_distances(path, max_levels=max_levels)
    borders = np.maximum(found.borders, limits[0])
    borders[-1] = limits[1]
    mesh = ax.pcolormesh(
        borders, borders, found.distance, cmap=colormap(theme).reversed(), vmin=0.0, vmax=1.0
    )
    mesh.set_rasterized(True)
    set_lam_axis(ax, limits, side="y")
    bar = ax.figure.colorbar(mesh, cax=color_bar)
    bar.outline.set_visible(False)
    bar.set_label("variation of information / log n")
    hide_spines(ax)


def _write_marks(ax: Axes, marks: list[tuple[float, int]]) -> None:
    """Write the number of clusters above each mark, unless it would overlap the previous one."""
    low, high = ax.get_xlim()
    points_per_log = length_in_points(ax, "x") / np.log(high / low)
    last = -np.inf
    for at, count in marks:
        if points_per_log * (np.log(at) - last) < 9.0 * len(str(count)):
            continue
        last = np.log(at)
        ax.annotate(
            str(count),
            (at, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(0.0, 2.0),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontweight="bold",
        )
