"""What the options of a command ask for: graph, similarity, edge weights, attributes of nodes."""

from __future__ import annotations

import csv
from argparse import Namespace
from collections.abc import Hashable, Sequence
from pathlib import Path as File
from typing import Any

from convexhc._text import counted
from convexhc.api.clustering import make_similarity
from convexhc.api.points_path import in_feature_space
from convexhc.commands.messages import Refusal
from convexhc.graph import Graph
from convexhc.graph_checks import HOW_TO_SYMMETRIZE
from convexhc.io import as_graph
from convexhc.similarity.result import Shift

# Largest graph whose dense similarity is computed for the report.
_MAX_DENSE_NODES = 2000


def read_graph(options: Namespace) -> Graph:
    """Read the graph; an error of the file is an error of usage."""
    signed = options.similarity == "precomputed" and weights_of(options) is not None
    try:
        asked = {"symmetrize": options.symmetrize, "columns": options.columns}
        return as_graph(options.graph, signed=signed, **asked)
    except (ValueError, TypeError, OSError, ImportError) as error:
        # Errors speak of Python's arguments; here there are options.
        said = str(error).replace(HOW_TO_SYMMETRIZE, "Give --symmetrize mean, max or min")
        raise Refusal(said) from error


def columns_of(text: str) -> tuple[str | int, ...]:
    """Columns as `as_graph` takes them: names, or numbers from 1.

    Examples
    --------
    >>> columns_of("gene_a,gene_b"), columns_of("1,3")
    (('gene_a', 'gene_b'), (1, 3))
    """
    words = [word.strip() for word in text.split(",")]
    return tuple(int(word) if word.isdigit() else word for word in words)


def kernel_of(graph: Graph, kind: str, shift: Shift | None) -> Graph:
    """The similarity of a graph, for the report and the estimate of costs."""
    if kind == "graph" and shift is None and graph.n > _MAX_DENSE_NODES:
        return graph
    try:
        return make_similarity(graph, kind, shift=shift).graph
    except (ValueError, TypeError) as error:
        raise Refusal(str(error)) from error


def weights_of(options: Namespace) -> Any:
    """The weights as `convexhc.cluster` takes them: "multiscale", a number, or None for all."""
    word = options.weights
    if word in ("all", "multiscale"):
        return None if word == "all" else word
    if not word.isdigit() or int(word) < 1:
        raise Refusal(
            f"--weights must be 'multiscale', 'all' or a number of neighbours, received {word!r}."
        )
    return int(word)


def in_features(options: Namespace) -> bool:
    """Whether the penalty acts in feature space."""
    return in_feature_space(weights_of(options), options.space)


def read_attributes(file: str | None, names: Sequence[Hashable]) -> dict[str, list[str | None]]:
    """Columns of a CSV file with a title line, whose first column has the names of the nodes.

    Nodes that the file does not name have no value; without a file there are no attributes.
    """
    if file is None:
        return {}
    try:
        with File(file).open(newline="", encoding="utf-8-sig") as lines:
            title, *rows = [row for row in csv.reader(lines, strict=True) if row]
    except (OSError, UnicodeError, csv.Error) as error:
        raise Refusal(f"--attributes {file}: cannot be read as CSV: {error}.") from error
    except ValueError:
        raise Refusal(f"--attributes {file}: the file is empty.") from None
    if len(title) < 2:
        raise Refusal(
            f"--attributes {file}: one column only: the first names the nodes, each further one is "
            "an attribute with its name in line 1."
        )
    values: dict[str, list[str]] = {}
    for row in rows:
        if len(row) != len(title):
            raise Refusal(f"--attributes {file}: {len(row)} cells, not {len(title)}, in {row}.")
        if row[0] in values:
            raise Refusal(f"--attributes {file}: the node {row[0]!r} has two lines.")
        values[row[0]] = row
    if not any(str(name) in values for name in names):
        raise Refusal(
            f"--attributes {file}: none of its {counted(len(values), 'node')} is in the graph, "
            f"whose first is {str(names[0])!r}: the first column must have the names of the nodes."
        )
    nothing: Sequence[str | None] = [None] * len(title)
    columns = zip(*(values.get(str(name), nothing) for name in names), strict=True)
    return {name: list(column) for name, column in list(zip(title, columns, strict=True))[1:]}
