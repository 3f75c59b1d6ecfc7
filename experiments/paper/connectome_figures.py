"""Figures of the connectome experiment: 3, 4, and discriminability against lam."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from convexhc._types import FloatArray
from experiments.figures import (
    BLUE,
    COLORS,
    GREY,
    VERMILION,
    figure,
    legend_below,
)
from experiments.results import Row

LINKAGE_NAMES = {"single": "single", "average": "average", "complete": "complete", "ward": "Ward"}


def figure_three(
    stem: Path, compared: dict[Any, Any], crossed: dict[float, FloatArray], subject: Any
) -> None:
    """Figure 3: correlation of all scans in both representations; within against between."""
    same = np.asarray(subject)[:, None] == np.asarray(subject)[None, :]
    size = (12.0, 3.9 * len(crossed))
    single = compared["single", 0.0].tau
    with figure(stem, len(crossed), 3, size=size, width_ratios=(1.15, 1, 1)) as (drawing, axes):
        for row, (lam, between) in zip(axes, crossed.items(), strict=True):
            convex = compared["convex", lam].tau
            whole = np.block([[convex, between], [between.T, single]])
            _matrix(drawing, row[0], whole, np.asarray(subject), f"λ = {lam:g}")
            for panel, tau, title in (
                (row[1], convex, f"convex, λ = {lam:g}"),
                (row[2], single, "single linkage"),
            ):
                _histogram(panel, 1.0 - tau, same, title)


def _matrix(drawing: Any, axes: Any, tau: FloatArray, subject: Any, title: str) -> None:
    image = axes.imshow(tau, cmap="viridis", vmin=min(0.0, float(np.nanmin(tau))), vmax=1.0)
    borders = np.flatnonzero(np.diff(np.concatenate([subject, subject]))) + 0.5
    for border in borders:
        axes.axhline(border, color="white", linewidth=0.4)
        axes.axvline(border, color="white", linewidth=0.4)
    half = len(subject)
    for line in (axes.axhline, axes.axvline):
        line(half - 0.5, color="white", linewidth=2.0)
    axes.set_xticks([half / 2, 3 * half / 2], ["convex", "single linkage"])
    axes.set_yticks(
        [half / 2, 3 * half / 2], ["convex", "single linkage"], rotation=90, va="center"
    )
    axes.tick_params(length=0)
    axes.grid(False)
    axes.set_title(f"Kendall correlation of scans, {title}")
    drawing.colorbar(image, ax=axes, shrink=0.85, label="Kendall τ")


def _histogram(axes: Any, distance: FloatArray, same: Any, title: str) -> None:
    upper = np.triu(np.ones_like(same), 1).astype(bool)
    groups = (
        ("within subjects", same & upper, BLUE, "-"),
        ("between subjects", ~same & upper, VERMILION, "--"),
    )
    top = float(np.nanmax(distance[upper]))
    for label, chosen, color, line in groups:
        axes.hist(
            distance[chosen],
            bins=np.linspace(0.0, 1.02 * top, 31).tolist(),
            density=True,
            histtype="stepfilled",
            facecolor=(*_rgb(color), 0.25),
            edgecolor=color,
            linestyle=line,
            linewidth=1.4,
            label=label,
        )
    axes.set(title=title, xlabel="distance 1 − τ", ylabel="density of pairs")
    axes.legend(loc="upper left")
    # Space for the legend above the tallest bar.
    axes.set_ylim(top=1.3 * axes.get_ylim()[1])


def _rgb(color: str) -> tuple[float, float, float]:
    red, green, blue = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return red, green, blue


def figure_four(stem: Path, compared: dict[Any, Any], subject: Any, k: int) -> None:
    """Figure 4: neighbours that differ, within and between subjects, every representation."""
    same = np.asarray(subject)[:, None] == np.asarray(subject)[None, :]
    upper = np.triu(np.ones_like(same), 1).astype(bool)
    names = list(compared)
    with figure(stem, size=(11.0, 4.2)) as (drawing, axes):
        panel, handles = axes[0, 0], []
        for shift, chosen, color in ((-0.19, same, BLUE), (0.19, ~same, VERMILION)):
            boxes = panel.boxplot(
                [100 * compared[name].differ[chosen & upper] for name in names],
                positions=np.arange(len(names)) + shift,
                widths=0.32,
                patch_artist=True,
                manage_ticks=False,
                showfliers=False,
                whis=(5, 95),
                medianprops={"color": "black"},
                boxprops={"facecolor": color, "alpha": 0.75, "linewidth": 0.6},
                whiskerprops={"color": GREY},
                capprops={"color": GREY},
            )
            handles.append(boxes["boxes"][0])
        texts = [
            f"λ = {lam:g}" if method == "convex" else LINKAGE_NAMES[method] for method, lam in names
        ]
        panel.set_xticks(range(len(names)), texts)
        panel.axvline(sum(name[0] == "convex" for name in names) - 0.5, color=GREY, linewidth=0.8)
        panel.grid(False, axis="x")
        panel.set(
            ylabel=f"differing {k} nearest neighbours (%)",
            ylim=(0, 103),
            title="Convex path (left) and linkages (right); box: quartiles, whiskers: 5 % to 95 %",
        )
        legend_below(drawing, handles, ["two scans of one subject", "scans of two subjects"])


def told_apart(stem: Path, rows: Sequence[Row], names: Sequence[str]) -> None:
    """Discriminability against lam with its interval; single linkage as a horizontal line."""
    width = 3.6 * len(names) + 0.6
    with figure(stem, 1, len(names), size=(width, 3.8), sharey=True) as (drawing, axes):
        for panel, name in zip(axes[0], names, strict=True):
            mine = [row for row in rows if row["setting"] == name]
            _levels(panel, mine)
            panel.set(title=name, xlabel="penalty λ", ylabel="discriminability")
        legend_below(drawing, *axes[0, 0].get_legend_handles_labels())


def _levels(axes: Any, rows: Sequence[Row]) -> None:
    ours = [row for row in rows if row["method"] == "convex"]
    place = np.arange(len(ours))
    value, low, high = (
        np.array([row[f"discriminability{end}"] for row in ours]) for end in ("", "_low", "_high")
    )
    axes.plot(place, value, color=BLUE, marker="o", markersize=4, label="convex")
    axes.fill_between(place, low, high, color=BLUE, alpha=0.18, linewidth=0)
    for color, line, row in zip(
        COLORS[1:],
        ("--", ":", "-.", (0, (1, 3))),
        (row for row in rows if row["method"] != "convex"),
        strict=False,
    ):
        text = LINKAGE_NAMES[row["method"]] + ("" if row["method"] == "ward" else " linkage")
        axes.axhline(
            row["discriminability"], color=color, linestyle=line, label=text, linewidth=1.4
        )
    single = next(row for row in rows if row["method"] == "single")
    axes.axhspan(
        single["discriminability_low"],
        single["discriminability_high"],
        color=VERMILION,
        alpha=0.1,
        linewidth=0,
    )
    axes.set_xticks(place, [f"{row['lam']:g}" for row in ours])
