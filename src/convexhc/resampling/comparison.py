"""A path compared with those of resamples: branches, nodes, levels and scales."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from convexhc._types import FloatArray, Labels
from convexhc.metrics import variation_of_information
from convexhc.path import Path
from convexhc.path.scales import Scale
from convexhc.tree import Tree
from convexhc.tree.clades import clades, common_leaves, leaves_in_order, transfer_support


@dataclass(frozen=True, eq=False)
class Comparison:
    """What one resample says about a path."""

    # Of every merge of the tree: transfer support, 1 where the resample has the same clade.
    transfer: FloatArray
    # Of every node: `node_recovery`.
    nodes: FloatArray
    # Of the partitions of both at every lam: adjusted mutual and variation of information.
    ami: FloatArray
    vi: FloatArray
    # Adjusted mutual information of every scale with the resample in as many clusters.
    scales: FloatArray


@dataclass(frozen=True, eq=False)
class Reference:
    """A path with which resamples are compared, and the scales that are judged."""

    path: Path
    scales: tuple[Scale, ...]
    _known: dict[tuple[bytes, bytes], tuple[float, float]] = field(default_factory=dict)

    def compare(self, other: Path) -> Comparison:
        """Compare with the path of a resample. O(n m + L n) for m merges and L lam."""
        from sklearn.metrics import adjusted_mutual_info_score

        levels = self.path.levels
        ami, vi = np.array(
            [self._agreement(level.labels, other.labels(lam=level.lam)) for level in levels]
        ).T
        scales = [
            adjusted_mutual_info_score(scale.labels, other.labels(n_clusters=scale.n_clusters))
            for scale in self.scales
        ]
        return Comparison(
            transfer_support(self.path.tree, other.tree),
            node_recovery(self.path.tree, other.tree),
            ami,
            vi,
            np.array(scales, dtype=np.float64),
        )

    def _agreement(self, ours: Labels, theirs: Labels) -> tuple[float, float]:
        """AMI and variation of information of two partitions; neighbouring lam often share them."""
        from sklearn.metrics import adjusted_mutual_info_score

        key = (ours.tobytes(), theirs.tobytes())
        if key not in self._known:
            # Only the last resample's pairs recur.
            if len(self._known) > 4 * len(self.path.levels):
                self._known.clear()
            ami = float(adjusted_mutual_info_score(ours, theirs))
            self._known[key] = (ami, variation_of_information(ours, theirs))
        return self._known[key]


def node_recovery(reference: Tree, other: Tree) -> FloatArray:
    """How well the clusters around each node are found again in another tree of the same names.

    For a node i: the mean, over the clades A of ``reference`` that contain i, of the largest
    Jaccard index ``|A & B| / |A | B|`` with a clade B of ``other`` that contains i. The set of all
    nodes is not one of the A. 1 if all clades of a node are found again, NaN for a node that is in
    no other clade. O(n m) for m merges.

    Examples
    --------
    >>> one = Tree.from_linkage([[0, 1, 1.0, 2], [2, 3, 1.5, 2], [4, 5, 2.0, 4]])
    >>> two = Tree.from_linkage([[0, 1, 1.0, 2], [2, 4, 1.5, 3], [3, 5, 2.0, 4]])
    >>> node_recovery(one, two)
    array([1. , 1. , 0.5, 0.5])
    """
    masks = clades(reference)
    n, total = reference.n_leaves, np.zeros(reference.n_leaves)
    size, other_size = reference.nodes.size[n:], other.nodes.size[n:]
    parent = other.nodes.parent - n
    leaf = leaves_in_order(reference, other)
    for rows, common in common_leaves(reference, other):
        union = size[rows, None] + other_size - common
        # One row per clade of the other tree, so that a row is contiguous.
        best = np.ascontiguousarray((common / union).T)
        for merge in range(best.shape[0] - 2, -1, -1):
            np.maximum(best[merge], best[parent[n + merge]], out=best[merge])
        inside = masks[rows] & (size[rows, None] < n)
        total += np.where(inside, best[parent[leaf]].T, 0.0).sum(axis=0)
    with np.errstate(invalid="ignore"):
        return np.asarray(total / masks[:-1].sum(axis=0))
