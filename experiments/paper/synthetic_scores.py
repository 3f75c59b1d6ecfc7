"""Scores of exact solutions on the fractal graph, and the averages of Table I."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexhc import solve_path
from convexhc.datasets import FractalGraph, fractal_graph
from convexhc.metrics import kmeans_scores, partition_scores
from convexhc.path import Level
from convexhc.similarity import two_hop
from experiments.figures import principal_plane
from experiments.paper.reported import TABLE_I, TABLE_I_COLUMNS
from experiments.results import FINE_GAP, Row, mean_and_spread, require_certified

Wiring = tuple[int, int]

# Two-hop similarities of cliques are singular; this makes the minimiser unique.
SHIFT = 1e-3
DEFAULT_WIRING: Wiring = (1, 1)
BEYOND_TABLE_I = (
    "fine_similarity_accuracy",
    "coarse_similarity_accuracy",
    "fine_fused_ari",
    "coarse_fused_ari",
    "n_clusters",
)
SCORES = ("accuracy", "homogeneity", "completeness", "silhouette", "ari")


def wiring_rank(shape: Sequence[int], links_super: int, links_meta: int, n_graphs: int) -> Row:
    """Effective rank at lam = 0.001, mean over a few graphs of one wiring."""
    ranks, edges = [], []
    for seed in range(n_graphs):
        graph = drawn_graph(shape, seed, (links_super, links_meta))
        path = solve_path(two_hop(graph.adjacency, shift=SHIFT), [0.001], tol=FINE_GAP)
        require_certified(path, f"wiring {links_super}, {links_meta}", tol=FINE_GAP)
        ranks.append(path.effective_rank[0])
        edges.append(graph.adjacency.nnz / 2)
    return {
        "links_super": links_super,
        "links_meta": links_meta,
        "n_graphs": n_graphs,
        "edges": float(np.mean(edges)),
        "effective_rank": float(np.mean(ranks)),
    }


def graph_scores(
    shape: Sequence[int], seed: int, wiring: Sequence[int], alpha: float, lambdas: Sequence[float]
) -> list[Row]:
    """One row per lam: scores of k-means and of the exact fusions on one random graph."""
    graph = drawn_graph(shape, seed, (wiring[0], wiring[1]))
    K = two_hop(graph.adjacency, shift=SHIFT).matrix
    path = solve_path(K, lambdas, l1_ratio=1.0 - alpha, tol=FINE_GAP)
    require_certified(path, f"graph {seed}", tol=FINE_GAP)
    head = {"links_super": wiring[0], "links_meta": wiring[1], "seed": seed, "alpha": alpha}
    return [head | point_scores(point, K, graph.fine, graph.coarse) for point in path.levels]


def point_scores(point: Level, K: Any, fine: NDArray[np.intp], coarse: NDArray[np.intp]) -> Row:
    """Scores of one solution at both levels, by k-means and by its exact fusions.

    The paper runs k-means "on the raw embeddings", which we take to be the centroids; the accuracy
    on the rows of pi'K pi, the similarities between centroids, is given as well.
    """
    assert point.cluster_centroids is not None
    centroids = point.cluster_centroids[point.labels]
    similar = centroids @ np.asarray(K @ centroids.T)
    row: Row = {
        "lam": point.lam,
        "relative_gap": point.relative_gap,
        "effective_rank": point.effective_rank,
        "n_clusters": point.n_clusters,
    }
    for level, classes in (("fine", fine), ("coarse", coarse)):
        means = kmeans_scores(centroids, classes)
        fused = partition_scores(classes, point.labels)
        row |= {f"{level}_{score}": getattr(means, score) for score in SCORES}
        row[f"{level}_similarity_accuracy"] = kmeans_scores(similar, classes).accuracy
        row |= {f"{level}_fused_accuracy": fused.accuracy, f"{level}_fused_ari": fused.ari}
    return row


def figure_one_planes(shape: Sequence[int], lambdas: Sequence[float]) -> dict[str, Any]:
    """Principal plane of the centroids of one graph at each lam, and the number of clusters."""
    graph = drawn_graph(shape, 0, DEFAULT_WIRING)
    path = solve_path(two_hop(graph.adjacency, shift=SHIFT), lambdas, tol=FINE_GAP)
    require_certified(path, "figure 1", tol=FINE_GAP)
    return {
        "lambdas": path.lambdas,
        "n_clusters": path.n_clusters,
        "planes": [principal_plane(path.centroids(lam)) for lam in path.lambdas],
    }


def authors_path(
    K: NDArray[np.float64],
    fine: NDArray[np.int64],
    coarse: NDArray[np.int64],
    shift: float,
    lambdas: Sequence[float] | None,
) -> dict[str, Any]:
    """The exact path on the authors' similarity, Table I on it, and three pictures of it."""
    shifted = K + shift * np.eye(len(K))
    path = solve_path(shifted, lambdas, tol=FINE_GAP)
    at_table = solve_path(shifted, list(TABLE_I), tol=FINE_GAP)
    for solved in (path, at_table):
        require_certified(solved, "the authors' similarity", tol=FINE_GAP)
    wanted = [path.lambdas[0], *(_middle(path.n_clusters, path.lambdas, k) for k in (28, 4))]
    return {
        "path": [point_scores(point, shifted, fine, coarse) for point in path.levels],
        "runs": [point_scores(point, shifted, fine, coarse) for point in at_table.levels],
        "nested": path.is_nested,
        "planes": [
            {
                "lam": lam,
                "n_clusters": int(path.n_clusters[path.lambdas == lam][0]),
                "plane": principal_plane(path.centroids(lam)),
            }
            for lam in wanted
        ],
        "coarse": coarse,
    }


