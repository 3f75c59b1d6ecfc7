"""The graph, similarity and edge weights that the options of a command ask for."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

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
        return as_graph(
            options.graph,
            symmetrize=options.symmetrize,
            signed=signed,
            columns=options.columns,
        )
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
    if word == "all":
        return None
    if word == "multiscale":
        return word
    if not word.isdigit() or int(word) < 1:
        raise Refusal(
            f"--weights must be 'multiscale', 'all' or a number of neighbours, received {word!r}."
        )
    return int(word)


def in_features(options: Namespace) -> bool:
    """Whether the penalty acts in feature space."""
    return in_feature_space(weights_of(options), options.space)
