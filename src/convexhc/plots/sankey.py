"""How the clusters of some levels flow into each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from convexhc._types import IntArray
from convexhc.layout import (
    Bars,
    Ribbons,
    cluster_ranks,
    color_ranks,
    colors_of,
    partition_flow,
)
from convexhc.path import Path
from convexhc.plots.chosen import path_of, tree_cut
from convexhc.plots.style import Theme, axes_for, bare, counted, points_along, theme_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_BAR = 0.06
_LEVELS = 4


def sankey(
    path: Path,
    *,
    n_clusters: Iterable[int] | None = None,
    lam: Iterable[float] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw chosen levels as columns of clusters, with ribbons for the nodes that they share.

    Levels stand from fine to coarse. Those chosen by number are cuts of the tree and only ever
    fuse; those chosen by lam are what the path found there, so that splits show as ribbons that
    part. A ribbon wears the colour of the finer cluster.

    Parameters
    ----------
    path : Path
        What to draw.
    n_clusters : sequence of int, optional
        Levels by their number of clusters.
    lam : sequence of float, optional
        Levels by lam. Without either, the most notable levels and some others.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default in a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        Column a stands at x = a. O(n log n) for each level.

    Raises
    ------
    ImportError
        matplotlib is missing.
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
    path = path_of(path)
    levels = _levels(path, n_clusters, lam)
    ax = axes_for(ax, (1.5 + 1.9 * len(levels), 5.6))
    theme = theme_of(ax)
    ranks = color_ranks(path.tree)
    bars, ribbons = partition_flow([labels for labels, _ in levels], path.tree.leaf_order())
    worn = [colors_of(cluster_ranks(labels, ranks), dark=theme.dark) for labels, _ in levels]
    for at, flow in enumerate(ribbons):
        _draw_ribbons(ax, at, flow, worn[at])
    for at, column in enumerate(bars):
        _draw_bars(ax, at, column, worn[at], theme)
    ax.set_xlim(-0.15, len(levels) - 0.7)
    ax.set_ylim(1.02, -0.02)
    ax.set_yticks([])
    ax.set_xticks(
        range(len(levels)),
        [
            f"{counted(column.cluster.size, 'cluster')}\n" + rf"$\lambda$ = {at:.3g}"
            for column, (_, at) in zip(bars, levels, strict=True)
        ],
    )
    ax.tick_params(length=0)
    bare(ax)
    return ax


def _levels(
    path: Path, n_clusters: Iterable[int] | None, lam: Iterable[float] | None
) -> list[tuple[IntArray, float]]:
    """Labels and lam of each column, from fine to coarse."""
    if n_clusters is not None and lam is not None:
        raise ValueError("give n_clusters or lam, received both.")
    if lam is not None:
        levels = [(path.labels(lam=at), at) for at in sorted({float(at) for at in lam})]
    else:
        counts = _default_counts(path) if n_clusters is None else n_clusters
        levels = [tree_cut(path.tree, n_clusters=k) for k in sorted(set(counts), reverse=True)]
    if not levels:
        raise ValueError("no level was given: name at least one, two to see a flow.")
    return levels


def _default_counts(path: Path) -> list[int]:
    """Numbers of clusters worth a column: lasting ones, then some evenly spread between."""
    # Below what the path reached, components are joined for the sake of the tree only.
    available = np.array(path.level_n_clusters)
    available = available[available >= path.n_clusters[-1]]
    lasting = [p.n_clusters for count in (1, 3) for p in path.tree.notable_plateaus(count)]
    most = max(2.0, min(len(path.names) / 2.0, 60.0))
    targets = np.geomspace(2.0, most, _LEVELS)
    nearest = [int(available[np.abs(np.log(available / target)).argmin()]) for target in targets]
    chosen: list[int] = []
    for count in [*lasting, *nearest]:
        # Levels that hardly differ would only repeat each other.
        if len(chosen) < _LEVELS and all(abs(np.log(count / k)) > 0.4 for k in chosen):
            chosen.append(count)
    return chosen if len(chosen) > 1 else available[-_LEVELS:].tolist()


def _draw_bars(ax: Axes, at: int, bars: Bars, worn: Sequence[str], theme: Theme) -> None:
    """A column of clusters, with their sizes where there is room."""
    from matplotlib.collections import PolyCollection

    left, right = np.full(bars.start.size, at - _BAR / 2), np.full(bars.start.size, at + _BAR / 2)
    corners = np.stack(
        [left, bars.start, right, bars.start, right, bars.stop, left, bars.stop], axis=1
    ).reshape(-1, 4, 2)
    colors = [worn[cluster] for cluster in bars.cluster]
    ax.add_collection(PolyCollection(list(corners), facecolors=colors, linewidths=0, zorder=2.0))
    room = points_along(ax, "y")
    for start, stop, size in zip(bars.start, bars.stop, bars.size, strict=True):
        if room * (stop - start) >= 8.0 and size > 1:
            ax.text(
                at + 0.7 * _BAR,
                (start + stop) / 2.0,
                str(size),
                va="center",
                fontsize=7.0,
                color=theme.mixed(0.85),
                zorder=3.0,
            )


def _draw_ribbons(ax: Axes, at: int, flow: Ribbons, worn: Sequence[str]) -> None:
    """Ribbons from one column to the next, level at both ends."""
    from matplotlib.collections import PolyCollection

    t = np.linspace(0.0, 1.0, 24)
    bend = t * t * (3.0 - 2.0 * t)
    x = at + _BAR / 2 + t * (1.0 - _BAR)
    top = flow.left[:, None] + (flow.right - flow.left)[:, None] * bend
    outline_x = np.concatenate([x, x[::-1]])
    outline_y = np.concatenate([top, (top + flow.width[:, None])[:, ::-1]], axis=1)
    shapes = np.stack([np.broadcast_to(outline_x, outline_y.shape), outline_y], axis=-1)
    colors = [worn[cluster] for cluster in flow.source]
    ax.add_collection(
        PolyCollection(list(shapes), facecolors=colors, alpha=0.4, linewidths=0, zorder=1.0)
    )
