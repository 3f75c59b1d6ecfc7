"""What is proven of a partition: the finest and the coarsest it can be at the optimum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from convexhc._types import BoolArray, IntArray, Labels
from convexhc.kernels.labels import numbered_by_first

Verdict = Literal["together", "apart", "open"]


@dataclass(frozen=True, eq=False)
class Proof:
    """Bounds on the clusters of the exact minimiser.

    Nodes with equal ``finest`` labels are in one cluster of the exact minimiser; nodes with
    different ``coarsest`` labels are not. Where both agree, the partition is proven.
    """

    # (n,): labels numbered by first occurrence.
    finest: Labels
    coarsest: Labels

    def __eq__(self, other: object) -> bool:
        """Whether both prove the same."""
        return (
            isinstance(other, Proof)
            and np.array_equal(self.finest, other.finest)
            and np.array_equal(self.coarsest, other.coarsest)
        )

    # Arrays are not hashable.
    __hash__ = None  # type: ignore[assignment]

    @property
    def is_proven(self) -> bool:
        """Whether the whole partition is proven."""
        return bool(np.array_equal(self.finest, self.coarsest))

    @property
    def in_doubt(self) -> IntArray:
        """Nodes whose cluster is not proven."""
        return np.flatnonzero(~self.certain)

    @property
    def certain(self) -> BoolArray:
        """Nodes whose cluster is proven: both labels mark the same set of nodes."""
        fine, coarse = np.bincount(self.finest), np.bincount(self.coarsest)
        return np.asarray(fine[self.finest] == coarse[self.coarsest])

    def nodes(self, i: int, j: int) -> Verdict:
        """Whether two nodes are provably together or apart, or neither."""
        if self.finest[i] == self.finest[j]:
            return "together"
        return "open" if self.coarsest[i] == self.coarsest[j] else "apart"

    def pairs(self, labels: Labels) -> NDArray[np.str_]:
        """For the clusters of ``labels``: the verdict on every pair, and inside each.

        Entry (a, b) holds for all nodes of a and b alike: "together", "apart", or "open".

        Examples
        --------
        >>> Proof(np.array([0, 0, 1, 2]), np.array([0, 0, 1, 1])).pairs(np.array([0, 0, 1, 2]))
        array([['together', 'apart', 'apart'],
               ['apart', 'together', 'open'],
               ['apart', 'open', 'together']], dtype='<U8')
        """
        count = int(labels.max()) + 1
        together, meet = np.zeros((2, count, count), np.bool_)
        for name, joined in ((self.finest, together), (self.coarsest, meet)):
            member = np.zeros((count, int(name.max()) + 1), np.bool_)
            member[labels, name] = True
            joined[:] = (member.astype(float) @ member.T) > 0.0
            if joined is together:
                whole = member.sum(axis=1) == 1
                joined &= whole[:, None] & whole[None, :]
        found = np.full((count, count), "open", dtype="<U8")
        found[~meet] = "apart"
        found[together] = "together"
        return found

    def proven_clusters(self, labels: Labels) -> BoolArray:
        """Clusters of ``labels`` whose members are proven: no more and no fewer."""
        ok = np.ones(int(labels.max()) + 1, np.bool_)
        ok[labels[self.in_doubt]] = False
        return ok

    def at(self, leaf: IntArray) -> Proof:
        """The same proof for nodes that are members of leaves, ``leaf`` the leaf of each."""
        return Proof(numbered_by_first(self.finest[leaf]), numbered_by_first(self.coarsest[leaf]))


def pack_proofs(proofs: Sequence[Proof | None], n: int) -> dict[str, NDArray[Any]]:
    """Proofs as arrays, one row each; rows of -1 stand for None."""
    if all(proof is None for proof in proofs):
        return {}
    none = np.full(n, -1)
    return {
        name: np.array([none if p is None else getattr(p, name) for p in proofs], np.int32)
        for name in ("finest", "coarsest")
    }


def unpack_proofs(arrays: Mapping[str, NDArray[Any]], count: int) -> list[Proof | None]:
    """Inverse of `pack_proofs`, for ``count`` proofs; ValueError if they are not labels."""
    if "finest" not in arrays:
        return [None] * count
    rows = [arrays[name] for name in ("finest", "coarsest")]
    if any(part.dtype.kind not in "iu" or part.ndim != 2 or len(part) != count for part in rows):
        raise ValueError("its proofs are not one row of labels per lam")
    return [
        None if (fine < 0).any() or (coarse < 0).any() else Proof(fine, coarse)
        for fine, coarse in zip(*(part.astype(np.int64) for part in rows), strict=True)
    ]
