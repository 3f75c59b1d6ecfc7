"""One solved lam of a path, without the arrays that only the solver needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from convexhc._types import FloatArray, Labels
from convexhc.model.proof import Proof, pack_proofs, unpack_proofs
from convexhc.solvers.solution import Status


@dataclass(frozen=True, eq=False)
class Level:
    """What a path keeps of a solution. Names and meanings are those of `Solution`.

    Attributes
    ----------
    lam : float
        Strength of the penalty.
    labels : (n,) ndarray of int
        Cluster of every node, numbered by first occurrence.
    objective, relative_gap, residual : float
        Objective, certified relative duality gap, error of the constraint.
    n_iter : int
        Iterations used.
    status : Status
        Why the solver stopped.
    rank : float or None
        Effective rank, if it is known already.
    cluster_centroids : (k, m) ndarray or None
        One centroid per cluster, in the order of the labels; None if they were not kept.
    seconds : float
        Time taken.
    similarity : csr_array or None
        K, from which the effective rank is computed when it is asked for.
    proof : Proof or None
        Which clusters are those of the exact minimiser; None without exact fusions.
    """

    lam: float
    labels: Labels = field(repr=False)
    objective: float
    relative_gap: float
    residual: float
    n_iter: int
    status: Status
    rank: float | None = field(default=None, repr=False)
    cluster_centroids: FloatArray | None = field(default=None, repr=False)
    seconds: float = 0.0
    similarity: csr_array | None = field(default=None, repr=False)
    proof: Proof | None = field(default=None, repr=False)

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.labels.max()) + 1

    @cached_property
    def effective_rank(self) -> float:
        """Effective rank of the similarities between centroids. O(c^2 N + c^3) for c clusters."""
        from convexhc.metrics import effective_rank

        if self.rank is not None:
            return self.rank
        if self.cluster_centroids is None or self.similarity is None or not self.similarity.nnz:
            return float("nan")
        # n_g equal rows of pi'K pi weigh like one row times sqrt(n_g).
        weighted = self.cluster_centroids * np.sqrt(np.bincount(self.labels))[:, None]
        return effective_rank(weighted, self.similarity)

    def without_centroids(self) -> Level:
        """The same level with its effective rank computed and its centroids dropped."""
        return replace(self, rank=self.effective_rank, cluster_centroids=None, similarity=None)


_COLUMNS = ("lam", "objective", "relative_gap", "residual", "n_iter", "seconds")


def pack_levels(levels: Iterable[Level]) -> dict[str, NDArray[Any]]:
    """Levels as arrays: one array per quantity, one row per lam."""
    levels = tuple(levels)
    arrays: dict[str, NDArray[Any]] = {
        name: np.array([getattr(level, name) for level in levels])
        for name in (*_COLUMNS, "effective_rank")
    }
    arrays["partitions"] = np.array([level.labels for level in levels])
    arrays["status"] = np.array([level.status.name for level in levels])
    arrays |= pack_proofs([level.proof for level in levels], arrays["partitions"].shape[-1])
    for i, level in enumerate(levels):
        if level.cluster_centroids is not None:
            arrays[f"cluster_centroids_{i}"] = level.cluster_centroids
    return arrays


def unpack_levels(arrays: Mapping[str, NDArray[Any]]) -> list[Level]:
    """The levels that `pack_levels` stored."""
    for name in _COLUMNS:
        if arrays[name].ndim != 1 or arrays[name].dtype.kind not in "iuf":
            raise ValueError(f"{name} is not one number per lam")
    rows = zip(*(arrays[name].tolist() for name in _COLUMNS), strict=True)
    proofs = unpack_proofs(arrays, len(arrays["lam"]))
    return [
        Level(
            labels=arrays["partitions"][i],
            status=Status[str(arrays["status"][i])],
            rank=float(arrays["effective_rank"][i]),
            cluster_centroids=arrays.get(f"cluster_centroids_{i}"),
            proof=proofs[i],
            **dict(zip(_COLUMNS, row, strict=True)),
        )
        for i, row in enumerate(rows)
    ]
