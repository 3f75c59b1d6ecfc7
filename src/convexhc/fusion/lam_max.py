"""From which lam on the consensus is optimal: a bound computed before any solve."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from convexhc._types import FloatArray, Labels
from convexhc.fusion.electrical_flow import Cascade
from convexhc.kernels.prox import dual_norms
from convexhc.model.fidelity import Kernel
from convexhc.model.metric import averaging_matrix
from convexhc.model.problem import FusionProblem

# Least bound, in units of the mean similarity of a node to itself over the largest weight.
_LEAST = 1e-2
# Edges whose flow is held in memory together.
_EDGES = 256


def consensus_bound(problem: FusionProblem) -> float:
    """A lam above which every connected component is one cluster.

    The consensus J is optimal when some edge dual Y in its balls has D'Y = (I - J) K (I - J), or
    (I - J) K when the graph is disconnected. The weighted least-norm one, Y_e = w_e^2 (X_i - X_j)
    with L_{w^2} X equal to that right side, fits as soon as lam >= max_e w_e |X_i - X_j|_dual. Any
    other that brings the same does, too: where weights are so far apart that X has no digits for
    it, the flow of a `Cascade` is taken.

    Parameters
    ----------
    problem : FusionProblem
        With a fusion penalty; its lam plays no part.

    Returns
    -------
    float
        The bound; zero without edges. One sparse factorisation a layer and N solves, a few columns
        at a time.

    Examples
    --------
    >>> import numpy as np
    >>> from convexhc.graph import Graph
    >>> from convexhc.model.problem import graph_problem
    >>> pair = Graph.from_matrix(np.array([[1.0, 0.5], [0.5, 1.0]]))
    >>> round(consensus_bound(graph_problem(pair, 0.0, l1_ratio=0.0)), 6)
    0.707107
    """
    penalty = problem.at(1.0).penalty
    weights = penalty.differences.graph
    if weights.n_edges == 0:
        return 0.0
    labels = weights.components()[1]
    largest = float(weights.weight.max())
    share = weights.weight / largest
    flow = Cascade(penalty.edges, np.square(share), weights.n)
    excess = _Excess.of(problem, labels)
    # No dual norm is above the Euclidean one: only the edges largest in that need be looked at.
    size, bound = flow.size(excess) * largest, 0.0
    order = np.argsort(-size, kind="stable")
    for first in range(0, order.size, _EDGES):
        some = order[first : first + _EDGES]
        if size[some[0]] <= bound:
            break
        steps = flow.flow(excess, some) / share[some, None]
        bound = max(bound, float(dual_norms(steps, penalty.l1_ratio).max()))
    # Identical nodes fuse at any lam above zero, and a path needs one of a size that can be seen.
    each = problem.fidelity.scale / weights.n
    # A kernel is compared with its weights as it is, squared distances by their roots.
    unit = each if isinstance(problem.fidelity, Kernel) else each**0.5
    return max(bound, _LEAST * unit) / largest or 1.0


@dataclass(frozen=True, eq=False)
class _Excess:
    """M (I - J) T: what every row has above the mean of its component, by its mass M.

    Parameters
    ----------
    target : (c, m) csr_array or ndarray
        T.
    mean : (components, c) csr_array
        Weighted means over components.
    labels : (c,) ndarray of int
        Component of every row.
    mass : (c,) ndarray
        Number of nodes behind every row.
    shift : (c,) ndarray
        Mean of every row, left out where a fixed row sum makes it free.
    """

    target: csr_array | FloatArray
    mean: csr_array
    labels: Labels
    mass: FloatArray
    shift: FloatArray

    @classmethod
    def of(cls, problem: FusionProblem, labels: Labels) -> _Excess:
        mass = problem.fidelity.metric.mass
        n, m = problem.shape
        heavy = np.ones(n) if mass is None else mass
        T, shift = problem.fidelity.operand, np.zeros(n)
        excess = cls(T, averaging_matrix(labels, mass), labels, heavy, shift)
        if labels.max() == 0 and problem.constraint.row_sums:
            shift[:] = excess._centered(T @ np.ones((m, 1)))[:, 0] / m
        return excess

    @property
    def width(self) -> int:
        return int(self.target.shape[1])

    def columns(self, block: slice) -> FloatArray:
        T = self.target[:, block]
        T = T if isinstance(T, np.ndarray) else T.toarray()
        return self._centered(T) - self.shift[:, None]

    def under(self, V: FloatArray) -> FloatArray:
        heavy = V * self.mass[:, None]
        sums = csr_array((np.ones(V.shape[0]), (self.labels, np.arange(V.shape[0])))) @ heavy
        centered = heavy - self.mean.T @ sums
        return np.asarray((self.target.T @ centered).T - (V.T @ self.shift)[:, None])

    def _centered(self, T: FloatArray) -> FloatArray:
        return np.asarray((T - (self.mean @ T)[self.labels]) * self.mass[:, None])
