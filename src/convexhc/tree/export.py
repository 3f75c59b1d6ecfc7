"""A tree for other programs: Newick text and a networkx graph."""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import Any

from convexhc.tree.nodes import Nodes

# Newick reads an underscore outside quotes as a blank, so names with one are quoted as well.
PLAIN_NAME = re.compile(r"[^\s()\[\]{}:;,'\"_]+")


def newick(nodes: Nodes, names: tuple[Hashable, ...]) -> str:
    """Newick text of a tree; nodes with several children stay as they are."""
    root = nodes.parent.size - 1
    branch = nodes.height[nodes.parent] - nodes.height
    length = [f":{number!r}" for number in branch.tolist()]
    length[root] = ""
    quoted = [_quoted(str(name)) for name in names]
    written: list[str] = []
    # A stack of nodes still to open and of text still to write takes the place of recursion.
    waiting: list[int | str] = [";", root]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            written.append(item)
        elif item < nodes.n_leaves:
            written.append(quoted[item] + length[item])
        else:
            written.append("(")
            waiting.append(")" + length[item])
            children = nodes.children[item - nodes.n_leaves]
            for child in reversed(children[1:]):
                waiting.extend((child, ","))
            waiting.append(children[0])
    return "".join(written)


def _quoted(name: str) -> str:
    """A name as Newick wants it: in single quotes, doubled inside, unless it is plain."""
    if PLAIN_NAME.fullmatch(name):
        return name
    return "'" + name.replace("'", "''") + "'"


def networkx_digraph(nodes: Nodes, names: tuple[Hashable, ...]) -> Any:
    """Directed graph from parents to children, with a height, size and name per node."""
    try:
        import networkx as nx
    except ImportError as error:
        raise ImportError(
            "to_networkx needs networkx, which is not installed: pip install 'convexhc[graphs]'."
        ) from error
    graph: Any = nx.DiGraph()
    first_artificial = nodes.n_leaves + nodes.n_real
    for node, (height, size) in enumerate(
        zip(nodes.height.tolist(), nodes.size.tolist(), strict=True)
    ):
        graph.add_node(
            node,
            height=height,
            size=size,
            name=names[node] if node < nodes.n_leaves else "",
            artificial=node >= first_artificial,
        )
    for merge, children in enumerate(nodes.children):
        graph.add_edges_from((nodes.n_leaves + merge, child) for child in children)
    return graph
