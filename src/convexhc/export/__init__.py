"""Clustered graphs, node tables and trees in the formats of other programs."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path

from convexhc._checks import named
from convexhc._files import write_bytes
from convexhc._types import Labels
from convexhc.export.csv_table import node_table
from convexhc.export.networks import clustered_graph, cx2, gexf, graphml
from convexhc.graph import Graph

__all__ = ["FORMATS", "clustered_graph", "format_of", "write_export"]

# Endings by format; the first is the usual one.
FORMATS: Mapping[str, tuple[str, ...]] = {
    "gexf": (".gexf",),
    "graphml": (".graphml",),
    "cx2": (".cx2", ".cx"),
    "newick": (".nwk", ".newick", ".tree"),
    "csv": (".csv",),
}
_OF_GRAPHS = {"gexf": gexf, "graphml": graphml, "cx2": cx2}


def format_of(file: str | os.PathLike[str]) -> str:
    """The format that the ending of a file says.

    Examples
    --------
    >>> format_of("karate.GEXF")
    'gexf'
    """
    ending = Path(file).suffix.lower()
    for name, endings in FORMATS.items():
        if ending in endings:
            return name
    known = ", ".join(endings[0] for endings in FORMATS.values())
    raise ValueError(f"the ending of {str(file)!r} says no format: end it in one of {known}.")


def write_export(
    file: str | os.PathLike[str],
    format: str | None,
    *,
    graph: Graph | None,
    names: Sequence[Hashable],
    partitions: Mapping[str, Labels],
    newick: Callable[[], str],
) -> None:
    """Write one file, whole or not at all; the format is that of its ending if none is given."""
    kind = format_of(file) if format is None else format
    named("format", kind, FORMATS)
    if kind == "newick":
        content = newick().encode() + b"\n"
    elif kind == "csv":
        content = node_table(names, partitions).encode()
    elif graph is None:
        raise ValueError(f"the path has no graph, which {kind} needs: export csv or newick.")
    else:
        content = _OF_GRAPHS[kind](graph, names, partitions)
    write_bytes(file, content)
