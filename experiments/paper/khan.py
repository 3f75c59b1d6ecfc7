"""Khan gene expression: agreement of the hierarchies of training and test arrays.

The nodes are 306 genes. A similarity is built from the 64 training arrays and another from the 25
test arrays, and the results are compared: clusters, their number given by the effective rank, by
homogeneity (as in the paper) and by adjusted mutual information, which does not reward many
clusters; and graphs of nearest neighbours. The paper does not specify the similarity, so several
are tried, and all of them are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from experiments.data import khan, require_folder
from experiments.paper import khan_figures as draw
from experiments.paper.khan_compare import AUTHORS, SETTINGS, Setting, compare
from experiments.paper.linkages import LINKAGES
from experiments.paper.reported import KHAN_TABLE
from experiments.results import (
    Progress,
    Row,
    Unit,
    compute_units,
    markdown_table,
    write_table,
    write_text,
)


@dataclass(frozen=True)
class Size:
    """How much is computed."""

    n_genes: int = 306
    settings: tuple[Setting, ...] = SETTINGS
    grid: tuple[float, ...] = (
        *(0.032, 0.064, 0.1, 0.128, 0.256, 0.362, 0.4, 0.512, 0.609, 0.66, 0.724),
        *(0.79, 0.861, 1.024, 1.218, 1.448, 2.048, 2.896, 4.096),
    )
    neighbors: tuple[int, ...] = (5, 10, 20)


FULL = Size()
# Effective ranks whose ratio is at most this count as matched.
NEAR = 1.5
# The second lam of the paper's table: no path has collapsed there.
EARLY = KHAN_TABLE[1]["lam"]
QUICK = Size(
    n_genes=60,
    settings=(AUTHORS, Setting("log", "log")),
    grid=(0.032, 0.256, 0.512, 1.024, 2.048),
    neighbors=(5, 10),
)


def run(out: Path, *, data: Path | None, quick: bool, n_jobs: int, progress: Progress) -> None:
    """Compare training and test arrays for every similarity."""
    size = QUICK if quick else FULL
    folder = out / "khan"
    expression = khan(require_folder(data, "khan"))
    # The genes are sorted by the axis they were selected for, so every k-th one is a sample.
    chosen = np.linspace(0, len(expression.train) - 1, size.n_genes).astype(int)
    inputs = {"train": expression.train[chosen], "test": expression.test[chosen]}
    units = [
        Unit(
            setting.name.replace(", ", "-").replace(" ", "-"),
            {"setting": asdict(setting), "lambdas": list(size.grid), "ks": list(size.neighbors)},
            inputs,
        )
        for setting in size.settings
    ]
    found = compute_units(folder / "parts", units, compare, n_jobs=n_jobs, progress=progress)
    tables = {
        name: [row for part in found for row in part[name]]
        for name in ("similarities", "path", "agreement", "neighbors")
    }
    tables["matched"] = matched_table(tables["agreement"], tables["path"])
    tables["verdict"] = verdict(tables["matched"], tables["neighbors"])
    for name, rows in tables.items():
        write_table(folder / f"{name}.csv", rows)
    names = [setting.name for setting in size.settings]
    draw.effective_rank(folder / "effective_rank", tables["path"], names)
    for score in ("homogeneity", "ami"):
        draw.agreement(folder / score, tables["agreement"], names, score)
    draw.neighbors(folder / "neighbors", tables["neighbors"], names, size.neighbors)
    write_text(folder / "results.md", _text(size, tables))
    progress(1.0, "written")


def matched_table(agreement: Sequence[Row], path: Sequence[Row]) -> list[Row]:
    """The solved lam whose effective rank (train) is nearest to each row of the paper's table.

    ``near`` is whether the two ranks are within a factor of `NEAR`.
    """
    matched = []
    for name in dict.fromkeys(row["setting"] for row in agreement):
        ranks = {
            row["lam"]: row["effective_rank"]
            for row in path
            if row["setting"] == name and row["arrays"] == "train"
        }
        for paper in KHAN_TABLE:
            lam = min(ranks, key=lambda at: abs(np.log(ranks[at] / paper["effective_rank"])))
            apart = abs(float(np.log(ranks[lam] / paper["effective_rank"])))
            row: Row = {
                "setting": name,
                "rank_paper": paper["effective_rank"],
                "rank": ranks[lam],
                "near": apart <= np.log(NEAR),
                "lam": lam,
                "homogeneity_paper": paper["homogeneity"],
                "homogeneity_hc_paper": paper["homogeneity_hc"],
            }
            for other in agreement:
                if other["setting"] == name and other["lam"] == lam:
                    row[f"homogeneity_{other['method']}"] = other["homogeneity"]
                    row[f"ami_{other['method']}"] = other["ami"]
            matched.append(row)
    return matched


def verdict(matched: Sequence[Row], neighbors: Sequence[Row]) -> list[Row]:
    """How often the convex path does better than each linkage, over all similarities tried.

    Clusters are compared at ranks near those of the paper, if both sides have a score. Neighbours
    are compared at every lam, and only at those up to `EARLY`; the last row compares them with the
    neighbours of the similarity itself, which has no clusters.
    """
    rows: list[Row] = []
    for other in (*LINKAGES, "similarity"):
        row: Row = {"against": other}
        for score in ("homogeneity", "ami"):
            pairs = [
                (r[f"{score}_convex"], r[f"{score}_{other}"])
                for r in matched
                if r["near"] and other in LINKAGES
            ]
            known = [pair for pair in pairs if not np.isnan(pair).any()]
            row[f"comparisons_{score}"] = len(known)
            row[f"better_{score}"] = sum(ours > theirs for ours, theirs in known)
        level = {(r["setting"], r["k"]): r["differ"] for r in neighbors if r["method"] == other}
        ours = [r for r in neighbors if r["method"] == "convex"]
        for name, chosen in (("", ours), ("_early", [r for r in ours if r["lam"] <= EARLY])):
            fewer = [r["differ"] < level[r["setting"], r["k"]] for r in chosen]
            row[f"comparisons_neighbors{name}"] = len(fewer)
            row[f"better_neighbors{name}"] = sum(fewer)
        rows.append(row)
    return rows


def _text(size: Size, tables: dict[str, list[Row]]) -> str:
    lines = [
        "# Khan gene expression: training against test arrays",
        "",
        f"{size.n_genes} genes, {len(size.settings)} similarities, {len(size.grid)} values of lam, "
        "every solve certified to 1e-5.",
    ]
    if size is not FULL:
        lines += ["", "Quick run: a sample of the genes, so it does not compare with the paper."]
    lines += ["", "## At the effective ranks of the paper's table", ""]
    lines += [f"The nearest rank that was met; near: within a factor of {NEAR:g}.", ""]
    keep = (
        "setting",
        "rank_paper",
        "rank",
        "near",
        "lam",
        "homogeneity_paper",
        "homogeneity_hc_paper",
    )
    methods = ("convex", *LINKAGES)
    homogeneity = [
        {k: r[k] for k in keep} | _only(r, "homogeneity", methods) for r in tables["matched"]
    ]
    ami = [{k: r[k] for k in keep[:5]} | _only(r, "ami", methods) for r in tables["matched"]]
    lines += [markdown_table(homogeneity), "", "Adjusted mutual information:", ""]
    lines += [markdown_table(ami), "", "## How often the convex path does better", ""]
    lines += [markdown_table(tables["verdict"]), "", "## The similarities", ""]
    lines += [markdown_table(tables["similarities"])]
    return "\n".join(lines) + "\n"


def _only(row: Row, score: str, methods: Sequence[str]) -> Row:
    return {method: row[f"{score}_{method}"] for method in methods}
