"""What is proven along a path: level by level, and row by row of the linkage."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from convexhc._types import BoolArray, FloatArray
from convexhc.model.proof import Proof
from convexhc.tree.linkage import first_leaves

if TYPE_CHECKING:
    from convexhc.path.path import Path


@dataclass(frozen=True, eq=False)
class PathProof:
    """Proofs of the levels of a path: which clusters are those of the exact minimiser.

    Attributes
    ----------
    lambdas : (L,) ndarray
        The solved lam, increasing.
    proofs : tuple of Proof or None
        One per lam; None where none was attempted, as in the smooth model.
    partitions : (L, n) ndarray of int
        Labels at every lam.
    names : tuple
        Names of the nodes.

    Examples
    --------
    >>> import convexhc
    >>> K = [[3, 1, 0], [1, 3, 0.1], [0, 0.1, 3]]
    >>> path = convexhc.solve_path(K, [0.1, 5.0], prove=True)
    >>> path.proof.is_proven
    array([ True,  True])
    """

    lambdas: FloatArray = field(repr=False)
    proofs: tuple[Proof | None, ...] = field(repr=False)
    partitions: NDArray[np.int64] = field(repr=False)
    names: tuple[Hashable, ...] = field(repr=False)

    @classmethod
    def of(cls, path: Path) -> PathProof:
        """The proofs of the levels."""
        proofs = tuple(level.proof for level in path.levels)
        return cls(path.lambdas, proofs, path.partitions, path.names)

    def __repr__(self) -> str:
        return f"PathProof({self.n_proven} of {len(self.proofs)} partitions proven)"

    @property
    def is_proven(self) -> BoolArray:
        """Whether the whole partition is proven, for every lam."""
        return np.array([proof is not None and proof.is_proven for proof in self.proofs])

    @property
    def n_proven(self) -> int:
        """Number of lam whose whole partition is proven."""
        return int(self.is_proven.sum())

    @property
    def exists(self) -> bool:
        """Whether a proof was attempted at any lam."""
        return any(proof is not None for proof in self.proofs)

    def at(self, lam: float) -> Proof:
        """The proof at the solved lam nearest to ``lam`` in ratio; of nothing if there is none."""
        found = self.proofs[self._nearest(lam)]
        n = len(self.names)
        return Proof(np.arange(n), np.zeros(n, np.int64)) if found is None else found

    def pairs(self, lam: float) -> NDArray[np.str_]:
        """Verdict on every pair of clusters at the nearest solved lam; see `Proof.pairs`."""
        return self.at(lam).pairs(self.partitions[self._nearest(lam)])

    def in_doubt(self, lam: float) -> tuple[Hashable, ...]:
        """Names of the nodes whose cluster is not proven at the nearest solved lam."""
        return tuple(self.names[i] for i in self.at(lam).in_doubt.tolist())

    def of_rows(self, linkage: FloatArray, n_artificial: int = 0) -> BoolArray:
        """Rows of a linkage of this path whose merge is proven: the clusters on both sides are.

        At the height of the row the cluster of its members is proven, and at the next lower lam
        those of its first members. The last ``n_artificial`` rows, which only close the tree, are
        not.
        """
        certain = np.array(
            [np.zeros(len(self.names), bool) if p is None else p.certain for p in self.proofs]
        )
        first = first_leaves(*linkage[:, :2].T.astype(np.int64))
        left, right = (first[linkage[:, side].astype(np.int64)] for side in (0, 1))
        at = np.searchsorted(self.lambdas, linkage[:, 2] * (1.0 - 1e-12))
        valid = at < self.lambdas.size
        at = np.minimum(at, self.lambdas.size - 1)
        above = certain[at, left]
        below = (at > 0) & certain[at - 1, left] & certain[at - 1, right]
        proven = np.asarray(valid & above & below)
        proven[proven.size - n_artificial :] = False
        return proven

    def _nearest(self, lam: float) -> int:
        return int(np.argmin(np.abs(np.log((self.lambdas + 1e-300) / (lam + 1e-300)))))
