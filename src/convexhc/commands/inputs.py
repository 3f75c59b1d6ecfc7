"""From the options of a command to a graph, its similarity and the weights of the penalty."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from convexhc.api.clustering import make_similarity
from convexhc.commands.messages import Refusal
from convexhc.graph import Graph
from convexhc.io import as_graph

# Above so many nodes the dense kernel of "graph" is left out of the report.
_PICTURED_NODES = 2000


def read_graph(options: Namespace) -> Graph:
    """The graph of the file. Errors of reading are errors of usage."""
    signed = options.similarity == "precomputed" and weights_of(options) is not None
    try:
        return as_graph(options.graph, symmetrize=options.symmetrize, signed=signed)
    except (ValueError, TypeError, OSError, ImportError) as error:
        raise Refusal(str(error)) from error


def kernel_of(graph: Graph, kind: str, shift: float | None) -> Graph:
    """The similarity of a graph by name, for the report and the estimate of costs."""
    if kind == "graph" and shift is None and graph.n > _PICTURED_NODES:
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
    """Whether the penalty acts in feature space, by the rule of `convexhc.cluster`."""
    if options.space == "auto":
        return bool(options.weights == "multiscale")
    return bool(options.space == "features")
