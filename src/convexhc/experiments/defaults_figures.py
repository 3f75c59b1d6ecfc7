"""Figures of the defaults: the chosen one beside other methods, and what each choice changes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from convexhc.experiments.defaults_scores import CHOSEN
from convexhc.experiments.figures import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    figure,
)
from convexhc.experiments.results import Row

# Method, what it is given, colour and marker.
SHOWN = (
    ("single linkage", CHOSEN.kernel, GREY, "v"),
    ("average linkage", CHOSEN.kernel, ORANGE, "^"),
    ("complete linkage", CHOSEN.kernel, SKY, "<"),
    ("paris", "graph", GREEN, "s"),
    ("louvain", "graph", PURPLE, "D"),
)


def comparison(stem: Path, final: Sequence[Row], others: Sequence[Row]) -> None:
    """Best adjusted Rand index along each tree, one line a level of known groups."""
    height = 0.34 * len(final) + 1.3
    with figure(stem, 1, 1, size=(8.5, height)) as (_, axes):
        panel = axes[0, 0]
        places = range(len(final), 0, -1)
        for method, given, color, marker in SHOWN:
            found = {
                (row["graph"], row["level"]): row["best_ari"]
                for row in others
                if (row["method"], row["input"]) == (method, given)
            }
            if not found:
                continue
            scores = [found[row["graph"], row["level"]] for row in final]
            on = "graph" if given == "graph" else "same similarity"
            label = f"{method} ({on})"
            panel.scatter(scores, places, s=34, color=color, marker=marker, label=label, alpha=0.85)
        panel.scatter(
            [row["best_ari"] for row in final],
            places,
            s=90,
            facecolors="none",
            edgecolors=VERMILION,
            linewidths=2.0,
            label="convexhc, default",
            zorder=3,
        )
        panel.set_yticks(
            list(places), [f"{row['graph']}: {row['n_groups']} ({row['level']})" for row in final]
        )
        panel.set(xlim=(-0.03, 1.03), xlabel="adjusted Rand index of the best cut (0 to 1)")
        panel.set_title("Known groups, and how well the best cut of each tree agrees with them")
        panel.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0))


def scans(stem: Path, means: Sequence[Row]) -> None:
    """Mean scores as the similarity, the weights and l1_ratio change, one at a time."""
    chosen = CHOSEN._asdict()
    scanned = ("kernel", "weights", "l1_ratio")
    titles = ("A  similarity", "B  edge weights", "C  l1_ratio")
    with figure(stem, 1, 3, size=(12.5, 3.8)) as (drawing, axes):
        for place, (option, title) in enumerate(zip(scanned, titles, strict=True)):
            fixed = [name for name in scanned if name != option]
            rows = [row for row in means if all(row[name] == chosen[name] for name in fixed)]
            rows.sort(key=lambda row: _order(row[option]))
            _draw_scan(axes[0, place], rows, option)
            axes[0, place].set_title(title)
        axes[0, 0].legend(loc="lower left")
        drawing.supxlabel(
            "adjusted Rand index, mean over the smaller graphs and all levels; dashed: the default",
            fontsize=9,
            color=GREY,
        )


def _draw_scan(panel: Any, rows: Sequence[Row], option: str) -> None:
    places = range(len(rows), 0, -1)
    for score, label, color, marker in (
        ("best_ari", "best cut", BLUE, "o"),
        ("large_ari", "known number, 5 or more", VERMILION, "s"),
        ("ari", "known number", BLACK, "^"),
    ):
        values = [row[score] for row in rows]
        panel.scatter(values, places, s=30, color=color, marker=marker, label=label)
    default = CHOSEN._asdict()[option]
    for place, row in zip(places, rows, strict=True):
        if row[option] == default:
            panel.axhline(place, color=GREY, linestyle="--", linewidth=0.8, zorder=0)
    panel.set_yticks(list(places), [str(row[option]).replace("_", "-") for row in rows])
    panel.set(xlim=(-0.03, 1.03))


def _order(value: Any) -> tuple[str, float, str]:
    """Words in alphabetical order, the numbers inside them in order of size."""
    word, _, rest = str(value).partition(" ")
    number = rest if rest.replace(".", "").isdigit() else word
    is_number = number.replace(".", "").isdigit()
    return ("" if number == word and is_number else word, float(number) if is_number else 0.0, rest)
