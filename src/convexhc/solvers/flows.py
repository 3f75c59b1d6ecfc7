"""Whether fused clusters may stay fused: a flow inside each of them, within the dual balls.

Inside a cluster the centroids are equal, so any dual in the balls of its edges is allowed there.
The contracted solution is a solution of the full problem as soon as that dual makes the rows of the
gradient equal inside every cluster (up to a constant a row, where rows have a fixed sum): the
potentials that prove the gap of the contracted problem then prove the same gap of the full one. So
what has to be found is a flow, one for every column, that carries the excess of every row over the
mean of its cluster along the edges of the cluster.

The flow of least energy under given conductances is one Laplacian system. Where an edge is asked
for more than its ball holds, its conductance falls and that of idle edges rises, and the flow finds
other ways; where there are none left, the edges asked for too much are a cut of the cluster.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.sparse.linalg import splu

from convexhc.kernels import edges as edge_kernels
from convexhc.kernels import flows as flow_kernels
from convexhc.kernels.components import components
from convexhc.kernels.edges import Edges
from convexhc.problem import Labels, Problem
from convexhc.solvers.contraction import Contraction
from convexhc.solvers.start import fusion_of
from convexhc.terms.metric import averaging

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

# Conductances are changed so often at the most, by this power of the load, idle edges counting as
# loaded so much; a load that has not fallen by this share in two rounds will not fall below one.
_ROUNDS, _POWER, _IDLE, _STALLED = 12, 0.5, 0.2, 0.98
# Columns of a flow that are held in memory together, and how far round-off may leave a ball.
_COLUMNS, _ROUND_OFF = 256, 1e-9
# Edges too full, at the most, whose flow is cut down instead of parting their cluster.
_PAYABLE = 500


class Parting(NamedTuple):
    """Finer groups, and the edges between them that ran inside the old ones, with their flow."""

    groups: Labels
    edges: NDArray[np.int64]
    flow: Array


def parted(
    problem: Problem, contraction: Contraction, dual: Array, *, spare: float = 0.0
) -> tuple[Parting | None, float]:
    """Where clusters of a contraction come apart; None if a flow holds all of them together.

    Parameters
    ----------
    problem : Problem
        The full problem.
    contraction : Contraction
        Its contraction.
    dual : (E_c, m) ndarray
        Dual of the contracted solution.
    spare : float
        By how much the gap may grow: flows a little too large are cut down to their balls, and what
        the rows then lack is paid for.

    Returns
    -------
    parting : Parting or None
        None proves that the certificate of the contracted solution holds for the full problem, with
        ``price`` added to its gap. The flow of a parting is where to start from: it is larger than
        the balls of its edges.
    price : float
        At most ``spare``; zero if every flow fits.

    Notes
    -----
    A sparse factorisation and m solves a round, O(N) memory a column, a few columns at a time.
    """
    labels = contraction.labels
    graph = fusion_of(problem).differences.graph
    inside = np.flatnonzero(labels[graph.tail] == labels[graph.head])
    if inside.size == 0:
        return None, 0.0
    demand = _Demand.of(problem, contraction, dual)
    waiting = np.ones(int(labels.max()) + 1, np.bool_)
    cut = np.zeros(graph.n_edges, np.bool_)
    conductance = np.square(graph.weight)
    worst: list[Array] = []
    for _ in range(_ROUNDS):
        at = inside[waiting[labels[graph.tail[inside]]]]
        nodes = np.flatnonzero(waiting[labels])
        load = _System(problem, demand, at, conductance[at], nodes).load()
        heaviest = np.zeros(waiting.size)
        np.maximum.at(heaviest, labels[graph.tail[at]], load)
        waiting = heaviest > 1.0 + _ROUND_OFF
        if not waiting.any():
            break
        worst.append(heaviest)
        if len(worst) > 2:
            hopeless = waiting & (heaviest > _STALLED * worst[-3])
            cut[at[_cuts(labels, graph.tail[at], graph.head[at], load, hopeless)]] = True
            waiting &= ~hopeless
            if not waiting.any():
                break
        conductance[at] /= np.maximum(load, _IDLE) ** _POWER
    else:
        cut[at[_cuts(labels, graph.tail[at], graph.head[at], load, waiting)]] = True
    if not cut.any():
        return None, 0.0
    whole = np.zeros(graph.n_edges, np.bool_)
    whole[inside] = True
    finer = components(graph.n, graph.tail, graph.head, whole & ~cut)
    torn = np.zeros(waiting.size, np.bool_)
    torn[labels[graph.tail[cut]]] = True
    at = inside[torn[labels[graph.tail[inside]]]]
    apart = finer[graph.tail[at]] != finer[graph.head[at]]
    system = _System(problem, demand, at, conductance[at], np.flatnonzero(torn[labels]))
    # Conductances may have changed since a cluster was given up: measured anew, under those of the
    # very flow that is paid for.
    over = system.load() > 1.0
    if np.count_nonzero(over) <= _PAYABLE:
        price = _price(problem, at[over], system.flow(over))
        if price <= spare:
            return None, price
    return Parting(finer, at[apart], system.flow(apart)), 0.0


def _price(problem: Problem, at: NDArray[np.int64], flow: Array) -> float:
    """By how much the gap grows when the flow along some edges is cut down to their balls.

    A row whose gradient is off by r lowers its potential by at most -min r and its cost by <r, C>.
    """
    edges = fusion_of(problem).edges
    fitted = flow.copy()
    some = Edges(
        edges.tail[at], edges.head[at], edges.soft[at], edges.block[at], edges.stiffness[at]
    )
    edge_kernels.project_dual(fitted, some)
    rows, ends = np.unique(np.concatenate([some.tail, some.head]), return_inverse=True)
    lacking = np.zeros((rows.size, flow.shape[1]))
    np.add.at(lacking, ends[: at.size], flow - fitted)
    np.add.at(lacking, ends[at.size :], fitted - flow)
    return float((lacking.max(axis=1) - lacking.min(axis=1)).sum())


@dataclass(frozen=True, eq=False)
class _Demand:
    """What the flow must bring to every row: (I - J)(T - B), B the pull of the edges between.

    Parameters
    ----------
    problem : Problem
        Whose target T is.
    dual : (E_c, m) ndarray
        Dual between the clusters.
    between : (N, E_c) csr_array
        Takes it to the nodes: B = between @ dual.
    mean : (c, N) csr_array
        Means of clusters.
    shift : (N,) ndarray
        Mean of every row of T - B, which a fixed row sum makes free.
    """

    problem: Problem
    dual: Array
    between: csr_array
    mean: csr_array
    labels: Labels
    shift: Array

    @classmethod
    def of(cls, problem: Problem, contraction: Contraction, dual: Array) -> _Demand:
        graph = fusion_of(problem).differences.graph
        edges = np.arange(graph.n_edges)
        ends = np.concatenate([graph.tail, graph.head])
        sign = np.concatenate([contraction.share, -contraction.share])
        spread = csr_array((sign, (ends, np.tile(edges, 2))), shape=(graph.n, graph.n_edges))
        between = csr_array(spread @ contraction.sums.T)
        demand = cls(
            problem,
            dual,
            between,
            averaging(contraction.labels),
            contraction.labels,
            np.zeros(graph.n),
        )
        if problem.constraint.row_sums:
            m = problem.shape[1]
            demand.shift[:] = sum(demand.columns(block).sum(axis=1) for block in _blocks(m)) / m
        return demand

    def columns(self, block: slice) -> Array:
        """Some columns of the demand, one row a node."""
        T = self.problem.fidelity.target_columns(block) - self.between @ self.dual[:, block]
        T = T - (self.mean @ T)[self.labels]
        return np.asarray(T - self.shift[:, None])


class _System:
    """The Laplacian of some edges under their conductances, over the nodes they touch."""

    def __init__(
        self,
        problem: Problem,
        demand: _Demand,
        at: NDArray[np.int64],
        conductance: Array,
        nodes: Labels,
    ) -> None:
        edges, n = fusion_of(problem).edges, nodes.size
        self.m, self.demand, self.nodes, self.conductance = (
            problem.shape[1],
            demand,
            nodes,
            conductance,
        )
        self.soft, self.block = edges.soft[at], edges.block[at]
        place = np.full(problem.shape[0], -1)
        place[nodes] = np.arange(n)
        self.tail, self.head = place[edges.tail[at]], place[edges.head[at]]
        ends = np.concatenate([self.tail, self.head]), np.concatenate([self.head, self.tail])
        off = csr_array((np.tile(conductance, 2), ends), shape=(n, n))
        # One grounded node a cluster makes the system definite and leaves the flow what it was.
        degree: Array = np.asarray(off.sum(axis=1))
        _, first = np.unique(demand.labels[nodes], return_index=True)
        degree[first] += np.maximum(degree[first], 1e-300)
        diagonal = csr_array((degree, (np.arange(n), np.arange(n))), shape=(n, n))
        self.solve = splu((diagonal - off).tocsc(), permc_spec="MMD_AT_PLUS_A").solve

    def potentials(self) -> Iterator[tuple[slice, Array]]:
        """X with L X = demand, a block of columns at a time."""
        for columns in _blocks(self.m):
            yield (
                columns,
                np.ascontiguousarray(self.solve(self.demand.columns(columns)[self.nodes])),
            )

    def load(self) -> Array:
        """How full the balls of the edges are under the flow of least energy; full is one."""
        excess, most = np.zeros(self.tail.size), np.zeros(self.tail.size)
        for _, X in self.potentials():
            flow_kernels.measure(X, self.tail, self.head, self.conductance, self.soft, excess, most)
        # Without the Euclidean part of the ball, only the largest entry counts.
        radius = self.soft + self.block
        largest = np.divide(most, radius, out=np.zeros_like(most), where=radius > 0.0)
        norm = np.sqrt(excess)
        round_ = np.divide(norm, self.block, out=np.zeros_like(norm), where=self.block > 0.0)
        return np.maximum(round_, largest)

    def flow(self, chosen: Flags) -> Array:
        """The flow of least energy along some of the edges."""
        tail, head = self.tail[chosen], self.head[chosen]
        out = np.empty((tail.size, self.m))
        for columns, X in self.potentials():
            out[:, columns] = self.conductance[chosen, None] * (X[tail] - X[head])
        return out


def _blocks(m: int) -> list[slice]:
    return [slice(k, min(k + _COLUMNS, m)) for k in range(0, m, _COLUMNS)]


def _cuts(labels: Labels, tail: Labels, head: Labels, load: Array, clusters: Flags) -> Flags:
    """Edges to cut so that every one of ``clusters`` falls apart, the most loaded ones.

    Those asked for more than they hold, and, where these leave the cluster in one piece, all with a
    load no less than that of the bottleneck: the largest on the spanning tree of least load.
    """
    n = labels.size
    inverse = csr_array((load + 1e-6, (tail, head)), shape=(n, n))
    tree = minimum_spanning_tree(inverse).tocoo()
    bottleneck = np.zeros(clusters.size)
    np.maximum.at(bottleneck, labels[tree.coords[0]], tree.data - 1e-6)
    threshold = np.minimum(bottleneck, 1.0 + _ROUND_OFF)[labels[tail]]
    return np.asarray(clusters[labels[tail]] & (load >= threshold * (1.0 - _ROUND_OFF)))
