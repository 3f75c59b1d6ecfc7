"""Placement of names beside the points of a drawing, without overlaps."""

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
    priority: IntArray,
) -> IntArray:
    """Side of its point on which each name can be written without overlap.

    Names are placed greedily, to the right if possible, else to the left. A name must not overlap
    any point or any name placed before it.

    Parameters
    ----------
    points : (n, 2) float64 array
        Points, in the unit of the sizes.
    widths : (n,) float64 array
        Width of each name.
    height, radius : float
        Height of a line of text, and radius of the points.
    margin : float
        How far names may extend beyond the bounding box of the points, to the left and right.
    priority : (n,) int array
        Nodes in the order in which their names are placed.

    Returns
    -------
    (n,) int64 array
        1 for right, -1 for left, 0 if there is no room. O(n^2).

    Examples
    --------
    >>> points = np.array([[0.0, 0.0], [2.0, 0.0], [10.0, 0.0]])
    >>> name_sides(
    ...     points, np.full(3, 3.0), height=1.0, radius=0.5, margin=1.0, priority=np.arange(3)
    ... )
    array([ 0,  1, -1])
    """
    n = len(points)
    low, high = float(points[:, 0].min()) - margin, float(points[:, 0].max()) + margin
    # Occupied boxes (left, bottom, right, top): the points, then the names placed so far.
    boxes = np.empty((2 * n, 4))
    boxes[:n] = np.concatenate([points - radius, points + radius], axis=1)
    n_boxes = n
    sides = np.zeros(n, dtype=np.int64)
    for node in priority:
        x, y = points[node]
        for side in (1, -1):
            near = x + side * radius * 1.2
            left, right = sorted((near, near + side * widths[node]))
            if left < low or right > high:
                continue
            others = boxes[:n_boxes]
            disjoint = (others[:, 0] >= right) | (others[:, 2] <= left)
            disjoint |= (others[:, 1] >= y + height / 2) | (others[:, 3] <= y - height / 2)
            disjoint[node] = True
            if disjoint.all():
                boxes[n_boxes] = left, y - height / 2, right, y + height / 2
                n_boxes += 1
                sides[node] = side
                break
    return sides
