"""The flow of least energy inside clusters: what it has to bring, and one Laplacian system.

Under conductances c_e the flow Y_e = c_e (X_i - X_j) with L_c X = R brings R to the nodes, and
among all that do it has the least sum_e |Y_e|^2 / c_e. Its columns are solved for a block at a
time, and of each block only measures are kept. Conductances further apart than numbers have digits
are taken apart into layers, with one system each.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from convexhc._types import FloatArray, IntArray, Labels
from convexhc.fusion.contraction import Contraction
from convexhc.kernels import flows as flow_kernels
from convexhc.kernels.edges import Edges
from convexhc.kernels.flows import Net, Tally
from convexhc.model.factorization import Factor
from convexhc.model.problem import FusionProblem
from convexhc.model.weighted_laplacian import Layer

Pointer = NDArray[np.int32]

# Columns of a flow held in memory together.
_COLUMNS = 128
# Or as many columns as make up this number of entries, if that is more.
_ENTRIES = 100_000
# Relative round-off that counts as zero.
_ROUND_OFF = 1e-9


class Columns(Protocol):
    """A matrix with one row a node, a few columns of which can be had at a time."""

    @property
    def width(self) -> int:
        """Number of columns."""

    def columns(self, block: slice) -> FloatArray:
        """Some of them."""


class Rows(Columns, Protocol):
    """One that can be multiplied from the left, too."""

    def under(self, V: FloatArray) -> FloatArray:
        """V' times the matrix, V having one row a node."""


@dataclass(frozen=True, eq=False)
class Demand:
    """What the flow must bring to every row: R = (I - J)(T - B), B the pull of the edges between.

    Parameters
    ----------
    target : (N, m) csr_array or ndarray
        T.
    dual : (E_c, m) ndarray
        Dual between the clusters.
    between : (N, E_c) csr_array
        Takes it to the nodes: B = between @ dual.
    mean : (c, N) csr_array
        Means over clusters, J = mean[labels].
    labels : (N,) ndarray of int
        Cluster of every node.
    shift : (N,) ndarray
        Mean of every row of R, which a fixed row sum makes free and which is left out.
    """

    target: csr_array | FloatArray
    dual: FloatArray
    between: csr_array
    mean: csr_array
    labels: Labels
    shift: FloatArray

    @classmethod
    def of(cls, problem: FusionProblem, contraction: Contraction, dual: FloatArray) -> Demand:
        """What the dual of a contracted solution leaves to the flow. O(N + E + E_c m)."""
        n, m = problem.shape
        target, shift = problem.fidelity.operand, np.zeros(n)
        demand = cls(target, dual, contraction.between, contraction.mean, contraction.labels, shift)
        if problem.constraint.row_sums:
            shift[:] = demand.times(np.ones((m, 1)))[:, 0] / m
        return demand

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(self.target.shape[1])

    def columns(self, block: slice) -> FloatArray:
        """Some columns of R; all are kept if they are few, since a search asks for them often."""
        small = self.labels.size * self.width <= _ENTRIES
        return self._every[:, block] if small else self._made(block)

    @cached_property
    def _every(self) -> FloatArray:
        return self._made(slice(None))

    def _made(self, block: slice) -> FloatArray:
        T = self.target[:, block]
        T = T if isinstance(T, np.ndarray) else T.toarray()
        return self._centered(T - self.between @ self.dual[:, block]) - self.shift[:, None]

    def times(self, G: FloatArray) -> FloatArray:
        """R G, without making R. O((nnz(T) + N) columns of G + E_c m)."""
        centered = self._centered(self.target @ G - self.between @ (self.dual @ G))
        return np.asarray(centered - np.outer(self.shift, G.sum(axis=0)))

    def under(self, V: FloatArray) -> FloatArray:
        """V'R, without making R: V has one row a node."""
        centered = self._centered(V)
        out: FloatArray = np.asarray((self.target.T @ centered).T)
        out -= np.asarray(self.between.T @ centered).T @ self.dual
        out -= (V.T @ self.shift)[:, None]
        return out

    def _centered(self, X: FloatArray) -> FloatArray:
        return np.asarray(X - (self.mean @ X)[self.labels])


@dataclass(frozen=True, eq=False)
class Sketch:
    """Random mixtures of the columns of a demand: sizes of rows are kept, up to some per cent.

    Parameters
    ----------
    values : (N, s) ndarray
        R G for a random G with E[G G'] = I.
    """

    values: FloatArray

    @classmethod
    def of(cls, demand: Demand, width: int) -> Sketch:
        """A mixture of so many columns, the same for every demand of that size."""
        G = np.random.default_rng(0).standard_normal((demand.width, width))
        return cls(demand.times(G / width**0.5))

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(self.values.shape[1])

    def columns(self, block: slice) -> FloatArray:
        """Some of them."""
        return self.values[:, block]


