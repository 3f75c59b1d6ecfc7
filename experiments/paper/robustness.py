"""Robustness of trees to perturbations of the graph: the convex path and the linkages.

The paper argues that a convex hierarchy is robust where a greedy one is not, and gives no numbers.
Here edges are rewired, outlier nodes are added, and edges are resampled; the tree of the perturbed
graph is compared with that of the original one, on the original nodes, by the correlation of their
cophenetic distances and by the adjusted Rand index of their levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score

from convexhc import solve_path
from convexhc._types import FloatArray
from convexhc.datasets import fractal_graph, karate, les_miserables
from convexhc.metrics import cophenetic_correlation, cophenetic_distances, kendall
from convexhc.similarity import two_hop
from convexhc.tree import Tree
from experiments.data import data_folder, weighted_graph
from experiments.paper import robustness_figures as draw
from experiments.paper.linkages import linkage_trees
from experiments.paper.perturbations import KINDS
from experiments.results import (
    Progress,
    Row,
    Unit,
    between,
    compute_units,
    markdown_table,
    mean_and_spread,
    require_certified,
    write_table,
    write_text,
)

Change = tuple[str, float]

# Two-hop similarities may be singular; this makes the minimiser unique.
SHIFT = 1e-3
STRONGEST = 10
MEASURES = ("cophenetic", "rank", "ari")


@dataclass(frozen=True)
class Size:
    """How much is computed."""

    shape: tuple[int, int, int] = (4, 7, 7)
    graphs: tuple[str, ...] = ("fractal", "karate", "les miserables", "football")
    changes: tuple[Change, ...] = (
        *(("rewired", 0.02), ("rewired", 0.05), ("rewired", 0.1)),
        *(("outliers", 0.1), ("bootstrap", 1.0)),
    )
    n_draws: int = 5
    levels: tuple[int, ...] = (2, 4, 8, 16, 32)
    lam_step: float = 0.3


FULL = Size()
QUICK = Size(
    shape=(3, 3, 5),
    graphs=("fractal", "karate"),
    changes=(("rewired", 0.05), ("outliers", 0.1), ("bootstrap", 1.0)),
    n_draws=2,
    levels=(2, 4, 8),
)


class Graph(NamedTuple):
    """A weighted graph with its known levels, if any."""

    name: str
    weights: FloatArray
    known: tuple[NDArray[Any], ...]


def run(out: Path, *, data: Path | None, quick: bool, n_jobs: int, progress: Progress) -> None:
    """Perturb every graph in every way and compare the trees."""
    size = QUICK if quick else FULL
    folder = out / "robustness"
    graphs = _graphs(size, data)
    plans: list[tuple[Graph, str, float, int]] = []
    for graph in graphs:
        plans.append((graph, "none", 0.0, 0))
        plans += [(graph, *change, s) for change in size.changes for s in range(size.n_draws)]
    units = [
        Unit(
            f"{graph.name.replace(' ', '-')}-{kind}-{strength:g}-{seed}",
            {"kind": kind, "strength": strength, "seed": seed, "lam_step": size.lam_step},
            {"weights": graph.weights},
        )
        for graph, kind, strength, seed in plans
    ]
    found = compute_units(
        folder / "parts", units, trees, n_jobs=n_jobs, progress=between(progress, 0.0, 0.9)
    )
    rows = _moves(size, plans, found)
    table = averages(rows)
    write_table(folder / "runs.csv", rows)
    write_table(folder / "stability.csv", table)
    verdict = wins(table)
    write_table(folder / "verdict.csv", verdict)
    draw.stability(folder / "stability", table)
    write_text(folder / "results.md", _text(size, graphs, table, verdict))
    progress(1.0, "written")


def trees(
    weights: FloatArray, kind: str, strength: float, seed: int, lam_step: float
) -> dict[str, Any]:
    """The tree of every method on one perturbed graph, restricted to the original nodes."""
    n = len(weights)
    if kind != "none":
        weights = KINDS[kind](weights, strength, np.random.default_rng(seed))
    K = two_hop(weights, shift=SHIFT)
    found: dict[str, Any] = {}
    for name, strongest in (("convex", None), (f"convex_{STRONGEST}", STRONGEST)):
        path = solve_path(K, weights=strongest, lam_step=lam_step, keep="labels")
        require_certified(path, f"{kind} {strength:g}, draw {seed}")
        found[name] = path.linkage
    found |= linkage_trees(K)
    return {name: restricted(Z, n) for name, Z in found.items()}


def restricted(Z: FloatArray, n: int) -> FloatArray:
    """The tree restricted to the first n leaves, which merge at the same heights.

    Examples
    --------
    >>> restricted(np.array([[1, 2, 1.0, 2], [0, 3, 2.0, 3]]), 2)
    array([[0., 1., 2., 2.]])
    """
    if len(Z) + 1 == n:
        return Z
    # Single linkage of the cophenetic distances of a tree is the tree.
    return np.asarray(linkage(squareform(cophenetic_distances(Z)[:n, :n], checks=False), "single"))


def _graphs(size: Size, data: Path | None) -> list[Graph]:
    """The available graphs; football needs the data folder."""
    fractal = fractal_graph(0, n_meta=size.shape[0], n_super=size.shape[1], clique=size.shape[2])
    every = [Graph("fractal", fractal.adjacency.toarray(), (fractal.fine, fractal.coarse))]
    for name, load in (("karate", karate), ("les miserables", les_miserables)):
        loaded = load()
        known = () if loaded.labels is None else (loaded.labels,)
        every.append(Graph(name, loaded.adjacency.toarray().astype(np.float64), known))
    folder = data_folder(data)
    if folder is not None:
        here = folder / "classic" / "football"
        labels = np.loadtxt(
            here / "nodes.csv", delimiter=",", skiprows=1, usecols=2, dtype=np.int64
        )
        A = weighted_graph(here / "edges.csv", labels.size, columns=("u", "v", "weight"))
        every.append(Graph("football", A.toarray(), (labels,)))
    return [graph for graph in every if graph.name in size.graphs]


def _moves(size: Size, plans: Sequence[Any], found: Sequence[Any]) -> list[Row]:
    """One row per perturbed tree and method: agreement with the original tree."""
    rows: list[Row] = []
    original: dict[str, tuple[FloatArray, float]] = {}
    for (graph, kind, strength, seed), every in zip(plans, found, strict=True):
        if kind == "none":
            trees_before = {method: np.array(Z) for method, Z in every.items()}
            original = {method: (Z, recovered(Z, graph)) for method, Z in trees_before.items()}
            continue
        for method, Z in every.items():
            head = {"graph": graph.name, "kind": kind, "strength": strength, "draw": seed}
            (first, before), second = original[method], np.array(Z)
            rows.append(
                head
                | {"method": method}
                | tree_agreement(first, second, size.levels)
                | {"known_before": before, "known_after": recovered(second, graph)}
            )
    return rows


def tree_agreement(first: FloatArray, second: FloatArray, levels: Sequence[int]) -> Row:
    """Agreement of two trees on the same leaves.

    Pearson's correlation of the cophenetic distances, Kendall's, which does not depend on the scale
    of the heights, and the adjusted Rand index of the cuts into at most k clusters: for every
    level, and their mean. A level at which one of the trees is a single cluster has none;
    ``levels`` is the number of the others.
    """
    after = cophenetic_distances(second)
    row: Row = {
        "cophenetic": cophenetic_correlation(first, after),
        "rank": kendall(cophenetic_distances(first), after),
    }
    scores: Row = {}
    for k in levels:
        cuts = [Tree.from_linkage(Z).labels(n_clusters=k) for Z in (first, second)]
        apart = min(int(cut.max()) for cut in cuts) > 0
        scores[f"ari_{k}"] = float(adjusted_rand_score(*cuts)) if apart else float("nan")
    row["ari"] = mean_and_spread(scores.values())[0]
    row["levels"] = sum(not np.isnan(score) for score in scores.values())
    return row | scores


def recovered(Z: FloatArray, graph: Graph) -> float:
    """Best adjusted Rand index of any cut with a known partition, mean over the known ones."""
    if not graph.known:
        return float("nan")
    heights = np.unique(Z[:, 2])
    tree = Tree.from_linkage(Z)
    cuts = [tree.labels(lam=float(height)) for height in heights]
    return float(
        np.mean([max(adjusted_rand_score(true, cut) for cut in cuts) for true in graph.known])
    )


def averages(rows: Sequence[Row]) -> list[Row]:
    """Mean and spread over the draws, for every graph, change and method."""
    keys = ("graph", "kind", "strength", "method")
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    table: list[Row] = []
    for key, group in groups.items():
        mean: Row = dict(zip(keys, key, strict=True)) | {"n_draws": len(group)}
        for measure in (*MEASURES, "levels", "known_before", "known_after"):
            mean[measure], mean[f"{measure}_sd"] = mean_and_spread(row[measure] for row in group)
        table.append(mean)
    return table


def wins(table: Sequence[Row]) -> list[Row]:
    """How often each method changes least, and its mean over all graphs and perturbations."""
    methods = list(dict.fromkeys(row["method"] for row in table))
    cases: dict[tuple[Any, ...], dict[str, Row]] = {}
    for row in table:
        key = (row["graph"], row["kind"], row["strength"])
        cases.setdefault(key, {})[row["method"]] = row
    rows: list[Row] = []
    for method in methods:
        row = {"method": method, "cases": len(cases)}
        for measure in MEASURES:
            best = [max(case, key=lambda m: _or_worst(case[m][measure])) for case in cases.values()]
            row[f"best_{measure}"] = best.count(method)
            row[f"mean_{measure}"] = mean_and_spread(c[method][measure] for c in cases.values())[0]
        for other in ("levels", "known_before", "known_after"):
            row[f"mean_{other}"] = mean_and_spread(c[method][other] for c in cases.values())[0]
        rows.append(row)
    return rows


def _or_worst(value: float) -> float:
    return -np.inf if np.isnan(value) else value


def _text(size: Size, graphs: Sequence[Graph], table: Sequence[Row], verdict: Sequence[Row]) -> str:
    lines = [
        "# Robustness: how far the tree moves when the graph is disturbed",
        "",
        f"{len(graphs)} graphs, {len(size.changes)} changes, {size.n_draws} draws of each; every "
        "solve certified to 1e-4. 1 is a tree that did not move.",
    ]
    missing = [name for name in size.graphs if name not in {graph.name for graph in graphs}]
    if missing:
        lines += ["", f"Left out, because no data folder was named: {', '.join(missing)}."]
    if size is not FULL:
        lines += ["", "Quick run: small graphs and few draws."]
    keep = (
        "graph",
        "kind",
        "strength",
        "method",
        *MEASURES,
        "levels",
        "known_before",
        "known_after",
    )
    lines += ["", "## Over all graphs and changes", "", markdown_table(verdict)]
    lines += ["", "## Every case", "", markdown_table([{k: r[k] for k in keep} for r in table])]
    return "\n".join(lines) + "\n"
