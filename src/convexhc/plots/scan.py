"""All scales of a path at a glance: how many clusters, how lasting, how far apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from convexhc.layout import information_map, lam_limits, palette
from convexhc.path import Path
from convexhc.plots.chosen import path_of, tree_cut
from convexhc.plots.style import (
    Theme,
    axes_for,
    bare,
    lam_axis,
    mark_lam,
    points_along,
    shades,
    theme_of,
)
from convexhc.tree import Plateau

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Limits = tuple[float, float]

# Bottom and height of each panel, as shares of the whole.
_COUNTS = (0.70, 0.30)
_PERSISTENCE = (0.52, 0.14)
_INFORMATION = (0.0, 0.48)


def scan(
    path: Path,
    *,
    n_clusters: int | Iterable[int] | None = None,
    lam: float | Iterable[float] | None = None,
    max_levels: int = 60,
    ax: Axes | None = None,
) -> tuple[Axes, Axes, Axes]:
    """Draw the numbers that tell good scales from accidents over one axis of log lam.

    From the top: the number of clusters and the effective rank; the persistence of every plateau
    of the tree, in powers of ten of lam; the variation of information between the partitions at
    any two lam, as a share of log n, where a lasting scale is a dark square. Chosen scales are
    marked in all three.

    Parameters
    ----------
    path : Path
        What to draw.
    n_clusters, lam : number or sequence of numbers, optional
        Scales to mark; by default the most notable ones, up to three.
    max_levels : int
        Partitions compared at most; a sample stands for more of them.
    ax : matplotlib.axes.Axes, optional
        Axes whose place the three panels take; by default a new figure.

    Returns
    -------
    tuple of three matplotlib.axes.Axes
        Counts, persistence, information. O(max_levels^2 n log n).

    Raises
    ------
    ImportError
        matplotlib is missing.
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
    path = path_of(path)
    host = axes_for(ax, (7.0, 8.4))
    theme = theme_of(host)
    host.set_axis_off()
    limits = lam_limits(path.lambdas)
    marks = [mark for mark in _marks(path, n_clusters, lam) if limits[0] < mark[0] < limits[1]]
    counts = host.inset_axes((0.0, _COUNTS[0], 1.0, _COUNTS[1]))
    persistence = host.inset_axes((0.0, _PERSISTENCE[0], 1.0, _PERSISTENCE[1]), sharex=counts)
    information = host.inset_axes((0.0, _INFORMATION[0], 1.0, _INFORMATION[1]), sharex=counts)
    scale = host.inset_axes((1.02, _INFORMATION[0], 0.02, _INFORMATION[1]))
    _draw_counts(counts, path, limits)
    _draw_persistence(persistence, path.plateaus, marks, limits, theme, len(path.names))
    _draw_information(information, scale, path, limits, theme, max_levels)
    for panel in (counts, persistence, information):
        lam_axis(panel, limits, label=panel is information)
        panel.tick_params(axis="x", which="both", labelbottom=panel is information)
        for at, _ in marks:
            mark_lam(panel, at, theme)
    _write_marks(counts, marks)
    return counts, persistence, information


def _marks(
    path: Path,
    n_clusters: int | Iterable[int] | None,
    lam: float | Iterable[float] | None,
) -> list[tuple[float, int]]:
    """Where the chosen scales are on the axis, and how many clusters they have."""
    if n_clusters is None and lam is None:
        wanted: Sequence[int] = [plateau.n_clusters for plateau in path.tree.notable_plateaus()]
    else:
        wanted = [] if n_clusters is None else np.atleast_1d(np.array(n_clusters)).tolist()
    marks = []
    for count in wanted:
        labels, at = tree_cut(path.tree, n_clusters=count)
        marks.append((at, int(labels.max()) + 1))
    for at in [] if lam is None else np.atleast_1d(np.array(lam, dtype=np.float64)).tolist():
        marks.append((at, int(path.labels(lam=at).max()) + 1))
    return sorted(set(marks))


def _draw_counts(ax: Axes, path: Path, limits: Limits) -> None:
    """Number of clusters as a staircase, effective rank as a line."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    theme = theme_of(ax)
    blue, orange = palette(2, dark=theme.dark)
    lambdas = np.maximum(path.lambdas, limits[0])
    # The last partition holds to the end of the axis.
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
    ax.legend(frameon=False, fontsize="small", loc="lower left")
    bare(ax, keep=("left", "bottom"))


def _draw_persistence(
    ax: Axes,
    plateaus: Sequence[Plateau],
    marks: list[tuple[float, int]],
    limits: Limits,
    theme: Theme,
    n: int,
) -> None:
    """One bar a plateau: as wide as its range of lam, and as high as that is long."""
    bars = [(max(p.lam_from, limits[0]), min(p.lam_to, limits[1]), p) for p in plateaus]
    heights = np.array([p.log_width / np.log(10.0) for _, _, p in bars])
    accent = palette(1, dark=theme.dark)[0]
    chosen = [any(low <= at <= high for at, _ in marks) for low, high, _ in bars]
    ax.bar(
        [low for low, _, _ in bars],
        heights,
        width=[high - low for low, high, _ in bars],
        align="edge",
        color=[accent if is_chosen else theme.mixed(0.3) for is_chosen in chosen],
        edgecolor=theme.ground,
        linewidth=0.6,
    )
    top = max(float(heights.max()), 0.1)
    ax.set_ylim(0.0, 1.3 * top)
    room = points_along(ax, "x") / np.log(limits[1] / limits[0])
    for (low, high, plateau), height in zip(bars, heights, strict=True):
        text = str(plateau.n_clusters)
        if room * np.log(max(high / low, 1.0)) > 6.0 * len(text) + 2.0:
            ax.text(
                np.sqrt(low * high),
                height,
                text,
                ha="center",
                va="bottom",
                fontsize="x-small",
                bbox={"facecolor": theme.ground, "edgecolor": "none", "pad": 0.8},
            )
    ax.locator_params(axis="y", nbins=3)
    ax.set_ylabel("persistence\n(decades)", fontsize="small")
    bare(ax, keep=("left", "bottom"))


def _draw_information(
    ax: Axes, scale: Axes, path: Path, limits: Limits, theme: Theme, max_levels: int
) -> None:
    """Distances between the partitions at any two lam."""
    found = information_map(path, max_levels=max_levels)
    borders = np.maximum(found.borders, limits[0])
    borders[-1] = limits[1]
    mesh = ax.pcolormesh(
        borders, borders, found.distance, cmap=shades(theme).reversed(), vmin=0.0, vmax=1.0
    )
    mesh.set_rasterized(True)
    lam_axis(ax, limits, which="y")
    bar = ax.figure.colorbar(mesh, cax=scale)
    bar.outline.set_visible(False)
    bar.set_label("variation of information / log n")
    bare(ax)


def _write_marks(ax: Axes, marks: list[tuple[float, int]]) -> None:
    """Write the number of clusters above each mark, unless it would cover the one before."""
    low, high = ax.get_xlim()
    room = points_along(ax, "x") / np.log(high / low)
    last = -np.inf
    for at, count in marks:
        if room * (np.log(at) - last) < 9.0 * len(str(count)):
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
