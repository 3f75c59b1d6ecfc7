"""The demand inside some clusters, without the columns that are combinations of a few vectors.

The rows of a sparse K inside a cluster are zero in all columns but those of its neighbours. In
every other column the demand is a combination of the same few vectors: one for every neighbouring
cluster, along whose edges flow enters, and the offset. Only the near columns are formed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import csc_array, csr_array

from convexhc._types import FloatArray, IntArray, Labels
from convexhc.fusion.demand import Demand, column_blocks, column_width
from convexhc.kernels.loads import spread_columns
from convexhc.kernels.rows import group_means

# Vectors up to which far columns are not formed: products with more are no faster than solves.
_MAX_RANK = 64
# Fewest blocks of columns of a run: less is not worth sending to a worker.
_RUN_BLOCKS = 8


class Product(NamedTuple):
    """Far columns of the demand as V W', and the columns they are in."""

    V: FloatArray
    W: FloatArray
    columns: IntArray


@dataclass(frozen=True, eq=False)
class InnerDemand:
    """The rows of a demand inside some clusters: R = S (T - B Y) - u 1', S = M (I - J)."""

    target: csr_array | FloatArray  # T, (n, m): the rows of the data
    # S B, (n, p): per edge between clusters that ends here, the share of every node less its mean.
    inflow: FloatArray
    dual: FloatArray  # Y, (p, m): the dual of these edges
    cluster: Labels  # (n,): cluster of every row, numbered from zero
    mass: FloatArray | None  # diagonal of M, (n,); None if it is one
    offset: FloatArray  # u, (n,)

    @classmethod
    def of(cls, demand: Demand, nodes: IntArray, cluster: Labels) -> InnerDemand:
        """Rows of a demand, in the order of ``nodes``, which are all nodes of their clusters."""
        between = demand.between[nodes]
        pairs = np.unique(between.indices)
        mass = None if demand.mass is None else demand.mass[nodes]
        return cls(
            demand.target[nodes],
            _deviation(between[:, pairs].toarray(), cluster, mass),
            demand.dual[pairs],
            cluster,
            mass,
            demand.offset[nodes],
        )

    @cached_property
    def near(self) -> IntArray:
        """Columns that are formed."""
        everything = np.arange(self.target.shape[1])
        if isinstance(self.target, np.ndarray) or self.inflow.shape[1] >= _MAX_RANK:
            return everything
        return np.unique(self.target.indices)

    @cached_property
    def _weight(self) -> FloatArray:
        return np.ones(self.cluster.size) if self.mass is None else self.mass

    @cached_property
    def _by_column(self) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
        """Near columns of sparse data: pointers, rows and values, and the means over clusters."""
        T = csc_array(self.target[:, self.near])
        count = int(self.cluster.max()) + 1
        share = self._weight / np.bincount(self.cluster, self._weight, count)[self.cluster]
        mean = csr_array((share, (self.cluster, np.arange(share.size))), (count, share.size)) @ T
        return T.indptr.astype(np.int64), T.indices.astype(np.int64), T.data, mean.toarray()

    @cached_property
    def column_runs(self) -> tuple[InnerDemand, ...]:
        """Demands of the near columns only, some blocks of them each."""
        most = _RUN_BLOCKS * column_width(self.cluster.size)
        if self.near.size <= most:
            return (self,)
        runs = (slice(first, first + most) for first in range(0, self.near.size, most))
        return tuple(self._only(run) for run in runs)

    def _only(self, run: slice) -> InnerDemand:
        """The demand in some near columns; views of a dense target."""
        if isinstance(self.target, np.ndarray):
            return replace(self, target=self.target[:, run], dual=self.dual[:, run])
        columns = self.near[run]
        return replace(self, target=self.target[:, columns], dual=self.dual[:, columns])

    def blocks(self) -> Iterator[FloatArray]:
        """Near columns of R, a block at a time."""
        for block in column_blocks(self.near.size, self.cluster.size):
            yield self._form(block)

    def _form(self, block: slice) -> FloatArray:
        columns = self.near[block]
        if isinstance(self.target, np.ndarray):
            R = self._centered(self.target[:, block]) - self.offset[:, None]
        else:
            start, row, value, mean = self._by_column
            R = np.empty((self.cluster.size, columns.size))
            spread_columns(
                start[block.start : block.start + columns.size + 1],
                row,
                value,
                mean[:, block],
                self.cluster,
                self._weight,
                self.offset,
                R,
            )
        if self.dual.size:
            R -= self.inflow @ self.dual[:, columns]
        return R

    @cached_property
    def far(self) -> Product:
        """All other columns of R."""
        columns = np.setdiff1d(np.arange(self.target.shape[1]), self.near, assume_unique=True)
        V = np.column_stack([self.inflow, self.offset])
        W = np.column_stack([-self.dual[:, columns].T, np.full(columns.size, -1.0)])
        return Product(V, W, columns)

    def left_times(self, V: FloatArray) -> FloatArray:
        """V'R, without forming R; V has one row per node."""
        out: FloatArray = np.asarray((self.target.T @ self._centered(V)).T)
        out -= (self.inflow.T @ V).T @ self.dual
        out -= (V.T @ self.offset)[:, None]
        return out

    def _centered(self, X: FloatArray) -> FloatArray:
        return _deviation(X, self.cluster, self.mass)


def _deviation(X: FloatArray, cluster: Labels, mass: FloatArray | None) -> FloatArray:
    """S X = M (I - J) X, a new array."""
    X = np.ascontiguousarray(X)
    weight = np.ones(cluster.size) if mass is None else mass
    centered = X - group_means(X, cluster, weight)[cluster]
    return centered if mass is None else centered * mass[:, None]
