"""Electrical flows: the flow of least energy that meets a demand, from Laplacian systems.

Under conductances c_e the flow Y_e = c_e (X_i - X_j) with L_c X = R meets the demand R, and among
all flows that do it minimises the energy sum_e |Y_e|^2 / c_e. Columns are solved in blocks, and
only norms of each block are kept. Conductances that differ by more than double precision resolves
are split into layers with one system each.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from functools import cached_property

import numpy as np
from scipy.sparse import csc_array

from convexhc._types import FloatArray, IntArray, Labels
from convexhc.fusion.demand import Demand
from convexhc.kernels import flows as flow_kernels
from convexhc.kernels.edges import Edges
from convexhc.kernels.flows import Net, Tally
from convexhc.model.factorization import Factor
from convexhc.model.weighted_laplacian import Layer

# Relative error of a flow or of its load that counts as round-off.
ROUND_OFF = 1e-9


class ElectricalFlow:
    """Flow of least energy along edges that connect every cluster of ``nodes``.

    Parameters
    ----------
    edges : Edges
        Ends and dual balls of the edges, all inside clusters.
    conductance : ndarray
        Conductance of every edge, positive.
    nodes : ndarray of int
        All nodes of these clusters.
    labels : (N,) ndarray of int
        Cluster of every node.

    Notes
    -----
    One sparse factorisation; then one triangular solve per column for every call.
    """

    def __init__(
        self, edges: Edges, conductance: FloatArray, nodes: Labels, labels: Labels
    ) -> None:
        position = np.full(labels.size, -1)
        position[nodes] = np.arange(nodes.size)
        self._ends = position[edges.tail], position[edges.head]
        # One grounded node per cluster makes the Laplacian definite and does not change flows.
        self._grounded = np.unique(labels[nodes], return_index=True)[1]
        self._all_nodes, self.n = nodes, labels.size
        self._factorise(edges, conductance)

    def _factorise(self, edges: Edges, conductance: FloatArray) -> None:
        self.edges, self.conductance = edges, conductance
        (tail, head), n = self._ends, self._all_nodes.size
        degree = np.bincount(tail, conductance, n) + np.bincount(head, conductance, n)
        degree[self._grounded] += np.maximum(degree[self._grounded], 1e-300)
        value = np.concatenate([-conductance, -conductance, degree])
        rows = np.concatenate([tail, head, np.arange(n)])
        columns = np.concatenate([head, tail, np.arange(n)])
        self.factor = Factor(csc_array((value, (rows, columns)), shape=(n, n)))
        # Nodes are in the order of elimination from here on.
        self.nodes = self._all_nodes[self.factor.rows]
        self.tail, self.head = self.factor.place[tail], self.factor.place[head]

    def with_balls(self, edges: Edges) -> ElectricalFlow:
        """The same flow along the same edges, with other dual balls. O(1)."""
        other = copy(self)
        other.edges = edges
        return other

    def with_conductance(self, edges: Edges, conductance: FloatArray) -> ElectricalFlow:
        """Flow along the same edges under other conductances. One factorisation."""
        other = copy(self)
        other.__dict__.pop("_adjacency", None)
        other._factorise(edges, conductance)
        return other

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
        self, demand: Demand | FloatArray, stretch: float = 1.0
    ) -> tuple[FloatArray, FloatArray, float]:
        """Loads of the flow, loads of ``stretch`` times the flow, and the residual of the demand.

        The load of an edge is at most one if and only if its flow is in the dual ball. The residual
        is the sum over nodes of the largest entry that the computed flow fails to deliver; zero if
        it is round-off of the demand. The flow is not stored.
        """
        start, neighbor, number = self._adjacency
        soft, block = self.edges.soft, self.edges.block
        net = Net(start, neighbor, number, self.conductance[number], soft)
        out = Tally(*np.zeros((3, self.tail.size)), *np.zeros((2, self.nodes.size)))
        for R, X in self._potentials(demand):
            flow_kernels.tally(X, R, net, stretch, out)
        residual = float(out.lacking.sum())
        return (
            ball_loads(out.excess, out.most, soft, block),
            ball_loads(out.further, out.most, soft / stretch, block / stretch),
            residual if residual > ROUND_OFF * float(out.wanted.sum()) else 0.0,
        )

    def relative_norms(self, demand: Demand | FloatArray) -> FloatArray:
        """Euclidean norm of the flow along every edge over the radius of its ball."""
        squares = np.zeros(self.tail.size)
        for _, X in self._potentials(demand):
            flow_kernels.add_squares(X, self.tail, self.head, self.conductance, squares)
        return _divide(np.sqrt(squares), self.edges.soft + self.edges.block)

    def along(self, demand: Demand, chosen: IntArray) -> FloatArray:
        """Flow along the ``chosen`` edges, one row per edge; one triangular solve per edge."""
        column, c = np.arange(chosen.size), self.conductance[chosen]
        V = np.zeros((self.nodes.size, chosen.size))
        V[self.tail[chosen], column] = c
        V[self.head[chosen], column] = -c
        self.factor.solve(V)
        full = np.zeros((self.n, chosen.size))
        full[self.nodes] = V
        return demand.left_times(full)

    def _potentials(self, demand: Demand | FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
        """R and X with L X = R, one block of columns at a time."""
        blocks = [demand] if isinstance(demand, np.ndarray) else demand.blocks(self.nodes.size)
        for columns in blocks:
            R = np.ascontiguousarray(columns[self.nodes])
            X = R.copy()
            self.factor.solve(X)
            yield R, X


class LayeredFlow:
    """Electrical flow under conductances of any range.

    The weakest edges deliver the net demand of the pieces that stronger edges connect; stronger
    edges deliver the rest inside the pieces. With one layer this is the flow of least energy, with
    several its limit. The demand is met in either case.

    Parameters
    ----------
    edges : Edges
        Ends and dual balls of the edges.
    conductance : ndarray
        Conductance of every edge, positive.
    n : int
        Number of nodes. Demands must sum to zero over every component.
    """

    def __init__(self, edges: Edges, conductance: FloatArray, n: int) -> None:
        self.edges, self.n = edges, n
        self.layers = Layer.all_of(n, np.stack([edges.tail, edges.head]), conductance)

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
