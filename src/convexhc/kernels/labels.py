"""Labels of a partition, numbered from zero."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from convexhc._types import IntArray


def numbered(labels: NDArray[np.generic]) -> IntArray:
    """The same partition with labels 0, 1, ... in the order of the old ones.

    Examples
    --------
    >>> numbered(np.array([7, 3, 7]))
    array([1, 0, 1])
    """
    _, inverse = np.unique(labels, return_inverse=True)
    return np.asarray(inverse, dtype=np.int64)


def numbered_by_first(labels: NDArray[np.generic]) -> IntArray:
    """The same partition with labels 0, 1, ... in the order in which they first occur.

    Examples
    --------
    >>> numbered_by_first(np.array([7, 3, 7]))
    array([0, 1, 0])
    """
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(first.size, dtype=np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[inverse]
