"""Export of a tree as Newick text or as a networkx graph."""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import Any

from convexhc._extras import required
from convexhc._types import FloatArray
from convexhc.tree.nodes import Nodes

# Names that need no quotes: letters, digits and points. Newick reads an unquoted underscore as a
# blank, and its readers give a meaning to most other signs.
PLAIN_NAME = re.compile(r"(?:[^\W_]|\.)+")


def newick(nodes: Nodes, names: tuple[Hashable, ...], support: FloatArray | None = None) -> str:
    """Newick text of a tree, polytomies included; support labels all inner nodes but the root."""
    root = nodes.parent.size - 1
    branch = nodes.height[nodes.parent] - nodes.height
    length = [f":{number!r}" for number in branch.tolist()]
    length[root] = ""
    label = [""] * nodes.n_merges
    if support is not None:
        label[:-1] = [f"{value:.4g}" for value in support[:-1].tolist()]
    quoted = [_quoted(str(name)) for name in names]
    written: list[str] = []
    # An explicit stack of nodes to visit and text to write, instead of recursion.
    stack: list[int | str] = [";", root]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            written.append(item)
        elif item < nodes.n_leaves:
            written.append(quoted[item] + length[item])
        else:
            written.append("(")
            stack.append(")" + label[item - nodes.n_leaves] + length[item])
            children = nodes.children[item - nodes.n_leaves]
            for child in reversed(children[1:]):
                stack.extend((child, ","))
            stack.append(children[0])
    return "".join(written)


def _quoted(name: str) -> str:
    """Name in single quotes, doubled inside, unless it needs none."""
    if PLAIN_NAME.fullmatch(name):
        return name
    return "'" + name.replace("'", "''") + "'"


def networkx_digraph(nodes: Nodes, names: tuple[Hashable, ...]) -> Any:
    """Directed graph from parents to children, with a height, size and name per node."""
    graph = required("networkx", "to_networkx").DiGraph()
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
