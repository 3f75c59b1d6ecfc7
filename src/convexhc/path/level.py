"""One solved lam of a path, without the arrays that only the solver needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from convexhc._types import FloatArray, Labels
from convexhc.fusion.contracted_solve import ContractedSolution
from convexhc.metrics import effective_rank


@dataclass(frozen=True, eq=False)
class Level:
    """What a path keeps of a solution.

    ``distinct`` holds one centroid a cluster, in the order of the labels, or None when centroids
    are not kept: fused rows are equal to the last bit, so nothing is lost. ``rank`` is the
    effective rank where it is known; elsewhere it is computed from the centroids and the
    ``similarity`` when it is asked for.
    """

    lam: float
    labels: Labels
    objective: float
    relative_gap: float
    residual: float
    n_iter: int
    status: str
    rank: float | None
    distinct: FloatArray | None
    seconds: float = 0.0
    similarity: csr_array | None = field(default=None, repr=False)

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.labels.max()) + 1

    @cached_property
    def effective_rank(self) -> float:
        """Effective rank of the similarities between centroids. O(c^2 N + c^3) for c clusters."""
        if self.rank is not None:
            return self.rank
        if self.distinct is None or self.similarity is None:
            return float("nan")
        return _rank(self.labels, self.distinct, self.similarity)


def level_of(found: ContractedSolution, K: csr_array, *, keep: bool) -> Level:
    """Summarise a solution; without its centroids, their effective rank has to be had now."""
    small, labels = found.small, found.labels
    first = np.unique(labels, return_index=True)[1]
    distinct = small.centroids[found.groups[first]]
    return Level(
        small.lam,
        labels,
        small.objective,
        small.relative_gap,
        small.certificate.residual,
        small.n_iter,
        small.status.name,
        None if keep else _rank(labels, distinct, K),
        distinct if keep else None,
        small.seconds,
        K if keep else None,
    )


def _rank(labels: Labels, distinct: FloatArray, K: csr_array) -> float:
    # n_g equal rows of pi'K pi weigh like one row times sqrt(n_g).
    weighted = distinct * np.sqrt(np.bincount(labels))[:, None]
    return effective_rank(weighted, K) if K.nnz else float("nan")
