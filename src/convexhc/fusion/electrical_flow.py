"""Electrical flows: the flow of least energy that meets a demand, from Laplacian systems.

Under conductances c_e the flow Y_e = c_e (X_i - X_j) with L_c X = R meets the demand R, and among
all flows that do it minimises the energy sum_e |Y_e|^2 / c_e. Columns are solved in blocks, and
only norms of each block are kept. Conductances that differ by more than double precision resolves
are split into layers with one system each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from convexhc._types import FloatArray, IntArray, Labels
from convexhc.fusion.demand import Demand
from convexhc.fusion.inner_demand import InnerDemand, Product
from convexhc.kernels import flows as flow_kernels
from convexhc.kernels import loads as load_kernels
from convexhc.kernels.edges import Edges
from convexhc.kernels.loads import Net, Tally, empty_tally
from convexhc.model.elimination import DenseFactor, Elimination
from convexhc.model.factorization import SparseFactor
from convexhc.model.weighted_laplacian import Layer

# Relative error of a flow or of its load that counts as round-off.
ROUND_OFF = 1e-9
# Ridge of a Gram matrix relative to its trace: its factor must exist, and only bounds rest on it.
_RIDGE = 1e-12
# Round-off of a leverage, relative.
_SLACK = 1e-3


@dataclass(frozen=True, eq=False)
class ColumnRun:
    """Some columns of a flow, to be solved and measured: a task for a worker.

    ``demand`` has these columns only, and ``net`` the edges of the flow.
    """

    factor: SparseFactor | DenseFactor
    demand: InnerDemand
    net: Net
    stretch: float

    @property
    def work(self) -> int:
        """Numbers that are read: those of the factor and of the edges for every column."""
        return self.demand.near.size * (self.factor.size + self.net.edge.size)

    def tally(self) -> Tally:
        """Solve the columns, a block at a time, and measure the flow."""
        out = empty_tally(self.net.soft.size, self.net.start.size - 1)
        for R in self.demand.blocks():
            X = R.copy()
            self.factor.solve(X)
            load_kernels.tally(X, R, self.net, self.stretch, out)
        return out


class ElectricalFlow:
    """Flow of least energy inside some clusters, each connected by its edges.

    ``at`` are the edges inside these clusters, ``nodes`` all their nodes in the order of their
    elimination, ``cluster`` the cluster of each of these, numbered from zero. One factorisation for
    every change of conductances, in the same order; then one solve per column for every call.
    """

    def __init__(
        self, edges: Edges, at: IntArray, nodes: IntArray, cluster: Labels, conductance: FloatArray
    ) -> None:
        self.at, self.nodes, self.cluster = at, nodes, cluster
        order = np.argsort(nodes)
        self.tail = order[np.searchsorted(nodes, edges.tail[at], sorter=order)]
        self.head = order[np.searchsorted(nodes, edges.head[at], sorter=order)]
        grounded = np.unique(cluster, return_index=True)[1]
        self._elimination = Elimination(nodes.size, self.tail, self.head, grounded)
        self.conductance, self.factor = conductance, self._elimination.factor(conductance)

    def adopt(self, conductance: FloatArray) -> None:
        """Change the conductances: one factorisation, unless they are the same."""
        if not np.array_equal(conductance, self.conductance):
            self.conductance = conductance
            self.factor = self._elimination.factor(conductance)

    @cached_property
    def _adjacency(self) -> tuple[IntArray, IntArray, IntArray]:
        """Edges by node in CSR form: row pointers, neighbours and edge numbers."""
        ends = np.concatenate([self.tail, self.head])
        neighbor = np.concatenate([self.head, self.tail])
        number = np.tile(np.arange(self.tail.size), 2)
        order = np.argsort(ends, kind="stable")
        start = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=self.nodes.size))])
        return start, neighbor[order], number[order]

    def loads(
        self, demand: InnerDemand, edges: Edges, stretch: float = 1.0
    ) -> tuple[FloatArray, FloatArray, float]:
        """Loads of the flow, loads of ``stretch`` times the flow, and the residual of the demand.

        The load of an edge is at most one if and only if its flow is in the dual ball. The residual
        is at least the sum over nodes of the largest entry that the computed flow fails to deliver;
        zero if it is round-off of the demand. The flow is not stored.
        """
        tallies = [each.tally() for each in self.column_runs(demand, edges, stretch)]
        return self.loads_of(demand, edges, stretch, tallies)

    def column_runs(
        self, demand: InnerDemand, edges: Edges, stretch: float = 1.0
    ) -> Iterator[ColumnRun]:
        """The near columns in runs, which can be solved in any order and anywhere."""
        for part in demand.column_runs:
            yield ColumnRun(self.factor, part, self._net(edges), stretch)

    def loads_of(
        self, demand: InnerDemand, edges: Edges, stretch: float, tallies: list[Tally]
    ) -> tuple[FloatArray, FloatArray, float]:
        """`loads`, from the tallies of all runs in their order."""
        net = self._net(edges)
        out = empty_tally(self.at.size, self.nodes.size)
        for tally in tallies:
            out = out.joined(tally)
        if demand.far.columns.size:
            self._tally_far(demand.far, net, stretch, out)
        soft, block = net.soft, edges.block[self.at]
        residual, most = float(out.lacking.sum()), np.where(net.peaked, out.most, 0.0)
        return (
            ball_loads(out.excess, most, soft, block),
            ball_loads(out.further, most, soft / stretch, block / stretch),
            residual if not residual <= ROUND_OFF * float(out.wanted.sum()) else 0.0,
        )

    def _net(self, edges: Edges) -> Net:
        start, neighbor, number = self._adjacency
        soft, peaked = edges.soft[self.at], edges.block[self.at] == 0.0
        return Net(start, neighbor, number, self.conductance[number], soft, peaked)

    def _tally_far(self, far: Product, net: Net, stretch: float, out: Tally) -> None:
        """Add the far columns: the flow Z W' has few distinct directions.

        By Cauchy and Schwarz |Z_e W_k'| <= |Z_e C| |C^-1 W_k| for every invertible C. With C C' the
        Gram matrix of W, the first factor is the norm of the flow and the second the leverage of
        the column.
        """
        X = far.V.copy()
        self.factor.solve(X)
        Z = self._flow(X)
        lacking = far.V - self._delivered(Z)
        out.lacking[:] = np.maximum(out.lacking, np.abs(lacking) @ np.abs(far.W).max(axis=0))
        gram = far.W.T @ far.W
        gram[np.diag_indices_from(gram)] += _RIDGE * np.trace(gram)
        C = np.linalg.cholesky(gram)
        row_norm = np.linalg.norm(Z @ C, axis=1)
        leverage = np.linalg.norm(np.linalg.solve(C, far.W.T), axis=0) * (1.0 + _SLACK)
        order = np.argsort(-leverage, kind="stable")
        if not np.isfinite(row_norm).all():
            for found in (out.excess, out.further, out.most, out.lacking):
                found[:] = np.inf
            return
        load_kernels.tally_product(
            Z, far.W[order], row_norm, leverage[order], net.soft, stretch, out
        )

    def relative_norms(self, R: FloatArray, edges: Edges) -> FloatArray:
        """Norm of the flow along every edge over the radius of its ball, R one row per node."""
        X, squares = R.copy(), np.zeros(self.at.size)
        self.factor.solve(X)
        flow_kernels.add_squares(X, self.tail, self.head, self.conductance, squares)
        return _divide(np.sqrt(squares), edges.soft[self.at] + edges.block[self.at])

    def along(self, demand: InnerDemand, chosen: IntArray) -> FloatArray:
        """Flow along the ``chosen`` edges, one row per edge; two solves per edge."""
        return self.sums(demand, chosen, np.arange(chosen.size), np.ones(chosen.size))

    def sums(
        self, demand: InnerDemand, chosen: IntArray, row: IntArray, sign: FloatArray
    ) -> FloatArray:
        """Signed sums of the flow along the ``chosen`` edges, by ``row``; two solves per row.

        The second corrects the first: differences of nearby potentials are exact, so the residual
        is accurate even where conductances differ by many orders of magnitude.
        """
        c = sign * self.conductance[chosen]
        source = np.zeros((self.nodes.size, int(row.max(initial=-1)) + 1))
        np.add.at(source, (self.tail[chosen], row), c)
        np.add.at(source, (self.head[chosen], row), -c)
        V = source.copy()
        self.factor.solve(V)
        residual = source - flow_kernels.delivered(V, self.tail, self.head, self.conductance)
        residual[self._elimination.grounded] -= (
            self._elimination.ground(self.conductance)[:, None] * V[self._elimination.grounded]
        )
        self.factor.solve(residual)
        return demand.left_times(V + residual)

    def formed(self, R: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Flow that meets the demand R, one row per edge, and what it leaves of R."""
        X = R.copy()
        self.factor.solve(X)
        Y = self._flow(X)
        return Y, R - self._delivered(Y)

    def _flow(self, X: FloatArray) -> FloatArray:
        """Flow of potentials, one row per edge."""
        return np.asarray(self.conductance[:, None] * (X[self.tail] - X[self.head]))

    def _delivered(self, Y: FloatArray) -> FloatArray:
        """What a flow delivers to every node."""
        return np.asarray(self._incidence @ Y)

    @cached_property
    def _incidence(self) -> csr_array:
        """D': +1 at the tail and -1 at the head of every edge."""
        sign = np.repeat([1.0, -1.0], self.at.size)
        ends = np.concatenate([self.tail, self.head]), np.tile(np.arange(self.at.size), 2)
        return csr_array((sign, ends), shape=(self.nodes.size, self.at.size))


