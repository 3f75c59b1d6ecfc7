"""From the file a command is given to the graph it holds and the similarity that is clustered."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable

from convexhc import similarity
from convexhc.commands.speech import Refusal
from convexhc.graph import Graph
from convexhc.io import as_graph
from convexhc.similarity import Similarity

FROM_GRAPH: dict[str, Callable[..., Similarity]] = {
    "two_hop": similarity.two_hop,
    "two_hop_diagonal": similarity.two_hop_diagonal,
    "normalized": similarity.normalized,
    "laplacian": similarity.laplacian,
    "self_loops": similarity.self_loops,
    "diffusion": similarity.diffusion,
    "heat": similarity.heat,
}
# Six steps of a walk reach across most graphs, so the kernel is dense; two stay sparse.
AUTO_NODES = 2000


def read_both(options: Namespace) -> tuple[Graph, Graph]:
    """The graph of the file, and its similarity; errors of reading are the user's to mend."""
    try:
        graph = as_graph(options.graph, symmetrize=options.symmetrize)
        return graph, similarity_of(graph, options.similarity, options.gamma)
    except (ValueError, TypeError, OSError, ImportError) as error:
        raise Refusal(str(error)) from error


def similarity_of(graph: Graph, kind: str, gamma: float | None) -> Graph:
    """The similarity of a graph by its name on the command line; ``none`` is the graph itself."""
    kind = similarity_for(kind, graph.n)
    if kind == "none":
        if gamma is not None:
            raise ValueError("--gamma is added by a similarity: name one, or leave --gamma out.")
        return graph
    given = {} if gamma is None else {"gamma": gamma}
    return FROM_GRAPH[kind](graph, **given).graph


def similarity_for(name: str, n_nodes: int) -> str:
    """The similarity asked for, or the one that suits a graph of this size.

    Examples
    --------
    >>> similarity_for("auto", 100), similarity_for("auto", 100_000), similarity_for("heat", 100)
    ('diffusion', 'two_hop', 'heat')
    """
    if name != "auto":
        return name
    return "diffusion" if n_nodes <= AUTO_NODES else "two_hop"


def weights_of(options: Namespace) -> int | None:
    """How many neighbours weigh, as `solve_path` takes it: None for all."""
    return options.neighbors or None
