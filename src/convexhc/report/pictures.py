"""What the page draws besides the tree: the graph, the similarities, the centroids."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from convexhc._types import FloatArray, IntArray
from convexhc.graph import Graph
from convexhc.layout import (
    centroid_trails,
    graph_positions,
    information_map,
    ordered_cells,
    shade_limit,
)
from convexhc.path import Path
from convexhc.report.packing import packed, quantized

# Edges drawn at most: more of them are a grey cloud, and a large part of the file.
EDGES = 6000
# Nodes up to which each has a row of its own in the heat maps; above, neighbours share one.
ROWS = 256
# Rows of the many matrices of assignments, which are kept coarser.
SHARED_ROWS = 128
# Levels at which the assignments are shown at most.
ASSIGNMENT_LEVELS = 100
# Levels whose partitions are compared at most.
INFORMATION_LEVELS = 60
# Places on the screen that the eye tells apart.
PLACES = 0xFFFF
# Shades of one colour that the eye tells apart.
SHADES = 63


def in_order(graph: Graph, names: tuple[Hashable, ...], what: str) -> Graph:
    """The graph with its nodes in the order of the path.

    Raises
    ------
    ValueError
        Another number of nodes.
    """
    if graph.n != len(names):
        raise ValueError(
            f"the {what} has {graph.n} nodes and the path {len(names)}: give the {what} that the "
            "path was made from."
        )
    if graph.names == names or set(graph.names) != set(names):
        return graph
    place = {name: at for at, name in enumerate(graph.names)}
    return graph.permuted([place[name] for name in names])


def drawing(graph: Graph) -> dict[str, Any]:
    """Places of the nodes and the edges worth drawing; O(E log E) and the layout."""
    places = graph_positions(graph)
    shown = strongest_edges(graph, EDGES)
    strength = np.sqrt(np.abs(graph.weight[shown]))
    return {
        "x": packed(quantized(places[:, 0], -1.0, 1.0, PLACES)),
        "y": packed(quantized(places[:, 1], -1.0, 1.0, PLACES)),
        "tail": packed(graph.tail[shown]),
        "head": packed(graph.head[shown]),
        "strength": packed(quantized(strength, 0.0, strength.max(initial=0.0), SHADES)),
        "total": graph.n_edges,
    }


def strongest_edges(graph: Graph, most: int) -> IntArray:
    """At most so many edges, in their order: a spanning forest, then by the size of the weight.

    The forest is the one of largest weight, so that no node seems to hang in the air; it is kept
    even if it has more edges than asked for. O(E log E).

    Examples
    --------
    >>> strongest_edges(Graph.from_edges(3, [0, 0, 1], [1, 2, 2], [3.0, 1.0, 2.0]), 2)
    array([0, 2])
    """
    if graph.n_edges <= most:
        return np.arange(graph.n_edges)
    place = np.empty(graph.n_edges, dtype=np.int64)
    place[np.argsort(-np.abs(graph.weight), kind="stable")] = np.arange(graph.n_edges)
    ordered = sparse.coo_array((place + 1.0, (graph.tail, graph.head)), shape=(graph.n, graph.n))
    forest = csgraph.minimum_spanning_tree(ordered.tocsr()).data.astype(np.int64) - 1
    queue = np.where(np.isin(place, forest), -1, place)
    return np.sort(np.argsort(queue, kind="stable")[: max(most, forest.size)])


def similarity_map(graph: Graph, order: IntArray) -> dict[str, Any]:
    """The matrix of a graph in tree order, in shades: the upper half, with the diagonal.

    A shade grows with the square root of the size of an entry.
    """
    cells, _ = ordered_cells(graph.matrix(), order, max_cells=ROWS)
    sizes = np.abs(cells)
    shades = quantized(np.sqrt(sizes), 0.0, float(np.sqrt(shade_limit(cells))), SHADES)
    return {"cells": len(cells), "shades": packed(shades[np.triu_indices(len(cells))])}


def assignment_map(path: Path, order: IntArray) -> dict[str, Any] | None:
    """The centroids of every level (or of many) in tree order, in shades; None if none were kept.

    Each level has a scale of its own, as entries go from 1 down to 1/n. A level is one row for
    each cluster, in the order of their first members, or one row for each cell of shared rows.
    """
    kept = [at for at, level in enumerate(path.levels) if level.cluster_centroids is not None]
    if not kept:
        return None
    few = np.linspace(0, len(kept) - 1, min(len(kept), ASSIGNMENT_LEVELS))
    kept = [kept[at] for at in np.unique(np.rint(few).astype(np.int64))]
    n = len(path.names)
    cells = n if n <= ROWS else SHARED_ROWS
    cell = np.empty(n, dtype=np.int64)
    cell[order] = np.arange(n) * cells // n
    shades = []
    for at in kept:
        values = _level_rows(path, at, cell, cells)
        top = float(np.quantile(values[values > 0], 0.99)) if (values > 0).any() else 1.0
        shades.append(quantized(np.sqrt(values), 0.0, float(np.sqrt(top)), SHADES).ravel())
    return {
        "cells": cells,
        "levels": kept,
        "shades": packed(np.concatenate(shades)),
        "inFeatures": path.given_features is not None,
    }


def _level_rows(path: Path, at: int, cell: IntArray, cells: int) -> FloatArray:
    """Centroids of one level: a row a cluster, or a row a cell; a column a cell. O(c n)."""
    level = path.levels[at]
    assert level.cluster_centroids is not None
    n = cell.size
    _, first, label = np.unique(level.labels, return_index=True, return_inverse=True)
    share = 1.0 / np.bincount(cell, minlength=cells)[cell]
    into = sparse.csr_array((share, (np.arange(n), cell)), shape=(n, cells))
    rows = level.cluster_centroids
    if path.given_features is not None:
        # Centroids in feature space have no share of every node, but a similarity with its own.
        rows = rows @ rows[level.labels].T
    columns = np.asarray(np.maximum(rows, 0.0) @ into)
    if cells == n:
        return np.asarray(columns[np.argsort(first)])
    clusters = sparse.csr_array((share, (cell, label)), shape=(cells, first.size))
    return np.asarray(clusters @ columns)


def information(path: Path) -> dict[str, Any] | None:
    """Variation of information between levels, in shades; None if nothing ever changes.

    The upper half without the diagonal, row by row, of the levels at which the partition changes.
    """
    found = information_map(path, max_levels=INFORMATION_LEVELS)
    if found.levels.size < 2:
        return None
    upper = found.distance[np.triu_indices(found.levels.size, 1)]
    return {
        "levels": found.levels.tolist(),
        "shades": packed(quantized(upper, 0.0, 1.0, SHADES)),
    }


def trails(path: Path) -> dict[str, Any] | None:
    """Places of the clusters' centroids at every level with centroids; None if none were kept.

    Levels follow each other, clusters in the order of their first members, across before up.
    """
    kept = [at for at, level in enumerate(path.levels) if level.cluster_centroids is not None]
    if not kept:
        return None
    found = centroid_trails(path)
    low, high = found.places.min(axis=(0, 1)), found.places.max(axis=(0, 1))
    middle, half = (low + high) / 2, float((high - low).max()) / 2
    rows = []
    for places, at in zip(found.places, kept, strict=True):
        first = np.sort(np.unique(path.levels[at].labels, return_index=True)[1])
        rows.append(quantized(places[first] - middle, -half, half, PLACES))
    return {
        "levels": kept,
        "places": packed(np.concatenate(rows)),
        "explained": found.explained.tolist(),
    }
