"""Readers of objects of other libraries, recognised without importing these."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from convexhc.graph import Graph
from convexhc.io.reading import (
    DEFAULT_WEIGHT,
    END_COLUMNS,
    MISSING_END,
    Reading,
    find_columns,
    places_of,
)


def reader_of(data: Any) -> Callable[[Any, Reading], Graph] | None:
    """Return the reader of an object of another library, or None."""
    for reader, attributes in _RECOGNISED:
        if all(hasattr(data, attribute) for attribute in attributes):
            return reader
    return None


def read_networkx(graph: Any, reading: Reading) -> Graph:
    """Read a networkx graph of any class."""
    nodes = list(graph.nodes)
    number = {name: i for i, name in enumerate(nodes)}
    edges = list(graph.edges(data=True))
    attributes = sorted({str(name) for _, _, values in edges for name in values})
    ends = [(number[u], number[v]) for u, v, _ in edges]
    values = [values.get(reading.weight) for _, _, values in edges]
    return _network(reading, nodes, ends, values, attributes, directed=graph.is_directed())


def read_igraph(graph: Any, reading: Reading) -> Graph:
    """Read an igraph graph; nodes are named by their attribute ``name`` if there is one."""
    named = "name" in graph.vs.attributes()
    nodes = list(graph.vs["name"]) if named else list(range(graph.vcount()))
    ends = graph.get_edgelist()
    attributes = graph.es.attributes()
    values = graph.es[reading.weight] if reading.weight in attributes else [None] * len(ends)
    return _network(reading, nodes, ends, values, attributes, directed=graph.is_directed())


def _network(
    reading: Reading,
    nodes: Sequence[Any],
    ends: Sequence[tuple[int, int]],
    values: Sequence[Any],
    attributes: Sequence[str],
    *,
    directed: bool,
) -> Graph:
    """Read a network; edges without the default attribute have weight one, if none has it."""
    missing = [pair for pair, value in zip(ends, values, strict=True) if value is None]
    if reading.weight is not None and missing:
        if len(missing) < len(ends):
            pair = tuple(nodes[end] for end in missing[0])
            raise ValueError(
                f"the edge {pair!r} has no attribute {reading.weight!r} while other edges have: "
                "give every edge one"
            )
        if reading.weight != DEFAULT_WEIGHT:
            raise ValueError(
                f"no edge has the attribute {reading.weight!r} asked for as weight: the "
                f"attributes are {list(attributes)}"
            )
    weight = None if reading.weight is None or missing else list(values)
    tail, head = [i for i, _ in ends], [j for _, j in ends]
    return reading.network(nodes, tail, head, weight, directed=directed)


def read_frame(frame: Any, reading: Reading) -> Graph:
    """Read a pandas DataFrame: a square matrix with equal labels, or a table of edges."""
    rows, columns = frame.index.tolist(), frame.columns.tolist()
    if reading.columns is None and len(rows) == len(columns) and set(rows) == set(columns):
        # Columns in the order of the rows.
        square = frame if rows == columns else frame[rows]
        if len(rows) and all(str(dtype).startswith("Sparse") for dtype in square.dtypes):
            return reading.matrix(square.sparse.to_coo(), rows)
        return reading.matrix(square.to_numpy(), rows)
    source, target, weight = _edge_columns(columns, frame.shape, reading)
    if frame.iloc[:, [source, target]].isna().to_numpy().any():
        raise ValueError(MISSING_END)
    return reading.edges(
        frame.iloc[:, source].tolist(),
        frame.iloc[:, target].tolist(),
        None if weight is None else frame.iloc[:, weight].to_numpy(),
    )


def _edge_columns(
    columns: Sequence[Any], shape: tuple[int, ...], reading: Reading
) -> tuple[int, int, int | None]:
    """Indices of the columns source, target and weight, named by the caller or known."""
    if reading.columns is not None:
        return places_of(reading.columns, columns)
    places = find_columns(columns, reading.weight)
    if places is None:
        pairs = ", ".join("/".join(pair) for pair in END_COLUMNS)
        raise ValueError(
            f"the DataFrame of shape {shape} is neither a square matrix whose index equals its "
            f"columns, nor a table of edges with columns {pairs}: its columns are "
            f"{list(columns[:6])}; relabel it if it is a matrix, or name the columns of the two "
            "ends, and of the weight if there is one, with as_graph(..., columns=...)"
        )
    return places


def read_polars(frame: Any, reading: Reading) -> Graph:
    """Read a polars or narwhals DataFrame: a square of numbers, or a table of edges.

    Such frames have no index: the names of a square are those of its columns.
    """
    columns = list(frame.columns)
    square = reading.columns is None and len(columns) == frame.shape[0]
    if square and (matrix := frame.to_numpy()).dtype.kind in "biuf":
        return reading.matrix(matrix, columns)
    source, target, weight = _edge_columns(columns, frame.shape, reading)
    ends = [frame.get_column(columns[place]).to_list() for place in (source, target)]
    values = None if weight is None else frame.get_column(columns[weight]).to_numpy()
    return reading.edges(ends[0], ends[1], values)


def read_anndata(data: Any, reading: Reading) -> Graph:
    """Read one of the cell-by-cell matrices of an AnnData object."""
    if reading.key not in data.obsp:
        raise ValueError(
            f"the AnnData object has no obsp[{reading.key!r}]: it has {sorted(data.obsp)}; compute "
            "neighbours first, or pass key=..."
        )
    return reading.matrix(data.obsp[reading.key], data.obs_names.tolist())


def read_tuples(data: Iterable[Any], reading: Reading) -> Graph:
    """Read an iterable of (u, v) or (u, v, weight) tuples."""
    edges = list(data)
    width = len(edges[0]) if edges and isinstance(edges[0], tuple) else 2
    for place, edge in enumerate(edges):
        if not isinstance(edge, tuple) or len(edge) != width or width not in (2, 3):
            raise ValueError(
                f"edge number {place} of the list is {edge!r}: edges must be all (u, v) or all "
                "(u, v, weight) tuples"
            )
    weight = np.array([edge[2] for edge in edges]) if width == 3 else None
    return reading.edges([edge[0] for edge in edges], [edge[1] for edge in edges], weight)


# Attributes by which each kind is recognised.
_RECOGNISED: tuple[tuple[Callable[[Any, Reading], Graph], tuple[str, ...]], ...] = (
    (read_anndata, ("obsp", "obs_names")),
    (read_frame, ("columns", "index", "iloc")),
    (read_polars, ("columns", "get_column", "to_numpy")),
    (read_igraph, ("vs", "es", "get_edgelist")),
    (read_networkx, ("nodes", "edges", "is_directed", "is_multigraph")),
)
