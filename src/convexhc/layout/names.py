"""Names beside the points of a drawing, as many as find room."""

from __future__ import annotations

import numpy as np

from convexhc._types import FloatArray, IntArray


def name_sides(
    points: FloatArray,
    widths: FloatArray,
    *,
    height: float,
    radius: float,
    margin: float,
    first: IntArray,
) -> IntArray:
    """Side of its point on which each name can be written without touching anything.

    Names are tried one after the other, to the right and then to the left, and must stay clear of
    all points, of the names before them, and near the box of the points.

    Parameters
    ----------
    points : (n, 2) float64 array
        Points, in the unit of the sizes.
    widths : (n,) float64 array
        Length of each name.
    height, radius : float
        Height of a line of text, and radius of the points.
    margin : float
        How far names may reach out of the box of the points, to the left and to the right.
    first : (n,) int array
        Order in which names are tried: important ones first.

    Returns
    -------
    (n,) int64 array
        1 for the right, -1 for the left, 0 where there is no room. O(n^2).

    Examples
    --------
    >>> points = np.array([[0.0, 0.0], [2.0, 0.0], [10.0, 0.0]])
    >>> name_sides(
    ...     points, np.full(3, 3.0), height=1.0, radius=0.5, margin=1.0, first=np.arange(3)
    ... )
    array([ 0,  1, -1])
    """
    n = len(points)
    low, high = float(points[:, 0].min()) - margin, float(points[:, 0].max()) + margin
    taken = np.empty((2 * n, 4))
    taken[:n] = np.concatenate([points - radius, points + radius], axis=1)
    count = n
    chosen = np.zeros(n, dtype=np.int64)
    for node in first:
        x, y = points[node]
        for side in (1, -1):
            near = x + side * radius * 1.2
            left, right = sorted((near, near + side * widths[node]))
            if left < low or right > high:
                continue
            others = taken[:count]
            apart = (others[:, 0] >= right) | (others[:, 2] <= left)
            apart |= (others[:, 1] >= y + height / 2) | (others[:, 3] <= y - height / 2)
            apart[node] = True
            if apart.all():
                taken[count] = left, y - height / 2, right, y + height / 2
                count += 1
                chosen[node] = side
                break
    return chosen
