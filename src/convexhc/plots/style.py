"""What all figures share: matplotlib when it is needed, grounds and inks, the axis of lam."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from convexhc._types import FloatArray
from convexhc.layout import neutral

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Orientation = Literal["right", "top"]
Side = Literal["x", "y"]

# Below this size in points nobody reads a name.
SMALLEST_NAME = 5.0
_LONGEST_NAME = 22


@dataclass(frozen=True)
class Theme:
    """Colours of everything that is no cluster, from the ground of the axes they stand on.

    Parameters
    ----------
    dark : bool
        Whether the ground is dark.
    ground : tuple of 3 floats
        Colour of the ground.
    ink : tuple of 3 floats
        Colour of text, black or white up to the style.
    """

    dark: bool
    ground: tuple[float, float, float]
    ink: tuple[float, float, float]

    def mixed(self, share: float) -> tuple[float, float, float]:
        """So much ink on the ground."""
        one, other = np.array(self.ink), np.array(self.ground)
        red, green, blue = (share * one + (1.0 - share) * other).tolist()
        return red, green, blue

    @property
    def neutral(self) -> str:
        """Colour of single nodes and of branches above a cut."""
        return neutral(dark=self.dark)


def pyplot() -> Any:
    """``matplotlib.pyplot``, imported by the first figure that is drawn."""
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'convexhc[plots]'.") from error
    return plt


def axes_for(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """The axes given, or those of a new figure whose margins adapt to its labels."""
    plt = pyplot()
    if ax is not None:
        return ax
    made: Axes = plt.subplots(figsize=size, layout="constrained")[1]
    return made


def theme_of(ax: Axes) -> Theme:
    """Theme of some axes; transparent ones show the ground of their figure."""
    from matplotlib import rcParams
    from matplotlib.colors import to_rgb, to_rgba

    grounds = (to_rgba(ax.get_facecolor()), to_rgba(ax.figure.get_facecolor()))
    red, green, blue, _ = next((rgba for rgba in grounds if rgba[3] > 0.5), (1.0, 1.0, 1.0, 1.0))
    dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
    ink = to_rgb(rcParams["text.color"])
    # A style may be left after the figure was made, and its text would not be seen.
    if abs(sum(ink) - (red + green + blue)) < 0.9:
        ink = (1.0, 1.0, 1.0) if dark else (0.0, 0.0, 0.0)
    return Theme(dark, (red, green, blue), ink)


def sides(orientation: Orientation) -> tuple[Side, Side]:
    """Axis of lam and axis of the leaves, for a root to the right or at the top."""
    if orientation not in ("right", "top"):
        raise ValueError(f'orientation must be "right" or "top", received {orientation!r}.')
    return ("x", "y") if orientation == "right" else ("y", "x")


def corners(along: FloatArray, across: FloatArray, lam_side: Side) -> FloatArray:
    """Points (x, y) from lam and place, whichever of the two is x."""
    across = across.reshape(along.shape)
    return np.stack([along, across] if lam_side == "x" else [across, along], axis=-1)


def lam_axis(
    ax: Axes, limits: tuple[float, float], *, which: Side = "x", label: bool = True
) -> None:
    """Make an axis logarithmic, with plain numbers: few of them, whatever its length."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    if which == "x":
        ax.set_xscale("log")
        ax.set_xlim(limits)
    else:
        ax.set_yscale("log")
        ax.set_ylim(limits)
    axis = ax.xaxis if which == "x" else ax.yaxis
    decades = np.log10(limits[1] / limits[0])
    if decades < 0.5:
        axis.set_major_locator(MaxNLocator(nbins=5))
    else:
        steps = (1.0, 2.0, 5.0) if decades < 2.5 else (1.0,)
        axis.set_major_locator(LogLocator(subs=steps, numticks=9))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(LogLocator(subs=tuple(np.arange(1.0, 10.0)), numticks=9))
    axis.set_minor_formatter(NullFormatter())
    if label:
        axis.set_label_text(r"$\lambda$")


def bare(ax: Axes, *, keep: tuple[str, ...] = ()) -> None:
    """Hide the frame of axes except the sides named."""
    for side, spine in ax.spines.items():
        spine.set_visible(side in keep)


def points_along(ax: Axes, which: Side) -> float:
    """Length of a side of axes in points; margins that adapt later only make it longer."""
    box = ax.get_window_extent()
    return float(72.0 / ax.figure.dpi * (box.width if which == "x" else box.height))


def shown_name(name: Hashable) -> str:
    """A name as it is written: on one line, and not too long."""
    text = " ".join(str(name).split())
    return text if len(text) <= _LONGEST_NAME else text[: _LONGEST_NAME - 1] + "…"


def counted(number: int, noun: str) -> str:
    """``1 node``, ``2 nodes``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def name_ticks(ax: Axes, which: Side, places: FloatArray, texts: list[str], size: float) -> None:
    """Write names along a side, upright along x where they would run into each other."""
    axis = ax.yaxis if which == "y" else ax.xaxis
    axis.set_tick_params(length=0)
    # Names are text, whatever signs they hold.
    axis.set_ticks(places, texts, parse_math=False, fontsize=max(size, 1.0))
    if which == "x" and any(len(text) > 2 for text in texts):
        axis.set_tick_params(rotation=90)


def name_size(ax: Axes, which: Side, count: float) -> float:
    """Size in points of so many names along a side; 0 if nobody could read them."""
    size = min(0.85 * points_along(ax, which) / max(count, 1.0), 9.0)
    return size if size >= SMALLEST_NAME else 0.0


def mark_lam(ax: Axes, lam: float, theme: Theme, *, which: Side = "x") -> None:
    """Draw a line at a chosen lam; its dots and gaps are seen on any colour."""
    line: Callable[..., object] = ax.axvline if which == "x" else ax.axhline
    line(
        lam,
        color=theme.ink,
        gapcolor=theme.ground,
        linewidth=1.0,
        linestyle=(0, (1.0, 2.0)),
        zorder=1.5,
    )


def shades(theme: Theme, *, signed: bool = False) -> Any:
    """Colour map from the ground to a strong blue; for both signs, from orange to blue."""
    from matplotlib.colors import LinearSegmentedColormap, to_rgb

    if theme.dark:
        blues = ["#123a5c", "#2f7fb8", "#8fc7ee", "#f2f8fd"]
        oranges = ["#fdf0e2", "#e0975c", "#a85a20", "#4c2408"]
    else:
        blues = ["#c9dff0", "#6ca6d2", "#1f69a6", "#062a52"]
        oranges = ["#5c2600", "#b85405", "#e59a5f", "#f7dcc6"]
    stops = [theme.ground, *(to_rgb(blue) for blue in blues)]
    if signed:
        stops = [*(to_rgb(orange) for orange in oranges), *stops]
    return LinearSegmentedColormap.from_list("convexhc", stops)
