"""The graph, its nodes coloured by cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from convexhc._types import FloatArray, IntArray
from convexhc.graph import Graph
from convexhc.io import as_graph
from convexhc.layout.graph_layout import align_nodes, graph_positions, name_sides, strongest_edges
from convexhc.path import Path
from convexhc.plots.selection import SelectedLevel, select_level
from convexhc.plots.style import (
    SETTINGS,
    Theme,
    add_lines,
    axes_or_new,
    hide_spines,
    length_in_points,
    theme_of,
    truncated_name,
)
from convexhc.solvers.loop import Solution

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def network(
    result: Path | Solution,
    graph: Any,
    *,
    n_clusters: int | None = None,
    lam: float | None = None,
    positions: ArrayLike | None = None,
    names: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw the graph with the clusters of one level in colour.

    Positions depend on the graph alone, so figures of different levels can be compared. Edges
    inside a cluster have its colour; edges between clusters and single nodes are grey.

    Parameters
    ----------
    result : Path or Solution
        The clusters.
    graph : anything :func:`convexhc.io.as_graph` reads
        Edges between the nodes of the result: preferably the graph itself, as a similarity has
        many more. At most 20 000 edges are drawn: a maximum spanning forest and the strongest
        others, ties by chance.
    positions : (n, 2) array, optional
        Positions of the nodes, in the order of the result; by default a layout with short edges.
    names : bool
        Label the nodes, in graphs with up to 120 of them and where there is room.
    n_clusters, lam, ax
        As for `dendrogram`.

    Returns
    -------
    matplotlib.axes.Axes
        Its last collection holds the nodes, in the order of the result.

    Raises
    ------
    ValueError
        A graph or positions of another size, or both n_clusters and lam.

    Examples
    --------
    >>> import convexhc
    >>> A = np.kron(np.eye(2), np.ones((3, 3))) + 0.1
    >>> ax = network(convexhc.solve_path(A + np.eye(6)), A)
    >>> len(ax.collections[-1].get_offsets())
    6
    """
    level = select_level(result, n_clusters=n_clusters, lam=lam)
    drawn = align_nodes(as_graph(graph, signed=True), level.names)
    n = drawn.n
    xy = graph_positions(drawn) if positions is None else _checked_positions(positions, n)
    named = level.names if names and n <= SETTINGS.max_named_nodes else ()
    texts = [truncated_name(name) for name in named]
    # Sizes in points; a name is estimated at 0.62 of the font size per character.
    size = float(np.clip(9000.0 / n, 10.0, 170.0))
    radius = float(np.sqrt(size) / 2.0)
    widths = 0.62 * SETTINGS.font_size * np.array([len(text) for text in texts])
    fits_inside = bool((widths <= 1.8 * radius).all())
    margin = 2.0 * radius + (0.0 if fits_inside else float(np.median(widths)))
    ax = axes_or_new(ax, _figure_size(xy, 7.0 if fits_inside else 8.0, margin))
    theme = theme_of(ax)
    cluster_colors = np.array(level.cluster_colors(dark=theme.dark))
    node_colors = cluster_colors[level.labels].tolist()
    _draw_edges(ax, drawn, xy, level, cluster_colors, theme)
    ax.scatter(
        xy[:, 0],
        xy[:, 1],
        s=size,
        c=node_colors,
        edgecolors=[theme.background],
        linewidths=float(np.clip(size / 60.0, 0.2, 1.0)),
        zorder=2.0,
    )
    _set_limits(ax, xy, np.array([margin, 2.0 * radius]))
    ax.set_aspect("equal")
    ax.set_xticks([])
    ax.set_yticks([])
    hide_spines(ax)
    if not fits_inside:
        degree = np.bincount(np.concatenate([drawn.tail, drawn.head]), minlength=n)
        sides = name_sides(
            xy * _points_per_unit(ax),
            widths,
            height=1.15 * SETTINGS.font_size,
            radius=radius,
            margin=margin,
            priority=np.argsort(-degree, kind="stable"),
        )
        _write_beside(ax, xy, texts, radius, sides)
    elif texts:
        _write_inside(ax, xy, texts, node_colors)
    ax.set_title(level.title, fontsize="medium")
    return ax


