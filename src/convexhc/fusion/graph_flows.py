"""Whether fused clusters may stay fused: a flow inside each of them, within the dual balls.

Inside a cluster the centroids are equal, so any dual in the balls of its edges is allowed there.
The contracted solution is a solution of the full problem as soon as that dual makes the rows of the
gradient equal inside every cluster (up to a constant a row, where rows have a fixed sum): the
potentials that prove the gap of the contracted problem then prove the same gap of the full one. So
what has to be found is a flow, one for every column, that carries the excess of every row over the
mean of its cluster along the edges of the cluster.

The flow of least energy under given conductances is one Laplacian system. Where an edge is asked
for more than its ball holds, its conductance falls and that of idle edges rises, and the flow finds
other ways; where there are none left, the edges asked for too much are a cut of the cluster. On
many columns this search goes by a sketch of them; what it finds counts only after all columns have
been solved for under the conductances found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree

from convexhc._types import BoolArray, FloatArray, IntArray, Labels
from convexhc.fusion.contraction import Contraction
from convexhc.fusion.electrical_flow import Currents, Demand, Sketch
from convexhc.kernels import flows as flow_kernels
from convexhc.kernels.components import components
from convexhc.kernels.edges import Edges
from convexhc.model.problem import FusionProblem

# Conductance updates per search.
_ROUNDS = 40
# Load at which an idle edge counts in an update.
_IDLE = 0.2
# Conductances stay within this factor of the squared weights.
_RANGE = 1e3
# Least squared weight, as a share of the largest.
_LEAST = 1e-8
# Factor on the exponent of an update when loads grow: damping.
_SHORTER = 0.7
# An excess above this share of the one `_PATIENCE` rounds ago has stalled.
_STALLED = 0.9
# Rounds over which the fall of the excess is measured.
_PATIENCE = 8
# Loads this far above the limit still count as fitting.
_NEARLY = 5e-4
# Columns of the random sketch.
_SKETCH = 64
# Number of columns from which a sketch is used.
_MANY = 256
# How far below one a load must be in the sketch.
_MARGIN = 0.02
# Attempts to verify a flow in all columns.
_TRIALS = 4
# How much further than the flow itself its loads are measured, to read the sketch by.
_STRETCH = 1.5
# How far round-off may leave a ball.
_ROUND_OFF = 1e-9
# Edges too full, at the most, whose flow is cut down instead of parting their cluster.
_PAYABLE = 500


class Parting(NamedTuple):
    """Finer groups, and the edges between them that ran inside the old ones, with their flow."""

    groups: Labels
    edges: IntArray
    flow: FloatArray


class Conductances:
    """What a search for flows has learned, of use to the next one; changed by it in place.

    Conductances, the last system under them, and what load an edge has when the sketch sees a flow
    of some size in it. A ball is the flatter the larger the flow: between a flow that was solved
    for in all columns and the same stretched, the load is taken to grow linearly.

    Parameters
    ----------
    conductance : (E,) ndarray
        Of every edge; squared weights are a good beginning.
    """

    def __init__(self, conductance: FloatArray) -> None:
        self.conductance = conductance.copy()
        self.known = np.zeros(conductance.size, np.bool_)
        self.size, self.load, self.slope = np.ones((3, conductance.size))
        self._last: tuple[IntArray, Labels, Currents] | None = None

    @classmethod
    def of(cls, problem: FusionProblem) -> Conductances:
        """Nothing learned yet."""
        return cls(_first_conductances(problem))

    def copy(self) -> Conductances:
        """The same, to be changed."""
        other = Conductances.unpack(self.pack())
        other._last = self._last
        return other

    def pack(self) -> FloatArray:
        """Everything as one array, five rows."""
        return np.stack([self.conductance, self.known, self.size, self.load, self.slope])

    @classmethod
    def unpack(cls, rows: FloatArray) -> Conductances:
        """What `pack` put together."""
        ways = cls(rows[0])
        ways.known = rows[1] > 0.0
        ways.size, ways.load, ways.slope = (row.copy() for row in rows[2:])
        return ways

    def currents(self, edges: Edges, at: IntArray, nodes: Labels, labels: Labels) -> Currents:
        """The system of the clusters with these nodes and inner edges; the last one, if it is that.

        Where nothing fuses or parts, conductances stay what they are from one lam to the next.
        """
        some, conductance, last = edges.at(at), self.conductance[at], self._last
        if last is None or not (np.array_equal(last[0], at) and np.array_equal(last[1], nodes)):
            system = Currents(some, conductance, nodes, labels)
        elif np.array_equal(last[2].conductance, conductance):
            return last[2].within(some)
        else:
            system = last[2].under(some, conductance)
        self._last = at, nodes, system
        return system

    def learn(self, at: IntArray, size: FloatArray, load: FloatArray, further: FloatArray) -> None:
        """Keep the loads of a flow, and of the same stretched, beside the sizes that are seen."""
        self.known[at] = True
        self.size[at] = np.maximum(size, 1e-300)
        self.load[at], self.slope[at] = load, (further - load) / (_STRETCH - 1.0)

    def read(self, at: IntArray, size: FloatArray) -> FloatArray:
        """Loads at the sizes seen."""
        ratio = size / self.size[at]
        above = self.load[at] + (ratio - 1.0) * self.slope[at]
        return np.asarray(np.where(ratio < 1.0, ratio * self.load[at], above))


def parted(
    problem: FusionProblem,
    contraction: Contraction,
    dual: FloatArray,
    *,
    spare: float = 0.0,
    ways: Conductances | None = None,
) -> tuple[Parting | None, float]:
    """Where clusters of a contraction come apart; None if a flow holds all of them together.

    Parameters
    ----------
    problem : FusionProblem
        The full problem.
    contraction : Contraction
        Its contraction.
    dual : (E_c, m) ndarray
        Dual of the contracted solution.
    spare : float
        By how much the gap may grow: flows a little too large are cut down to their balls, and what
        the rows then lack is paid for.
    ways : Conductances, optional
        Where to start the search from; changed in place to where it ended.

    Returns
    -------
    parting : Parting or None
        None proves that the certificate of the contracted solution holds for the full problem, with
        ``price`` added to its gap. The flow of a parting is where to start from: it is larger than
        the balls of its edges.
    price : float
        At most ``spare``, unless round-off alone costs more; zero if every flow fits.

    Notes
    -----
    A sparse factorisation and some dozens of solves a round, and m solves at the end, O(N) memory
    a column, a few columns at a time.
    """
    if contraction.problem.shape[0] == contraction.labels.size:
        return None, 0.0
    ways = Conductances.of(problem) if ways is None else ways
    search = _Search.of(problem, Demand.of(problem, contraction, dual), ways)
    waiting, load, lost = search.occupied, np.zeros(ways.conductance.size), 0.0
    if not waiting.any():
        return None, 0.0
    for trial in range(_TRIALS):
        if trial or search.readable:
            most = 1.0 + _ROUND_OFF + (search.margin if trial < 2 else 0.0)
            torn = search.adapt_conductances(waiting, load, most)
            if torn.any() and search.price(*search.currents(torn), load) > spare:
                return search.part(torn, load), 0.0
        # The proof: all columns, under the conductances that any price is then reckoned with.
        system, at = search.currents(waiting)
        load[at], leak = search.measured(system, at)
        # What round-off lost on the way is paid for as well: in the gradient and in the potentials.
        lost += 2.0 * leak
        price = lost + search.price(system, at, load)
        # Clusters that are proven keep their conductances, and with them their proof.
        waiting = search.heaviest(at, load[at]) > 1.0 + _ROUND_OFF
        if price <= spare or not waiting.any():
            return None, price
    return search.part(waiting, load), 0.0


@dataclass(frozen=True, eq=False)
class _Search:
    """Flows inside the clusters of one contracted solution.

    Parameters
    ----------
    edges : Edges
        Of the full problem.
    labels : (N,) ndarray of int
        The clusters.
    margin : float
        How far below one the guide has to see a load.
    inside : ndarray of int
        The edges inside clusters.
    demand : Demand
        What the flows must bring.
    guide : Demand or Sketch
        What the search goes by.
    ways : Conductances
        Conductances and how to read the sketch, changed in place.
    base : (E,) ndarray
        What conductances begin with, and from which they stay within bounds.
    """

    edges: Edges
    labels: Labels
    margin: float
    inside: IntArray
    demand: Demand
    guide: Demand | Sketch
    ways: Conductances
    base: FloatArray

    @classmethod
    def of(cls, problem: FusionProblem, demand: Demand, ways: Conductances) -> _Search:
        edges, labels = problem.penalty.edges, demand.labels
        inside = np.flatnonzero(labels[edges.tail] == labels[edges.head])
        few = demand.width <= _MANY
        guide = demand if few else Sketch.of(demand, _SKETCH)
        base = _first_conductances(problem)
        margin = 0.0 if few else _MARGIN
        return cls(edges, labels, margin, inside, demand, guide, ways, base)

    @property
    def occupied(self) -> BoolArray:
        """Clusters with edges."""
        found = np.zeros(int(self.labels.max()) + 1, np.bool_)
        found[self.labels[self.edges.tail[self.inside]]] = True
        return found

    @property
    def readable(self) -> bool:
        """Whether the guide shows loads before all columns have been solved for."""
        return isinstance(self.guide, Sketch) and bool(self.ways.known[self.inside].all())

    def currents(self, clusters: BoolArray) -> tuple[Currents, IntArray]:
        """The system of some clusters, and its edges."""
        at = self.inside[clusters[self.labels[self.edges.tail[self.inside]]]]
        nodes = np.flatnonzero(clusters[self.labels])
        return self.ways.currents(self.edges, at, nodes, self.labels), at

    def seen(self, system: Currents, at: IntArray) -> FloatArray:
        """Loads as the guide sees them."""
        if isinstance(self.guide, Demand):
            return system.loads(self.guide)[0]
        return self.ways.read(at, system.size(self.guide))

    def measured(self, system: Currents, at: IntArray) -> tuple[FloatArray, float]:
        """Loads in all columns, which also tell how to read the sketch, and what round-off lost."""
        load, further, leak = system.loads(self.demand, _STRETCH)
        if isinstance(self.guide, Sketch):
            self.ways.learn(at, system.size(self.guide), load, further)
        return load, leak

    def heaviest(self, at: IntArray, load: FloatArray) -> FloatArray:
        """Largest load of every cluster."""
        found = np.zeros(int(self.labels.max()) + 1)
        np.maximum.at(found, self.labels[self.edges.tail[at]], load)
        return found

    def adapt_conductances(self, waiting: BoolArray, loads: FloatArray, most: float) -> BoolArray:
        """Change conductances until the guide sees every load fit, or excesses no longer fall.

        ``loads`` gets the last loads seen, under the present conductances: a cluster that is given
        up keeps its own. Returns the clusters that stay fuller than ``most``.
        """
        fits = 1.0 - self.margin
        last, power, excesses = np.zeros(waiting.size), np.ones(waiting.size), []
        for _ in range(_ROUNDS):
            system, at = self.currents(waiting)
            loads[at] = self.seen(system, at)
            last[waiting] = self.heaviest(at, loads[at])[waiting]
            excesses.append(self.excess(at, loads[at], fits))
            if len(excesses) > 1:
                # A step that made things worse went too far.
                power[excesses[-1] > excesses[-2]] *= _SHORTER
            waiting = waiting & (last > fits + _NEARLY)
            if len(excesses) > _PATIENCE:
                waiting = waiting & (excesses[-1] < _STALLED * excesses[-1 - _PATIENCE])
            if not waiting.any() or len(excesses) == _ROUNDS:
                break
            at = at[waiting[self.labels[self.edges.tail[at]]]]
            step = power[self.labels[self.edges.tail[at]]]
            changed = self.ways.conductance[at] / np.maximum(loads[at], _IDLE) ** step
            low, high = self.base[at] / _RANGE, self.base[at] * _RANGE
            self.ways.conductance[at] = np.clip(changed, low, high)
        return last > most

    def excess(self, at: IntArray, load: FloatArray, fits: float) -> FloatArray:
        """What the loads of every cluster have in excess, added up."""
        over = np.maximum(load - fits, 0.0)
        size = int(self.labels.max()) + 1
        return np.asarray(np.bincount(self.labels[self.edges.tail[at]], over, size), np.float64)

    def price(self, system: Currents, at: IntArray, load: FloatArray) -> float:
        """By how much the gap grows when the flow along the full edges is cut down to their balls.

        A row whose gradient is off by r lowers its potential by -min r and its cost by <r, C>,
        which adds up to zero over a cluster. Infinite for too many edges.
        """
        over = np.flatnonzero(load[at] > 1.0 + _ROUND_OFF)
        if over.size > _PAYABLE:
            return np.inf
        if over.size == 0:
            return 0.0
        surplus, some = system.flow(self.demand, over), system.edges.at(over)
        flow_kernels.surplus(surplus, some.soft, some.block)
        rows, ends = np.unique(np.concatenate([some.tail, some.head]), return_inverse=True)
        lacking = np.zeros((rows.size, surplus.shape[1]))
        np.add.at(lacking, ends[: over.size], surplus)
        np.subtract.at(lacking, ends[over.size :], surplus)
        return float(np.maximum(lacking.max(axis=1), 0.0).sum())

    def part(self, torn: BoolArray, load: FloatArray) -> Parting:
        """Cut some clusters where they are too full."""
        tail, head = self.edges.tail, self.edges.head
        system, at = self.currents(torn)
        whole = self.labels[tail] == self.labels[head]
        whole[at[_cuts(self.labels, tail[at], head[at], load[at], torn)]] = False
        finer = components(self.labels.size, tail, head, whole)
        apart = np.flatnonzero(finer[tail[at]] != finer[head[at]])
        return Parting(finer, at[apart], system.flow(self.demand, apart))


def _first_conductances(problem: FusionProblem) -> FloatArray:
    """Conductances to begin with: squared weights, under which all balls would be about as full.

    Potentials differ by flows over conductances, so that those of a very weak edge would leave no
    digits for the others.
    """
    squares = np.square(problem.penalty.graph.weight)
    return np.asarray(np.maximum(squares, _LEAST * squares.max(initial=0.0)))


def _cuts(
    labels: Labels, tail: Labels, head: Labels, load: FloatArray, clusters: BoolArray
) -> BoolArray:
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
