"""Figures of the synthetic experiment: graph and planes, curves against lam, the headline."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from convexhc.datasets import FractalGraph
from experiments.figures import (
    BLACK,
    BLUE,
    COLORS,
    GREEN,
    GREY,
    MARKERS,
    ORANGE,
    PURPLE,
    VERMILION,
    band,
    crowd,
    figure,
    nested_circles,
)
from experiments.results import Row

# One colour per meta node.
META = (BLUE, ORANGE, GREEN, PURPLE)


def figure_one(stem: Path, graph: FractalGraph, planes: dict[str, Any]) -> None:
    """Figure 1: the graph, and its centroids on their principal plane at four lam."""
    color = [META[meta % len(META)] for meta in graph.coarse]
    with figure(stem, 1, 5, size=(14.5, 3.3)) as (_, axes):
        _draw_graph(axes[0, 0], graph, color)
        for panel, (lam, count, plane) in enumerate(
            zip(planes["lambdas"], planes["n_clusters"], planes["planes"], strict=True), start=1
        ):
            _draw_plane(axes[0, panel], plane, color)
            letter = "ABCDE"[panel]
            axes[0, panel].set_title(f"{letter}  λ = {lam:g}: {count} clusters")


def figure_two(
    stem: Path, rows: Sequence[Row], alphas: Sequence[float], grid: Sequence[float]
) -> None:
    """Figure 2: effective rank, homogeneity and silhouettes against lam for several alpha."""
    panels = (
        ("effective_rank", "A  effective rank", "effective rank"),
        ("fine_homogeneity", "B  homogeneity, fine level", "homogeneity (0 to 1)"),
        ("fine_silhouette", "C  silhouette, fine level", "silhouette (−1 to 1)"),
        ("coarse_silhouette", "D  silhouette, coarse level", "silhouette (−1 to 1)"),
    )
    seeds = sorted({row["seed"] for row in rows})
    with figure(stem, 1, 4, size=(14.5, 3.4)) as (drawing, axes):
        for place, (column, title, label) in enumerate(panels):
            panel = axes[0, place]
            for color, marker, alpha in zip(COLORS, MARKERS, alphas, strict=False):
                found = {
                    (row["seed"], row["lam"]): row[column]
                    for row in rows
                    if row["alpha"] == alpha and (row["links_super"], row["links_meta"]) == (1, 1)
                }
                runs = [[found[seed, lam] for lam in grid] for seed in seeds]
                band(panel, grid, runs, color=color, marker=marker, label=f"α = {alpha:g}")
            panel.set(xscale="log", title=title, xlabel="penalty λ", ylabel=label)
            # The same range in every panel, even if a curve ends early.
            panel.set_xlim(0.7 * grid[0], 1.4 * grid[-1])
        axes[0, 0].set_yscale("log")
        axes[0, 0].legend()
        drawing.supxlabel(
            f"mean over {len(seeds)} graphs, band: one standard deviation; a silhouette ends where "
            "there are fewer centroids than classes",
            fontsize=9,
        )


def headline(stem: Path, authors: dict[str, Any]) -> None:
    """The exact path on the authors' similarity: both levels, without an error."""
    path = authors["path"]
    lams = np.array([row["lam"] for row in path])
    color = [META[int(meta) % len(META)] for meta in authors["coarse"]]
    with figure(stem, 2, 3, size=(11.5, 6.6), height_ratios=(1.0, 1.1)) as (drawing, axes):
        top = axes[0, 0].get_gridspec()
        for panel in axes[0]:
            panel.remove()
        panel = drawing.add_subplot(top[0, :])
        counts = [row["n_clusters"] for row in path]
        panel.plot(lams, counts, color=BLACK, drawstyle="steps-post", marker="o", markersize=3)
        for level, count, shade in (("fine", 28, VERMILION), ("coarse", 4, BLUE)):
            exact = [row["lam"] for row in path if row[f"{level}_fused_ari"] > 1 - 1e-9]
            if not exact:
                continue
            panel.axvspan(min(exact), max(exact), color=shade, alpha=0.15, linewidth=0)
            panel.annotate(
                f"exactly the {count} groups\nλ {min(exact):.2g} to {max(exact):.2g}",
                (np.sqrt(min(exact) * max(exact)), count * 1.25),
                ha="center",
                va="bottom",
                color=shade,
            )
        panel.set(
            xscale="log",
            yscale="log",
            ylim=(0.8, 320),
            xlabel="penalty λ",
            ylabel="clusters (exactly fused)",
            title="A  The authors' own 196-node similarity: the certified path finds both levels "
            "without an error",
        )
        panel.set_yticks([1, 4, 28, 196], ["1", "4", "28", "196"])
        panel.minorticks_off()
        for place, found in enumerate(authors["planes"]):
            _draw_plane(axes[1, place], found["plane"], color)
            letter = "BCD"[place]
            axes[1, place].set_title(
                f"{letter}  λ = {found['lam']:.2g}: {found['n_clusters']} clusters"
            )
        drawing.supxlabel(
            "colour: the 4 coarse groups; area of a dot: number of nodes whose centroids are equal",
            fontsize=9,
            color=GREY,
        )


def _draw_graph(axes: Any, graph: FractalGraph, color: Sequence[str]) -> None:
    place = nested_circles(graph.coarse.tolist(), graph.fine.tolist())
    edges = graph.adjacency.tocoo()
    row, column = edges.coords
    once = row < column
    segments = np.stack([place[row[once]], place[column[once]]], axis=1)
    inside = graph.fine[row[once]] == graph.fine[column[once]]
    for chosen, width in ((inside, 0.3), (~inside, 0.6)):
        lines = np.insert(segments[chosen], 2, np.nan, axis=1).reshape(-1, 2)
        axes.plot(lines[:, 0], lines[:, 1], color=GREY, linewidth=width, zorder=1)
    axes.scatter(place[:, 0], place[:, 1], s=9, c=color, zorder=2, linewidths=0)
    axes.set_aspect("equal")
    axes.set_axis_off()
    groups = int(graph.fine.max()) + 1
    axes.set_title(f"A  {groups} cliques in {int(graph.coarse.max()) + 1} communities")


def _draw_plane(axes: Any, plane: Any, color: Sequence[str]) -> None:
    points = np.asarray(plane)
    crowd(axes, points, color)
    # If all points coincide, the axis limits would be determined by round-off.
    reach = max(float(np.abs(points).max()) * 1.2, 1e-3)
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach))
    axes.set(xlabel="first principal axis", ylabel="second principal axis")
    axes.locator_params(nbins=4)
