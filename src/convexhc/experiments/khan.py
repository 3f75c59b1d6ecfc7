"""Khan gene expression: whether the hierarchy of the test arrays is that of the training arrays.

The nodes are 306 genes. A similarity is built from the 64 training arrays and another from the 25
test arrays, and what is found in one is compared with what is found in the other: clusters, as many
as the effective rank says, by homogeneity (the paper's) and by adjusted mutual information, which
does not reward many clusters; and graphs of nearest neighbours. The paper leaves the similarity
open, so several are tried, and all of them are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from convexhc.baselines import Linkage
from convexhc.experiments import khan_figures as draw
from convexhc.experiments.data import khan, require_folder
from convexhc.experiments.reported import KHAN_TABLE
from convexhc.experiments.results import (
    Progress,
    Row,
    Unit,
    compute_units,
    markdown_table,
    require_certified,
    write_table,
    write_text,
)
from convexhc.metrics import (
    centroid_distances,
    cophenetic_distances,
    hamming,
    kmeans_labels,
    knn_graph,
    partition_scores,
)
from convexhc.path import Path as SolutionPath
from convexhc.path import solve_path
from convexhc.similarity import Similarity, knn

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

LINKAGES: tuple[Literal["single", "average", "complete", "ward"], ...] = (
    "single",
    "average",
    "complete",
    "ward",
)


@dataclass(frozen=True)
class Setting:
    """One way to build the similarity.

    ``transform`` is "ratio" (as stored), "log", or "standard" (logarithms with mean 0 and variance
    1 for every gene); a ``bandwidth`` of 0 stands for the automatic one.
    """

    name: str
    transform: str
    n_neighbors: int = 10
    bandwidth: float = 0.0
    alpha: float = 0.95


# The authors' kernel is exp(-d^2 / (2 * 200)) on the ratios, for the 10 nearest neighbours.
AUTHORS = Setting("authors", "ratio", bandwidth=200**0.5)
SETTINGS = (
    AUTHORS,
    Setting("authors, alpha 0.5", "ratio", bandwidth=200**0.5, alpha=0.5),
    Setting("ratio, own bandwidth", "ratio"),
    Setting("log", "log"),
    Setting("log, alpha 0.5", "log", alpha=0.5),
    Setting("log, 5 neighbours", "log", n_neighbors=5),
    Setting("log, 20 neighbours", "log", n_neighbors=20),
    Setting("standardised", "standard"),
)


@dataclass(frozen=True)
class Size:
    """How much is computed."""

    n_genes: int = 306
    settings: tuple[Setting, ...] = SETTINGS
    grid: tuple[float, ...] = (
        *(0.032, 0.064, 0.128, 0.256, 0.362, 0.512, 0.609, 0.724),
        *(0.861, 1.024, 1.218, 1.448, 2.048, 2.896, 4.096),
    )
    neighbors: tuple[int, ...] = (5, 10, 20)


FULL = Size()
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
    # The genes are ordered by the axis they were chosen for: every so many of them is a sample.
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
    tables["verdict"] = _verdict(tables["matched"], tables["neighbors"])
    for name, rows in tables.items():
        write_table(folder / f"{name}.csv", rows)
    names = [setting.name for setting in size.settings]
    draw.effective_rank(folder / "effective_rank", tables["path"], names)
    draw.agreement(folder / "agreement", tables["agreement"], names)
    draw.neighbors(folder / "neighbors", tables["neighbors"], names, size.neighbors)
    write_text(folder / "results.md", _text(size, tables))
    progress(1.0, "written")


def compare(
    train: FloatArray,
    test: FloatArray,
    setting: dict[str, Any],
    lambdas: Sequence[float],
    ks: Sequence[int],
) -> dict[str, list[Row]]:
    """Everything that is compared between training and test arrays, for one similarity."""
    chosen = Setting(**setting)
    K = {"train": _similarity(train, chosen), "test": _similarity(test, chosen)}
    paths = {
        half: solve_path(K[half], lambdas, l1_ratio=1.0 - chosen.alpha, keep="all") for half in K
    }
    for half, path in paths.items():
        require_certified(path, f"{chosen.name}, {half}")
    head = {"setting": chosen.name, "alpha": chosen.alpha}
    return {
        "similarities": [
            head
            | {
                "arrays": half,
                "n_edges": K[half].graph.n_edges,
                "gamma": K[half].gamma,
                "bandwidth": K[half].parameters["bandwidth"],
                "median_weight": float(np.median(K[half].graph.weight)),
            }
            for half in K
        ],
        "path": [
            head
            | {
                "arrays": half,
                "lam": point.lam,
                "effective_rank": point.effective_rank,
                "n_clusters": point.n_clusters,
                "relative_gap": point.relative_gap,
            }
            for half, path in paths.items()
            for point in path.points
        ],
        "agreement": [head | row for row in _agreement(K, paths)],
        "neighbors": [head | row for row in _neighbors(K, paths, ks)],
    }


def matched_table(agreement: Sequence[Row], path: Sequence[Row]) -> list[Row]:
    """The solved lam whose effective rank (train) is nearest to each row of the paper's table."""
    matched = []
    for name in dict.fromkeys(row["setting"] for row in agreement):
        ranks = {
            row["lam"]: row["effective_rank"]
            for row in path
            if row["setting"] == name and row["arrays"] == "train"
        }
        for paper in KHAN_TABLE:
            lam = min(ranks, key=lambda at: abs(np.log(ranks[at] / paper["effective_rank"])))
            row: Row = {
                "setting": name,
                "rank_paper": paper["effective_rank"],
                "rank": ranks[lam],
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


def _similarity(X: FloatArray, setting: Setting) -> Similarity:
    """Nearest-neighbour similarity of the genes, positive definite by what gamma adds."""
    if setting.transform != "ratio":
        X = np.log(X)
    if setting.transform == "standard":
        X = (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, keepdims=True)
    return knn(
        X,
        n_neighbors=setting.n_neighbors,
        bandwidth=setting.bandwidth or "auto",
        gamma="auto",
    )


def _agreement(K: dict[str, Similarity], paths: dict[str, SolutionPath]) -> list[Row]:
    """Clusters of the two halves compared, as many in each as its effective rank says."""
    trees = {linkage: {half: Linkage(linkage).fit(K[half]) for half in K} for linkage in LINKAGES}
    rows = []
    for train, test in zip(paths["train"].points, paths["test"].points, strict=True):
        ranks = {"train": train.effective_rank, "test": test.effective_rank}
        counts = {half: max(round(rank), 1) for half, rank in ranks.items()}
        labels = {
            half: kmeans_labels(path.centroids(train.lam), counts[half])
            for half, path in paths.items()
        }
        rows.append(_scored("convex", train.lam, counts, labels["train"], labels["test"]))
        rows.append(_scored("convex_fused", train.lam, counts, train.labels, test.labels))
        for linkage, tree in trees.items():
            cut = {half: tree[half].labels(counts[half]) for half in tree}
            rows.append(_scored(linkage, train.lam, counts, cut["train"], cut["test"]))
    return rows


def _scored(
    method: str, lam: float, counts: dict[str, int], train: IntArray, test: IntArray
) -> Row:
    scores = partition_scores(train, test)
    return {
        "lam": lam,
        "method": method,
        "wanted_train": counts["train"],
        "wanted_test": counts["test"],
        "clusters_train": int(train.max()) + 1,
        "clusters_test": int(test.max()) + 1,
        "homogeneity": scores.homogeneity,
        "ami": scores.ami,
        "ari": scores.ari,
    }


def _neighbors(
    K: dict[str, Similarity], paths: dict[str, SolutionPath], ks: Sequence[int]
) -> list[Row]:
    """Share of the nearest neighbours that differ between the halves, for every representation."""
    n = K["train"].graph.n
    distances: dict[tuple[str, float], dict[str, FloatArray]] = {
        ("similarity", 0.0): {half: centroid_distances(np.eye(n), K[half].matrix) for half in K}
    }
    for lam in paths["train"].lambdas:
        distances["convex", float(lam)] = {
            half: centroid_distances(path.centroids(lam), K[half].matrix)
            for half, path in paths.items()
        }
    for linkage in LINKAGES:
        trees = {half: Linkage(linkage).fit(K[half]).linkage for half in K}
        distances[linkage, 0.0] = {
            half: cophenetic_distances(Z) for half, Z in trees.items() if Z is not None
        }
    return [
        {
            "method": method,
            "lam": lam,
            "k": k,
            "differ": neighbors_that_differ(pair["train"], pair["test"], k),
            "differ_ties_by_number": differing_share(
                knn_graph(pair["train"], k), knn_graph(pair["test"], k), k
            ),
        }
        for (method, lam), pair in distances.items()
        for k in ks
    ]


def neighbors_that_differ(first: FloatArray, second: FloatArray, k: int, draws: int = 5) -> float:
    """Share of the k nearest neighbours that differ, ties broken at random in each matrix.

    Trees and fused centroids leave many nodes equally near. Breaking ties by the number of the node
    would make two graphs agree for no reason but the numbering.
    """
    rng = np.random.default_rng(0)
    n = len(first)
    shares = []
    for _ in range(draws):
        graphs = []
        for distance in (first, second):
            order = rng.permutation(n)
            back = np.argsort(order)
            graphs.append(knn_graph(distance[np.ix_(order, order)], k)[back][:, back])
        shares.append(differing_share(graphs[0], graphs[1], k))
    return float(np.mean(shares))


def differing_share(first: Any, second: Any, k: int) -> float:
    """Hamming distance of two graphs with k neighbours a node, over its largest value 2 n k."""
    return float(hamming(first, second) / (2 * first.shape[0] * k))


def _verdict(matched: Sequence[Row], neighbors: Sequence[Row]) -> list[Row]:
    """How often the convex path does better than each linkage, over all similarities tried."""
    rows: list[Row] = []
    for linkage in LINKAGES:
        row: Row = {"against": linkage, "comparisons": len(matched)}
        for score in ("homogeneity", "ami"):
            row[f"better_{score}"] = sum(
                r[f"{score}_convex"] > r[f"{score}_{linkage}"] for r in matched
            )
        pairs = [
            (r["differ"], h["differ"])
            for r in neighbors
            for h in neighbors
            if r["method"] == "convex"
            and h["method"] == linkage
            and (r["setting"], r["k"]) == (h["setting"], h["k"])
        ]
        row |= {"neighbor_comparisons": len(pairs)}
        row |= {"fewer_neighbors_differ": sum(ours < theirs for ours, theirs in pairs)}
        rows.append(row)
    return rows


def _text(size: Size, tables: dict[str, list[Row]]) -> str:
    lines = [
        "# Khan gene expression: training against test arrays",
        "",
        f"{size.n_genes} genes, {len(size.settings)} similarities, {len(size.grid)} values of lam, "
        "every solve certified to 1e-4.",
    ]
    if size is not FULL:
        lines += ["", "Quick run: a sample of the genes, so it does not compare with the paper."]
    lines += ["", "## At the effective ranks of the paper's table", ""]
    keep = ("setting", "rank_paper", "rank", "lam", "homogeneity_paper", "homogeneity_hc_paper")
    methods = ("convex", *LINKAGES)
    homogeneity = [
        {k: r[k] for k in keep} | _only(r, "homogeneity", methods) for r in tables["matched"]
    ]
    ami = [{k: r[k] for k in keep[:4]} | _only(r, "ami", methods) for r in tables["matched"]]
    lines += [markdown_table(homogeneity), "", "Adjusted mutual information:", ""]
    lines += [markdown_table(ami), "", "## How often the convex path does better", ""]
    lines += [markdown_table(tables["verdict"]), "", "## The similarities", ""]
    lines += [markdown_table(tables["similarities"])]
    return "\n".join(lines) + "\n"


def _only(row: Row, score: str, methods: Sequence[str]) -> Row:
    return {method: row[f"{score}_{method}"] for method in methods}
