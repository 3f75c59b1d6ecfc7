"""Figures of the experiments: one look, written as PNG and SVG.

The only file of the experiments that imports matplotlib. Colours are those of Okabe and Ito, which
are distinguishable with any colour vision, and viridis for continuous values.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from convexhc._types import FloatArray
from experiments.results import write_bytes

BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#E69F00", "#009E73", "#CC79A7"
SKY, VERMILION, YELLOW, BLACK, GREY = "#56B4E9", "#D55E00", "#F0E442", "#000000", "#7F7F7F"
COLORS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
# Colour, marker and name of the methods that several experiments compare.
METHODS = {
    "convex": (BLUE, "o", "convex"),
    "single": (VERMILION, "s", "single linkage"),
    "average": (GREEN, "^", "average linkage"),
    "complete": (PURPLE, "D", "complete linkage"),
    "ward": (ORANGE, "v", "Ward"),
}

_STYLE: dict[Any, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#444444",
    "axes.grid": True,
    "axes.labelsize": 10,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10.5,
    "figure.facecolor": "white",
    "font.size": 10,
    "grid.color": "#E6E6E6",
    "grid.linewidth": 0.6,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "savefig.facecolor": "white",
    "svg.hashsalt": "convexhc",
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
}


@contextmanager
def figure(
    stem: Path, n_rows: int = 1, n_columns: int = 1, *, size: tuple[float, float], **options: Any
) -> Iterator[tuple[Any, NDArray[Any]]]:
    """A figure and its axes, written to ``stem`` .png and .svg when the block ends.

    Parameters
    ----------
    stem : Path
        File names without suffix.
    n_rows, n_columns : int
        Panels.
    size : (float, float)
        Width and height in inches.
    options
        Passed on to ``Figure.subplots``.

    Yields
    ------
    (Figure, (n_rows, n_columns) array of Axes)
        Made without pyplot, so no figure stays open and no window is needed.
    """
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("figures need matplotlib: pip install 'convexhc[plots]'.") from error
    with matplotlib.rc_context(_STYLE):
        drawing = Figure(figsize=size, layout="constrained")
        yield drawing, drawing.subplots(n_rows, n_columns, squeeze=False, **options)
        for suffix, metadata in (("png", {"Software": None}), ("svg", {"Date": None})):
            content = io.BytesIO()
            drawing.savefig(content, format=suffix, dpi=160, metadata=metadata)
            write_bytes(stem.with_suffix(f".{suffix}"), content.getvalue())


@contextmanager
def panels(
    stem: Path, count: int, *, width: float = 3.3, height: float = 3.0, **options: Any
) -> Iterator[tuple[Any, list[Any]]]:
    """A figure of ``count`` panels in rows of at most four; the size of one is in inches.

    If the grid has no empty places, labels are only at its outer edge.
    """
    # Fewest empty places first, then longest rows.
    columns = min(range(min(count, 4), min(count, 2) - 1, -1), key=lambda c: -count % c)
    rows = -(-count // columns)
    size = (width * columns, height * rows + 0.4)
    with figure(stem, rows, columns, size=size, **options) as (drawing, axes):
        every = list(axes.ravel())
        for unused in every[count:]:
            unused.remove()
        yield drawing, every[:count]
        for panel in every[:count]:
            if rows * columns == count:
                panel.label_outer()
            else:
                panel.tick_params(labelbottom=True, labelleft=True)


def legend_below(drawing: Any, handles: Sequence[Any], texts: Sequence[str]) -> None:
    """One legend for all panels, below them, in as many rows as the width requires."""
    # About 0.085 inches per letter, and half an inch for the line marker.
    fit = int(drawing.get_size_inches()[0] / (0.085 * max(map(len, texts)) + 0.5))
    rows = -(-len(texts) // max(fit, 1))
    drawing.legend(handles, texts, loc="outside lower center", ncols=-(-len(texts) // rows))


def line_key(color: str, style: Any, label: str, width: float = 1.2) -> Any:
    """A line for a legend only."""
    from matplotlib.lines import Line2D

    return Line2D([], [], color=color, linestyle=style, label=label, linewidth=width)


def band(axes: Any, x: ArrayLike, runs: Any, *, color: str, label: str, marker: str = "o") -> None:
    """Mean of several runs as a line, one standard deviation around it as a band.

    ``runs`` has one row per run; NaN and infinity are ignored.
    """
    values = np.ma.masked_invalid(np.asarray(runs, dtype=np.float64))
    mean, spread = values.mean(axis=0), values.std(axis=0)
    axes.plot(x, mean, color=color, label=label, marker=marker, markersize=4)
    axes.fill_between(x, mean - spread, mean + spread, color=color, alpha=0.18, linewidth=0)


def crowd(axes: Any, points: ArrayLike, color: Any, *, scale: float = 14.0) -> None:
    """Draw points, equal ones once with an area proportional to their number.

    ``color`` holds one colour per point; equal points take that of the first.
    """
    places, first, counts = np.unique(
        np.round(np.asarray(points, dtype=np.float64), 9),
        axis=0,
        return_index=True,
        return_counts=True,
    )
    axes.scatter(
        places[:, 0],
        places[:, 1],
        s=scale * counts,
        c=[color[i] for i in first],
        edgecolors="white",
        linewidths=0.5,
        alpha=0.9,
    )


def principal_plane(C: ArrayLike) -> FloatArray:
    """Coordinates of the rows of C on their first two principal axes, signs fixed.

    Examples
    --------
    >>> principal_plane([[0.0, 0.0], [2.0, 0.0]])[:, 0]
    array([-1., 1.])
    """
    rows = np.asarray(C, dtype=np.float64)
    centred = rows - rows.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    plane = axes[:2]
    # The sign of an axis is arbitrary: its largest entry is made positive.
    largest = np.take_along_axis(plane, np.abs(plane).argmax(axis=1)[:, None], axis=1)
    return np.asarray(centred @ (plane * np.where(largest < 0, -1.0, 1.0)).T)


def nested_circles(coarse: Sequence[int], fine: Sequence[int]) -> FloatArray:
    """Positions of the nodes of a two-level graph: nested circles."""
    tops, groups = np.asarray(coarse), np.asarray(fine)
    place = np.zeros((tops.size, 2))
    for labels, within, radius in (
        (tops, np.zeros_like(tops), 1.0),
        (groups, tops, 0.52),
        (np.arange(tops.size), groups, 0.155),
    ):
        for parent in np.unique(within):
            inside = np.flatnonzero(within == parent)
            _, rank = np.unique(labels[inside], return_inverse=True)
            angle = 2 * np.pi * (rank + 0.5) / (rank.max() + 1)
            place[inside] += radius * np.column_stack([np.cos(angle), np.sin(angle)])
    return place
