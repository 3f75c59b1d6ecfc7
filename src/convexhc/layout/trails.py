"""Centroids in the plane: one projection for all lam, so that their movement can be followed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from convexhc._types import FloatArray
from convexhc.path import Path
from convexhc.solvers.loop import Solution


@dataclass(frozen=True, eq=False)
class Trails:
    """Places of the centroids at every lam whose centroids were kept.

    Parameters
    ----------
    lambdas : (L,) float64 array
        Increasing.
    places : (L, n, 2) float64 array
        Place of the centroid of each node; equal for fused nodes.
    explained : (2,) float64 array
        Share of the variance, over fused nodes and lam, along each axis.
    """

    lambdas: FloatArray
    places: FloatArray
    explained: FloatArray


def centroid_trails(result: Path | Solution) -> Trails:
    """Project the centroids of all lam on two axes that they have in common.

    The axes are the principal components of the centroids of all clusters of two nodes or more,
    at all lam together, each counted with its number of nodes times the range of log lam that its
    lam stands for. Single nodes are projected too, but do not choose the axes: their centroids lie
    far from all others, each in a direction of its own.

    Parameters
    ----------
    result : Path or Solution
        A path that kept some centroids; of a solution, its one lam.

    Returns
    -------
    Trails
        O(m^2 sum_l c_l + m^3) time for c_l clusters and centroids in m dimensions; the sense of
        each axis is that in which its largest entry is positive.

    Raises
    ------
    ValueError
        No centroids were kept.

    Examples
    --------
    >>> import convexhc
    >>> K = np.kron(np.eye(2), np.ones((3, 3))) + 0.1 + np.eye(6)
    >>> trails = centroid_trails(convexhc.solve_path(K))
    >>> trails.places.shape[1:], bool(np.ptp(trails.places[-1], axis=0).max() < 1e-12)
    ((6, 2), True)
    """
    lambdas, labels, distinct = _kept(result)
    n, m = labels[0].size, distinct[0].shape[1]
    mean, scatter = _scatter(_ranges(lambdas), labels, distinct)
    first = max(m - 2, 0)
    values, axes = linalg.eigh(scatter, subset_by_index=[first, m - 1])
    values, axes = np.maximum(values[::-1], 0.0), axes[:, ::-1]
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    places = np.zeros((len(labels), n, 2))
    for level, (label, rows) in enumerate(zip(labels, distinct, strict=True)):
        places[level, :, : axes.shape[1]] = ((rows - mean) @ axes)[label]
    whole = float(np.trace(scatter))
    explained = np.zeros(2)
    explained[: values.size] = values / whole if whole > 0 else 0.0
    return Trails(lambdas, places, explained)


def _ranges(lambdas: FloatArray) -> FloatArray:
    """Half of the log lam between the neighbours of each lam; the grid is finer near fusions."""
    if lambdas.size == 1:
        return np.ones(1)
    steps = np.diff(np.log(np.maximum(lambdas, lambdas[1] / 2.0)))
    return np.convolve(steps, [0.5, 0.5])


def _scatter(
    ranges: FloatArray, labels: list[NDArray[np.int64]], distinct: list[FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Mean and scatter of the fused centroids; of all, where fused ones do not spread."""
    sizes = [np.bincount(label).astype(np.float64) for label in labels]
    for least in (2, 1):
        counts = [
            np.where(size >= least, size, 0.0) * share
            for size, share in zip(sizes, ranges, strict=True)
        ]
        total = max(float(sum(count.sum() for count in counts)), 1e-300)
        weighted = [count @ rows for count, rows in zip(counts, distinct, strict=True)]
        mean = np.sum(weighted, axis=0) / total
        scatter = np.zeros((mean.size, mean.size))
        for count, rows in zip(counts, distinct, strict=True):
            centred = (rows - mean)[count > 0] * np.sqrt(count[count > 0])[:, None]
            scatter += centred.T @ centred
        if np.trace(scatter) > 1e-12 * total * (1.0 + float(mean @ mean)):
            break
    return mean, scatter


def _kept(
    result: Path | Solution,
) -> tuple[FloatArray, list[NDArray[np.int64]], list[FloatArray]]:
    """The lam with centroids: their labels, and one centroid a cluster."""
    if isinstance(result, Solution):
        first = np.unique(result.labels, return_index=True)[1]
        return np.array([result.lam]), [result.labels], [result.centroids[first]]
    kept = [
        (p.lam, p.labels, p.cluster_centroids)
        for p in result.levels
        if p.cluster_centroids is not None
    ]
    if not kept:
        raise ValueError(
            "the path kept no centroids, so there is nothing to follow: run solve_path with "
            "keep='all', or with a function that chooses some lam."
        )
    lambdas, labels, distinct = zip(*kept, strict=True)
    return np.array(lambdas), list(labels), [rows for rows in distinct if rows is not None]
