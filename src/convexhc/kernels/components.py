"""Connected components of some of the edges."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from convexhc._types import IntArray
from convexhc.kernels.labels import numbered_by_first


def components(n: int, tail: IntArray, head: IntArray, joined: NDArray[np.bool_]) -> IntArray:
    """Components of n nodes under the edges marked ``joined``, numbered by first occurrence.

    O(n log n + E).

    Examples
    --------
    >>> components(4, np.array([1, 0]), np.array([3, 2]), np.array([True, False]))
    array([0, 1, 2, 1])
    """
    ends = tail[joined], head[joined]
    edges = coo_array((np.ones(ends[0].size, np.int8), ends), shape=(n, n))
    return numbered_by_first(connected_components(edges, directed=False)[1])
