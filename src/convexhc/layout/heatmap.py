"""What heat maps show: a matrix in tree order, and distances between the levels of a path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from convexhc._types import FloatArray, IntArray, Labels
from convexhc.metrics import variation_of_information
from convexhc.path import Path


def binned_matrix(matrix: Any, order: IntArray, *, max_cells: int) -> tuple[FloatArray, FloatArray]:
    """Means of a square matrix over cells, in an order of the nodes, and the borders of the cells.

    At most ``max_cells`` cells per side; with fewer nodes, the permuted entries themselves.
    """
    c = min(order.size, max_cells)
    cell = cell_of_node(order, c)
    counts = np.bincount(cell, minlength=c).astype(np.float64)
    entries = sparse.coo_array(matrix)
    row, column = entries.coords
    total = np.bincount(
        cell[row] * c + cell[column],
        weights=np.asarray(entries.data, dtype=np.float64),
        minlength=c * c,
    ).reshape(c, c)
    borders = np.concatenate([[0.0], np.cumsum(counts)])
    return total / (counts[:, None] * counts[None, :]), borders


def cell_of_node(order: IntArray, n_cells: int) -> IntArray:
    """Cell of each node when an order of the nodes is divided into cells of nearly equal size."""
    cell = np.empty(order.size, dtype=np.int64)
    cell[order] = np.arange(order.size) * n_cells // order.size
    return cell


def block_borders(labels: Labels, order: IntArray) -> IntArray:
    """Positions at which the cluster changes along an order, including both ends."""
    ordered = labels[order]
    changes = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    return np.concatenate([[0], changes, [ordered.size]]).astype(np.int64)


def color_limit(cells: FloatArray) -> float:
    """Value at which the colour scale saturates: the 99 % quantile of nonzero off-diagonal sizes.

    The diagonal of a similarity, and of pi at small lam, is much larger than the other entries.
    """
    largest = float(np.abs(cells).max())
    sizes = np.abs(cells[~np.eye(len(cells), dtype=bool)])
    nonzero = sizes[sizes > 1e-12 * largest]
    if nonzero.size:
        return float(np.quantile(nonzero, 0.99))
    return largest if largest > 0 else 1.0


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
