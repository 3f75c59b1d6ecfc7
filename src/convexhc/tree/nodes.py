"""A rooted tree with any number of children per node as a parent array, as Newick, in networkx."""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexhc._extras import required
from convexhc._types import FloatArray, IntArray

# Names that need no quotes: letters, digits and points. Newick reads an unquoted underscore as a
# blank, and its readers give a meaning to most other signs.
PLAIN_NAME = re.compile(r"(?:[^\W_]|\.)+")


@dataclass(frozen=True)
class Merge:
    """Two or more clusters become one.

    Parameters
    ----------
    lam : float
        Height of the merge.
    children : tuple of int
        Merged nodes, ordered by their smallest leaves: ``0 .. n - 1`` are the leaves, ``n + t`` is
        the parent of merge ``t``.
    parent : int
        The node they become.
    artificial : bool
        True if the path never reached this merge and it only completes the tree at the top.
    """

    lam: float
    children: tuple[int, ...]
    parent: int
    artificial: bool


@dataclass(frozen=True, eq=False)
class Nodes:
    """A tree with any number of children per node; leaves first, then merges by height.

    Node ``i < n_leaves`` is a leaf; node ``n_leaves + t`` is the parent of merge ``t``. Merges are
    sorted by (height, smallest leaf) and heights strictly increase from child to parent. Hence a
    horizontal cut is a prefix of the merges, and a loop over node ids runs bottom-up.
    """

    parent: IntArray  # (n + m,): parent of each node; -1 for the root, which is the last node
    height: FloatArray  # (n + m,): height of each node; 0 for leaves
    n_leaves: int  # number n of leaves
    n_artificial: int  # number of merges, the last ones, that only complete the tree at the top

    def __post_init__(self) -> None:
        """Freeze the arrays."""
        self.parent.setflags(write=False)
        self.height.setflags(write=False)

    @property
    def n_merges(self) -> int:
        """Number of merges, artificial ones included."""
        return self.parent.size - self.n_leaves

    @property
    def n_real(self) -> int:
        """Number of merges that occur on the path."""
        return self.n_merges - self.n_artificial

    @cached_property
    def size(self) -> IntArray:
        """Number of leaves under each node."""
        return self.subtree_sums(np.ones(self.n_leaves, dtype=np.int64))

    def subtree_sums(self, leaf_values: NDArray[Any]) -> NDArray[Any]:
        """Sum under each node of (n,) or (n, r) values of the leaves; O((n + m) r)."""
        merges = np.zeros((self.n_merges, *leaf_values.shape[1:]), dtype=leaf_values.dtype)
        sums = np.concatenate([leaf_values, merges])
        for node, parent in enumerate(self.parent[:-1].tolist()):
            sums[parent] += sums[node]
        return sums

    @cached_property
    def first_leaf(self) -> IntArray:
        """Smallest leaf under each node."""
        first = list(range(self.n_leaves)) + [self.n_leaves] * self.n_merges
        for node, parent in enumerate(self.parent[:-1].tolist()):
            if first[node] < first[parent]:
                first[parent] = first[node]
        return np.array(first, dtype=np.int64)

    @cached_property
    def n_children(self) -> IntArray:
        """Number of children of each merge."""
        return np.bincount(self.parent[:-1] - self.n_leaves, minlength=self.n_merges)

    @cached_property
    def children(self) -> list[list[int]]:
        """Children of each merge, ordered by their smallest leaves."""
        by_parent = np.lexsort((self.first_leaf[:-1], self.parent[:-1])).tolist()
        stops = np.cumsum(self.n_children).tolist()
        starts = [0, *stops[:-1]]
        return [by_parent[start:stop] for start, stop in zip(starts, stops, strict=False)]

    @cached_property
    def place(self) -> IntArray:
        """First place of each node in the leaf order, in which clusters are contiguous."""
        return self.places(self.children)

    def places(self, children: list[list[int]]) -> IntArray:
        """First place of each node in the leaf order that an order of all children makes."""
        place = [0] * self.parent.size
        size = self.size.tolist()
        for merge in range(self.n_merges - 1, -1, -1):
            at = place[self.n_leaves + merge]
            for child in children[merge]:
                place[child] = at
                at += size[child]
        return np.array(place, dtype=np.int64)

    @cached_property
    def level_ends(self) -> IntArray:
        """Number of merges up to each level: 0 for the leaves, then one level per height."""
        heights = self.height[self.n_leaves :]
        last_of_height = np.flatnonzero(np.append(heights[1:] > heights[:-1], self.n_merges > 0))
        return np.concatenate([[0], last_of_height + 1]).astype(np.int64)

    @cached_property
    def level_counts(self) -> IntArray:
        """Number of clusters at each level, from n down to 1."""
        lost = np.concatenate([[0], np.cumsum(self.n_children - 1)])
        return np.asarray(self.n_leaves - lost[self.level_ends], dtype=np.int64)


def pointer_roots(pointer: IntArray) -> IntArray:
    """Root reached from each element of a pointer forest, whose roots point to themselves.

    Every round squares the pointers: O(n log depth), so long chains are cheap.
    """
    while True:
        jumped = pointer[pointer]
        if np.array_equal(jumped, pointer):
            return pointer
        pointer = jumped


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
