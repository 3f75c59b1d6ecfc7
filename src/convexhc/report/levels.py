"""What a path found at each lam, as the page reads it: partitions, certificates, tree, splits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexhc.layout import color_ranks, neutral, palette
from convexhc.path import Path
from convexhc.report.packing import packed
from convexhc.solvers.loop import Status
from convexhc.tree import Split, Tree

# The palette starts again after so many colours.
DISTINCT = 256
# Nodes named for each split; the counts are always there.
_PARTED_NAMED = 12
# Splits listed for each path; the count is always there.
_SPLITS_NAMED = 50


def levels(path: Path) -> dict[str, Any]:
    """Every level of a path, and the tree, as values that JSON can hold; O(n L)."""
    levels, tree = path.levels, path.tree
    worn = min(len(path.names), DISTINCT)
    return {
        "names": [str(name) for name in path.names],
        "lam": [float(level.lam) for level in levels],
        "objective": [number(level.objective) for level in levels],
        "gap": [number(level.relative_gap) for level in levels],
        "residual": [number(level.residual) for level in levels],
        "iterations": [int(level.n_iter) for level in levels],
        "status": [level.status.name for level in levels],
        "advice": {status.name: status.value for status in Status},
        "effectiveRank": [number(level.effective_rank) for level in levels],
        "changes": label_changes([level.labels for level in levels]),
        "ranks": packed(color_ranks(tree)),
        "palette": {"light": palette(worn), "dark": palette(worn, dark=True)},
        "neutral": {"light": neutral(), "dark": neutral(dark=True)},
        "tree": _tree(tree),
        "plateaus": [[p.n_clusters, p.lam_from, p.lam_to, p.log_width] for p in path.plateaus],
        "suggested": path.plateaus.index(path.suggested_plateau),
        "suggestion": str(path.suggestion),
        "splits": {
            "count": len(path.splits),
            "listed": [_split(split) for split in path.splits[:_SPLITS_NAMED]],
        },
        "rootJoins": tree.root_joins,
        "components": int(path.components.max()) + 1,
        "complete": path.complete,
    }


def number(value: float) -> float | None:
    """A number for JSON, which knows no NaN and no infinity."""
    return float(value) if math.isfinite(value) else None


def label_changes(partitions: list[NDArray[Any]]) -> dict[str, Any]:
    """Partitions as what changes from one to the next.

    A partition is the smallest member of the cluster of each node; before the first, every node
    is its own. Nodes leave that place a few times only, however many levels there are.
    """
    before = np.arange(len(partitions[0]))
    counts, nodes, firsts = [], [], []
    for labels in partitions:
        _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
        now = first[inverse]
        moved = np.flatnonzero(now != before)
        counts.append(moved.size)
        nodes.append(moved)
        firsts.append(now[moved])
        before = now
    return {
        "counts": counts,
        "nodes": packed(np.concatenate(nodes)),
        "firsts": packed(np.concatenate(firsts)),
    }


def _tree(tree: Tree) -> dict[str, Any]:
    """Parents and heights; every node of the tree is below its parent, and the root is last."""
    nodes = tree.nodes
    return {
        "parent": packed(np.append(nodes.parent[:-1], nodes.parent.size - 1)),
        "height": nodes.height[nodes.n_leaves :].tolist(),
        "artificial": nodes.n_artificial,
        "order": packed(tree.leaf_order()),
    }


def _split(split: Split) -> dict[str, Any]:
    return {
        "from": split.lam_from,
        "to": split.lam_to,
        "first": split.cluster,
        "size": int(split.size),
        "pieces": int(split.n_pieces),
        "parted": list(split.parted[:_PARTED_NAMED]),
        "partedCount": len(split.parted),
    }
