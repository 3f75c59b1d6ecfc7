"""Figure of the robustness experiment: agreement with the original tree, every graph and change."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from experiments.figures import METHODS, SKY, figure, legend_below
from experiments.results import Row

STYLES = {"convex": METHODS["convex"], "convex_10": (SKY, "P", "convex, 10 strongest")} | METHODS
MEASURES = {
    "cophenetic": "cophenetic correlation",
    "rank": "rank correlation (Kendall τ)",
    "ari": "adjusted Rand index of levels",
}


def stability(stem: Path, table: Sequence[Row]) -> None:
    """One column per graph, one row per measure; mean and standard deviation over the draws."""
    graphs = list(dict.fromkeys(row["graph"] for row in table))
    changes = list(dict.fromkeys((row["kind"], row["strength"]) for row in table))
    size = (3.6 * len(graphs) + 0.4, 8.6)
    with figure(stem, len(MEASURES), len(graphs), size=size, sharex=True, sharey="row") as (
        drawing,
        axes,
    ):
        for column, graph in enumerate(graphs):
            for row, (measure, label) in enumerate(MEASURES.items()):
                panel = axes[row, column]
                for place, (method, (color, marker, text)) in enumerate(STYLES.items()):
                    found = {
                        (r["kind"], r["strength"]): r
                        for r in table
                        if r["graph"] == graph and r["method"] == method
                    }
                    panel.errorbar(
                        np.arange(len(changes)) + 0.13 * (place - (len(STYLES) - 1) / 2),
                        [found[change][measure] for change in changes],
                        yerr=[found[change][f"{measure}_sd"] for change in changes],
                        color=color,
                        marker=marker,
                        markersize=4,
                        linestyle="none",
                        elinewidth=0.8,
                        label=text,
                    )
                panel.grid(False, axis="x")
                panel.set_ylim(-0.25, 1.1)
                if column == 0:
                    panel.set_ylabel(label)
                for border in np.arange(len(changes) - 1) + 0.5:
                    panel.axvline(border, color="#E6E6E6", linewidth=0.8)
            axes[0, column].set_title(graph)
            names = [_change(*change) for change in changes]
            axes[-1, column].set_xticks(range(len(changes)), names, rotation=35, ha="right")
        handles, texts = axes[0, 0].get_legend_handles_labels()
        legend_below(drawing, handles, texts)


def _change(kind: str, strength: float) -> str:
    return kind if kind == "bootstrap" else f"{kind} {strength:.0%}"
