"""What the subjects of a cohort share: nodes, a majority-rule tree, the mean of their graphs."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from convexhc._types import IntArray
from convexhc.graph import Graph
from convexhc.kernels.labels import numbered
from convexhc.path.path import Path
from convexhc.tree import Tree
from convexhc.tree.clades import Consensus, majority_consensus


@dataclass(frozen=True, eq=False)
class CommonNodes:
    """The nodes of a cohort.

    Attributes
    ----------
    union : tuple
        Every node that some subject has, in the order in which they first occur.
    names : tuple
        Those that all subjects have, in the same order.
    places : mapping from subject to (n,) int array
        Positions of the common nodes among those of the subject.
    missing : mapping from subject to tuple
        Nodes of the union that the subject lacks.
    """

    union: tuple[Hashable, ...] = field(repr=False)
    names: tuple[Hashable, ...]
    places: Mapping[Hashable, IntArray] = field(repr=False)
    missing: Mapping[Hashable, tuple[Hashable, ...]] = field(repr=False)


def common_nodes(names: Mapping[Hashable, Sequence[Hashable]]) -> CommonNodes:
    """Match the nodes of several subjects by name.

    Parameters
    ----------
    names : mapping from subject to names of its nodes
        The names of one subject are distinct.

    Returns
    -------
    CommonNodes
        O(total number of nodes).

    Examples
    --------
    >>> nodes = common_nodes({"first": ["a", "b", "c"], "second": ["c", "d", "a"]})
    >>> nodes.names, nodes.places["second"], nodes.missing["first"]
    (('a', 'c'), array([2, 0]), ('d',))
    """
    union = tuple(dict.fromkeys(name for each in names.values() for name in each))
    places = {
        subject: {name: place for place, name in enumerate(each)} for subject, each in names.items()
    }
    common = tuple(name for name in union if all(name in known for known in places.values()))
    return CommonNodes(
        union,
        common,
        {
            subject: np.array([known[name] for name in common], dtype=np.int64)
            for subject, known in places.items()
        },
        {
            subject: tuple(name for name in union if name not in known)
            for subject, known in places.items()
        },
    )


def majority_tree(
    paths: Mapping[Hashable, Path], threshold: float = 0.5, *, nodes: CommonNodes | None = None
) -> Consensus:
    """The clades that more than half of the subjects have, each with its share of the subjects.

    Parameters
    ----------
    paths : mapping from subject to Path
        At least one.
    threshold : float
        Least share of the subjects that have a clade, at least 0.5.
    nodes : CommonNodes, optional
        The nodes of the tree: those that these subjects have in common, or fewer.

    Returns
    -------
    Consensus
        The tree, and the share of each clade; heights are relative (`tree.clades`).

    Raises
    ------
    ValueError
        No path, or no common node.
    """
    common = nodes_of(paths) if nodes is None else nodes
    return majority_consensus(
        (common_tree(path, common, subject) for subject, path in paths.items()), threshold
    )


def common_tree(path: Path, nodes: CommonNodes, subject: Hashable) -> Tree:
    """The tree of a subject on the common nodes, in their order."""
    place = nodes.places[subject]
    if path.names == nodes.names:
        return path.tree
    return Tree.from_partitions(
        path.lambdas,
        path.partitions[:, place],
        names=nodes.names,
        components=numbered(path.components[place]),
    )


def mean_graph(paths: Mapping[Hashable, Path]) -> Graph:
    """The mean of the graphs or similarities of several subjects, on their common nodes.

    Parameters
    ----------
    paths : mapping from subject to Path
        Each with its ``graph``.

    Returns
    -------
    Graph
        An edge that a subject lacks has weight zero there. O(total number of edges).

    Raises
    ------
    ValueError
        A path without a graph, or no common node.
    """
    nodes = nodes_of(paths)
    total: Any = 0.0
    for subject, path in paths.items():
        if path.graph is None:
            raise ValueError(f"the path of {subject!r} has no graph, so there is no mean.")
        place = nodes.places[subject]
        total = total + path.graph.matrix()[place][:, place]
    return Graph.from_matrix(total / len(paths), names=nodes.names, signed=True)


def mean_options(paths: Mapping[Hashable, Path], options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of `cluster` for the mean graph of paths that were solved with ``options``.

    Paths on the features of a graph keep the graph itself, others the similarity made from it.
    """
    made = [path.provenance.options.get("similarity") for path in paths.values()]
    # Only features made from a graph record their leaves.
    by_graph = all(isinstance(record, Mapping) and "n_leaves" in record for record in made)
    left_out = ("shift", "points", "n_neighbors", "similarity")
    kept = {name: value for name, value in options.items() if name not in left_out}
    return {**kept, "similarity": "graph" if by_graph else "precomputed"}


def nodes_of(paths: Mapping[Hashable, Path]) -> CommonNodes:
    """The common nodes of several subjects; ValueError if there are none."""
    if not paths:
        raise ValueError("paths is empty: a consensus needs at least one subject.")
    nodes = common_nodes({subject: path.names for subject, path in paths.items()})
    if not nodes.names:
        raise ValueError(
            "the subjects have no node in common: nodes are matched by name. Give them the same "
            "names in every graph."
        )
    return nodes