def table_one(rows: Sequence[Row], wiring: Wiring) -> list[Row]:
    """Mean and spread of every score at the lam of Table I, with the paper's beside it."""
    chosen = [
        row
        for row in rows
        if (row["links_super"], row["links_meta"]) == wiring and row["alpha"] == 0.95
    ]
    return [
        averaged(f"{wiring[0]} and {wiring[1]} links", lam, [r for r in chosen if r["lam"] == lam])
        for lam in TABLE_I
    ]


def with_levels(rows: Sequence[Row], shape: Sequence[int]) -> list[Row]:
    """Rows without the silhouette of levels with more classes than distinct centroids.

    k-means cannot find 28 clusters among 4 points; the silhouette of those 4 is not that of the 28.
    """
    classes = {"fine_silhouette": shape[0] * shape[1], "coarse_silhouette": shape[0]}
    return [
        row | {name: np.nan for name, count in classes.items() if row["n_clusters"] < count}
        for row in rows
    ]


def silhouette_peaks(rows: Sequence[Row]) -> list[Row]:
    """Where the mean silhouette of each level is largest, for every alpha (default wiring).

    If the largest value occurs at several lam, the first and the last are given. Only lam at which
    every graph has a silhouette are considered.
    """
    chosen = [row for row in rows if (row["links_super"], row["links_meta"]) == DEFAULT_WIRING]
    peaks = []
    for alpha in dict.fromkeys(row["alpha"] for row in chosen):
        for level in ("fine", "coarse"):
            values: dict[float, list[float]] = {}
            for row in chosen:
                if row["alpha"] == alpha:
                    values.setdefault(row["lam"], []).append(row[f"{level}_silhouette"])
            means = {lam: float(np.mean(every)) for lam, every in values.items()}
            best = np.nanmax(list(means.values()))
            at = [lam for lam, mean in means.items() if mean >= best - 1e-6]
            peaks.append(
                {
                    "alpha": alpha,
                    "level": level,
                    "lam_first": min(at),
                    "lam_last": max(at),
                    "silhouette": float(best),
                }
            )
    return peaks


def drawn_graph(shape: Sequence[int], seed: int, wiring: Wiring) -> FractalGraph:
    """The random graph of one seed."""
    n_meta, n_super, clique = shape
    return fractal_graph(
        seed,
        n_meta=n_meta,
        n_super=n_super,
        clique=clique,
        links_super=wiring[0],
        links_meta=wiring[1],
    )


def averaged(what: str, lam: float, rows: Sequence[Row]) -> Row:
    """Mean and spread of every score over the rows of one lam, beside the paper's."""
    means: Row = {"data": what, "lam": lam, "n_graphs": len(rows)}
    means["largest_gap"] = max(row["relative_gap"] for row in rows)
    for column in (*TABLE_I_COLUMNS, *BEYOND_TABLE_I):
        mean, spread = mean_and_spread(float(row[column]) for row in rows)
        means |= {column: mean, f"{column}_sd": spread}
        if column in TABLE_I[lam]:
            means[f"{column}_paper"] = TABLE_I[lam][column]
    return means


def _middle(counts: NDArray[np.int64], lambdas: NDArray[np.float64], k: int) -> float:
    """A lam in the middle, on the log scale, of those with k clusters or the nearest number."""
    nearest = counts[np.abs(np.log(counts / k)).argmin()]
    inside = lambdas[counts == nearest]
    middle = float(np.sqrt(inside[0] * inside[-1]))
    return float(inside[np.abs(np.log(inside / middle)).argmin()])
