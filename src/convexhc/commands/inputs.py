"""From the file a command is given to the graph it holds and the similarity that is clustered."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable

from convexhc import similarity
from convexhc.commands.messages import Refusal
from convexhc.graph import Graph
from convexhc.io import as_graph
from convexhc.similarity import Similarity

FROM_GRAPH: dict[str, Callable[..., Similarity]] = {
    "graph": similarity.from_graph,
    "two_hop": similarity.two_hop,
    "two_hop_diagonal": similarity.two_hop_diagonal,
    "normalized": similarity.normalized,
    "laplacian": similarity.laplacian,
    "self_loops": similarity.self_loops,
    "diffusion": similarity.diffusion,
    "heat": similarity.heat,
}
# Above so many nodes the kernel of "graph", which is dense, is left out of the report.
PICTURED_NODES = 2000
# Strongest neighbours that weigh in the paper's problem, unless told otherwise.
NEIGHBORS = 10


def read_both(options: Namespace) -> tuple[Graph, Graph]:
    """The graph of the file, and its similarity; errors of reading are the user's to mend."""
    try:
        graph = as_graph(options.graph, symmetrize=options.symmetrize)
        return graph, similarity_of(graph, options.similarity, options.shift)
    except (ValueError, TypeError, OSError, ImportError) as error:
        raise Refusal(str(error)) from error


def similarity_of(graph: Graph, kind: str, shift: float | None) -> Graph:
    """The similarity of a graph by its name on the command line; ``none`` is the graph itself."""
    kind = similarity_for(kind)
    if kind == "graph" and shift is None and graph.n > PICTURED_NODES:
        return graph
    if kind == "none":
        if shift is not None:
            raise ValueError("--shift is added by a similarity: name one, or leave --shift out.")
        return graph
    given = {} if shift is None else {"shift": shift}
    return FROM_GRAPH[kind](graph, **given).graph


def similarity_for(name: str) -> str:
    """The similarity asked for; the one that the graph chooses is called "graph".

    Examples
    --------
    >>> similarity_for("auto"), similarity_for("heat")
    ('graph', 'heat')
    """
    return "graph" if name == "auto" else name


def in_feature_space(options: Namespace) -> bool:
    """Whether everything is left to the graph: `convexhc.cluster`, not the paper's problem."""
    asked = (options.neighbors, options.shift, getattr(options, "l1_ratio", None))
    return similarity_for(options.similarity) == "graph" and asked == (None, None, None)


def weights_of(options: Namespace) -> int | None:
    """How many neighbours weigh in the paper's problem, as `solve_path` takes it: None for all."""
    return (NEIGHBORS if options.neighbors is None else options.neighbors) or None
