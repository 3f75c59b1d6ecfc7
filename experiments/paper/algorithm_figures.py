"""Figures of the algorithms experiment: the gap against seconds, and against iterations."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from experiments.figures import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    figure,
    legend_below,
)
from experiments.results import Row

STYLES = {
    "dual_fista": (BLUE, "-", "dual FISTA"),
    "admm": (GREEN, "--", "ADMM"),
    "primal_dual": (PURPLE, "-.", "primal-dual"),
    "printed": (VERMILION, ":", "as printed in the paper"),
}
POINTS = {"clarabel": (ORANGE, "D", "CVXPY, Clarabel"), "scs": (SKY, "s", "CVXPY, SCS")}
LABELS = {"seconds": "CPU seconds in steps", "iteration": "iterations"}
# Values below the accuracy of the comparison are drawn at that accuracy.
FLOOR = 1e-8


def gaps(stem: Path, rows: Sequence[Row], axis: str) -> None:
    """One row per size, one column per lam; lines are certified gaps, points suboptimalities."""
    sizes = list(dict.fromkeys(row["n"] for row in rows))
    lambdas = list(dict.fromkeys(row["lam"] for row in rows))
    figsize = (4.2 * len(lambdas), 2.9 * len(sizes) + 0.6)
    grid = figure(stem, len(sizes), len(lambdas), size=figsize, sharey=True, sharex="row")
    with grid as (drawing, axes):
        for line, n in enumerate(sizes):
            for column, lam in enumerate(lambdas):
                panel = axes[line, column]
                mine = [row for row in rows if (row["n"], row["lam"]) == (n, lam)]
                for method, (color, style, text) in STYLES.items():
                    found = [r for r in mine if r["method"] == method and r[axis] > 0]
                    panel.plot(
                        [row[axis] for row in found],
                        [max(row["relative_gap"], FLOOR) for row in found],
                        color=color,
                        linestyle=style,
                        label=text,
                    )
                for solver, (color, marker, text) in POINTS.items() if axis == "seconds" else ():
                    found = [row for row in mine if row["method"] == solver]
                    panel.plot(
                        [row[axis] for row in found],
                        [max(row["suboptimality"], FLOOR) for row in found],
                        color=color,
                        marker=marker,
                        linestyle="none",
                        label=text,
                    )
                panel.axhline(1e-4, color=GREY, linewidth=0.8)
                panel.set(xscale="log", yscale="log", title=f"n = {n}, λ = {lam:g}")
                panel.set(xlabel=LABELS[axis], ylabel="relative gap")
        legend_below(drawing, *axes[0, 0].get_legend_handles_labels())
