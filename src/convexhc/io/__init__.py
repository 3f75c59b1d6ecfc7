"""Input: conversion of matrices, tables, network objects and files to a Graph.

Every function that takes a graph accepts what :func:`as_graph` accepts.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from convexhc.graph import Graph, Symmetrize
from convexhc.graph_checks import check_symmetrize, check_values, checked_names, listed_names
from convexhc.io.files import read_file
from convexhc.io.objects import read_tuples, reader_of
from convexhc.io.reading import Reading, checked_columns

__all__ = ["as_graph"]


def as_graph(
    data: Any,
    *,
    symmetrize: Symmetrize | None = None,
    signed: bool = False,
    names: Iterable[Hashable] | None = None,
    weight: str | None = "weight",
    key: str = "connectivities",
    columns: Iterable[str | int] | None = None,
) -> Graph:
    """Read a graph or a similarity matrix.

    Parameters
    ----------
    data : object
        - a :class:`~convexhc.graph.Graph`, or a result of :mod:`convexhc.similarity`;
        - a matrix: ndarray, scipy sparse matrix or array, or list of lists;
        - a pandas DataFrame: a square matrix whose index and columns hold the same labels, or
          a table of edges with columns source/target (or src/dst, u/v, from/to, node1/node2,
          i/j) and, optionally, weight (or w, value), in any case and order; a polars or narwhals
          DataFrame likewise, whose columns name the nodes of a matrix;
        - a networkx or igraph graph, or an AnnData object;
        - an iterable of ``(u, v)`` or of ``(u, v, weight)`` **tuples**;
        - the name of a file (see Notes).
    symmetrize : {"mean", "max", "min"}, optional
        How to combine two directions that differ; by default an error. A matrix, a directed
        graph and, **if this is given**, an edge list are directed: an edge in one direction
        counts as zero in the other.
    signed : bool
        Allow negative weights.
    names : iterable of hashable values, optional
        Names of the nodes instead of those in the data. For an edge list: all nodes, including
        isolated ones, in this order.
    weight : str or None
        Edge attribute or column of the weights; None gives every edge weight one. With the
        default, edges without the attribute ``"weight"`` have weight one, as in a table
        without a third column; a single third column is the weight whatever its name. Any other
        name must exist.
    key : str
        Entry of ``obsp`` of an AnnData object.
    columns : sequence of str or of int, optional
        Columns of the two ends, and of the weight, in a table of edges: names in the title line
        of a file or of a DataFrame; or numbers from 1, in a file without a title line.

    Returns
    -------
    Graph
        With the names of its nodes. Time and memory are proportional to the number of edges; a
        sparse matrix is never made dense.

    Raises
    ------
    ValueError, TypeError
        Data that :class:`~convexhc.graph.Graph` rejects, or in none of the forms above.
    FileNotFoundError, ImportError
        The file does not exist, or the library that reads it is not installed.

    Warns
    -----
    UserWarning
        The matrix looks like distances: complete, zero diagonal, triangle inequality. Or the first
        line of a list of edges is taken as a title.

    Notes
    -----
    Edges. A self-loop goes to the diagonal, once. Parallel edges of a networkx or igraph graph
    are summed. In an edge list, repetitions of a pair in the same direction are summed; the two
    directions of a pair are the same edge, so they must agree unless ``symmetrize`` combines
    them. An edge of weight zero is dropped but adds its nodes: ``(u, u, 0)`` declares an isolated
    node. Nodes of an edge list are sorted if all names are integers, otherwise in the order of
    first appearance.

    Files. ``.mtx``; ``.npy`` and ``.npz`` with one array, or from ``scipy.sparse.save_npz``;
    ``.graphml``, ``.gml``, ``.gexf`` and ``.net`` through networkx; ``.h5ad`` through anndata;
    and text, ``.csv``, ``.tsv``, ``.txt``, ``.edgelist``, ``.edges``, all of them also with
    ``.gz``. In text, lines that are blank or start with ``#``
    or ``%`` are skipped, and the separator is the first of tab, semicolon, comma that the first
    line holds, else blanks. The text is a matrix with names if its first line repeats its first
    column (with or without a corner cell, which must not be a number); a table of edges if the
    first line has the column names above; a matrix if it is a square of numbers, perhaps under
    a line of names; a list of edges if it has two or three columns, with or without a title
    line; a matrix with row names only if it has one column more than lines. A line of two names
    that occur on no other line is a title, with a warning, if it looks like one (protein1,
    protein2), and refused else: ``columns`` decides. A square of two or
    three columns is a matrix only if symmetric, and refused if its first two columns could be
    numbered nodes as well. Names are integers if all of them are, else text.

    Examples
    --------
    >>> graph = as_graph([("ann", "bob", 2.0), ("bob", "cid", 1.0)])
    >>> graph.names
    ('ann', 'bob', 'cid')
    >>> graph.weight
    array([2., 1.])
    """
    check_symmetrize(symmetrize)
    made = data if isinstance(data, Graph) else getattr(data, "graph", None)
    if isinstance(made, Graph):
        return _checked_graph(made, names, signed=signed)
    listed = None if names is None else listed_names(names)
    reading = Reading(symmetrize, signed, listed, weight, key, checked_columns(columns))
    graph = _read(data, reading)
    if _looks_like_distances(graph):
        warnings.warn(
            "the matrix looks like distances (complete, zero diagonal, triangle inequality), but "
            "larger values are read as more similar: turn distances into similarities first, "
            "for instance np.exp(-(d / np.median(d)) ** 2), or use similarity.knn on the points",
            UserWarning,
            stacklevel=2,
        )
    return graph


def _read(data: Any, reading: Reading) -> Graph:
    if isinstance(data, str | PathLike):
        return read_file(Path(data), reading)
    if isinstance(data, np.ndarray) or sparse.issparse(data):
        return reading.matrix(data)
    reader = reader_of(data)
    if reader is not None:
        return reader(data, reading)
    if isinstance(data, list) and data and not isinstance(data[0], tuple):
        return reading.matrix(data)
    # The order of a set, and so of the nodes, differs between runs.
    if isinstance(data, Iterable) and not isinstance(data, bytes | Mapping | set | frozenset):
        return read_tuples(data, reading)
    raise TypeError(
        f"cannot read a graph from {type(data).__name__}: give a matrix (array, scipy sparse, "
        "DataFrame), a networkx or igraph graph, an AnnData object, a list of (u, v, weight) "
        "tuples or a file name"
    )


def _checked_graph(graph: Graph, names: Iterable[Hashable] | None, *, signed: bool) -> Graph:
    """Check the signs of a Graph, which may have been built with ``signed=True``; rename it."""
    loops = np.arange(graph.n)
    check_values(graph.weight, graph.tail, graph.head, graph.names, signed=signed)
    check_values(graph.diagonal, loops, loops, graph.names, signed=signed)
    return graph if names is None else replace(graph, names=checked_names(names, graph.n))


def _looks_like_distances(graph: Graph) -> bool:
    """Whether the weights are complete and satisfy the triangle inequality on sixty nodes."""
    if graph.n < 5 or 2 * graph.n_edges != graph.n * (graph.n - 1) or graph.diagonal.any():
        return False
    # Within a factor of two any numbers satisfy the triangle inequality, for example equal weights.
    if graph.weight.min() <= 0 or graph.weight.max() <= 2 * graph.weight.min():
        return False
    nodes = np.unique(np.linspace(0, graph.n - 1, 60).astype(np.int64))
    distance = graph.subgraph(nodes).dense()
    detour = (distance[:, :, None] + distance[None, :, :]).min(axis=1)
    return bool((distance <= detour * (1 + 1e-9)).all())
