"""The graph with the clusters of its nodes: for networkx, GEXF, GraphML and CX2."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from convexhc._extras import required
from convexhc._types import Labels
from convexhc.graph import Graph

# Characters that XML cannot hold.
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def clustered_graph(
    graph: Graph, names: Sequence[Hashable], partitions: Mapping[str, Labels]
) -> Any:
    """A networkx graph whose nodes have their clusters and whose edges have their weights.

    The diagonal of a similarity is left out.

    Examples
    --------
    >>> import numpy as np
    >>> G = clustered_graph(Graph.from_edges(2, [0], [1]), "ab", {"cluster": np.array([0, 0])})
    >>> dict(G.nodes(data="cluster")), G.edges["a", "b"]["weight"]
    ({'a': 0, 'b': 0}, 1.0)
    """
    made = _networkx().Graph()
    columns = {name: labels.tolist() for name, labels in partitions.items()}
    for place, name in enumerate(names):
        made.add_node(name, **{column: values[place] for column, values in columns.items()})
    ends = zip(graph.tail.tolist(), graph.head.tolist(), graph.weight.tolist(), strict=True)
    made.add_weighted_edges_from((names[i], names[j], weight) for i, j, weight in ends)
    return made


def gexf(graph: Graph, names: Sequence[Hashable], partitions: Mapping[str, Labels]) -> bytes:
    """GEXF 1.2, as Gephi opens it."""
    stream = io.BytesIO()
    made = _with_text_names(graph, names, partitions)
    _networkx().write_gexf(made, stream, version="1.2draft")
    return stream.getvalue()


def graphml(graph: Graph, names: Sequence[Hashable], partitions: Mapping[str, Labels]) -> bytes:
    """GraphML, as Gephi, Cytoscape, yEd and igraph open it."""
    stream = io.BytesIO()
    _networkx().write_graphml_xml(_with_text_names(graph, names, partitions), stream)
    return stream.getvalue()


def cx2(graph: Graph, names: Sequence[Hashable], partitions: Mapping[str, Labels]) -> bytes:
    """CX2, as Cytoscape and NDEx open it: a JSON list of aspects.

    Examples
    --------
    >>> import numpy as np
    >>> text = cx2(Graph.from_edges(2, [0], [1]), "ab", {"cluster": np.array([0, 1])})
    >>> [list(aspect)[0] for aspect in json.loads(text)][3:]
    ['networkAttributes', 'nodes', 'edges', 'status']
    """
    columns = {name: labels.tolist() for name, labels in partitions.items()}
    nodes = [
        {
            "id": place,
            "v": {"name": str(name)} | {key: values[place] for key, values in columns.items()},
        }
        for place, name in enumerate(names)
    ]
    ends = zip(graph.tail.tolist(), graph.head.tolist(), graph.weight.tolist(), strict=True)
    edges = [
        {"id": place, "s": i, "t": j, "v": {"weight": weight}}
        for place, (i, j, weight) in enumerate(ends)
    ]
    aspects: dict[str, list[Any]] = {
        "attributeDeclarations": [
            {
                "networkAttributes": {"name": {"d": "string"}},
                "nodes": {"name": {"d": "string"}} | {name: {"d": "integer"} for name in columns},
                "edges": {"weight": {"d": "double"}},
            }
        ],
        "networkAttributes": [{"name": "convexhc"}],
        "nodes": nodes,
        "edges": edges,
    }
    counts = [{"name": name, "elementCount": len(each)} for name, each in aspects.items()]
    document: list[dict[str, Any]] = [
        {"CXVersion": "2.0", "hasFragments": False},
        {"metaData": counts},
        *({name: each} for name, each in aspects.items()),
        {"status": [{"success": True}]},
    ]
    return json.dumps(document).encode()


def _with_text_names(
    graph: Graph, names: Sequence[Hashable], partitions: Mapping[str, Labels]
) -> Any:
    """The clustered graph, its nodes identified by text: the names, or numbers if two are equal."""
    texts = [_NOT_IN_XML.sub("\ufffd", str(name)) for name in names]
    ids = texts if len(set(texts)) == len(texts) else [str(i) for i in range(len(texts))]
    made = clustered_graph(graph, ids, partitions)
    for node, text in zip(ids, texts, strict=True):
        made.nodes[node]["label"] = text
    return made


def _networkx() -> Any:
    return required("networkx", "a graph for other programs")
