"""Which similarity, edge weights and l1_ratio a user should get who sets none of them.

Beyond the paper: the chosen setting is solved at the tolerance of the library on graphs whose
groups are known, and compared with agglomerative and graph clustering. It was chosen among many,
one thing changed at a time, which are scored on the smaller graphs and at a looser tolerance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from convexhc.experiments import defaults_figures as draw
from convexhc.experiments.data import data_folder
from convexhc.experiments.defaults_graphs import BLOCKS, Known, club, drawn_graphs, real_graphs
from convexhc.experiments.defaults_scores import (
    CHOSEN,
    Setting,
    baseline_scores,
    convex_scores,
    settings,
)
from convexhc.experiments.results import (
    Progress,
    Row,
    Unit,
    between,
    compute_units,
    markdown_table,
    mean_and_spread,
    write_table,
    write_text,
)

SCORES = ("best_ari", "ari", "large_ari")
PLAIN_LINKAGES = ("single linkage", "average linkage", "complete linkage")
GRAPH_METHODS = ("paris", "louvain")


@dataclass(frozen=True)
class Size:
    """How much is computed, and how exactly."""

    blocks: tuple[str, ...] = tuple(BLOCKS)
    n_seeds: int = 1
    tried: tuple[Setting, ...] = field(default_factory=lambda: tuple(settings()))
    scan: tuple[float, float] = (1e-3, 0.2)
    final: tuple[float, float] = (1e-4, 0.1)
    real: bool = True
    scan_nodes: int = 120


FULL = Size()
QUICK = Size(
    blocks=("blocks strong",),
    tried=tuple(settings(("two_hop", "normalized", "diffusion 6"), ("all", "10"), (0.05,))),
    scan=(1e-2, 0.5),
    final=(1e-3, 0.3),
    real=False,
)


def run(out: Path, *, data: Path | None, quick: bool, n_jobs: int, progress: Progress) -> None:
    """Score every setting and every baseline, and write what the choice rests on."""
    size = QUICK if quick else FULL
    folder = out / "defaults"
    graphs = [club(), *drawn_graphs(size.blocks, size.n_seeds)]
    source = data_folder(data) if size.real else None
    if source is not None:
        graphs = [*real_graphs(source), *graphs]
    small = [graph for graph in graphs if graph.adjacency.shape[0] <= size.scan_nodes]
    final = _convex(folder, graphs, (CHOSEN,), size.final, n_jobs, between(progress, 0.0, 0.2))
    others = _baselines(folder, graphs, n_jobs, between(progress, 0.2, 0.25))
    scan = _convex(folder, small, size.tried, size.scan, n_jobs, between(progress, 0.25, 1.0))
    means = mean_scores(scan)
    compared = comparison(final, others)
    for name, rows in (
        ("settings", scan),
        ("means", means),
        ("chosen", final),
        ("baselines", others),
        ("comparison", compared),
    ):
        write_table(folder / f"{name}.csv", rows)
    draw.comparison(folder / "comparison", final, others)
    draw.scans(folder / "scans", means)
    write_text(folder / "results.md", _text(size, means, compared, source))
    progress(1.0, "written")


def _convex(
    folder: Path,
    graphs: Sequence[Known],
    tried: Sequence[Setting],
    accuracy: tuple[float, float],
    n_jobs: int,
    progress: Progress,
) -> list[Row]:
    """One row a graph, level and setting."""
    tol, resolution = accuracy
    pairs = [(graph, setting) for graph in graphs for setting in tried]
    units = [
        Unit(
            _file(f"{graph.name} {setting.name} {tol:g}"),
            {"setting": list(setting), "tol": tol, "resolution": resolution},
            _arrays(graph),
        )
        for graph, setting in pairs
    ]
    found = compute_units(folder / "parts", units, convex_scores, n_jobs=n_jobs, progress=progress)
    return [
        {"graph": graph.name, "level": level, **setting._asdict(), "tol": tol, **scores}
        for (graph, setting), rows in zip(pairs, found, strict=True)
        for level, scores in zip(graph.levels, rows, strict=True)
    ]


def _baselines(folder: Path, graphs: Sequence[Known], n_jobs: int, progress: Progress) -> list[Row]:
    units = [
        Unit(_file(f"{graph.name} baselines"), {"kernel": CHOSEN.kernel}, _arrays(graph))
        for graph in graphs
    ]
    found = compute_units(
        folder / "parts", units, baseline_scores, n_jobs=n_jobs, progress=progress
    )
    return [
        {"graph": graph.name, **row, "level": list(graph.levels)[row["level"]]}
        for graph, rows in zip(graphs, found, strict=True)
        for row in rows
    ]


def mean_scores(rows: Sequence[Row]) -> list[Row]:
    """Mean of every score over the known levels of all graphs, the best setting first."""
    means = []
    for setting in dict.fromkeys(_setting(row) for row in rows):
        same = [row for row in rows if _setting(row) == setting]
        row: Row = {**setting._asdict(), "n_levels": len(same)}
        for score in (*SCORES, "singletons", "dasgupta"):
            row[score] = mean_and_spread(float(found[score]) for found in same)[0]
        row["worst_best_ari"] = min(float(found["best_ari"]) for found in same)
        means.append(row)
    return sorted(means, key=lambda row: -sum(row[score] for score in SCORES))


def comparison(final: Sequence[Row], others: Sequence[Row]) -> list[Row]:
    """The chosen setting beside the best plain linkage, Ward, and the best graph method.

    All by ``best_ari``, the best cut of each tree. The linkages are given the paper's similarity
    and, more favourably, the chosen one; Paris and Louvain the graph, as their users do, and the
    chosen similarity.
    """
    table = []
    for row in final:
        here = [o for o in others if (o["graph"], o["level"]) == (row["graph"], row["level"])]

        def best(methods: Sequence[str], given: str, here: Sequence[Row] = here) -> float:
            found = [o["best_ari"] for o in here if o["method"] in methods and o["input"] == given]
            return max(found, default=float("nan"))

        table.append(
            {
                "graph": row["graph"],
                "level": row["level"],
                "groups": row["n_groups"],
                "convexhc": row["best_ari"],
                "linkages_two_hop": best(PLAIN_LINKAGES, "two_hop"),
                "linkages_same": best(PLAIN_LINKAGES, CHOSEN.kernel),
                "ward_same": best(("ward linkage",), CHOSEN.kernel),
                "paris_louvain_graph": best(GRAPH_METHODS, "graph"),
                "paris_louvain_same": best(GRAPH_METHODS, CHOSEN.kernel),
                "convexhc_known": row["ari"],
                "convexhc_large": row["large_ari"],
                "singletons": row["singletons"],
            }
        )
    return table


def _setting(row: Row) -> Setting:
    return Setting(row["kernel"], row["weights"], row["l1_ratio"])


def _arrays(graph: Known) -> dict[str, Any]:
    return {"adjacency": graph.adjacency.toarray(), "groups": np.stack(list(graph.levels.values()))}


def _file(words: str) -> str:
    """Words as the name of a file."""
    return words.replace(",", "").replace(" ", "-")


def _text(size: Size, means: Sequence[Row], compared: Sequence[Row], source: Path | None) -> str:
    lines = [
        "# Defaults",
        "",
        f"Chosen: similarity {CHOSEN.kernel}, weights {CHOSEN.weights}, l1_ratio "
        f"{CHOSEN.l1_ratio:g}. Adjusted Rand index of the best cut of each tree, the chosen "
        f"setting solved to {size.final[0]:g} (comparison.csv):",
        "",
        markdown_table(compared, 2),
        "",
        f"Every setting, mean over the graphs of up to {size.scan_nodes} nodes, solved to "
        f"{size.scan[0]:g} (means.csv):",
        "",
        markdown_table(means, 2),
    ]
    if source is None:
        lines += ["", "Real graphs were left out: no data folder was named, or a quick run."]
    return "\n".join(lines) + "\n"
