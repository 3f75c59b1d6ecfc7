"""Nodes that several subjects have in common, matched by name."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from convexhc._types import IntArray


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
