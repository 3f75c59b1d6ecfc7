"""Which scale to take when none is asked for: one rule, for all who choose on the user's behalf.

A scale deserves to be looked at if it lasts and says something. How long it lasts is the width of
its plateau in log lam. What it says is the share of the nodes that it places: those that are
neither alone nor in the largest cluster. The rule is the largest product of the two. All apart,
all together, and one giant with single nodes around it place nobody, however long they last.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from convexhc._types import FloatArray, IntArray
from convexhc.kernels.labels import numbered_by_first
from convexhc.tree.cut import (
    large_counts,
    large_labels,
    merges_for_large,
    plateaus,
    roots_after,
)
from convexhc.tree.nodes import Nodes
from convexhc.tree.records import Plateau

# Scores on a geometric grid are equal up to rounding; such ties go to fewer clusters.
TIE = 1e-9


class Scale(NamedTuple):
    """A plateau, the number of merges at its coarse end, and the share of the nodes it places."""

    plateau: Plateau
    merges: int
    placed: float


def suggest(nodes: Nodes, lambdas: FloatArray, min_size: int) -> tuple[Plateau, IntArray]:
    """The scale to take when none is asked for, and its labels; see :meth:`Tree.suggest`."""
    found = _scales(nodes, lambdas, min_size)
    ranked = _ranked(found, nodes.n_leaves, lambdas[0])
    chosen = ranked[0] if ranked else found[-1]
    merges = chosen.merges
    if chosen.plateau.n_clusters == 0:
        # Every component is small: only the top of the tree makes a cluster that counts.
        merges = merges_for_large(nodes, 1, min_size)
    return chosen.plateau, _labels(nodes, merges, min_size)


def notable_plateaus(nodes: Nodes, lambdas: FloatArray, count: int) -> tuple[Plateau, ...]:
    """The plateaus that come first by the rule; see :meth:`Tree.notable_plateaus`."""
    ranked = _ranked(_scales(nodes, lambdas, 1), nodes.n_leaves, lambdas[0])
    enough = _score(ranked[0]) / 2.0 if ranked else 0.0
    kept = [scale.plateau for scale in ranked[:count] if _score(scale) > enough]
    return tuple(sorted(kept, key=lambda plateau: plateau.lam_from))


def placed_shares(nodes: Nodes) -> FloatArray:
    """Share of the leaves that are neither alone nor in the largest cluster, level by level."""
    above = nodes.parent[:-1][: nodes.n_leaves] - nodes.n_leaves
    together = np.cumsum(np.bincount(above, minlength=nodes.n_merges))
    largest = np.maximum.accumulate(nodes.size[nodes.n_leaves :])
    placed = np.append(0, together - largest)[nodes.level_ends]
    return np.asarray(placed / nodes.n_leaves, dtype=np.float64)


def _scales(nodes: Nodes, lambdas: FloatArray, min_size: int) -> list[Scale]:
    """Ranges of lam without a change in the number of clusters of ``min_size`` or more.

    With one these are the plateaus. Above, small clusters that join large ones do not end a
    range, and its partition is that of its coarse end, where few are left.
    """
    found = plateaus(nodes, lambdas)
    shown = int(np.count_nonzero(nodes.level_ends <= nodes.n_real))
    levels = np.arange(shown - len(found), shown)
    counts = large_counts(nodes, min_size)[levels]
    starts = np.flatnonzero(np.append(True, counts[1:] != counts[:-1]))
    shares = placed_shares(nodes)[levels]
    scales = []
    for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), levels.size], strict=True):
        width = sum(plateau.log_width for plateau in found[start:stop])
        count, merges = int(counts[start]), int(nodes.level_ends[levels[stop - 1]])
        plateau = Plateau(count, found[start].lam_from, found[stop - 1].lam_to, width)
        placed = float(shares[stop - 1])
        if min_size > 1:
            placed = _placed(_labels(nodes, merges, min_size)) if count > 1 else 0.0
        scales.append(Scale(plateau, merges, placed))
    return scales


def _ranked(found: list[Scale], n_leaves: int, first: float) -> list[Scale]:
    """Those between all apart and all together, best first; ties go to the coarsest."""
    between = [scale for scale in found if 1 < scale.plateau.n_clusters < n_leaves]
    # Twins are together from lam = 0 on: how wide that looks depends on where the path begins.
    between = [scale for scale in between if scale.plateau.lam_from > first] or between
    scores = np.array([_score(scale) for scale in between])
    if not scores.any():
        # Nothing but a giant and single nodes: then what lasts longest.
        scores = np.array([scale.plateau.log_width for scale in between])
    order = np.lexsort((-np.arange(scores.size), -scores)).tolist()
    if order:
        best = int(np.flatnonzero(scores >= scores.max() * (1 - TIE))[-1])
        order = [best, *(at for at in order if at != best)]
    return [between[at] for at in order]


def _score(scale: Scale) -> float:
    return scale.plateau.log_width * scale.placed


def _labels(nodes: Nodes, merges: int, min_size: int) -> IntArray:
    if min_size == 1:
        return numbered_by_first(roots_after(nodes, merges))
    return large_labels(nodes, merges, min_size, "nearest")


def _placed(labels: IntArray) -> float:
    """The share of the nodes that these labels place."""
    sizes = np.bincount(labels)
    return float((labels.size - np.count_nonzero(sizes == 1) - sizes.max()) / labels.size)
