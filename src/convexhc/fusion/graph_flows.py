"""Complete the dual of a contracted solution by a flow inside every cluster, or split clusters.

Inside a cluster the centroids are equal, so any dual in the balls of its edges is admissible there.
If that dual makes the rows of the gradient equal inside every cluster (up to a constant per row,
where row sums are fixed), the potentials that prove the gap of the contracted problem prove the
same gap of the full problem. Such a dual is a flow: it carries the deviation of every row from the
mean of its cluster along the edges of the cluster.

The flow of least energy under given conductances is one Laplacian system. Where the flow along an
edge exceeds its ball, the conductance is lowered, and raised along edges that carry little. If a
cluster stays overloaded, its overloaded edges form a cut. For many columns the search uses a random
sketch of them; a cluster counts as proven only after all columns were solved under its final
conductances.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree

from convexhc._types import BoolArray, FloatArray, IntArray, Labels
from convexhc._workers import map_in_workers, worker_count
from convexhc.fusion.conductances import (
    LEAST_CONDUCTANCE,
    STRETCH,
    Conductances,
    initial_conductances,
)
from convexhc.fusion.contraction import Contraction
from convexhc.fusion.demand import FEW_COLUMNS, Demand
from convexhc.fusion.electrical_flow import ROUND_OFF, ColumnRun, ElectricalFlow
from convexhc.fusion.inner_demand import InnerDemand
from convexhc.kernels import flows as flow_kernels
from convexhc.kernels.components import components
from convexhc.kernels.edges import Edges, adjoint
from convexhc.kernels.loads import Tally
from convexhc.kernels.threads import limited_threads
from convexhc.model.problem import FusionProblem

# Load up to which a flow counts as inside its ball.
_MAX_LOAD = 1.0 + ROUND_OFF
# Numbers that a proof must read before its columns go to workers: a core reads 3e9 in a second.
_WORTH_SENDING = 2_000_000_000


@dataclass(frozen=True)
class FlowSearchSettings:
    """Settings of the search for a flow."""

    # Attempts to prove a flow in all columns.
    max_attempts: int = 4
    # Conductance updates per attempt.
    max_rounds: int = 25
    # Factor on the exponent of an update after the overload of a cluster has grown.
    damping: float = 0.7
    # Rounds over which progress is measured.
    patience: int = 5
    # A cluster is given up if its overload stays above this fraction of that `patience` rounds ago.
    progress: float = 0.9
    # Loads below this count as this in an update, so that idle edges do not gain without limit.
    min_load: float = 0.2
    # Share of every ball that a search leaves free, for errors of a sketch or of a proof.
    margin: float = 0.02
    # In search of more new groups, edges are cut whose load is at most so far below one.
    most_slack: float = 0.4
    # Most new groups of such a search, as a multiple of those wanted.
    most_parts: float = 4.0


SETTINGS = FlowSearchSettings()


class Split(NamedTuple):
    """Finer groups, and one edge for every two of them that were in one group.

    ``flow`` is the sum over all edges between these two, in the direction of the one.
    """

    groups: Labels
    edges: IntArray
    flow: FloatArray


def complete_dual(
    problem: FusionProblem,
    contraction: Contraction,
    dual: FloatArray,
    *,
    budget: float = 0.0,
    conductances: Conductances | None = None,
    wanted: int = 1,
    max_groups: int | None = None,
) -> tuple[Split | None, float]:
    """Prove that a contracted solution solves the full problem, or split its clusters.

    Every cluster of the contraction is connected; ``dual`` is (E_c, m), that of its solution. Flows
    slightly too large are reduced to their balls, at the cost of the demand that is then not met:
    up to ``budget`` is added to the gap. ``conductances`` are a warm start, updated in place.
    Splits that find fewer new groups than ``wanted`` also cut edges that are nearly overloaded;
    splits into more than ``max_groups`` have no flow.

    Returns a split and a cost. No split proves the certificate of the contracted solution for the
    full problem, with the cost added to its gap: at most ``budget``, unless round-off alone costs
    more; zero if all flows are feasible. The flow of a split is a warm start for the dual of its
    edges; it exceeds their balls.

    Per round one sparse factorisation and one solve per column of the sketch; m solves per attempt,
    in blocks of columns. O(N) memory per column.
    """
    edges, labels = problem.penalty.edges, contraction.labels
    if int(labels.max()) + 1 == labels.size:
        return None, 0.0
    demand = Demand.of(problem, labels, contraction.between, dual)
    initial = initial_conductances(problem)
    conductances = Conductances(initial) if conductances is None else conductances
    search = _FlowSearch.of(edges, demand, conductances, initial)
    unproven, loads, residual_cost = np.bincount(labels) > 1, np.zeros(initial.size), 0.0
    for attempt in range(SETTINGS.max_attempts):
        if attempt or search.is_calibrated:
            max_load = _MAX_LOAD + (search.margin if attempt < 2 else 0.0)
            overloaded = search.adapt_conductances(unproven, loads, max_load)
            if overloaded.any() and search.cost(overloaded, loads) > budget:
                return search.split(overloaded, loads, wanted, max_groups), 0.0
        # The proof: all columns, under the same conductances as the cost.
        # A residual of the system enters the gap twice, by the gradient and by the potentials.
        residual_cost += 2.0 * search.measure(unproven, loads)
        cost = residual_cost + search.cost(unproven, loads)
        # Conductances of proven clusters, and with them their proofs, no longer change.
        unproven = unproven & (search.max_loads(loads) > _MAX_LOAD)
        if cost <= budget or not unproven.any():
            return None, cost
    return search.split(unproven, loads, wanted, max_groups), 0.0


def find_slack(
    edges: Edges,
    demand: Demand,
    conductances: Conductances,
    initial: FloatArray,
    clusters: BoolArray,
) -> None:
    """Adapt conductances in place until the flows in some clusters fit with slack, if they can.

    Nothing is proven. ``edges`` has the radii that the flows should fit in.
    """
    search = _FlowSearch.of(edges, demand, conductances, initial)
    search.adapt_conductances(clusters, np.zeros(initial.size), _MAX_LOAD)


@dataclass(eq=False)
class _FlowSearch:
    """Search for a feasible flow inside the clusters of one contracted solution.

    Sets of clusters are boolean arrays over all clusters; loads are arrays over all edges.
    """

    edges: Edges  # edges of the full problem
    demand: Demand  # demand that the flow must meet
    conductances: Conductances  # present conductances and calibration, changed in place
    initial: FloatArray  # (E,): initial conductances, to which the present ones stay close
    flows: list[ElectricalFlow]  # flows inside blocks of clusters
    parts: list[InnerDemand]  # their demands

    @classmethod
    def of(
        cls, edges: Edges, demand: Demand, conductances: Conductances, initial: FloatArray
    ) -> _FlowSearch:
        """Search from the present conductances."""
        flows = conductances.flows(edges, demand.labels)
        parts = [InnerDemand.of(demand, flow.nodes, flow.cluster) for flow in flows]
        return cls(edges, demand, conductances, initial, flows, parts)

    @cached_property
    def sketch(self) -> FloatArray | None:
        """Sketch of the demand, used between proofs if there are many columns."""
        if not self.demand.is_wide:
            return None
        return self.demand.sketch()

    @property
    def margin(self) -> float:
        """How far below one the loads must be before a proof is tried."""
        return 0.0 if self.sketch is None else SETTINGS.margin

    @cached_property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.demand.labels.max()) + 1

    @cached_property
    def cluster(self) -> Labels:
        """Cluster of the tail of every edge."""
        return self.demand.labels[self.edges.tail]

    @cached_property
    def inside(self) -> IntArray:
        """Edges inside clusters."""
        return np.flatnonzero(self.cluster == self.demand.labels[self.edges.head])

    @property
    def is_calibrated(self) -> bool:
        """Whether loads can be predicted from a sketch before all columns were solved."""
        calibrated = self.conductances.calibrated[self.inside].all()
        return self.sketch is not None and bool(calibrated)

    def edges_of(self, clusters: BoolArray) -> IntArray:
        """Edges inside some clusters."""
        return self.inside[clusters[self.cluster[self.inside]]]

    def blocks(self, clusters: BoolArray) -> Iterator[tuple[ElectricalFlow, InnerDemand]]:
        """Flows and demands of the blocks with any of some clusters, under present conductances."""
        for flow, part in zip(self.flows, self.parts, strict=True):
            if clusters[self.demand.labels[flow.nodes]].any():
                flow.adopt(self.conductances.values[flow.at])
                yield flow, part

    def search_loads(self, clusters: BoolArray, loads: FloatArray) -> None:
        """Write the loads in some clusters, predicted from the sketch if there is one."""
        for flow, part in self.blocks(clusters):
            if self.sketch is None:
                loads[flow.at] = flow.loads(part, self.edges)[0]
            else:
                norm = flow.relative_norms(self.sketch[flow.nodes], self.edges)
                loads[flow.at] = self.conductances.predict(flow.at, norm)

    def measure(self, clusters: BoolArray, loads: FloatArray) -> float:
        """Write the loads in all columns; calibrate the sketch; return the residual."""
        blocks = list(self.blocks(clusters))
        runs = [tuple(flow.column_runs(part, self.edges, STRETCH)) for flow, part in blocks]
        tallies, total = _tallies([run for each in runs for run in each]), 0.0
        for (flow, part), own in zip(blocks, runs, strict=True):
            loads[flow.at], stretched, residual = flow.loads_of(
                part, self.edges, STRETCH, list(islice(tallies, len(own)))
            )
            total += residual
            if self.sketch is not None:
                norm = flow.relative_norms(self.sketch[flow.nodes], self.edges)
                self.conductances.calibrate(flow.at, norm, loads[flow.at], stretched)
        return total

    def max_loads(self, loads: FloatArray) -> FloatArray:
        """Largest load in every cluster."""
        found = np.zeros(self.n_clusters)
        np.maximum.at(found, self.cluster[self.inside], loads[self.inside])
        return found

    def adapt_conductances(
        self, clusters: BoolArray, loads: FloatArray, max_load: float
    ) -> BoolArray:
        """Update conductances until all loads fit or overloads no longer decrease.

        c_e becomes c_e / load_e^p, with p = 1 reduced whenever the overload of the cluster grows.
        ``loads`` receives the loads under the final conductances. Returns the clusters with a load
        above ``max_load``.
        """
        target, asked = 1.0 - self.margin, clusters
        power, overloads = np.ones(self.n_clusters), []
        values = self.conductances.values
        for _ in range(SETTINGS.max_rounds):
            self.search_loads(clusters, loads)
            at = self.edges_of(clusters)
            over = np.maximum(loads[at] - target, 0.0)
            overloads.append(np.bincount(self.cluster[at], over, self.n_clusters))
            if len(overloads) > 1:
                power[overloads[-1] > overloads[-2]] *= SETTINGS.damping
            clusters = clusters & (self.max_loads(loads) > target + ROUND_OFF)
            if len(overloads) > SETTINGS.patience:
                before = overloads[-1 - SETTINGS.patience]
                clusters = clusters & (overloads[-1] < SETTINGS.progress * before)
            if not clusters.any() or len(overloads) == SETTINGS.max_rounds:
                break
            at = self.edges_of(clusters)
            divisor = np.maximum(loads[at], SETTINGS.min_load) ** power[self.cluster[at]]
            least = LEAST_CONDUCTANCE**0.5 * self.initial[at]
            values[at] = np.clip(values[at] / divisor, least, least / LEAST_CONDUCTANCE)
        return asked & (self.max_loads(loads) > max_load)

    def cost(self, clusters: BoolArray, loads: FloatArray) -> float:
        """Increase of the gap if the flow along overloaded edges is reduced to their balls.

        A row whose gradient is off by r lowers its potential by -min r and its cost by <r, C>,
        which sums to zero over a cluster. Infinite if there are too many such edges.
        """
        overloaded = clusters[self.cluster] & (loads > _MAX_LOAD)
        if np.count_nonzero(overloaded) > FEW_COLUMNS:
            return np.inf
        total = 0.0
        for flow, part in self.blocks(clusters):
            over = np.flatnonzero(overloaded[flow.at])
            if over.size == 0:
                continue
            surplus, ends = flow.along(part, over), self.edges.at(flow.at[over])
            flow_kernels.surplus(surplus, ends.soft, ends.block)
            rows, row = np.unique(np.concatenate([ends.tail, ends.head]), return_inverse=True)
            local = ends._replace(tail=row[: over.size], head=row[over.size :])
            unmet = adjoint(surplus, local, rows.size)
            total += float(np.maximum(unmet.max(axis=1), 0.0).sum())
        return total

    def _parts(self, clusters: BoolArray, loads: FloatArray, slack: float) -> Labels:
        """All clusters, some of them without their most loaded edges."""
        tail, head, labels = self.edges.tail, self.edges.head, self.demand.labels
        at, kept = self.edges_of(clusters), labels[tail] == labels[head]
        kept[at[_edges_to_cut(labels, tail[at], head[at], loads[at], clusters, slack)]] = False
        return components(labels.size, tail, head, kept)

    def split(
        self, clusters: BoolArray, loads: FloatArray, wanted: int, max_groups: int | None
    ) -> Split:
        """Split some clusters at their most loaded edges, if it can be into ``wanted`` more."""
        tail, head = self.edges.tail, self.edges.head
        groups, low, high = self._parts(clusters, loads, 0.0), 0.0, SETTINGS.most_slack
        while groups.max() + 1 < self.n_clusters + wanted and high - low > SETTINGS.margin:
            middle = 0.5 * (low + high)
            finer = self._parts(clusters, loads, middle)
            if finer.max() + 1 > self.n_clusters + SETTINGS.most_parts * wanted:
                high = middle
            else:
                groups, low = finer, middle
        if max_groups is not None and groups.max() >= max_groups:
            return Split(groups, np.zeros(0, np.int64), np.zeros((0, self.demand.n_columns)))
        cut, found = groups[tail] != groups[head], []
        for flow, part in self.blocks(clusters):
            chosen = np.flatnonzero(cut[flow.at])
            at = flow.at[chosen]
            ends = np.sort(np.stack([groups[tail[at]], groups[head[at]]]), axis=0)
            _, first, pair = np.unique(ends, axis=1, return_index=True, return_inverse=True)
            pair = pair.ravel()
            sign = np.where(groups[tail[at]] == groups[tail[at]][first][pair], 1.0, -1.0)
            found.append((at[first], flow.sums(part, chosen, pair, sign)))
        return Split(
            groups, np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])
        )


def _tallies(runs: list[ColumnRun]) -> Iterator[Tally]:
    """Measure runs of columns in their order; in workers if there are any and it pays."""
    if worker_count() > 1 and sum(run.work for run in runs) > _WORTH_SENDING:
        return iter(map_in_workers(_on_one_thread, runs))
    return (run.tally() for run in runs)


def _on_one_thread(run: ColumnRun) -> Tally:
    with limited_threads(1):
        return run.tally()


def _edges_to_cut(
    labels: Labels,
    tail: IntArray,
    head: IntArray,
    load: FloatArray,
    clusters: BoolArray,
    slack: float,
) -> BoolArray:
    """Most loaded edges, whose removal disconnects every one of ``clusters``.

    All edges with a load above one less ``slack``; where these leave the cluster connected, all
    with a load no less than the bottleneck, the largest on the minimum spanning tree by load.
    """
    n = labels.size
    # Explicit zeros would not count as edges of the tree.
    positive = csr_array((load + 1e-6, (tail, head)), shape=(n, n))
    tree = minimum_spanning_tree(positive).tocoo()
    bottleneck = np.zeros(clusters.size)
    np.maximum.at(bottleneck, labels[tree.coords[0]], tree.data - 1e-6)
    threshold = np.minimum(bottleneck, _MAX_LOAD - slack)[labels[tail]]
    return np.asarray(clusters[labels[tail]] & (load >= threshold * (1.0 - ROUND_OFF)))
