"""The graph, its nodes coloured by a cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from convexhc._types import FloatArray, IntArray
from convexhc.graph import Graph
from convexhc.layout import graph_positions, name_sides
from convexhc.path import Path
from convexhc.plots.chosen import Level, aligned_graph, chosen_level
from convexhc.plots.style import (
    Theme,
    axes_for,
    bare,
    counted,
    points_along,
    shown_name,
    theme_of,
)
from convexhc.solvers.loop import Solution

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Beyond this many edges only the strongest are drawn: more of them make a grey disc.
_MOST_EDGES = 20_000
_MOST_NAMES = 120
# Size of names, in points.
_NAME_SIZE = 7.0
# Width of a letter as a share of its size.
_WIDE = 0.62


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

    The places of the nodes depend on the graph alone, so pictures of different levels can be laid
    side by side. Edges inside a cluster wear its colour, those between clusters and single nodes
    none.

    Parameters
    ----------
    result : Path or Solution
        The clusters.
    graph : anything :func:`convexhc.io.as_graph` reads
        The edges to draw, between the nodes of the result: the graph itself rather than a
        similarity, which has many more. Beyond 20 000 the strongest are drawn.
    n_clusters, lam : int, float, optional
        The cut; by default the suggested level.
    positions : (n, 2) array, optional
        Places of the nodes, in the order of the result; by default
        :func:`convexhc.layout.graph_positions`.
    names : bool
        Name the nodes of graphs with up to 120 of them, where there is room.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default in a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        Its last collection holds the nodes, in the order of the result.

    Raises
    ------
    ImportError
        matplotlib is missing.
    ValueError
        A graph or positions of another size, both n_clusters and lam.

    Examples
    --------
    >>> import convexhc
    >>> A = np.kron(np.eye(2), np.ones((3, 3))) + 0.1
    >>> ax = network(convexhc.solve_path(A + np.eye(6)), A)
    >>> len(ax.collections[-1].get_offsets())
    6
    """
    level = chosen_level(result, n_clusters=n_clusters, lam=lam)
    drawn = aligned_graph(graph, level.names, signed=True)
    places = graph_positions(drawn) if positions is None else _checked(positions, drawn.n)
    n = drawn.n
    texts = [shown_name(name) for name in level.names] if names and n <= _MOST_NAMES else []
    size = float(np.clip(9000.0 / n, 10.0, 170.0))
    radius = float(np.sqrt(size) / 2.0)
    ax = axes_for(ax, _figure_size(places, texts, radius))
    theme = theme_of(ax)
    worn = np.array(level.cluster_colors(dark=theme.dark))
    _draw_edges(ax, drawn, places, level, worn, theme)
    ax.scatter(
        places[:, 0],
        places[:, 1],
        s=size,
        c=worn[level.labels].tolist(),
        edgecolors=[theme.ground],
        linewidths=float(np.clip(size / 60.0, 0.2, 1.0)),
        zorder=2.0,
    )
    _frame(ax, places, texts, radius)
    ax.set_aspect("equal")
    ax.set_xticks([])
    ax.set_yticks([])
    bare(ax)
    if texts and _fits_inside(texts, radius):
        _write_inside(ax, places, texts, worn[level.labels].tolist())
    elif texts:
        degree = np.bincount(np.concatenate([drawn.tail, drawn.head]), minlength=n)
        _write_beside(ax, places, texts, radius, np.argsort(-degree, kind="stable"))
    clusters = counted(level.n_clusters, "cluster")
    ax.set_title(
        rf"{counted(n, 'node')}, {clusters} at $\lambda$ = {level.lam:.3g}",
        fontsize="medium",
    )
    return ax


def _checked(positions: ArrayLike, n: int) -> FloatArray:
    places = np.array(positions, dtype=np.float64)
    if places.shape != (n, 2) or not np.isfinite(places).all():
        raise ValueError(
            f"positions must be {n} finite points of the plane, one for each node; received shape "
            f"{places.shape}."
        )
    return places


