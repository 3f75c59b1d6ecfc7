"""Options of `as_graph`, and the three conversions to a Graph that all readers use.

A reader ends in one of the methods of :class:`Reading`: for a matrix, a list of named edges, or a
network with a list of nodes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from convexhc._types import IntArray
from convexhc.graph import Graph, Symmetrize
from convexhc.graph_checks import checked_names

# Column names of an edge table, in pairs, and of its weights; case does not matter.
END_COLUMNS = (
    ("source", "target"),
    ("src", "dst"),
    ("u", "v"),
    ("from", "to"),
    ("node1", "node2"),
    ("i", "j"),
)
WEIGHT_COLUMNS = ("weight", "w", "value")
DEFAULT_WEIGHT = "weight"
MISSING_END = "an edge has a missing end (None or NaN): drop it or name its node"


@dataclass(frozen=True)
class Reading:
    """Options of :func:`convexhc.io.as_graph`."""

    symmetrize: Symmetrize | None = None
    signed: bool = False
    names: tuple[Hashable, ...] | None = None
    weight: str | None = DEFAULT_WEIGHT
    key: str = "connectivities"
    columns: tuple[str | int, ...] | None = None

    def matrix(self, matrix: Any, names: Iterable[Hashable] | None = None) -> Graph:
        """Read a square matrix; names given by the caller override those in the data."""
        return Graph.from_matrix(
            matrix,
            names=names if self.names is None else self.names,
            signed=self.signed,
            symmetrize=self.symmetrize,
        )

    def network(
        self,
        nodes: Sequence[Hashable],
        tail: Sequence[int],
        head: Sequence[int],
        weight: ArrayLike | None,
        *,
        directed: bool,
    ) -> Graph:
        """Read a network with a list of nodes; parallel edges are summed."""
        names = nodes if self.names is None else self.names
        if not directed:
            return Graph.from_edges(len(nodes), tail, head, weight, names=names, signed=self.signed)
        values = np.ones(len(tail)) if weight is None else np.asarray(weight)
        ends = np.array([tail, head], dtype=np.int64)
        entries = sparse.coo_array((values, tuple(ends)), shape=(len(nodes), len(nodes)))
        return self.matrix(entries, names)

    def edges(
        self,
        sources: Sequence[Hashable],
        targets: Sequence[Hashable],
        weight: ArrayLike | None,
    ) -> Graph:
        """Read a list of named edges.

        Names given by the caller fix the nodes and their order. Otherwise integer names are
        sorted, and others numbered in the order of first appearance.
        """
        distinct, tail, head = number_ends(sources, targets)
        # None or NaN, the only value unequal to itself, would become a node.
        if any(name is None or name != name for name in distinct):
            raise ValueError(MISSING_END)
        return self.numbered_edges(distinct, tail, head, weight)

    def numbered_edges(
        self,
        distinct: Sequence[Hashable],
        tail: IntArray,
        head: IntArray,
        weight: ArrayLike | None,
    ) -> Graph:
        """Read a list of edges whose ends are indices into ``distinct``, their names."""
        found = [name.item() if isinstance(name, np.generic) else name for name in distinct]
        whole = [name for name in found if type(name) is int]
        names: Sequence[Hashable] = sorted(whole) if len(whole) == len(found) else found
        if self.names is not None:
            names = checked_names(self.names, len(self.names))
        number = {name: i for i, name in enumerate(names)}
        unknown = [name for name in found if name not in number]
        if unknown:
            raise ValueError(
                f"the edge list mentions the node {unknown[0]!r}, which is not in names: add it "
                "there, or leave names out"
            )
        place = np.array([number[name] for name in found], dtype=np.int64)
        return Graph.from_edges(
            len(names),
            place[tail],
            place[head],
            weight,
            names=names,
            signed=self.signed,
            duplicates="mirror",
            symmetrize=self.symmetrize,
        )


def number_ends(
    sources: Sequence[Hashable], targets: Sequence[Hashable]
) -> tuple[list[Hashable], IntArray, IntArray]:
    """Return the distinct ends in the order of first appearance, and the index of each end."""
    # A new name gets the next number. map and fromiter avoid an interpreted loop over the edges.
    number: defaultdict[Hashable, int] = defaultdict(count().__next__)
    ends = chain.from_iterable(zip(sources, targets, strict=True))
    try:
        places = np.fromiter(map(number.__getitem__, ends), np.int64, 2 * len(sources))
    except TypeError as error:
        raise TypeError(
            f"node names must be hashable (text, numbers, tuples ...): {error}"
        ) from error
    return list(number), places[0::2], places[1::2]


def find_columns(columns: Sequence[Any], weight: str | None) -> tuple[int, int, int | None] | None:
    """Return the indices of the columns source, target and weight of an edge table.

    None if no pair of :data:`END_COLUMNS` occurs. The index of the weight is None if the caller
    wants no weights or there is no further column. ValueError if the weight column is missing or
    ambiguous.
    """
    words = [str(column).strip().lower() for column in columns]
    for first, second in END_COLUMNS:
        if first in words and second in words:
            break
    else:
        return None
    ends = words.index(first), words.index(second)
    if weight is None:
        return *ends, None
    if weight != DEFAULT_WEIGHT:
        return *ends, column_named(weight, columns)
    known = [words.index(word) for word in WEIGHT_COLUMNS if word in words]
    others = [place for place in range(len(words)) if place not in ends]
    if not known and len(others) > 1:
        raise ValueError(
            f"which column holds the weight? The columns are {words}: pass weight=..., with the "
            "name of one, or None if every edge counts one"
        )
    return *ends, next(iter(known + others), None)


def checked_columns(columns: Iterable[str | int] | None) -> tuple[str | int, ...] | None:
    """Two or three columns, all of them names or all of them numbers from 1."""
    if columns is None:
        return None
    chosen = () if isinstance(columns, str) else tuple(columns)
    kinds = {type(column) for column in chosen}
    low = [column for column in chosen if isinstance(column, int) and column < 1]
    if len(chosen) not in (2, 3) or kinds not in ({str}, {int}) or low:
        raise ValueError(
            "columns must be two or three names, as in ('gene_a', 'gene_b', 'score'), or numbers "
            f"from 1, received {columns!r}."
        )
    return chosen


def places_of(chosen: tuple[str | int, ...], columns: Sequence[Any]) -> tuple[int, int, int | None]:
    """Indices of the columns chosen by the caller, among those of a table."""
    words = [str(column) for column in columns]
    known = words if isinstance(chosen[0], str) else list(range(1, len(words) + 1))
    missing = [column for column in chosen if column not in known]
    if missing:
        raise ValueError(f"there is no column {missing[0]!r}: the columns are {words}")
    source, target, *weight = (known.index(column) for column in chosen)  # type: ignore[arg-type]
    return source, target, weight[0] if weight else None


def column_named(weight: str, columns: Sequence[Any]) -> int:
    """Return the index of the weight column named by the caller."""
    words = [str(column) for column in columns]
    if weight not in words:
        raise ValueError(f"there is no weight column {weight!r}: the columns are {words}")
    return words.index(weight)
