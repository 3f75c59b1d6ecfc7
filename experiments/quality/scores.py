"""Measurements of one method on one data set: scores, removal of edges, graphs without groups.

Each function is a unit of work: arrays in, plain values out, in one process and one thread. A
failure of this package is scored as one cluster; a failure of another method has no score, so that
this package gains nothing from it. The error is recorded in both cases.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

from convexhc.kernels.threads import limited_threads
from convexhc.metrics import cophenetic_distances, kendall
from experiments.quality.collection import Labels
from experiments.quality.methods import METHODS, OURS, Found, Given
from experiments.results import Row

FloatArray = NDArray[np.float64]
COMPARED = ("before_ari", "after_ari", "before_ami", "after_ami", "same_ari")
# A path collapses if one step takes more than this many clusters to two or fewer.
MANY_CLUSTERS = 30


def score_set(
    adjacency: FloatArray,
    groups: NDArray[np.int64],
    points: FloatArray | None = None,
    *,
    method: str,
    code: str,
) -> dict[str, Any]:
    """Scores at every level of known groups (rows of ``groups``), and the cost of the fit."""
    given = Given(sparse.csr_array(adjacency), points)
    try:
        with limited_threads(1):
            warm(method, points is not None)
            found = METHODS[method].fit(given, _counts(groups))
            levels = [level_scores(found, level) for level in groups]
    except Exception as error:
        levels = [level_scores(_of_failure(given.n, method), level) for level in groups]
        return {"levels": levels, "seconds": math.nan, "failed": _told(error), **collapse(None, 1)}
    return {
        "levels": levels,
        "seconds": found.seconds,
        "failed": "",
        **collapse(found.counts, given.n),
    }


def level_scores(found: Found, level: Labels) -> Row:
    """AMI and ARI of the best cut, of the cut at the known number, and of the chosen one."""
    known = _count(level)
    at_k = None if found.at is None else found.at(known)
    cuts = {tuple(_numbered(cut)): cut for cut in found.cuts()}.values()
    row: Row = {"n_groups": known}
    for name, score in (("ami", _ami), ("ari", _ari)):
        row[f"best_{name}"] = max((score(level, cut) for cut in cuts), default=math.nan)
        row[f"at_k_{name}"] = math.nan if at_k is None else score(level, at_k)
        row[f"chosen_{name}"] = math.nan if found.chosen is None else score(level, found.chosen)
    row["at_k_clusters"] = math.nan if at_k is None else _count(at_k)
    row["chosen_clusters"] = math.nan if found.chosen is None else _count(found.chosen)
    return row


def collapse(counts: NDArray[np.int64] | None, n: int) -> Row:
    """Largest drop of the number of clusters between two lam, and whether the path collapses.

    ``largest_drop`` is a fraction of the nodes; ``collapsed`` is whether the number of clusters
    falls from more than half of the nodes, or more than `MANY_CLUSTERS`, to two or fewer at one
    step. Below the first lam every node is a cluster.

    Examples
    --------
    >>> collapse(np.array([100, 60, 1]), 100)
    {'largest_drop': 0.59, 'collapsed': True, 'n_lambdas': 3}
    """
    if counts is None:
        return {"largest_drop": math.nan, "collapsed": "", "n_lambdas": math.nan}
    steps = np.concatenate([[n], counts])
    high = (steps[:-1] > n / 2) | (steps[:-1] > MANY_CLUSTERS)
    return {
        "largest_drop": float(np.max(steps[:-1] - steps[1:]) / n),
        "collapsed": bool(np.any(high & (steps[1:] <= 2))),
        "n_lambdas": int(counts.size),
    }


def lose_edges(
    adjacency: FloatArray,
    groups: NDArray[np.int64],
    *,
    method: str,
    shares: Sequence[float],
    draws: int,
    code: str,
) -> list[Row]:
    """One row per fraction, draw and level: agreement of the clusters after removing edges.

    Agreement (ARI and AMI) with the known groups before and after, ARI between before and after,
    each at the known number of clusters; and Kendall's correlation between the cophenetic distances
    before and after. The correlation with a tree of a single height is undefined and counts as 0.
    """
    known = _counts(groups)
    with limited_threads(1):
        whole = _tried(method, Given(sparse.csr_array(adjacency)), known)
        rows = []
        for share in shares:
            for draw in range(draws):
                rng = np.random.default_rng([round(1000 * share), draw])
                fewer = Given(without_edges(sparse.csr_array(adjacency), share, rng))
                rest = _tried(method, fewer, known)
                tree = tree_agreement(whole, rest)
                for place, level in enumerate(groups):
                    compared = compare_at(whole, rest, level)
                    rows.append({"share": share, "draw": draw, "level": place, **compared, **tree})
    return rows


def compare_at(whole: Found, rest: Found, level: Labels) -> Row:
    """Agreement at the known number of clusters, before and after the removal."""
    known = _count(level)
    if whole.at is None or rest.at is None:
        return {"n_groups": known} | dict.fromkeys(COMPARED, math.nan)
    before, after = whole.at(known), rest.at(known)
    return {
        "n_groups": known,
        "before_ari": _ari(level, before),
        "after_ari": _ari(level, after),
        "before_ami": _ami(level, before),
        "after_ami": _ami(level, after),
        "same_ari": _ari(before, after),
    }


def tree_agreement(whole: Found, rest: Found) -> Row:
    """Rank correlation of the cophenetic distances; NaN for a method without a tree."""
    if whole.linkage is None or rest.linkage is None:
        return {"same_tree": math.nan}
    found = kendall(cophenetic_distances(whole.linkage), cophenetic_distances(rest.linkage))
    return {"same_tree": 0.0 if math.isnan(found) else found}


def without_edges(
    adjacency: sparse.csr_array, share: float, rng: np.random.Generator
) -> sparse.csr_array:
    """The graph without a random fraction of its edges; all nodes are kept.

    Examples
    --------
    >>> ring = sparse.csr_array(np.roll(np.eye(10), 1, axis=1) + np.roll(np.eye(10), -1, axis=1))
    >>> without_edges(ring, 0.3, np.random.default_rng(0)).nnz // 2
    7
    """
    once = sparse.triu(adjacency, k=1).tocoo()
    lost = rng.choice(once.nnz, round(share * once.nnz), replace=False)
    kept = np.setdiff1d(np.arange(once.nnz), lost)
    half = sparse.coo_array(
        (once.data[kept], (once.row[kept], once.col[kept])), shape=adjacency.shape
    ).tocsr()
    return sparse.csr_array(half + half.T)


def judge_noise(adjacency: FloatArray, *, method: str, code: str) -> Row:
    """Suggestion of a method on a graph without groups, and whether it is confident."""
    given = Given(sparse.csr_array(adjacency))
    try:
        with limited_threads(1):
            found = METHODS[method].fit(given, ())
    except Exception as error:
        return {"n_clusters": math.nan, "confident": "", "failed": _told(error)}
    clusters = math.nan if found.chosen is None else _count(found.chosen)
    confident = "" if found.confident is None else found.confident
    return {"n_clusters": clusters, "confident": confident, "failed": ""}


def _tried(method: str, given: Given, known: Sequence[int]) -> Found:
    """Result of the method, or the substitute if it failed."""
    try:
        return METHODS[method].fit(given, known)
    except Exception:
        return _of_failure(given.n, method)


def _of_failure(n: int, method: str) -> Found:
    """Substitute for a failure: one cluster and a single merge for this package, else nothing."""
    if method not in OURS:
        return Found(math.nan)
    one = np.zeros(n, dtype=np.int64)
    Z = np.array([[0 if i == 0 else n + i - 1, i + 1, 1.0, i + 2] for i in range(n - 1)])
    return Found(math.nan, lambda k: one, lambda: [one], one, Z.reshape(-1, 4))


@cache
def warm(method: str, points: bool) -> None:
    """Run a method once on a small set, so that imports and compilation are not timed."""
    rng = np.random.default_rng(0)
    group = np.arange(48) // 12
    upper = np.triu(rng.random((48, 48)) < np.where(group[:, None] == group, 0.7, 0.05), 1)
    table = group[:, None] + 0.1 * rng.standard_normal((48, 3)) if points else None
    given = Given(sparse.csr_array((upper | upper.T).astype(np.float64)), table)
    # A failure here is repeated, and recorded, in the timed run.
    with suppress(Exception):
        METHODS[method].fit(given, (4,))


def _told(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]


def _counts(groups: NDArray[np.int64]) -> list[int]:
    return sorted({_count(level) for level in groups})


def _count(labels: Labels) -> int:
    return int(np.unique(labels).size)


def _numbered(labels: Labels) -> Labels:
    return np.unique(labels, return_inverse=True)[1]


def _ami(a: Labels, b: Labels) -> float:
    return float(adjusted_mutual_info_score(a, b))


def _ari(a: Labels, b: Labels) -> float:
    return float(adjusted_rand_score(a, b))
