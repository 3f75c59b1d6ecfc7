"""Variation of information between the levels of a path."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from convexhc._types import FloatArray, IntArray
from convexhc.metrics import variation_of_information
from convexhc.path import Path


@dataclass(frozen=True, eq=False)
class PartitionDistances:
    """Pairwise distances between M partitions of a path."""

    levels: IntArray  # indices of the levels: the first, and those where the partition changes
    borders: FloatArray  # (M + 1,): partition a extends from borders[a] to borders[a + 1]
    distance: FloatArray  # (M, M): variation of information / log n, between 0 and 1


def partition_distances(path: Path, *, max_levels: int = 60) -> PartitionDistances:
    """Compare the partitions of a path pairwise; persistent scales show as blocks near zero.

    Consecutive equal partitions count as one level; an evenly spaced sample represents more than
    ``max_levels`` of them, M. O(M^2 n log n).
    """
    partitions = path.partitions
    changed = np.append(True, (partitions[1:] != partitions[:-1]).any(axis=1))
    levels = np.flatnonzero(changed)
    if levels.size > max_levels:
        levels = levels[np.linspace(0, levels.size - 1, max_levels).astype(np.int64)]
    distance = np.zeros((levels.size, levels.size))
    log_n = max(float(np.log(partitions.shape[1])), 1e-300)
    for a in range(levels.size):
        for b in range(a):
            information = variation_of_information(partitions[levels[a]], partitions[levels[b]])
            distance[a, b] = distance[b, a] = information / log_n
    borders = np.append(path.lambdas[levels], path.lambdas[-1])
    return PartitionDistances(levels, borders, distance)
