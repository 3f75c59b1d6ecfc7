"""Upper bound on the lam from which every connected component is one cluster."""

from __future__ import annotations

import numpy as np

from convexhc.fusion.demand import Demand, column_blocks
from convexhc.fusion.electrical_flow import LayeredFlow
from convexhc.kernels.prox import dual_norms
from convexhc.model.fidelity import Kernel
from convexhc.model.problem import FusionProblem

# Least bound, relative to the mean self-similarity of a node over the largest weight: identical
# nodes fuse at any lam > 0, but a path needs a finite range.
_MIN_BOUND = 1e-2


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
    per_node = problem.fidelity.scale / graph.n
    # A kernel is in the units of lam times weight; squared distances are in its square.
    unit = per_node if isinstance(problem.fidelity, Kernel) else per_node**0.5
    return max(bound, _MIN_BOUND * unit) / largest or 1.0
