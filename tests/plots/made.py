"""Paths made from given partitions: what a figure needs, without solving anything."""

from __future__ import annotations

import numpy as np

from convexhc.path import Level, Path, Provenance
from convexhc.solvers.solution import Status


def made_path(lambdas, partitions, *, names=None, components=None, centroids=True):
    """A path with these partitions; a centroid is the mean of the unit vectors of its cluster."""
    rows = [np.asarray(row, dtype=np.int64) for row in partitions]
    n = rows[0].size
    points = []
    for lam, row in zip(lambdas, rows, strict=True):
        k = int(row.max()) + 1
        share = (row == np.arange(k)[:, None]) / np.bincount(row)[:, None]
        distinct = share if centroids else None
        points.append(Level(float(lam), row, -1.0, 1e-5, 0.0, 1, Status.SOLVED, float(k), distinct))
    return Path(
        levels=tuple(points),
        names=tuple(range(n)) if names is None else tuple(names),
        components=np.zeros(n, dtype=np.int64) if components is None else np.asarray(components),
        complete=True,
        provenance=Provenance("0", {}, "", ""),
    )


def path_of_blocks():
    """Twelve nodes: pairs, then blocks of six and of four beside a pair, then one cluster."""
    return made_path(
        [0.1, 0.5, 2.0, 10.0],
        [
            range(12),
            [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5],
            [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2],
            [0] * 12,
        ],
    )


def neighbours(path):
    """Adjacency of the chain of nodes in each component."""
    n = len(path.names)
    A = np.zeros((n, n))
    for i in range(n - 1):
        if path.components[i] == path.components[i + 1]:
            A[i, i + 1] = A[i + 1, i] = 1.0
    return A


ODD_PATHS = {
    "one node": made_path([1.0], [[0]]),
    "one node at zero": made_path([0.0], [[0]]),
    "two nodes": made_path([1.0, 2.0], [[0, 1], [0, 0]]),
    "two components": made_path(
        [1.0, 2.0, 3.0], [[0, 1, 2, 3], [0, 0, 1, 2], [0, 0, 1, 1]], components=[0, 0, 1, 1]
    ),
    "all isolated": made_path([1.0, 2.0], [range(5), range(5)], components=range(5)),
    "from zero": made_path([0.0, 1.0, 2.0], [[0, 1, 2], [0, 0, 1], [0, 0, 0]]),
    "only zero": made_path([0.0], [[0, 0, 1]]),
    "a split": made_path([1.0, 2.0, 3.0], [[0, 0, 1, 2], [0, 1, 1, 1], [0, 0, 0, 0]]),
    "a star": made_path([1.0, 5.0], [range(320), [0] * 320]),
    "close together": made_path([1.0, 1.001, 1.002], [[0, 1, 2], [0, 0, 1], [0, 0, 0]]),
    "far apart": made_path([1e-12, 1.0, 1e12], [[0, 1, 2], [0, 0, 1], [0, 0, 0]]),
    "odd names": made_path(
        [1.0, 2.0],
        [[0, 1, 2, 3], [0, 0, 1, 1]],
        names=["$x_", "<script>alert(1)</script>", "two\nlines", "_" + "long" * 20],
        components=[0, 0, 1, 1],
    ),
    "blocks": path_of_blocks(),
}
