"""Conductances of electrical flows, kept from one search to the next."""

from __future__ import annotations

import numpy as np

from convexhc._types import FloatArray, IntArray, Labels
from convexhc.fusion.electrical_flow import ElectricalFlow
from convexhc.kernels.edges import Edges
from convexhc.model.problem import FusionProblem

# Multiple of a flow whose loads calibrate the sketch, beside those of the flow itself.
STRETCH = 1.5
# Least initial conductance over the largest: weaker edges would leave no digits for the others.
_MIN_CONDUCTANCE = 1e-8


class Conductances:
    """Conductances of all edges and the calibration of the sketch, updated by every search.

    The load of an edge is predicted from the norm of its sketched flow: it is linear between a flow
    that was measured in all columns and `STRETCH` times that flow.

    Parameters
    ----------
    values : (E,) ndarray
        Initial conductances; squared weights are a good choice.
    """

    def __init__(self, values: FloatArray) -> None:
        self.values = values.copy()
        self.calibrated = np.zeros(values.size, np.bool_)
        self.norm, self.load, self.slope = np.ones((3, values.size))
        self._last: tuple[IntArray, Labels, ElectricalFlow] | None = None

    @classmethod
    def of(cls, problem: FusionProblem) -> Conductances:
        """Initial conductances of a problem, without calibration."""
        return cls(initial_conductances(problem))

    def copy(self) -> Conductances:
        """Copy that can be changed independently."""
        other = Conductances.unpack(self.pack())
        other._last = self._last
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

    def system(self, edges: Edges, at: IntArray, nodes: Labels, labels: Labels) -> ElectricalFlow:
        """Flow along the edges ``at`` inside the clusters of ``nodes``.

        The last factorisation is reused if edges and conductances have not changed, as between two
        lam at which nothing merges or splits.
        """
        chosen, conductance, last = edges.at(at), self.values[at], self._last
        if last is None or not (np.array_equal(last[0], at) and np.array_equal(last[1], nodes)):
            system = ElectricalFlow(chosen, conductance, nodes, labels)
        elif np.array_equal(last[2].conductance, conductance):
            return last[2].with_balls(chosen)
        else:
            system = last[2].with_conductance(chosen, conductance)
        self._last = at, nodes, system
        return system

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