class _Grounded(NamedTuple):
    """Where the entries of a Laplacian stand, by columns, whatever the conductances.

    One grounded node a cluster makes it definite and leaves flows what they were. ``order`` takes
    entries along the edges, back, and on the diagonal to their places.
    """

    tail: IntArray
    head: IntArray
    first: IntArray
    order: IntArray
    row: Pointer
    start: Pointer

    @classmethod
    def of(cls, edges: Edges, nodes: Labels, labels: Labels) -> _Grounded:
        """For edges among some nodes, which are numbered anew."""
        place, n = np.full(labels.size, -1), nodes.size
        place[nodes] = np.arange(n)
        tail, head = place[edges.tail], place[edges.head]
        row = np.concatenate([tail, head, np.arange(n)])
        column = np.concatenate([head, tail, np.arange(n)])
        # Every place holds the number of its entry.
        numbers = csc_array((np.arange(1.0, row.size + 1.0), (row, column)), shape=(n, n))
        order = numbers.data.astype(np.int64) - 1
        first = np.unique(labels[nodes], return_index=True)[1]
        return cls(tail, head, first, order, numbers.indices, numbers.indptr)

    def laplacian(self, conductance: FloatArray) -> csc_array:
        """The matrix."""
        n = self.start.size - 1
        degree = np.bincount(self.tail, conductance, n) + np.bincount(self.head, conductance, n)
        degree[self.first] += np.maximum(degree[self.first], 1e-300)
        value = np.concatenate([-conductance, -conductance, degree])[self.order]
        return csc_array((value, self.row, self.start), shape=(n, n))


