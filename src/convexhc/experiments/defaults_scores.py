"""Settings to try, and what the tree of each is worth on a graph whose groups are known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from convexhc import similarity
from convexhc.baselines import all_baselines
from convexhc.experiments.data import IntArray
from convexhc.experiments.results import Row, require_certified
from convexhc.graph import Graph
from convexhc.metrics import dasgupta_score, n_singletons
from convexhc.path import solve_path
from convexhc.similarity import Similarity, sparsify
from convexhc.tree import Tree

# Members that make a cluster count in the third score.
LARGE = 5


class Setting(NamedTuple):
    """A similarity (with its time, if it has one), edge weights, and the share of the l1 norm."""

    kernel: str
    weights: str
    l1_ratio: float

    @property
    def name(self) -> str:
        """All three, for tables and files."""
        return f"{self.kernel}, {self.weights}, {self.l1_ratio:g}"


CHOSEN = Setting("diffusion 6", "10", 0.05)

KERNELS = (
    *("two_hop", "two_hop_diagonal", "normalized", "heat 4"),
    *("diffusion 2", "diffusion 6", "diffusion 8"),
)
WEIGHTS = ("all", "edges", "5", "10", "20", "10 apart", "10 squared")
L1_RATIOS = (0.0, 0.05, 1.0)


def settings(
    kernels: Sequence[str] = KERNELS,
    weights: Sequence[str] = WEIGHTS,
    l1_ratios: Sequence[float] = L1_RATIOS,
) -> list[Setting]:
    """One thing changed at a time, from the chosen setting and from the paper's similarity."""
    found = [CHOSEN._replace(kernel=kernel) for kernel in kernels]
    found += [CHOSEN._replace(weights=word) for word in weights]
    found += [CHOSEN._replace(kernel="two_hop", weights=word) for word in ("all", "edges")]
    found += [CHOSEN._replace(l1_ratio=ratio) for ratio in l1_ratios]
    return list(dict.fromkeys([CHOSEN, *found]))


def make_kernel(word: str, adjacency: Any) -> Similarity:
    """The similarity that a word such as ``diffusion 6`` names."""
    name, _, time = word.partition(" ")
    make = getattr(similarity, name)
    found: Similarity = make(adjacency, time=int(time)) if time else make(adjacency)
    return found


def make_weights(word: str, K: Similarity, adjacency: Any) -> Graph | None:
    """Edge weights of the penalty; None for all of K.

    ``edges``: K where the graph itself has an edge. A number: the strongest neighbours of every
    node, as connected as K; ``apart``: without that care; ``squared``: with more contrast.
    """
    if word == "all":
        return None
    if word == "edges":
        on_edges = sparse.csr_array(K.graph.without_diagonal().matrix() * (adjacency > 0))
        return Graph.from_matrix(on_edges)
    count, _, change = word.partition(" ")
    kept = sparsify(K, int(count), connected=change != "apart")
    return Graph.from_matrix(kept.matrix().power(2)) if change == "squared" else kept


def convex_scores(
    adjacency: NDArray[np.float64],
    groups: IntArray,
    *,
    setting: Sequence[Any],
    tol: float,
    resolution: float,
) -> list[Row]:
    """Scores of the tree of one setting at every level of known groups (rows of ``groups``)."""
    chosen = Setting(*setting)
    graph = sparse.csr_array(adjacency)
    K = make_kernel(chosen.kernel, graph)
    path = solve_path(
        K,
        weights=make_weights(chosen.weights, K, graph),
        l1_ratio=chosen.l1_ratio,
        tol=tol,
        resolution=resolution,
        keep="labels",
    )
    require_certified(path, chosen.name, tol=tol)
    shared = {
        "components": int(path.components.max()) + 1,
        "n_lambdas": len(path.points),
        "splits": len(path.splits),
    }
    return [row | shared for row in tree_scores(path.tree, graph, groups)]


def baseline_scores(adjacency: NDArray[np.float64], groups: IntArray, *, kernel: str) -> list[Row]:
    """Scores of every baseline on the graph itself and on two similarities.

    The linkages need a similarity. Spectral clustering has no tree, so only its clusters at the
    known number are scored.
    """
    graph = sparse.csr_array(adjacency)
    inputs = {"graph": graph, "two_hop": make_kernel("two_hop", graph)}
    inputs[kernel] = make_kernel(kernel, graph)
    rows = []
    for baseline in all_baselines():
        for given, matrix in inputs.items():
            if given == "graph" and baseline.name.endswith("linkage"):
                continue
            found = baseline.fit(matrix)
            if found.linkage is None:
                scored = [_flat_scores(found.labels(_count(level)), level) for level in groups]
            else:
                scored = tree_scores(Tree.from_linkage(found.linkage), graph, groups)
            rows += [
                {"method": baseline.name, "input": given, "level": at} | row
                for at, row in enumerate(scored)
            ]
    return rows


def tree_scores(tree: Tree, graph: Any, groups: IntArray) -> list[Row]:
    """One row a level of known groups.

    ``best_ari`` over all cuts of the tree; ``ari`` of the cut at the known number of groups;
    ``large_ari`` of the cut where that many clusters have `LARGE` members; ``singletons`` at the
    known number; ``dasgupta`` of the whole tree.
    """
    cuts = [tree.labels(n_clusters=count) for count in tree.available_n_clusters]
    dasgupta = dasgupta_score(graph, tree.Z)
    rows = []
    for level in groups:
        at_known = tree.labels(n_clusters=_count(level))
        large = tree.labels(n_clusters=_count(level), min_cluster_size=LARGE)
        rows.append(
            {
                "n_groups": _count(level),
                "best_ari": max(_ari(level, cut) for cut in cuts),
                "ari": _ari(level, at_known),
                "large_ari": _ari(level, large),
                "singletons": n_singletons(at_known),
                "dasgupta": dasgupta,
            }
        )
    return rows


def _flat_scores(labels: IntArray, level: IntArray) -> Row:
    found = _ari(level, labels)
    return {
        "n_groups": _count(level),
        "best_ari": math.nan,
        "ari": found,
        "large_ari": found,
        "singletons": n_singletons(labels),
        "dasgupta": math.nan,
    }


def _ari(level: IntArray, labels: IntArray) -> float:
    return float(adjusted_rand_score(level, labels))


def _count(level: IntArray) -> int:
    return int(np.unique(level).size)
