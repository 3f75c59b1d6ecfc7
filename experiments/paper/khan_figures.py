"""Figures of the Khan experiment: effective rank, agreement, nearest neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from experiments.figures import (
    BLACK,
    BLUE,
    GREEN,
    MARKERS,
    METHODS,
    VERMILION,
    legend_below,
    line_key,
    panels,
)
from experiments.results import Row

SCORES = {"homogeneity": "homogeneity (0 to 1)", "ami": "adjusted mutual information"}
LEVELS = {"single": "--", "average": ":", "similarity": "-."}


def effective_rank(stem: Path, path: Sequence[Row], names: Sequence[str]) -> None:
    """Effective rank against lam, training and test arrays, one panel per similarity."""
    with panels(stem, len(names), sharex=True, sharey=True) as (drawing, axes):
        for panel, name in zip(axes, names, strict=True):
            for half, color, line in (("train", BLUE, "-"), ("test", VERMILION, "--")):
                rows = [r for r in path if r["setting"] == name and r["arrays"] == half]
                panel.plot(
                    [r["lam"] for r in rows],
                    [r["effective_rank"] for r in rows],
                    color=color,
                    linestyle=line,
                    marker="o",
                    markersize=3,
                    label=f"{half} arrays",
                )
            panel.set(xscale="log", yscale="log", title=name)
            panel.set(xlabel="penalty λ", ylabel="effective rank")
        legend_below(drawing, *axes[0].get_legend_handles_labels())


def agreement(stem: Path, rows: Sequence[Row], names: Sequence[str], score: str) -> None:
    """Agreement of training and test clusters against their number, every method."""
    with panels(stem, len(names), sharex=True, sharey=True) as (drawing, axes):
        for panel, name in zip(axes, names, strict=True):
            for method, (color, marker, text) in METHODS.items():
                found = [r for r in rows if r["setting"] == name and r["method"] == method]
                panel.plot(
                    [r["wanted_train"] for r in found],
                    [r[score] for r in found],
                    color=color,
                    marker=marker,
                    markersize=4,
                    linewidth=2.4 if method == "convex" else 1.2,
                    zorder=3 if method == "convex" else 2,
                    label=text,
                )
            panel.set(xscale="log", title=name)
            panel.set(xlabel="clusters (effective rank)", ylabel=SCORES[score])
        legend_below(drawing, *axes[0].get_legend_handles_labels())


def neighbors(stem: Path, rows: Sequence[Row], names: Sequence[str], ks: Sequence[int]) -> None:
    """Fraction of differing neighbours against lam; methods without lam as horizontal lines."""
    colors = dict(zip(ks, (BLUE, VERMILION, GREEN), strict=False))
    with panels(stem, len(names), sharex=True, sharey=True) as (drawing, axes):
        for panel, name in zip(axes, names, strict=True):
            mine = [row for row in rows if row["setting"] == name]
            for marker, (k, color) in zip(MARKERS, colors.items(), strict=False):
                ours = [row for row in mine if row["method"] == "convex" and row["k"] == k]
                panel.plot(
                    [row["lam"] for row in ours],
                    [100 * row["differ"] for row in ours],
                    color=color,
                    marker=marker,
                    markersize=4,
                )
                for method, line in LEVELS.items():
                    level = [r["differ"] for r in mine if (r["method"], r["k"]) == (method, k)]
                    panel.axhline(100 * level[0], color=color, linestyle=line, linewidth=1.1)
            panel.set(xscale="log", title=name)
            panel.set(xlabel="penalty λ", ylabel="neighbours that differ (%)")
        key = [line_key(color, "-", f"{k} neighbours", 3.0) for k, color in colors.items()]
        key += [line_key(BLACK, "-", "convex"), line_key(BLACK, "--", "single linkage")]
        key += [line_key(BLACK, ":", "average linkage"), line_key(BLACK, "-.", "the similarity")]
        legend_below(drawing, key, [line.get_label() for line in key])
