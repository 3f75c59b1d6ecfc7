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

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree

from convexhc.kernels import edges as edge_kernels
from convexhc.kernels.components import components
from convexhc.kernels.edges import Edges
from convexhc.problem import Labels, Problem
from convexhc.solvers.contraction import Contraction
from convexhc.solvers.currents import Currents, Demand
from convexhc.solvers.start import fusion_of

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

# Conductances are changed so often at the most, by this power of the load, idle edges counting as
# loaded so much; a load that has not fallen by this share in two rounds will not fall below one.
_ROUNDS, _POWER, _IDLE, _STALLED = 12, 0.5, 0.2, 0.98
# How far round-off may leave a ball.
_ROUND_OFF = 1e-9
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
    demand = Demand.of(problem, contraction, dual)
    waiting = np.ones(int(labels.max()) + 1, np.bool_)
    cut = np.zeros(graph.n_edges, np.bool_)
    conductance = np.square(graph.weight)
    worst: list[Array] = []
    for _ in range(_ROUNDS):
        at = inside[waiting[labels[graph.tail[inside]]]]
        nodes = np.flatnonzero(waiting[labels])
        load = Currents(problem, demand, at, conductance[at], nodes).load()
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
    system = Currents(problem, demand, at, conductance[at], np.flatnonzero(torn[labels]))
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
    some = Edges(edges.tail[at], edges.head[at], edges.soft[at], edges.block[at])
    edge_kernels.project_dual(fitted, some)
    rows, ends = np.unique(np.concatenate([some.tail, some.head]), return_inverse=True)
    lacking = np.zeros((rows.size, flow.shape[1]))
    np.add.at(lacking, ends[: at.size], flow - fitted)
    np.add.at(lacking, ends[at.size :], fitted - flow)
    return float((lacking.max(axis=1) - lacking.min(axis=1)).sum())


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
