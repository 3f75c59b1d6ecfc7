"""Elements shared by all figures: colours, axes, tick labels, and the import of matplotlib."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from convexhc._extras import required
from convexhc._types import FloatArray
from convexhc.layout.colors import neutral

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Side = Literal["x", "y"]
Limits = tuple[float, float]
RGB = tuple[float, float, float]


@dataclass(frozen=True)
class FigureSettings:
    """What fits into the figures; font sizes are in points."""

    font_size: float = 7.0  # names of nodes and sizes of clusters
    min_font_size: float = 5.0  # smallest legible font; names that need a smaller one are omitted
    max_name_length: int = 22  # characters of a name; longer names are truncated
    max_named_nodes: int = 120  # larger graphs are drawn without names
    max_edges: int = 20_000  # edges drawn, the strongest; more would merge into a grey area
    max_leaves: int = 300  # trees with more leaves are truncated by default
    truncated_leaves: int = 50  # leaves of a tree truncated by default
    faint: float = 0.12  # share of its colour that a branch without support keeps
    n_columns: int = 4  # columns of a Sankey diagram by default
    dpi: int = 200  # resolution of PNG files
    bar_width: float = 0.06  # width of its bars; neighbouring columns are one unit apart


SETTINGS = FigureSettings()


@dataclass(frozen=True)
class Theme:
    """Colours of everything except clusters."""

    dark: bool
    background: RGB
    foreground: RGB

    def grey(self, share: float) -> RGB:
        """Mix of foreground and background, with the given share of foreground."""
        return blend(self.foreground, self.background, share)

    @property
    def neutral(self) -> str:
        """Colour of single nodes and of branches above a cut."""
        return neutral(dark=self.dark)


def blend(color: RGB, background: RGB, share: float) -> RGB:
    """``share * color + (1 - share) * background``."""
    red, green, blue = (share * np.array(color) + (1.0 - share) * np.array(background)).tolist()
    return red, green, blue


def axes_or_new(ax: Axes | None, figsize: tuple[float, float]) -> Axes:
    """Return the given axes, or those of a new figure; ImportError without matplotlib."""
    required("matplotlib", "a figure", "plots")
    from matplotlib import pyplot as plt

    if ax is not None:
        return ax
    new: Axes = plt.subplots(figsize=figsize, layout="constrained")[1]
    return new


def theme_of(ax: Axes) -> Theme:
    """Theme of some axes; transparent axes have the background of their figure."""
    from matplotlib import rcParams
    from matplotlib.colors import to_rgb, to_rgba

    backgrounds = (to_rgba(ax.get_facecolor()), to_rgba(ax.figure.get_facecolor()))
    opaque = (rgba for rgba in backgrounds if rgba[3] > 0.5)
    red, green, blue, _ = next(opaque, (1.0, 1.0, 1.0, 1.0))
    dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
    foreground = to_rgb(rcParams["text.color"])
    # The style may have changed since the axes were made, leaving text without contrast.
    if abs(sum(foreground) - (red + green + blue)) < 0.9:
        foreground = (1.0, 1.0, 1.0) if dark else (0.0, 0.0, 0.0)
    return Theme(dark, (red, green, blue), foreground)


def lam_limits(lambdas: FloatArray, *, margin: float = 0.05) -> Limits:
    """Limits of a logarithmic axis for some lam, with a margin as a fraction of its length.

    Zeros have no place on the axis and are ignored.
    """
    positive = lambdas[(lambdas > 0) & np.isfinite(lambdas)]
    if positive.size == 0:
        return 0.5, 2.0
    low, high = np.log(positive.min()), np.log(positive.max())
    # A single lam, or several close ones, still get an axis of nonzero length.
    reach = max(margin * (high - low), np.log(1.2))
    floats = np.finfo(np.float64)
    low, high = np.clip([low - reach, high + reach], np.log(floats.tiny), np.log(floats.max))
    return float(np.exp(low)), float(np.exp(high))


def set_lam_axis(ax: Axes, limits: Limits, *, side: Side = "x", label: bool = True) -> None:
    """Make an axis logarithmic, with a few plain numbers as tick labels."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    if side == "x":
        ax.set_xscale("log")
        ax.set_xlim(limits)
    else:
        ax.set_yscale("log")
        ax.set_ylim(limits)
    axis = ax.xaxis if side == "x" else ax.yaxis
    decades = np.log10(limits[1] / limits[0])
    if decades < 0.5:
        axis.set_major_locator(MaxNLocator(nbins=5))
    else:
        multiples = (1.0, 2.0, 5.0) if decades < 2.5 else (1.0,)
        axis.set_major_locator(LogLocator(subs=multiples, numticks=9))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(LogLocator(subs=tuple(np.arange(1.0, 10.0)), numticks=9))
    axis.set_minor_formatter(NullFormatter())
    if label:
        axis.set_label_text(r"$\lambda$")


