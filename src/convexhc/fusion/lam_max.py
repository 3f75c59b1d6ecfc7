"""Upper bounds on the lam from which every connected component is one cluster."""

from __future__ import annotations

import numpy as np

from convexhc.fusion.conductances import LEAST_CONDUCTANCE, Conductances, initial_conductances
from convexhc.fusion.demand import FEW_COLUMNS, Demand, column_blocks
from convexhc.fusion.electrical_flow import LayeredFlow
from convexhc.kernels.prox import dual_norms
from convexhc.model.fidelity import Kernel
from convexhc.model.problem import FusionProblem

# Least bound, relative to the mean self-similarity of a node over the largest weight: identical
# nodes fuse at any lam > 0, but a path needs a finite range.
_MIN_BOUND = 1e-2
# Margin of an estimate above the bound that the sketch gives.
_MARGIN = 1.1
# Most rounds of the search for conductances.
_ROUNDS = 20
# Rounds without a gain that end it.
_PATIENCE = 3
# Loads below this share of the largest do not change a conductance.
_IDLE = 0.5


def consensus_bound(problem: FusionProblem) -> float:
    """Upper bound on lam_max, above which every connected component is one cluster.

    The consensus J is optimal if some edge dual Y in the dual balls has D'Y = R, with the demand
    R = (I - J) K - u 1', where u = 0 unless row sums are fixed. The flow of least energy under
    squared weights, Y_e = w_e^2 (X_i - X_j) with L_{w^2} X = R, is one such dual, so that
    lam >= max_e w_e |X_i - X_j|_dual suffices. Where weights differ by many orders of magnitude, a
    `LayeredFlow` is used, which meets the same demand. Zero without edges. One sparse factorisation
    per layer and one solve per column of the data, a block of columns at a time.

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
    graph = penalty.graph
    if graph.n_edges == 0:
        return 0.0
    largest = float(graph.weight.max())
    relative = graph.weight / largest
    flow = LayeredFlow(penalty.edges, np.square(relative), graph.n)
    demand = Demand.of(problem, graph.components()[1])
    # The dual norm is at most the Euclidean norm: stop at edges whose Euclidean norm is smaller.
    norm, bound = flow.relative_norms(demand) * largest, 0.0
    order = np.argsort(-norm, kind="stable")
    for block in column_blocks(order.size, graph.n):
        chosen = order[block]
        if norm[chosen[0]] <= bound:
            break
        scaled = flow.along(demand, chosen) / relative[chosen, None]
        bound = max(bound, float(dual_norms(scaled, penalty.l1_ratio).max()))
    return max(bound / largest, _least(problem)) or 1.0


def _least(problem: FusionProblem) -> float:
    """Least bound."""
    graph = problem.penalty.graph
    per_node = problem.fidelity.scale / graph.n
    # A kernel is in the units of lam times weight; squared distances are in its square.
    unit = per_node if isinstance(problem.fidelity, Kernel) else per_node**0.5
    return _MIN_BOUND * unit / float(graph.weight.max())


def consensus_estimate(problem: FusionProblem) -> float:
    """Estimate of the least lam above which every connected component is one cluster.

    The bound of `consensus_bound` holds for the flow of least energy under any conductances. They
    are lowered where the flow is largest relative to the weight, as long as the bound falls. Norms
    of the flow are those of a sketch of the columns, which are off by about a tenth: the first
    solve has to confirm the consensus. One sparse factorisation and 64 solves per round; up to 256
    columns the bound itself.
    """
    if problem.shape[1] <= FEW_COLUMNS or not problem.penalty.graph.n_edges:
        return consensus_bound(problem)
    unit = problem.at(1.0)
    edges, labels = unit.penalty.edges, unit.penalty.graph.components()[1]
    sketch = Demand.of(unit, labels).sketch()
    initial = initial_conductances(unit)
    conductances = Conductances(initial)
    flows = conductances.flows(edges, labels)
    bound, idle, loads = np.inf, 0, np.zeros(initial.size)
    for _ in range(_ROUNDS):
        for flow in flows:
            flow.adopt(conductances.values[flow.at])
            loads[flow.at] = flow.relative_norms(sketch[flow.nodes], edges)
        largest = float(loads.max())
        idle = 0 if largest < 0.99 * bound else idle + 1
        bound = min(bound, largest)
        if idle == _PATIENCE or not np.isfinite(largest):
            break
        ratio = conductances.values / initial / np.maximum(loads / bound, _IDLE)
        conductances.values = initial * np.maximum(ratio / ratio.max(), LEAST_CONDUCTANCE)
    return max(_MARGIN * bound, _least(problem)) if np.isfinite(bound) else consensus_bound(problem)