class LayeredFlow:
    """Electrical flow under conductances of any range.

    The weakest edges deliver the net demand of the pieces that stronger edges connect; stronger
    edges deliver the rest inside the pieces. With one layer this is the flow of least energy, with
    several its limit. The demand is met in either case; it must sum to zero over every component of
    the ``n`` nodes, which may be ``ordered`` for little fill.
    """

    def __init__(
        self, edges: Edges, conductance: FloatArray, n: int, *, ordered: bool = False
    ) -> None:
        self.edges, self.n = edges, n
        ends = np.stack([edges.tail, edges.head])
        self.layers = Layer.all_of(n, ends, conductance, ordered=ordered)

    def flow(self, demand: FloatArray, *, factored: bool = True) -> FloatArray:
        """Flow along all edges that meets an (N, m) demand, one row per edge.

        By sparse factors, or by conjugate gradients where factors would fill in.
        """
        flow = np.empty((self.edges.tail.size, demand.shape[1]))
        for layer, X in self._potentials(demand, factored):
            flow[layer.at] = layer.flow(X)
        return flow

    def relative_norms(self, demand: Demand) -> FloatArray:
        """Euclidean norm of the flow along every edge over the radius of its ball."""
        squares = np.zeros(self.edges.tail.size)
        for columns in demand.blocks(self.n):
            for layer, X in self._potentials(columns, factored=True):
                of_layer, (tail, head) = np.zeros(layer.at.size), layer.between
                flow_kernels.add_squares(X, tail, head, layer.conductance, of_layer)
                squares[layer.at] += of_layer
        return _divide(np.sqrt(squares), self.edges.soft + self.edges.block)

    def along(self, demand: Demand, chosen: IntArray) -> FloatArray:
        """Flow along the ``chosen`` edges, one row per edge; one triangular solve per edge."""
        number, V = np.full(self.edges.tail.size, -1), np.zeros((self.n, chosen.size))
        number[chosen] = np.arange(chosen.size)
        for layer in self.layers:
            R = np.zeros((layer.gather.shape[0], chosen.size))
            if layer is not self.layers[0]:
                R -= layer.pull.T @ V
            here = np.flatnonzero(number[layer.at] >= 0)
            column, (tail, head) = number[layer.at[here]], layer.between[:, here]
            R[tail, column] += layer.conductance[here]
            R[head, column] -= layer.conductance[here]
            V += layer.potentials(R)[layer.piece]
        return demand.left_times(V)

    def _potentials(self, demand: FloatArray, factored: bool) -> Iterator[tuple[Layer, FloatArray]]:
        """Layers and potentials of their pieces, the weakest layer first."""
        for layer in reversed(self.layers):
            X = layer.potentials(np.asarray(layer.gather @ demand), factored=factored)
            yield layer, X
            if layer is not self.layers[0]:
                demand = demand - layer.pull @ X


def ball_loads(
    excess: FloatArray, largest: FloatArray, soft: FloatArray, block: FloatArray
) -> FloatArray:
    """Loads of dual balls from sum_k max(|y_k| - soft, 0)^2 and the largest |y_k| of every edge.

    The largest entry alone counts where the ball has no Euclidean part.
    """
    return np.maximum(_divide(np.sqrt(excess), block), _divide(largest, soft + block))


def _divide(a: FloatArray, b: FloatArray) -> FloatArray:
    """Quotient a / b, zero where b is not positive."""
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0.0)