class Currents:
    """The flows of least energy along some edges, which hold every cluster of ``nodes`` together.

    Parameters
    ----------
    edges : Edges
        Ends and dual balls of the edges, all inside clusters.
    conductance : ndarray
        Of those edges, above zero.
    nodes : ndarray of int
        All nodes of the clusters concerned.
    labels : (N,) ndarray of int
        Cluster of every node.

    Notes
    -----
    One sparse factorisation; then a triangular solve a column, every time it is asked for a flow.
    """

    def __init__(
        self, edges: Edges, conductance: FloatArray, nodes: Labels, labels: Labels
    ) -> None:
        self._among, self.n = nodes, labels.size
        self._grounded = _Grounded.of(edges, nodes, labels)
        self._factorise(edges, conductance)

    def _factorise(self, edges: Edges, conductance: FloatArray) -> None:
        self.edges, self.conductance = edges, conductance
        self.factor = Factor(self._grounded.laplacian(conductance))
        # From here on in the order of the elimination.
        place = self.factor.place
        self.nodes = self._among[self.factor.rows]
        self.tail, self.head = place[self._grounded.tail], place[self._grounded.head]

    def within(self, edges: Edges) -> Currents:
        """The same flows along the same edges, in other dual balls. O(1)."""
        other = copy(self)
        other.edges = edges
        return other

    def under(self, edges: Edges, conductance: FloatArray) -> Currents:
        """Flows along the same edges, under other conductances. One factorisation."""
        other = copy(self)
        other.__dict__.pop("_seen", None)
        other._factorise(edges, conductance)
        return other

    @cached_property
    def _seen(self) -> tuple[IntArray, IntArray, IntArray]:
        """Edges by nodes: where those of a node begin, other ends, numbers."""
        ends = np.concatenate([self.tail, self.head])
        other = np.concatenate([self.head, self.tail])
        number = np.tile(np.arange(self.tail.size), 2)
        order = np.argsort(ends, kind="stable")
        start = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=self.nodes.size))])
        return start, other[order], number[order]

    def loads(self, demand: Columns, stretch: float = 1.0) -> tuple[FloatArray, FloatArray, float]:
        """How full the balls are of the flow, and of the flow stretched; full is one.

        Also what round-off keeps the flow from bringing: the largest entry that every node lacks,
        added up, or zero below the round-off of the demand itself. Nothing is stored.
        """
        start, other, edge = self._seen
        soft, block = self.edges.soft, self.edges.block
        net = Net(start, other, edge, self.conductance[edge], soft)
        out = Tally(*np.zeros((3, self.tail.size)), *np.zeros((2, self.nodes.size)))
        for R, X in self._potentials(demand):
            flow_kernels.tally(X, R, net, stretch, out)
        leak = float(out.lacking.sum())
        return (
            fullness(out.excess, out.most, soft, block),
            fullness(out.further, out.most, soft / stretch, block / stretch),
            leak if leak > _ROUND_OFF * float(out.wanted.sum()) else 0.0,
        )

    def size(self, demand: Columns) -> FloatArray:
        """Euclidean norm of the flow along every edge over the radius of its ball."""
        squares, radius = np.zeros(self.tail.size), self.edges.soft + self.edges.block
        for _, X in self._potentials(demand):
            flow_kernels.add_squares(X, self.tail, self.head, self.conductance, squares)
        norm = np.sqrt(squares)
        return np.divide(norm, radius, out=np.zeros_like(norm), where=radius > 0.0)

    def flow(self, demand: Rows, chosen: IntArray) -> FloatArray:
        """The flow along some of the edges: a triangular solve an edge, none a column."""
        edge, ends = np.arange(chosen.size), (self.tail[chosen], self.head[chosen])
        V = np.zeros((self.nodes.size, chosen.size))
        V[ends[0], edge] = self.conductance[chosen]
        V[ends[1], edge] = -self.conductance[chosen]
        self.factor.solve(V)
        everywhere = np.zeros((self.n, chosen.size))
        everywhere[self.nodes] = V
        return demand.under(everywhere)

    def _potentials(self, demand: Columns) -> Iterator[tuple[FloatArray, FloatArray]]:
        """R and X with L X = R, a block of columns of the demand at a time."""
        together = max(_COLUMNS, _ENTRIES // self.nodes.size)
        for first in range(0, demand.width, together):
            block = slice(first, min(first + together, demand.width))
            R = np.ascontiguousarray(demand.columns(block)[self.nodes])
            X = R.copy()
            self.factor.solve(X)
            yield R, X


class Cascade:
    """The flows of least energy under conductances that may differ by any factor.

    Weak edges bring what whole pieces must have, stronger ones what is then left inside of these:
    the flow of least energy where there is but one layer, and its limit where there are more. What
    it brings is what it should, in any case.

    Parameters
    ----------
    edges : Edges
        Ends and dual balls of the edges.
    conductance : ndarray
        Of those edges, above zero.
    n : int
        Number of nodes. What is asked for adds up to zero over every component.
    """

    def __init__(self, edges: Edges, conductance: FloatArray, n: int) -> None:
        self.edges, self.n = edges, n
        self.layers = Layer.all_of(n, np.stack([edges.tail, edges.head]), conductance)

    def carry(self, demand: FloatArray, *, factored: bool = True) -> FloatArray:
        """The whole flow that brings some (N, m) demand, one row an edge.

        Without factors, which fill up on most graphs, by conjugate gradients.
        """
        flow = np.empty((self.edges.tail.size, demand.shape[1]))
        for layer, X in self._potentials(demand, factored):
            flow[layer.at] = layer.flow(X)
        return flow

    def size(self, demand: Columns) -> FloatArray:
        """Euclidean norm of the flow along every edge over the radius of its ball."""
        squares, radius = np.zeros(self.edges.tail.size), self.edges.soft + self.edges.block
        together = max(_COLUMNS, _ENTRIES // self.n)
        for first in range(0, demand.width, together):
            block = slice(first, min(first + together, demand.width))
            for layer, X in self._potentials(demand.columns(block), factored=True):
                some, (tail, head) = np.zeros(layer.at.size), layer.between
                flow_kernels.add_squares(X, tail, head, layer.conductance, some)
                squares[layer.at] += some
        norm = np.sqrt(squares)
        return np.divide(norm, radius, out=np.zeros_like(norm), where=radius > 0.0)

    def flow(self, demand: Rows, chosen: IntArray) -> FloatArray:
        """The flow along some of the edges: a triangular solve an edge, none a column."""
        number, V = np.full(self.edges.tail.size, -1), np.zeros((self.n, chosen.size))
        number[chosen] = np.arange(chosen.size)
        for layer in self.layers:
            R = np.zeros((layer.gather.shape[0], chosen.size))
            if layer is not self.layers[0]:
                R -= layer.pull.T @ V
            here = np.flatnonzero(number[layer.at] >= 0)
            edge, (tail, head) = number[layer.at[here]], layer.between[:, here]
            R[tail, edge] += layer.conductance[here]
            R[head, edge] -= layer.conductance[here]
            V += layer.potentials(R)[layer.piece]
        return demand.under(V)

    def _potentials(self, demand: FloatArray, factored: bool) -> Iterator[tuple[Layer, FloatArray]]:
        """Every layer, the weakest first, and the potentials of its pieces."""
        for layer in reversed(self.layers):
            X = layer.potentials(np.asarray(layer.gather @ demand), factored=factored)
            yield layer, X
            if layer is not self.layers[0]:
                demand = demand - layer.pull @ X


def fullness(
    excess: FloatArray, most: FloatArray, soft: FloatArray, block: FloatArray
) -> FloatArray:
    """How full a ball is, from sum_k max(|y_k| - soft, 0)^2 and the largest |y_k|; full is one."""
    # Without the Euclidean part of the ball, only the largest entry counts.
    radius, norm = soft + block, np.sqrt(excess)
    largest = np.divide(most, radius, out=np.zeros_like(most), where=radius > 0.0)
    round_ = np.divide(norm, block, out=np.zeros_like(norm), where=block > 0.0)
    return np.maximum(round_, largest)