def _draw_edges(
    ax: Axes, graph: Graph, places: FloatArray, level: Level, worn: NDArray[Any], theme: Theme
) -> None:
    """Edges between clusters below, those inside above them; the stronger the broader."""
    from matplotlib.collections import LineCollection

    size = np.abs(graph.weight)
    kept = np.sort(np.argsort(-size, kind="stable")[:_MOST_EDGES])
    tail, head, size = graph.tail[kept], graph.head[kept], size[kept]
    inside = level.labels[tail] == level.labels[head]
    lines = np.stack([places[tail], places[head]], axis=1)
    broad = float(np.clip(60.0 / np.sqrt(max(kept.size, 1)), 0.35, 1.6))
    width = broad * (0.35 + 0.65 * np.sqrt(size / size.max(initial=1e-300)))
    dense = float(np.clip(35.0 / np.sqrt(max(kept.size, 1)), 0.2, 0.75))
    for chosen, colors in (
        (~inside, [theme.mixed(0.45)]),
        (inside, worn[level.labels[tail[inside]]].tolist()),
    ):
        ax.add_collection(
            LineCollection(
                list(lines[chosen]),
                colors=colors,
                linewidths=width[chosen].tolist(),
                alpha=dense,
                zorder=1.0,
            ),
            autolim=False,
        )


def _width(text: str) -> float:
    """About how long a name is, in points."""
    return _WIDE * _NAME_SIZE * len(text)


def _fits_inside(texts: list[str], radius: float) -> bool:
    return max(_width(text) for text in texts) <= 1.8 * radius


def _margin(texts: list[str], radius: float) -> float:
    """Points to leave free on the left and on the right: enough for most names."""
    if not texts or _fits_inside(texts, radius):
        return 2.0 * radius
    return 2.0 * radius + float(np.median([_width(text) for text in texts]))


def _figure_size(places: FloatArray, texts: list[str], radius: float) -> tuple[float, float]:
    """Width and height in inches of a figure with the proportions of the graph and its names."""
    across, up = np.maximum(np.ptp(places, axis=0), 1e-9)
    room = 7.0 if not texts or _fits_inside(texts, radius) else 8.0
    width = room + 2.0 * _margin(texts, radius) / 72.0
    return width, float(np.clip(room * up / across, 3.0, room)) + 0.5


def _frame(ax: Axes, places: FloatArray, texts: list[str], radius: float) -> None:
    """Limits that leave room for the nodes at the border and for their names."""
    low, high = places.min(axis=0), places.max(axis=0)
    free = np.array([_margin(texts, radius), 2.0 * radius])
    sides = np.array([points_along(ax, "x"), points_along(ax, "y")])
    # Points for one unit, the same across and up; at least half of the axes is for the graph.
    unit = np.maximum(sides - 2.0 * free, sides / 2.0) / np.maximum(high - low, 1e-9)
    reach = free / float(unit.min())
    ax.set_xlim(low[0] - reach[0], high[0] + reach[0])
    ax.set_ylim(low[1] - reach[1], high[1] + reach[1])


def _write_inside(ax: Axes, places: FloatArray, texts: list[str], colors: list[str]) -> None:
    """Names inside the nodes, in black or white."""
    from matplotlib.colors import to_rgb

    for (x, y), text, color in zip(places, texts, colors, strict=True):
        red, green, blue = to_rgb(color)
        ax.text(
            x,
            y,
            text,
            ha="center",
            va="center",
            fontsize=_NAME_SIZE,
            color="black" if 0.3 * red + 0.59 * green + 0.11 * blue > 0.55 else "white",
            parse_math=False,
        )


def _write_beside(
    ax: Axes, places: FloatArray, texts: list[str], radius: float, first: IntArray
) -> None:
    """Names beside the nodes, as many as find room."""
    from matplotlib.patheffects import withStroke

    across, up = np.ptp(ax.get_xlim()), np.ptp(ax.get_ylim())
    unit = min(points_along(ax, "x") / across, points_along(ax, "y") / up)
    sides = name_sides(
        places * unit,
        np.array([_width(text) for text in texts]),
        height=1.15 * _NAME_SIZE,
        radius=radius,
        margin=_margin(texts, radius),
        first=first,
    )
    halo = [withStroke(linewidth=1.5, foreground=theme_of(ax).ground)]
    for node in np.flatnonzero(sides):
        ax.annotate(
            texts[node],
            (places[node, 0], places[node, 1]),
            xytext=(1.2 * radius * sides[node], 0.0),
            textcoords="offset points",
            ha="left" if sides[node] > 0 else "right",
            va="center",
            fontsize=_NAME_SIZE,
            path_effects=halo,
            parse_math=False,
        )