def mark_lam(ax: Axes, lam: float, theme: Theme, *, side: Side = "x") -> None:
    """Draw a dotted line at a lam, in two colours so that it is visible everywhere."""
    line: Callable[..., object] = ax.axvline if side == "x" else ax.axhline
    line(
        lam,
        color=theme.foreground,
        gapcolor=theme.background,
        linewidth=1.0,
        linestyle=(0, (1.0, 2.0)),
        zorder=1.5,
    )


def rectangles(left: ArrayLike, right: ArrayLike, low: ArrayLike, high: ArrayLike) -> FloatArray:
    """Corners of some rectangles, (m, 4, 2), from their sides; one side may be common to all."""
    corners = np.broadcast_arrays(left, low, right, low, right, high, left, high)
    return np.stack(corners, axis=-1).reshape(-1, 4, 2)


def add_lines(ax: Axes, lines: FloatArray, *, autolim: bool = False, **style: Any) -> None:
    """Draw lines, (m, points, 2), in one collection; limits follow them only on request."""
    from matplotlib.collections import LineCollection

    ax.add_collection(LineCollection(list(lines), **style), autolim=autolim)


def add_polygons(ax: Axes, corners: FloatArray, **style: Any) -> None:
    """Fill polygons, (m, corners, 2), in one collection; limits do not follow them."""
    from matplotlib.collections import PolyCollection

    ax.add_collection(PolyCollection(list(corners), **style), autolim=False)


def hide_spines(ax: Axes, *, keep: tuple[str, ...] = ()) -> None:
    """Hide the frame of the axes except the named sides."""
    for side, spine in ax.spines.items():
        spine.set_visible(side in keep)


def length_in_points(ax: Axes, side: Side) -> float:
    """Length of a side of the axes in points, before a constrained layout adjusts it."""
    box = ax.get_window_extent()
    return float(72.0 / ax.figure.dpi * (box.width if side == "x" else box.height))


def truncated_name(name: Hashable) -> str:
    """A name on one line, truncated to `FigureSettings.max_name_length` characters."""
    text, most = " ".join(str(name).split()), SETTINGS.max_name_length
    return text if len(text) <= most else text[: most - 1] + "…"


def name_font_size(ax: Axes, side: Side, count: float) -> float:
    """Font size in points for a number of names along a side; 0 if it would be illegible."""
    size = min(0.85 * length_in_points(ax, side) / max(count, 1.0), 9.0)
    return size if size >= SETTINGS.min_font_size else 0.0


def set_name_ticks(
    ax: Axes, side: Side, positions: FloatArray, names: list[str], font_size: float
) -> None:
    """Write names along a side, rotated along x where they would overlap."""
    axis = ax.yaxis if side == "y" else ax.xaxis
    axis.set_tick_params(length=0)
    # Names are literal text: a dollar sign must not start a formula.
    axis.set_ticks(positions, names, parse_math=False, fontsize=max(font_size, 1.0))
    if side == "x" and any(len(name) > 2 for name in names):
        axis.set_tick_params(rotation=90)


def set_node_names(ax: Axes, side: Side, names: Sequence[Hashable]) -> None:
    """Write names at 0.5, 1.5, ... along a side, none if they would be illegible."""
    font_size = name_font_size(ax, side, len(names))
    shown = [truncated_name(name) for name in names] if font_size else []
    set_name_ticks(ax, side, np.arange(0.5, len(shown)), shown, font_size)


def colormap(theme: Theme, *, signed: bool = False) -> Any:
    """Colour map from the background to dark blue; signed ones start at dark orange."""
    from matplotlib.colors import LinearSegmentedColormap, to_rgb

    if theme.dark:
        blues = ["#123a5c", "#2f7fb8", "#8fc7ee", "#f2f8fd"]
        oranges = ["#fdf0e2", "#e0975c", "#a85a20", "#4c2408"]
    else:
        blues = ["#c9dff0", "#6ca6d2", "#1f69a6", "#062a52"]
        oranges = ["#5c2600", "#b85405", "#e59a5f", "#f7dcc6"]
    colors = [theme.background, *(to_rgb(blue) for blue in blues)]
    if signed:
        colors = [*(to_rgb(orange) for orange in oranges), *colors]
    return LinearSegmentedColormap.from_list("convexhc", colors)
