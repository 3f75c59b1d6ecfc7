"""Axes shared by the dendrogram and the icicle: lam along one side, leaves along the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from convexhc._text import counted
from convexhc._types import FloatArray, Labels
from convexhc.path import Path
from convexhc.plots.selection import check_tree, select_cut
from convexhc.plots.style import (
    Limits,
    Side,
    Theme,
    axes_or_new,
    hide_spines,
    lam_limits,
    mark_lam,
    set_lam_axis,
    set_name_ticks,
    theme_of,
)
from convexhc.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Orientation = Literal["right", "top"]


@dataclass(frozen=True, eq=False)
class TreeAxes:
    """Axes of a tree figure, with the cut that it shows."""

    ax: Axes
    theme: Theme
    lam_side: Side
    leaf_side: Side
    limits: Limits  # of the lam axis
    labels: Labels  # the cut

    def xy(self, lam: FloatArray, position: FloatArray) -> FloatArray:
        """Points (x, y) from values along the lam axis and along the leaf axis."""
        position = position.reshape(lam.shape)
        return np.stack([lam, position] if self.lam_side == "x" else [position, lam], axis=-1)


def tree_axes(
    result: Path | Tree,
    heights: FloatArray,
    leaf_limits: Limits,
    *,
    n_clusters: int | None,
    lam: float | None,
    orientation: Orientation,
    ax: Axes | None,
) -> TreeAxes:
    """Prepare the axes of a tree figure: scale, limits, the line of a cut, title, no names.

    ``heights`` are the lam to show, and ``leaf_limits`` the ends of the leaf axis.
    """
    if orientation not in ("right", "top"):
        raise ValueError(f'orientation must be "right" or "top", received {orientation!r}.')
    lam_side: Side = "x" if orientation == "right" else "y"
    leaf_side: Side = "y" if orientation == "right" else "x"
    labels, cut = select_cut(result, n_clusters=n_clusters, lam=lam)
    length = max(1.3 + 0.13 * round(leaf_limits[1] - leaf_limits[0]), 2.8)
    # Beyond this length names are omitted, so more room has no use.
    length = length if length <= 12.0 else 7.0
    ax = axes_or_new(ax, (7.0, length) if leaf_side == "y" else (max(length, 6.0), 5.0))
    theme = theme_of(ax)
    limits = lam_limits(heights if (heights > 0).any() else check_tree(result).lambdas, margin=0.08)
    set_lam_axis(ax, limits, side=lam_side)
    if cut is not None and limits[0] < cut < limits[1]:
        mark_lam(ax, cut, theme, side=lam_side)
    if leaf_side == "y":
        ax.set_ylim(leaf_limits[::-1])
    else:
        ax.set_xlim(leaf_limits)
    set_name_ticks(ax, leaf_side, np.empty(0), [], 0.0)
    hide_spines(ax, keep=("bottom",) if lam_side == "x" else ("left",))
    clusters = counted(int(labels.max()) + 1, "cluster")
    ax.set_title(f"{counted(labels.size, 'node')}, cut into {clusters}", fontsize="medium")
    return TreeAxes(ax, theme, lam_side, leaf_side, limits, labels)
