"""The summary: means by family and half, ours against each rival, and what must show."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from experiments.quality.collection import FAMILIES, MIXINGS
from experiments.quality.methods import LOSS_METHODS
from experiments.quality.must_show import LOST, must_show
from experiments.quality.tables import (
    OURS,
    WORDS,
    Tables,
    common,
    family_means,
    mean,
    mixing,
    number,
    overall,
    set_means,
)
from experiments.results import Row, markdown_table

HALVES = {"confirm": "Confirming half", "choose": "Half on which defaults were chosen"}
SHORT = {"confirm": "confirming", "choose": "choosing"}


def summarise(folder: Path, left_out: Mapping[str, str]) -> str:
    """Text of summary.md, from the tables in a folder.

    Parameters
    ----------
    folder : Path
        Folder of scores.csv, loss.csv, cost.csv and noise.csv.
    left_out : mapping
        Methods that were not run, and why.
    """
    tables = Tables.read(folder)
    half = SHORT[tables.half]
    lines = ["# How good are the clusters", "", _intro(tables), "", "## What must show", ""]
    checks = must_show(tables)
    met = sum(check.met is True for check in checks)
    shown = [{"": c.verdict, "claim": c.claim, "numbers": c.numbers} for c in checks]
    lines += [f"{met} of {len(checks)} met.", "", markdown_table(shown)]
    for side, title in HALVES.items():
        rows = score_rows(tables, side)
        if rows:
            lines += ["", f"## {title}: AMI, best cut / at known k / chosen", ""]
            lines += [markdown_table(rows)]
    for title, rows in (
        (f"Ours against each rival, {half} half", rival_rows(tables)),
        (f"LFR by mixing, {half} half: AMI, best cut / at known k / chosen", lfr_rows(tables)),
        (f"Loss of edges, {half} half, at known k", loss_rows(tables)),
        (
            f"Loss of a tenth of the edges by family, {half} half: same tree (Kendall) / same "
            "clusters (ARI)",
            lost_rows(tables),
        ),
        ("CPU seconds and collapse, all sets", cost_rows(tables)),
        ("Graphs without groups", noise_rows(tables)),
        ("Failed: this package scored as finding nothing, others left out", failed_rows(tables)),
    ):
        if rows:
            lines += ["", f"## {title}", "", markdown_table(rows)]
    if left_out:
        lines += ["", "## Left out", ""]
        lines += [f"- {name}: not installed, {why}" for name, why in left_out.items()]
    return "\n".join(lines) + "\n"


def _intro(tables: Tables) -> str:
    halves = {(row["set"], row["half"]) for row in tables.scores}
    confirming = sum(half == "confirm" for _, half in halves)
    caution = (
        "" if confirming else " The confirming half was left alone: nothing here confirms anything."
    )
    return (
        f"{len(halves)} sets with known groups, {confirming} of them in the half that only "
        "confirms. Scores are adjusted mutual information (AMI); scores.csv has the adjusted Rand "
        "index (ARI) too. Means are over the levels of a set, then over the sets of a family, then "
        "over the families." + caution
    )


def score_rows(tables: Tables, half: str) -> list[Row]:
    """One row per method: the three measures for each family, and their mean."""
    rows: list[Row] = []
    for method in tables.methods:
        values = [
            set_means(tables.scores, method, f"{measure}_ami", half=half) for measure in WORDS
        ]
        if not any(values):
            continue
        families = [family_means(found) for found in values]
        row: Row = {"method": method}
        for family in FAMILIES:
            row[family] = _joined(found.get(family, math.nan) for found in families)
        # A mean over some families is not comparable with a mean over all of them.
        covered = [len(found) == len(_families(tables, half)) for found in families]
        row["mean"] = _joined(
            overall(found) if whole else math.nan
            for found, whole in zip(values, covered, strict=True)
        )
        rows.append(row)
    return rows


def rival_rows(tables: Tables) -> list[Row]:
    """One row per rival: difference on common sets, and sets won and lost at known k."""
    rows: list[Row] = []
    for rival in tables.methods:
        if rival == OURS:
            continue
        row: Row = {"rival": rival}
        for score in ("ami", "ari"):
            for measure, word in WORDS.items():
                ours, theirs = common(
                    set_means(tables.scores, OURS, f"{measure}_{score}", half=tables.half),
                    set_means(tables.scores, rival, f"{measure}_{score}", half=tables.half),
                )
                row[f"{word}, {score.upper()}"] = _signed(overall(ours) - overall(theirs))
        ours, theirs = common(
            set_means(tables.scores, OURS, "at_k_ami", half=tables.half),
            set_means(tables.scores, rival, "at_k_ami", half=tables.half),
        )
        won = sum(ours[key] > theirs[key] + 0.01 for key in ours)
        lost = sum(ours[key] < theirs[key] - 0.01 for key in ours)
        even = len(ours) - won - lost
        row["sets won / even / lost at k"] = f"{won} / {even} / {lost}" if ours else ""
        rows.append(row)
    return rows


def lfr_rows(tables: Tables) -> list[Row]:
    """One row per method, one column per mixing."""
    rows: list[Row] = []
    for method in tables.methods:
        row: Row = {"method": method}
        for value in MIXINGS:
            found = (
                set_means(
                    tables.scores,
                    method,
                    f"{measure}_ami",
                    half=tables.half,
                    keep=lambda row, value=value: mixing(row["set"]) == value,  # type: ignore[misc]
                )
                for measure in WORDS
            )
            row[f"{value:g}"] = _joined(mean(one.values()) for one in found)
        if any(text for key, text in row.items() if key != "method"):
            rows.append(row)
    return rows


def loss_rows(tables: Tables) -> list[Row]:
    """One row per fraction of removed edges and method."""
    rows: list[Row] = []
    for share in sorted({number(row["share"]) for row in tables.loss}):
        for method in LOSS_METHODS:
            found = {
                column: overall(
                    set_means(
                        tables.loss,
                        method,
                        column,
                        half=tables.half,
                        keep=lambda row, share=share: number(row["share"]) == share,  # type: ignore[misc]
                    )
                )
                for column in ("before_ari", "after_ari", "after_ami", "same_ari", "same_tree")
            }
            if math.isnan(found["before_ari"]):
                continue
            rows.append(
                {
                    "lost": f"{share:.0%}",
                    "method": method,
                    "truth before, ARI": found["before_ari"],
                    "truth after, ARI": found["after_ari"],
                    "fall": found["before_ari"] - found["after_ari"],
                    "truth after, AMI": found["after_ami"],
                    "same clusters, ARI": found["same_ari"],
                    "same tree, Kendall": found["same_tree"],
                }
            )
    return rows


def lost_rows(tables: Tables) -> list[Row]:
    """One row per method, one column per family: agreement of tree and clusters after removal."""
    rows: list[Row] = []
    for method in LOSS_METHODS:
        families = [
            family_means(
                set_means(
                    tables.loss,
                    method,
                    column,
                    half=tables.half,
                    keep=lambda row: math.isclose(number(row["share"]), LOST),
                )
            )
            for column in ("same_tree", "same_ari")
        ]
        if not any(families):
            continue
        row: Row = {"method": method}
        for family in FAMILIES:
            row[family] = _joined(found.get(family, math.nan) for found in families)
        rows.append(row)
    return rows


def cost_rows(tables: Tables) -> list[Row]:
    """One row per method: total and median seconds, and collapsed paths."""
    rows: list[Row] = []
    for method in tables.methods:
        here = [row for row in tables.cost if row["method"] == method]
        seconds = sorted(s for row in here if not math.isnan(s := number(row["seconds"])))
        paths = [row for row in here if row["collapsed"]]
        fallen = sum(row["collapsed"] == "True" for row in paths)
        rows.append(
            {
                "method": method,
                "sets": len(here),
                "seconds in all": f"{sum(seconds):.1f}",
                "median": f"{seconds[len(seconds) // 2]:.3f}" if seconds else "",
                "longest": f"{seconds[-1]:.2f}" if seconds else "",
                "paths that collapse": f"{fallen} of {len(paths)}" if paths else "",
                "mean largest drop": mean(number(row["largest_drop"]) for row in paths),
            }
        )
    return rows


def noise_rows(tables: Tables) -> list[Row]:
    """One row per method: number of clusters and confidence on graphs without groups."""
    rows: list[Row] = []
    for method in dict.fromkeys(row["method"] for row in tables.noise):
        here = [row for row in tables.noise if row["method"] == method]
        said = [row["confident"] for row in here if row["confident"]]
        rows.append(
            {
                "method": method,
                "graphs": len(here),
                "mean number of clusters": mean(number(row["n_clusters"]) for row in here),
                "more than one": sum(number(row["n_clusters"]) > 1 for row in here),
                "confident": said.count("True") if said else "does not say",
            }
        )
    return rows


def failed_rows(tables: Tables) -> list[Row]:
    """One row per set and method that failed."""
    rows = [
        {"method": row["method"], "set": row["set"], "error": row["failed"]}
        for row in tables.cost
        if row["failed"]
    ]
    rows += [
        {"method": row["method"], "set": row["graph"], "error": row["failed"]}
        for row in tables.noise
        if row["failed"]
    ]
    return [{key: value.replace("|", "/") for key, value in row.items()} for row in rows]


def _families(tables: Tables, half: str) -> set[str]:
    return {row["family"] for row in tables.scores if row["half"] == half}


def _joined(values: object) -> str:
    """Numbers as one cell, missing ones as a dash."""
    words = ["-" if math.isnan(value) else f"{value:.2f}" for value in values]  # type: ignore[attr-defined]
    return "" if set(words) == {"-"} else " / ".join(words)


def _signed(value: float) -> str:
    return "" if math.isnan(value) else f"{value:+.3f}"
