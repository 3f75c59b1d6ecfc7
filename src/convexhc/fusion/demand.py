"""The demand on a flow inside clusters.

At a solution the rows of the gradient are equal inside every cluster. The demand is what the flow
inside the clusters must deliver to every node for that: R = S (T - B) - u 1', with T the data and B
the net flow along the edges between clusters. S = M (I - J) subtracts the mean over the cluster and
weighs every row by its mass. It is symmetric, so that R can be multiplied from both sides without
being formed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from convexhc._types import FloatArray, Labels
from convexhc.model.metric import averaging_matrix
from convexhc.model.problem import FusionProblem

# Columns of a sketch: relative norms are then off by about a tenth.
SKETCH_COLUMNS = 64
# Number of columns, or of overloaded edges, up to which one solve for each is cheap.
FEW_COLUMNS = 4 * SKETCH_COLUMNS
# Fewest columns of a dense block: enough for triangular solves to pay.
_MIN_COLUMNS = 128
# Entries that a block may have beyond that; smaller demands are kept in memory.
_BLOCK_ENTRIES = 100_000


def column_blocks(n_columns: int, n_rows: int) -> Iterator[slice]:
    """Cut the columns of a matrix into blocks that are held in memory one at a time."""
    width = column_width(n_rows)
    for first in range(0, n_columns, width):
        yield slice(first, first + width)


def column_width(n_rows: int) -> int:
    """Columns of such a block."""
    return max(_MIN_COLUMNS, _BLOCK_ENTRIES // n_rows)


@dataclass(frozen=True, eq=False)
class Demand:
    """R = M (I - J) (T - B) - u 1', one row per node."""

    target: csr_array | FloatArray  # T, (N, m)
    # (N, E_c) and (E_c, m): B = between @ dual, the net flow along the edges between clusters.
    between: csr_array
    dual: FloatArray
    mean: csr_array  # (c, N): weighted means over clusters, J = mean[labels]
    labels: Labels  # (N,): cluster of every node
    # (N,): diagonal of M, the number of nodes that every row stands for; None if it is one. Rows
    # with masses have no flow between clusters.
    mass: FloatArray | None
    # (N,): u, the mean of every row of M (I - J) (T - B) if row sums are constrained: the
    # multiplier of that constraint takes care of it. Zero otherwise.
    offset: FloatArray

    @classmethod
    def of(
        cls,
        problem: FusionProblem,
        labels: Labels,
        between: csr_array | None = None,
        dual: FloatArray | None = None,
    ) -> Demand:
        """Demand inside the clusters of ``labels``; B = 0 by default. O(N + E + E_c m)."""
        (n, m), mass = problem.shape, problem.fidelity.metric.mass
        demand = cls(
            problem.fidelity.operand,
            csr_array((n, 0)) if between is None else between,
            np.zeros((0, m)) if dual is None else dual,
            averaging_matrix(labels, mass),
            labels,
            mass,
            np.zeros(n),
        )
        if not problem.constraint.unit_row_sums:
            return demand
        return replace(demand, offset=demand.times(np.ones((m, 1)))[:, 0] / m)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.target.shape[1])

    @property
    def is_wide(self) -> bool:
        """Whether there are so many columns that a search needs a sketch."""
        return self.n_columns > FEW_COLUMNS

    def columns(self, block: slice) -> FloatArray:
        """Dense columns of R; a small R is formed once, since a search reads it often."""
        small = self.labels.size * self.n_columns <= _BLOCK_ENTRIES
        return self._all_columns[:, block] if small else self._form(block)

    def blocks(self, n_rows: int) -> Iterator[FloatArray]:
        """All columns of R, in blocks of which ``n_rows`` rows are used."""
        return (self.columns(block) for block in column_blocks(self.n_columns, n_rows))

    @cached_property
    def _all_columns(self) -> FloatArray:
        return self._form(slice(None))

    def _form(self, block: slice) -> FloatArray:
        T = self.target[:, block]
        T = T if isinstance(T, np.ndarray) else T.toarray()
        return self._deviation(T - self.between @ self.dual[:, block]) - self.offset[:, None]

    def times(self, G: FloatArray) -> FloatArray:
        """R G, without forming R. O((nnz(T) + N) k + E_c m) for k columns of G."""
        product = self._deviation(self.target @ G - self.between @ (self.dual @ G))
        return np.asarray(product - np.outer(self.offset, G.sum(axis=0)))

    def left_times(self, V: FloatArray) -> FloatArray:
        """V'R, without forming R; V has one row per node."""
        SV = self._deviation(V)
        out: FloatArray = np.asarray((self.target.T @ SV).T)
        out -= np.asarray(self.between.T @ SV).T @ self.dual
        out -= (V.T @ self.offset)[:, None]
        return out

    def sketch(self, width: int = SKETCH_COLUMNS) -> FloatArray:
        """Random combinations R G of the columns, E[G G'] = I: row norms are kept approximately.

        G is the same for all demands with as many columns.
        """
        G = np.random.default_rng(0).standard_normal((self.n_columns, width))
        return self.times(G / width**0.5)

    def _deviation(self, X: FloatArray) -> FloatArray:
        """S X = M (I - J) X."""
        centered = np.asarray(X - (self.mean @ X)[self.labels])
        return centered if self.mass is None else centered * self.mass[:, None]
