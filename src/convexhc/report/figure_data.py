"""Data of the figures of the report: graph, similarity, centroids, distances between levels."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from convexhc._types import FloatArray, IntArray
from convexhc.graph import Graph
from convexhc.layout.graph_layout import graph_positions, strongest_edges
from convexhc.layout.heatmap import binned_matrix, cell_of_node, color_limit, partition_distances
from convexhc.layout.trajectories import centroid_trajectories
from convexhc.path import Path
from convexhc.report.array_encoding import RESOLUTION, encode_array, quantize


def graph_data(graph: Graph) -> dict[str, Any]:
    """Positions of the nodes, and the edges to draw; O(E log E) plus the layout."""
    positions = graph_positions(graph)
    shown = strongest_edges(graph, RESOLUTION.max_edges)
    x, y = quantize(positions, -1.0, 1.0, RESOLUTION.coordinate_steps).T
    return {
        "x": encode_array(x),
        "y": encode_array(y),
        "tail": encode_array(graph.tail[shown]),
        "head": encode_array(graph.head[shown]),
        "total": graph.n_edges,
    }


def similarity_data(graph: Graph, order: IntArray) -> dict[str, Any]:
    """Square roots of the absolute entries of a matrix in tree order: upper triangle, quantized."""
    cells, _ = binned_matrix(graph.matrix(), order, max_cells=RESOLUTION.max_rows)
    shades = _shades(np.abs(cells), color_limit(cells))
    return {"cells": len(cells), "shades": encode_array(shades[np.triu_indices(len(cells))])}


def _shades(values: FloatArray, limit: float) -> IntArray:
    """Quantized square roots of values between 0 and a limit."""
    return quantize(np.sqrt(values), 0.0, float(np.sqrt(limit)), RESOLUTION.color_steps)


def assignment_data(path: Path, order: IntArray) -> dict[str, Any] | None:
    """Centroids of each level, or of a sample, in tree order; None if none were kept.

    A level has its own colour scale, and one row per cluster by first member, or per averaged cell.
    """
    kept = _levels_with_centroids(path)
    if not kept:
        return None
    sample = np.linspace(0, len(kept) - 1, min(len(kept), RESOLUTION.assignment_levels))
    kept = [kept[at] for at in np.unique(np.rint(sample).astype(np.int64))]
    n = len(path.names)
    n_cells = n if n <= RESOLUTION.max_rows else RESOLUTION.averaged_rows
    cell = cell_of_node(order, n_cells)
    shades = []
    for at in kept:
        values = _assignment_rows(path, at, cell, n_cells)
        limit = float(np.quantile(values[values > 0], 0.99)) if (values > 0).any() else 1.0
        shades.append(_shades(values, limit).ravel())
    return {
        "cells": n_cells,
        "levels": kept,
        "shades": encode_array(np.concatenate(shades)),
        "inFeatures": path.given_features is not None,
    }


def _levels_with_centroids(path: Path) -> list[int]:
    """Indices of the levels that kept their centroids."""
    return [at for at, level in enumerate(path.levels) if level.cluster_centroids is not None]


def _assignment_rows(path: Path, at: int, cell: IntArray, n_cells: int) -> FloatArray:
    """Centroids of one level, one row per cluster or per cell, one column per cell; O(c n)."""
    level = path.levels[at]
    assert level.cluster_centroids is not None
    n = cell.size
    _, first, label = np.unique(level.labels, return_index=True, return_inverse=True)
    share = 1.0 / np.bincount(cell, minlength=n_cells)[cell]
    column_mean = sparse.csr_array((share, (np.arange(n), cell)), shape=(n, n_cells))
    rows = level.cluster_centroids
    if path.given_features is not None:
        # Centroids in feature space have no entry per node: show their inner products.
        rows = rows @ rows[level.labels].T
    columns = np.asarray(np.maximum(rows, 0.0) @ column_mean)
    if n_cells == n:
        return np.asarray(columns[np.argsort(first)])
    row_mean = sparse.csr_array((share, (cell, label)), shape=(n_cells, first.size))
    return np.asarray(row_mean @ columns)


def distance_data(path: Path) -> dict[str, Any] | None:
    """Variation of information between levels, quantized; None if the partition never changes.

    The strict upper triangle, row by row, over the levels at which the partition changes.
    """
    found = partition_distances(path)
    if found.levels.size < 2:
        return None
    upper = found.distance[np.triu_indices(found.levels.size, 1)]
    return {
        "levels": found.levels.tolist(),
        "shades": encode_array(quantize(upper, 0.0, 1.0, RESOLUTION.color_steps)),
    }


def trajectory_data(path: Path) -> dict[str, Any] | None:
    """Projected centroids of the clusters of each level; None if no centroids were kept.

    Rows (x, y), level by level, clusters in the order of their first members.
    """
    kept = _levels_with_centroids(path)
    if not kept:
        return None
    found = centroid_trajectories(path)
    low, high = found.positions.min(axis=(0, 1)), found.positions.max(axis=(0, 1))
    middle, half = (low + high) / 2, float((high - low).max()) / 2
    rows = []
    for positions, at in zip(found.positions, kept, strict=True):
        first = np.sort(np.unique(path.levels[at].labels, return_index=True)[1])
        rows.append(quantize(positions[first] - middle, -half, half, RESOLUTION.coordinate_steps))
    return {
        "levels": kept,
        "positions": encode_array(np.concatenate(rows)),
        "explained": found.explained_variance.tolist(),
    }
