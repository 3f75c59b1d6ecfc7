"""One solved lam of a path, without the arrays that only the solver needs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from convexhc.metrics import effective_rank
from convexhc.problem import Labels
from convexhc.solvers.solution import Solution

Array = NDArray[np.float64]


class Point(NamedTuple):
    """What a path keeps of a solution.

    ``distinct`` holds one centroid a cluster, in the order of the labels, or None when centroids
    are not kept: fused rows are equal to the last bit, so nothing is lost.
    """

    lam: float
    labels: Labels
    objective: float
    relative_gap: float
    residual: float
    n_iter: int
    status: str
    effective_rank: float
    distinct: Array | None
    seconds: float = 0.0

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.labels.max()) + 1


def point_of(solution: Solution, K: csr_array, *, keep: bool) -> Point:
    """Summarise a solution; the effective rank costs O(c^2 N + c^3) for c clusters."""
    first = np.unique(solution.labels, return_index=True)[1]
    distinct = solution.centroids[first]
    # n_g equal rows of pi'K pi weigh like one row times sqrt(n_g).
    weighted = distinct * np.sqrt(np.bincount(solution.labels))[:, None]
    return Point(
        solution.lam,
        solution.labels,
        solution.objective,
        solution.relative_gap,
        solution.certificate.residual,
        solution.n_iter,
        solution.status.name,
        effective_rank(weighted, K) if K.nnz else float("nan"),
        distinct if keep else None,
        solution.seconds,
    )
