"""Figures of the Khan experiment: effective rank, agreement, nearest neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from convexhc.experiments.figures import (
    BLACK,
    BLUE,
    GREEN,
    MARKERS,
    ORANGE,
    PURPLE,
    VERMILION,
    figure,
    panels,
)
from convexhc.experiments.results import Row

METHODS = {
    "convex": (BLUE, "o", "convex"),
    "single": (VERMILION, "s", "single linkage"),
    "average": (GREEN, "^", "average linkage"),
    "complete": (PURPLE, "D", "complete linkage"),
    "ward": (ORANGE, "v", "Ward"),
}


def effective_rank(stem: Path, path: Sequence[Row], names: Sequence[str]) -> None:
    """Effective rank against lam, training and test arrays, one panel a similarity."""
    with panels(stem, len(names), sharex=True, sharey=True) as (_, axes):
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
        axes[0].legend(loc="lower left")


def agreement(stem: Path, rows: Sequence[Row], names: Sequence[str]) -> None:
    """Agreement of training and test clusters against their number, every method."""
    with figure(
        stem, 2, len(names), size=(3.0 * len(names) + 0.5, 6.0), sharex="col", sharey="row"
    ) as (drawing, axes):
        for column, name in enumerate(names):
            for line, (score, label) in enumerate(
                (("homogeneity", "homogeneity (0 to 1)"), ("ami", "adjusted mutual information"))
            ):
                panel = axes[line, column]
                for method, (color, marker, text) in METHODS.items():
                    found = [r for r in rows if r["setting"] == name and r["method"] == method]
                    panel.plot(
                        [r["wanted_train"] for r in found],
                        [r[score] for r in found],
                        color=color,
                        marker=marker,
                        markersize=4,
                        linewidth=2.4 if method == "convex" else 1.2,
                        label=text,
                    )
                panel.set_xscale("log")
                if column == 0:
                    panel.set_ylabel(label)
            axes[0, column].set_title(name)
            axes[1, column].set_xlabel("clusters (effective rank)")
        handles, texts = axes[0, 0].get_legend_handles_labels()
        drawing.legend(handles, texts, loc="outside lower center", ncols=len(METHODS))


def neighbors(stem: Path, rows: Sequence[Row], names: Sequence[str], ks: Sequence[int]) -> None:
    """Share of nearest neighbours that differ against lam, with the linkages as a range."""
    with panels(stem, len(names), sharey=True) as (drawing, axes):
        for panel, name in zip(axes, names, strict=True):
            mine = [row for row in rows if row["setting"] == name]
            for color, marker, k in zip((BLUE, VERMILION, GREEN), MARKERS, ks, strict=False):
                ours = [row for row in mine if row["method"] == "convex" and row["k"] == k]
                panel.plot(
                    [row["lam"] for row in ours],
                    [100 * row["differ"] for row in ours],
                    color=color,
                    marker=marker,
                    markersize=4,
                    label=f"k = {k}: convex",
                )
                for method, line in (("single", "--"), ("average", ":"), ("similarity", "-.")):
                    level = [r["differ"] for r in mine if (r["method"], r["k"]) == (method, k)]
                    panel.axhline(100 * level[0], color=color, linestyle=line, linewidth=1.1)
            panel.set(xscale="log", title=name, xlabel="penalty λ")
        axes[0].set_ylabel("neighbours that differ (%)")
        _line_legend(drawing, ks)


def _line_legend(drawing: Any, ks: Sequence[int]) -> None:
    """Colours for k, line styles for the methods."""
    first = drawing.axes[0]
    for color, k in zip((BLUE, VERMILION, GREEN), ks, strict=False):
        first.plot([], [], color=color, label=f"{k} neighbours", linewidth=3)
    for line, text in (
        ("-", "convex"),
        ("--", "single linkage"),
        (":", "average linkage"),
        ("-.", "the similarity itself"),
    ):
        first.plot([], [], color=BLACK, linestyle=line, label=text, linewidth=1.2)
    handles, texts = first.get_legend_handles_labels()
    wanted = [(h, t) for h, t in zip(handles, texts, strict=True) if not t.startswith("k =")]
    drawing.legend(*zip(*wanted, strict=True), loc="outside lower center", ncols=len(wanted))
