"""CX2, the exchange format of Cytoscape and NDEx: a JSON list of aspects."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from convexhc._types import Labels
from convexhc.graph import Graph


def cx2(graph: Graph, names: Sequence[Hashable], partitions: Mapping[str, Labels]) -> bytes:
    """The graph in CX2, nodes with name and clusters, edges with weight.

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
        "attributeDeclarations": [_declarations(list(columns))],
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


def _declarations(columns: Sequence[str]) -> dict[str, Any]:
    """The type of every attribute."""
    return {
        "networkAttributes": {"name": {"d": "string"}},
        "nodes": {"name": {"d": "string"}} | {name: {"d": "integer"} for name in columns},
        "edges": {"weight": {"d": "double"}},
    }
