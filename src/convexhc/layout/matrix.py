"""A matrix in tree order, pooled to as many cells as a picture can show."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from convexhc._types import FloatArray, IntArray


def ordered_cells(
    matrix: Any, order: IntArray, *, max_cells: int = 800
) -> tuple[FloatArray, FloatArray]:
    """Entries of a square matrix with rows and columns in a given order, averaged over blocks.

    Parameters
    ----------
    matrix : (n, n) array or scipy sparse array
        A sparse one is never made dense beyond the cells.
    order : (n,) int array
        The node that stands in each place.
    max_cells : int
        Cells along each side at most.

    Returns
    -------
    cells : (c, c) float64 array
        Means over the nodes that share a cell; the entries themselves when n <= max_cells.
    borders : (c + 1,) float64 array
        Where cells begin and end, in places: from 0 to n.

    Examples
    --------
    >>> cells, borders = ordered_cells(np.eye(4), np.array([0, 2, 1, 3]), max_cells=2)
    >>> cells, borders
    (array([[0.5, 0. ],
           [0. , 0.5]]), array([0., 2., 4.]))
    """
    n = order.size
    cells = min(n, max_cells)
    cell = np.empty(n, dtype=np.int64)
    cell[order] = np.arange(n) * cells // n
    counts = np.bincount(cell, minlength=cells).astype(np.float64)
    entries = sparse.coo_array(matrix)
    row, column = entries.coords
    total = np.bincount(
        cell[row] * cells + cell[column],
        weights=np.asarray(entries.data, dtype=np.float64),
        minlength=cells * cells,
    ).reshape(cells, cells)
    borders = np.concatenate([[0.0], np.cumsum(counts)])
    return total / (counts[:, None] * counts[None, :]), borders


def block_borders(labels: IntArray, order: IntArray) -> IntArray:
    """Places at which the cluster changes along an order, the two ends included.

    Examples
    --------
    >>> block_borders(np.array([0, 1, 0, 1]), np.array([0, 2, 1, 3]))
    array([0, 2, 4])
    """
    along = labels[order]
    changes = np.flatnonzero(along[1:] != along[:-1]) + 1
    return np.concatenate([[0], changes, [along.size]]).astype(np.int64)


def shade_limit(cells: FloatArray) -> float:
    """Value at which shades should saturate: where most entries off the diagonal end.

    The diagonal of a similarity, and of pi at small lam, dwarfs the rest, and would leave it pale.

    Examples
    --------
    >>> shade_limit(np.array([[9.0, 0.5], [0.5, 9.0]]))
    0.5
    """
    largest = float(np.abs(cells).max())
    sizes = np.abs(cells[~np.eye(len(cells), dtype=bool)])
    present = sizes[sizes > 1e-12 * largest]
    if present.size:
        return float(np.quantile(present, 0.99))
    return largest if largest > 0 else 1.0
