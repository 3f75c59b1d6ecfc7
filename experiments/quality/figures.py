"""Figure of the scores of every method on every family."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.figures import BLACK, BLUE, GREEN, ORANGE, PURPLE, VERMILION, figure
from experiments.quality.collection import FAMILIES
from experiments.quality.summary import SHORT
from experiments.quality.tables import OURS, BySet, Tables, family_means, overall, set_means

TITLES = {
    "best": "Best cut of the tree",
    "at_k": "Asked for the known number",
    "chosen": "Scale chosen by the method",
}
NAMES = {
    "convexhc before": "convexhc, former defaults",
    "single linkage": "single linkage, same K",
    "average linkage": "average linkage, same K",
    "complete linkage": "complete linkage, same K",
    "ward linkage": "Ward, same K",
    "paris": "Paris",
    "louvain": "Louvain",
    "leiden": "Leiden",
    "infomap": "Infomap",
    "spectral": "spectral, told k",
    "hdbscan": "HDBSCAN",
}
LOOKS = dict(
    zip(FAMILIES, ((GREEN, "o"), (ORANGE, "s"), (PURPLE, "D"), (VERMILION, "^")), strict=True)
)


def draw(folder: Path) -> None:
    """Write quality.png and quality.svg to the folder of the tables."""
    tables = Tables.read(folder)
    values = {
        (method, measure): set_means(tables.scores, method, f"{measure}_ami", half=tables.half)
        for method in tables.methods
        for measure in TITLES
    }
    families = [family for family in FAMILIES if _has(tables, family)]
    if not families:
        # There are no scores.
        return
    methods = sorted(tables.methods, key=lambda method: _rank(values, method, families))
    ours = methods.index(OURS) if OURS in methods else -1
    height = 1.8 + 0.34 * len(methods)
    with figure(folder / "quality", 1, 3, size=(11.0, height), sharey=True) as (drawing, axes):
        for axis, (measure, title) in zip(axes[0], TITLES.items(), strict=True):
            axis.set_title(title)
            axis.set_xlim(-0.03, 1.03)
            axis.set_xlabel("adjusted mutual information")
            axis.grid(visible=False, axis="y")
            axis.tick_params(axis="y", length=0)
            axis.spines["left"].set_visible(False)
            axis.axhspan(ours - 0.5, ours + 0.5, color=BLUE, alpha=0.1, linewidth=0)
            for place, method in enumerate(methods):
                found = family_means(values[method, measure])
                if not found:
                    continue
                axis.plot(
                    [min(found.values()), max(found.values())],
                    [place, place],
                    color=BLUE if method == OURS else "#C8C8C8",
                    linewidth=1.4,
                    zorder=1,
                )
                for family, value in found.items():
                    color, marker = LOOKS[family]
                    axis.plot(value, place, marker=marker, color=color, markersize=5.5, alpha=0.9)
                if len(found) == len(families):
                    at = overall(values[method, measure])
                    tone = BLUE if method == OURS else BLACK
                    axis.plot(
                        [at, at], [place - 0.32, place + 0.32], color=tone, linewidth=3, zorder=1.5
                    )
                    axis.text(
                        1.02,
                        place,
                        f"{at:.2f}",
                        transform=axis.get_yaxis_transform(),
                        va="center",
                        fontsize=9,
                        color=tone,
                        fontweight="bold" if method == OURS else "normal",
                    )
        axes[0][0].set_yticks(range(len(methods)), [NAMES.get(m, m) for m in methods])
        for label, method in zip(axes[0][0].get_yticklabels(), methods, strict=True):
            label.set_fontsize(10)
            if method == OURS:
                label.set_color(BLUE)
                label.set_fontweight("bold")
        drawing.suptitle(
            f"Agreement with known groups: {SHORT[tables.half]} half, higher is better",
            x=0.01,
            ha="left",
            fontsize=12,
        )
        _legend(drawing, families)


def _has(tables: Tables, family: str) -> bool:
    return any(row["family"] == family and row["half"] == tables.half for row in tables.scores)


def _rank(values: Mapping[tuple[str, str], BySet], method: str, families: Sequence[str]) -> float:
    """Sort key: mean score at the known number, else of the chosen scale, else last."""
    for measure in ("at_k", "chosen"):
        found = values[method, measure]
        if len(family_means(found)) == len(families):
            return overall(found)
    return -math.inf


def _legend(drawing: Any, families: Sequence[str]) -> None:
    from matplotlib.lines import Line2D

    def key(label: str, color: str, marker: str, **look: Any) -> Line2D:
        return Line2D([], [], linestyle="none", color=color, marker=marker, label=label, **look)

    handles = [key(family, *LOOKS[family]) for family in families]
    handles.append(key("mean over the families", BLACK, "|", markersize=11, markeredgewidth=3))
    drawing.legend(handles=handles, loc="outside lower center", ncols=len(handles))
