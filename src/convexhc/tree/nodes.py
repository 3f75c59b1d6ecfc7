"""A rooted tree as two arrays, with what follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Nodes:
    """A tree with any number of children per node, leaves first, then by height.

    Node ``i < n_leaves`` is a leaf; node ``n_leaves + t`` is the parent of merge ``t``. Merges are
    in the order of (height, first leaf) and heights grow strictly from child to parent, so the
    tree cut at any height is a prefix of the merges, and a loop over ids runs bottom-up.

    Parameters
    ----------
    parent : (n + m,) int64 array
        Parent of each node; -1 for the root, which is the last.
    height : (n + m,) float64 array
        Height of each node; leaves are at zero.
    n_leaves : int
        Number n of leaves.
    n_artificial : int
        How many merges, the last ones, only close the tree at the top.
    """

    parent: NDArray[np.int64]
    height: NDArray[np.float64]
    n_leaves: int
    n_artificial: int

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
        """Number of merges that the path showed."""
        return self.n_merges - self.n_artificial

    @cached_property
    def size(self) -> NDArray[np.int64]:
        """Number of leaves under each node."""
        total = [1] * self.n_leaves + [0] * self.n_merges
        for node, above in enumerate(self.parent[:-1].tolist()):
            total[above] += total[node]
        return np.array(total, dtype=np.int64)

    @cached_property
    def first_leaf(self) -> NDArray[np.int64]:
        """Smallest leaf under each node."""
        first = list(range(self.n_leaves)) + [self.n_leaves] * self.n_merges
        for node, above in enumerate(self.parent[:-1].tolist()):
            if first[node] < first[above]:
                first[above] = first[node]
        return np.array(first, dtype=np.int64)

    @cached_property
    def n_children(self) -> NDArray[np.int64]:
        """Number of children of each merge."""
        return np.bincount(self.parent[:-1] - self.n_leaves, minlength=self.n_merges)

    @cached_property
    def children(self) -> list[list[int]]:
        """Children of each merge, in the order of their first leaves."""
        listed = np.lexsort((self.first_leaf[:-1], self.parent[:-1])).tolist()
        stops = np.cumsum(self.n_children).tolist()
        starts = [0, *stops[:-1]]
        return [listed[start:stop] for start, stop in zip(starts, stops, strict=False)]

    @cached_property
    def level_ends(self) -> NDArray[np.int64]:
        """Number of merges done at each level: none at first, then one level per height."""
        heights = self.height[self.n_leaves :]
        last_of_height = np.flatnonzero(np.append(heights[1:] > heights[:-1], self.n_merges > 0))
        return np.concatenate([[0], last_of_height + 1]).astype(np.int64)

    @cached_property
    def level_counts(self) -> NDArray[np.int64]:
        """Number of clusters at each level, from n leaves down to one."""
        lost = np.concatenate([[0], np.cumsum(self.n_children - 1)])
        return np.asarray(self.n_leaves - lost[self.level_ends], dtype=np.int64)


def follow(pointer: NDArray[np.int64]) -> NDArray[np.int64]:
    """End of the chain of pointers that starts at each place.

    Doubles the length of the jumps until nothing moves: O(n log depth), so deep chains are cheap.
    Ends point to themselves; a cycle would never end, and a forest has none.
    """
    while True:
        further = pointer[pointer]
        if np.array_equal(further, pointer):
            return pointer
        pointer = further
