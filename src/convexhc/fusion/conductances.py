"""Conductances of electrical flows, kept from one search to the next."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from convexhc._types import FloatArray, IntArray, Labels
from convexhc.fusion.electrical_flow import ElectricalFlow
from convexhc.kernels.edges import Edges
from convexhc.model.elimination import elimination_order
from convexhc.model.problem import FusionProblem

# Multiple of a flow whose loads calibrate the sketch, beside those of the flow itself.
STRETCH = 1.5
# Least initial conductance over the largest: weaker edges would leave no digits for the others.
_MIN_CONDUCTANCE = 1e-8
# Least ratio that a search may add to that.
LEAST_CONDUCTANCE = 1e-6
# Nodes from which a cluster is a block of its own, and of a block of smaller ones: calls for fewer
# cost more than they save.
_BLOCK_NODES = 128


class Conductances:
    """Conductances of all edges and the calibration of the sketch, updated by every search.

    The load of an edge is predicted from the norm of its sketched flow: it is linear between a flow
    that was measured in all columns and `STRETCH` times that flow. Squared weights are a good
    choice of initial ``values``.
    """

    def __init__(self, values: FloatArray) -> None:
        self.values = values.copy()
        self.calibrated = np.zeros(values.size, np.bool_)
        self.norm, self.load, self.slope = np.ones((3, values.size))
        self._rank: IntArray | None = None
        self._flows: dict[bytes, ElectricalFlow] = {}

    @classmethod
    def of(cls, problem: FusionProblem) -> Conductances:
        """Initial conductances of a problem, without calibration."""
        return cls(initial_conductances(problem))

    def copy(self) -> Conductances:
        """Copy that can be changed independently."""
        other = Conductances.unpack(self.pack())
        other._rank, other._flows = self._rank, self._flows
        return other

    def pack(self) -> FloatArray:
        """All values as one (5, E) array."""
        return np.stack([self.values, self.calibrated, self.norm, self.load, self.slope])

    @classmethod
    def unpack(cls, rows: FloatArray) -> Conductances:
        """Inverse of `pack`."""
        out = cls(rows[0])
        out.calibrated = rows[1] > 0.0
        out.norm, out.load, out.slope = (row.copy() for row in rows[2:])
        return out

    def flows(self, edges: Edges, labels: Labels) -> list[ElectricalFlow]:
        """Flows inside all clusters, a block of clusters each.

        Orders and factors of blocks that are the same as in the last call are reused, as between
        two lam at which they neither merge nor split.
        """
        if self._rank is None:
            self._rank = elimination_order(labels.size, edges.tail, edges.head)
        last, found = self._flows, {}
        for nodes, cluster, at in _blocks(edges, labels, self._rank):
            key = nodes.tobytes() + cluster.tobytes()
            flow = last.get(key) or ElectricalFlow(edges, at, nodes, cluster, self.values[at])
            flow.adopt(self.values[at])
            found[key] = flow
        self._flows = found
        return list(found.values())

    def calibrate(
        self, at: IntArray, norm: FloatArray, load: FloatArray, stretched: FloatArray
    ) -> None:
        """Store loads of a flow and of the stretched flow, with the norms of its sketch."""
        self.calibrated[at] = True
        self.norm[at] = np.maximum(norm, 1e-300)
        self.load[at], self.slope[at] = load, (stretched - load) / (STRETCH - 1.0)

    def predict(self, at: IntArray, norm: FloatArray) -> FloatArray:
        """Predict loads from norms of a sketched flow."""
        ratio = norm / self.norm[at]
        above = self.load[at] + (ratio - 1.0) * self.slope[at]
        return np.asarray(np.where(ratio < 1.0, ratio * self.load[at], above))


def initial_conductances(problem: FusionProblem) -> FloatArray:
    """Squared weights, bounded from below: loads are then of similar size on all edges."""
    squares = np.square(problem.penalty.graph.weight)
    return np.asarray(np.maximum(squares, _MIN_CONDUCTANCE * squares.max(initial=0.0)))


def _blocks(
    edges: Edges, labels: Labels, rank: IntArray
) -> Iterator[tuple[IntArray, Labels, IntArray]]:
    """Nodes by cluster and rank, their cluster and inner edges, for every block of clusters.

    Large clusters one by one, small ones together, single nodes in none.
    """
    size = np.bincount(labels)
    small = (size > 1) & (size < _BLOCK_NODES)
    block = np.where(size >= _BLOCK_NODES, np.arange(size.size), -1)
    block[small] = size.size + np.cumsum(size[small]) // _BLOCK_NODES
    numbers, block[block >= 0] = np.unique(block[block >= 0], return_inverse=True)
    order = np.lexsort((rank, labels, block[labels]))
    first = np.searchsorted(block[labels[order]], np.arange(numbers.size + 1))
    inside = np.flatnonzero(labels[edges.tail] == labels[edges.head])
    of_edge = block[labels[edges.tail[inside]]]
    inside = inside[np.argsort(of_edge, kind="stable")]
    first_edge = np.searchsorted(np.sort(of_edge), np.arange(numbers.size + 1))
    for b in range(numbers.size):
        nodes = order[first[b] : first[b + 1]]
        _, cluster = np.unique(labels[nodes], return_inverse=True)
        yield nodes, cluster, inside[first_edge[b] : first_edge[b + 1]]
