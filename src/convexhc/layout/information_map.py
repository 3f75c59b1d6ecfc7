"""Which scales a path has: the range of lam, and how far apart its levels are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from convexhc._types import FloatArray, IntArray
from convexhc.metrics import variation_of_information
from convexhc.path import Path


def lam_limits(lambdas: FloatArray, *, margin: float = 0.05) -> tuple[float, float]:
    """Ends of a logarithmic axis that shows some lam, with a margin as a share of its length.

    Zeros cannot be shown and are not looked at.

    Examples
    --------
    >>> low, high = lam_limits(np.array([0.0, 1.0, 100.0]), margin=0.5)
    >>> round(low, 6), round(high, 6)
    (0.1, 1000.0)
    """
    positive = lambdas[(lambdas > 0) & np.isfinite(lambdas)]
    if positive.size == 0:
        return 0.5, 2.0
    low, high = np.log(positive.min()), np.log(positive.max())
    # A single lam, or nearly, still needs an axis of some length.
    reach = max(margin * (high - low), np.log(1.2))
    # No further than numbers go.
    least, most = np.log(np.finfo(np.float64).tiny), np.log(np.finfo(np.float64).max)
    low, high = np.clip([low - reach, high + reach], least, most)
    return float(np.exp(low)), float(np.exp(high))


@dataclass(frozen=True, eq=False)
class InformationMap:
    """Variation of information between the levels of a path, two by two.

    Parameters
    ----------
    levels : (M,) int64 array
        The solved lam, by number, at which the partition changes, the first one included.
    borders : (M + 1,) float64 array
        Level a holds from ``borders[a]`` to ``borders[a + 1]``; the last ends with the path.
    distance : (M, M) float64 array
        Divided by log n, so between 0 and 1.
    """

    levels: IntArray
    borders: FloatArray
    distance: FloatArray


def information_map(path: Path, *, max_levels: int = 60) -> InformationMap:
    """Distances between the partitions of a path: dark blocks are scales that hardly change.

    Parameters
    ----------
    path : Path
        Its partitions; equal ones in a row count as one level.
    max_levels : int
        When there are more, as many of them, evenly spread, stand for all.

    Returns
    -------
    InformationMap
        O(M^2 n log n).

    Examples
    --------
    >>> import convexhc
    >>> K = np.kron(np.eye(2), np.ones((3, 3))) + 0.1 + np.eye(6)
    >>> found = information_map(convexhc.solve_path(K, [0.001, 0.5, 0.6, 100.0]))
    >>> found.levels, found.distance.round(2)[0]
    (array([0, 1, 3]), array([0.  , 0.61, 1.  ]))
    """
    rows = path.partitions
    changed = np.append(True, (rows[1:] != rows[:-1]).any(axis=1))
    levels = np.flatnonzero(changed)
    if levels.size > max_levels:
        levels = levels[np.linspace(0, levels.size - 1, max_levels).astype(np.int64)]
    distance = np.zeros((levels.size, levels.size))
    whole = max(float(np.log(rows.shape[1])), 1e-300)
    for a in range(levels.size):
        for b in range(a):
            apart = variation_of_information(rows[levels[a]], rows[levels[b]]) / whole
            distance[a, b] = distance[b, a] = apart
    borders = np.append(path.lambdas[levels], path.lambdas[-1])
    return InformationMap(levels, borders, distance)
