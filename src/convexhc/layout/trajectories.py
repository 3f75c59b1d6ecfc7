"""Trajectories of the centroids in the plane, with one projection for all lam."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from convexhc._types import FloatArray, Labels
from convexhc.path import Path
from convexhc.solvers.loop import Solution


@dataclass(frozen=True, eq=False)
class Trajectories:
    """Projected centroids at the L values of lam whose centroids were kept."""

    lambdas: FloatArray  # (L,), increasing
    positions: FloatArray  # (L, n, 2): centroid of each node; equal for fused nodes
    explained_variance: FloatArray  # (2,): fraction of the weighted variance along each axis


def centroid_trajectories(result: Path | Solution) -> Trajectories:
    """Project the centroids of all lam on two common principal axes.

    The axes are the principal components of the centroids of all clusters with at least two nodes,
    at all lam together, each with weight (number of nodes) x (range of log lam of its level).
    Single nodes do not affect the axes: each of their centroids lies far from all others in a
    direction of its own. The largest entry of each axis is positive. ValueError if no centroids
    were kept.
    """
    lambdas, labels, distinct = _levels_with_centroids(result)
    n, m = labels[0].size, distinct[0].shape[1]
    mean, scatter = _weighted_scatter(_log_ranges(lambdas), labels, distinct)
    values, axes = linalg.eigh(scatter, subset_by_index=[max(m - 2, 0), m - 1])
    values, axes = np.maximum(values[::-1], 0.0), axes[:, ::-1]
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    positions = np.zeros((len(labels), n, 2))
    for level, (label, rows) in enumerate(zip(labels, distinct, strict=True)):
        positions[level, :, : axes.shape[1]] = ((rows - mean) @ axes)[label]
    total = float(np.trace(scatter))
    explained = np.zeros(2)
    explained[: values.size] = values / total if total > 0 else 0.0
    return Trajectories(lambdas, positions, explained)


def _log_ranges(lambdas: FloatArray) -> FloatArray:
    """Range of log lam represented by each lam: half the distance between its neighbours."""
    if lambdas.size == 1:
        return np.ones(1)
    steps = np.diff(np.log(np.maximum(lambdas, lambdas[1] / 2.0)))
    return np.convolve(steps, [0.5, 0.5])


def _weighted_scatter(
    ranges: FloatArray, labels: list[Labels], distinct: list[FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Mean and scatter matrix of the fused centroids, or of all if fused ones coincide."""
    sizes = [np.bincount(label).astype(np.float64) for label in labels]
    for min_size in (2, 1):
        weights = [
            np.where(size >= min_size, size, 0.0) * log_range
            for size, log_range in zip(sizes, ranges, strict=True)
        ]
        total = max(float(sum(weight.sum() for weight in weights)), 1e-300)
        sums = [weight @ rows for weight, rows in zip(weights, distinct, strict=True)]
        mean = np.sum(sums, axis=0) / total
        scatter = np.zeros((mean.size, mean.size))
        for weight, rows in zip(weights, distinct, strict=True):
            centred = (rows - mean)[weight > 0] * np.sqrt(weight[weight > 0])[:, None]
            scatter += centred.T @ centred
        if np.trace(scatter) > 1e-12 * total * (1.0 + float(mean @ mean)):
            break
    return mean, scatter


def _levels_with_centroids(
    result: Path | Solution,
) -> tuple[FloatArray, list[Labels], list[FloatArray]]:
    """Lam, labels and distinct centroids (one row per cluster) of the levels that kept them."""
    if isinstance(result, Solution):
        first = np.unique(result.labels, return_index=True)[1]
        return np.array([result.lam]), [result.labels], [result.centroids[first]]
    kept = [
        (level.lam, level.labels, level.cluster_centroids)
        for level in result.levels
        if level.cluster_centroids is not None
    ]
    if not kept:
        raise ValueError(
            "the path kept no centroids: run solve_path with keep='all', or with a function that "
            "selects some lam."
        )
    lambdas, labels, distinct = zip(*kept, strict=True)
    return np.array(lambdas), list(labels), list(distinct)