def _checked_positions(positions: ArrayLike, n: int) -> FloatArray:
    xy = np.array(positions, dtype=np.float64)
    if xy.shape != (n, 2) or not np.isfinite(xy).all():
        raise ValueError(
            f"positions must be a finite array of shape ({n}, 2), one row per node; received shape "
            f"{xy.shape}."
        )
    return xy


def _draw_edges(
    ax: Axes,
    graph: Graph,
    xy: FloatArray,
    level: SelectedLevel,
    cluster_colors: NDArray[np.str_],
    theme: Theme,
) -> None:
    """Draw the edges between clusters, then those inside; widths grow with the weights."""
    weight = np.abs(graph.weight)
    kept = strongest_edges(graph, SETTINGS.max_edges)
    tail, head, weight = graph.tail[kept], graph.head[kept], weight[kept]
    inside = level.labels[tail] == level.labels[head]
    lines = np.stack([xy[tail], xy[head]], axis=1)
    max_width = float(np.clip(60.0 / np.sqrt(max(kept.size, 1)), 0.35, 1.6))
    width = max_width * (0.35 + 0.65 * np.sqrt(weight / weight.max(initial=1e-300)))
    alpha = float(np.clip(35.0 / np.sqrt(max(kept.size, 1)), 0.2, 0.75))
    for edges, colors in (
        (~inside, [theme.grey(0.45)]),
        (inside, cluster_colors[level.labels[tail[inside]]].tolist()),
    ):
        style = {"linewidths": width[edges].tolist(), "alpha": alpha, "zorder": 1.0}
        add_lines(ax, lines[edges], colors=colors, **style)


def _figure_size(xy: FloatArray, longer: float, margin: float) -> tuple[float, float]:
    """Width and height in inches, in the proportions of the graph and its names."""
    width, height = np.maximum(np.ptp(xy, axis=0), 1e-9)
    figure_width = longer + 2.0 * margin / 72.0
    return figure_width, float(np.clip(longer * height / width, 3.0, longer)) + 0.5


def _set_limits(ax: Axes, xy: FloatArray, margin: FloatArray) -> None:
    """Set limits that leave room for the outermost nodes and their names, in points."""
    low, high = xy.min(axis=0), xy.max(axis=0)
    sides = np.array([length_in_points(ax, "x"), length_in_points(ax, "y")])
    # Points per unit, the same for x and y; at least half of the axes is for the graph.
    scale = np.maximum(sides - 2.0 * margin, sides / 2.0) / np.maximum(high - low, 1e-9)
    reach = margin / float(scale.min())
    ax.set_xlim(low[0] - reach[0], high[0] + reach[0])
    ax.set_ylim(low[1] - reach[1], high[1] + reach[1])


def _write_inside(ax: Axes, xy: FloatArray, texts: list[str], colors: list[str]) -> None:
    """Write the names inside the nodes, in black or white."""
    from matplotlib.colors import to_rgb

    for (x, y), text, color in zip(xy, texts, colors, strict=True):
        red, green, blue = to_rgb(color)
        ax.text(
            x,
            y,
            text,
            ha="center",
            va="center",
            fontsize=SETTINGS.font_size,
            color="black" if 0.3 * red + 0.59 * green + 0.11 * blue > 0.55 else "white",
            parse_math=False,
        )


def _points_per_unit(ax: Axes) -> float:
    """Scale of the drawing, the smaller of those along x and y."""
    width, height = np.ptp(ax.get_xlim()), np.ptp(ax.get_ylim())
    return float(min(length_in_points(ax, "x") / width, length_in_points(ax, "y") / height))


def _write_beside(
    ax: Axes, xy: FloatArray, texts: list[str], radius: float, sides: IntArray
) -> None:
    """Write the names beside the nodes, where they have a side."""
    from matplotlib.patheffects import withStroke

    halo = [withStroke(linewidth=1.5, foreground=theme_of(ax).background)]
    for node in np.flatnonzero(sides):
        ax.annotate(
            texts[node],
            (xy[node, 0], xy[node, 1]),
            xytext=(1.2 * radius * sides[node], 0.0),
            textcoords="offset points",
            ha="left" if sides[node] > 0 else "right",
            va="center",
            fontsize=SETTINGS.font_size,
            path_effects=halo,
            parse_math=False,
        )
