"""Comparison of training and test arrays of the Khan data, for one similarity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from convexhc import solve_path
from convexhc._types import FloatArray, IntArray
from convexhc.metrics import (
    centroid_distances,
    cophenetic_distances,
    kmeans_labels,
    neighbor_matrix,
    partition_scores,
)
from convexhc.path import Path as SolutionPath
from convexhc.similarity import Similarity, knn, rbf
from convexhc.tree import Tree
from experiments.paper.linkages import linkage_trees
from experiments.results import FINE_GAP, Row, require_certified


@dataclass(frozen=True)
class Setting:
    """One way to build the similarity.

    ``transform`` is "ratio" (as stored), "log", or "standard" (logarithms with mean 0 and variance
    1 for every gene); a ``bandwidth`` of 0 stands for the automatic one. Restricting a Gaussian
    kernel to neighbours makes it indefinite and requires a large shift of the diagonal; ``whole``
    keeps the kernel of all pairs, which needs none, and restricts only the weights of the penalty.
    """

    name: str
    transform: str
    n_neighbors: int = 10
    bandwidth: float = 0.0
    alpha: float = 0.95
    whole: bool = False


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
    Setting("log, whole kernel", "log", whole=True),
    Setting("standardised", "standard"),
)


def compare(
    train: FloatArray,
    test: FloatArray,
    setting: dict[str, Any],
    lambdas: Sequence[float],
    ks: Sequence[int],
) -> dict[str, list[Row]]:
    """All comparisons of training and test arrays, for one similarity."""
    chosen = Setting(**setting)
    K = {"train": _similarity(train, chosen), "test": _similarity(test, chosen)}
    weights = chosen.n_neighbors if chosen.whole else None
    paths = {
        half: solve_path(
            K[half],
            lambdas,
            weights=weights,
            l1_ratio=1.0 - chosen.alpha,
            tol=FINE_GAP,
            keep="all",
        )
        for half in K
    }
    for half, path in paths.items():
        require_certified(path, f"{chosen.name}, {half}", tol=FINE_GAP)
    head = {"setting": chosen.name, "alpha": chosen.alpha}
    return {
        "similarities": [
            head
            | {
                "arrays": half,
                "n_edges": K[half].graph.n_edges,
                "shift": K[half].shift,
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
            for point in path.levels
        ],
        "agreement": [head | row for row in _agreement(K, paths)],
        "neighbors": [head | row for row in _neighbors(K, paths, ks)],
    }


def _similarity(X: FloatArray, setting: Setting) -> Similarity:
    """Similarity of the genes, made positive definite by a shift."""
    if setting.transform != "ratio":
        X = np.log(X)
    if setting.transform == "standard":
        X = (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, keepdims=True)
    bandwidth: float | Literal["auto"] = setting.bandwidth or "auto"
    if setting.whole:
        return rbf(X, bandwidth=bandwidth, shift="auto")
    return knn(X, n_neighbors=setting.n_neighbors, bandwidth=bandwidth, shift="auto")


def _agreement(K: dict[str, Similarity], paths: dict[str, SolutionPath]) -> list[Row]:
    """Agreement of the clusters of the two halves, their number given by the effective rank.

    A linkage with ties that has no such cut gives the next coarser one.
    """
    trees = {half: linkage_trees(K[half]) for half in K}
    rows = []
    for train, test in zip(paths["train"].levels, paths["test"].levels, strict=True):
        ranks = {"train": train.effective_rank, "test": test.effective_rank}
        counts = {half: max(round(rank), 1) for half, rank in ranks.items()}
        labels = {
            half: kmeans_labels(path.centroids(train.lam), counts[half])
            for half, path in paths.items()
        }
        rows.append(_scored("convex", train.lam, counts, labels["train"], labels["test"]))
        rows.append(_scored("convex_fused", train.lam, counts, train.labels, test.labels))
        for linkage in trees["train"]:
            cut = {
                half: Tree.from_linkage(trees[half][linkage]).labels(n_clusters=counts[half])
                for half in K
            }
            rows.append(_scored(linkage, train.lam, counts, cut["train"], cut["test"]))
    return rows


def _scored(
    method: str, lam: float, counts: dict[str, int], train: IntArray, test: IntArray
) -> Row:
    """Agreement of two partitions; none if one of them is a single cluster."""
    found = {"clusters_train": int(train.max()) + 1, "clusters_test": int(test.max()) + 1}
    scores = partition_scores(train, test)
    known = min(found.values()) > 1
    return {
        "lam": lam,
        "method": method,
        "wanted_train": counts["train"],
        "wanted_test": counts["test"],
        **found,
        "homogeneity": scores.homogeneity if known else float("nan"),
        "ami": scores.ami if known else float("nan"),
        "ari": scores.ari if known else float("nan"),
    }


def _neighbors(
    K: dict[str, Similarity], paths: dict[str, SolutionPath], ks: Sequence[int]
) -> list[Row]:
    """Fraction of nearest neighbours that differ between the halves, per representation."""
    n = K["train"].graph.n
    distances: dict[tuple[str, float], dict[str, FloatArray]] = {
        ("similarity", 0.0): {half: centroid_distances(np.eye(n), K[half].matrix) for half in K}
    }
    for lam in paths["train"].lambdas:
        distances["convex", float(lam)] = {
            half: centroid_distances(path.centroids(lam), K[half].matrix)
            for half, path in paths.items()
        }
    trees = {half: linkage_trees(K[half]) for half in K}
    for linkage in trees["train"]:
        distances[linkage, 0.0] = {half: cophenetic_distances(trees[half][linkage]) for half in K}
    rows = []
    for (method, lam), pair in distances.items():
        halves = [pair["train"], pair["test"]]
        for k in ks:
            chance = neighbor_matrix(halves, k)[0, 1]
            number = neighbor_matrix(halves, k, by_number=True)[0, 1]
            row = {"method": method, "lam": lam, "k": k}
            rows.append(row | {"differ": float(chance), "differ_ties_by_number": float(number)})
    return rows
