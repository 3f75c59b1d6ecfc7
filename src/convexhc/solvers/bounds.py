"""From which lam on the consensus is optimal: a bound computed before any solve."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.linalg import splu

from convexhc.kernels.prox import dual_norms
from convexhc.problem import Problem, cluster_means
from convexhc.solvers.start import fusion_of
from convexhc.terms.fidelity import Kernel
from convexhc.terms.laplacian import laplacian

Array = NDArray[np.float64]

# Least bound, in units of the mean similarity of a node to itself over the largest weight.
_LEAST = 1e-2


def consensus_bound(problem: Problem) -> float:
    """A lam above which every connected component is one cluster.

    The consensus J is optimal when some edge dual Y in its balls has D'Y = (I - J) K (I - J), or
    (I - J) K when the graph is disconnected. The weighted least-norm one, Y_e = w_e^2 (X_i - X_j)
    with L_{w^2} X equal to that right side, fits as soon as lam >= max_e w_e |X_i - X_j|_dual.

    Parameters
    ----------
    problem : Problem
        With a fusion penalty; its lam plays no part.

    Returns
    -------
    float
        The bound; zero without edges. One sparse factorisation and N solves.

    Examples
    --------
    >>> import numpy as np
    >>> from convexhc.graph import Graph
    >>> from convexhc.problem import graph_problem
    >>> pair = Graph.from_matrix(np.array([[1.0, 0.5], [0.5, 1.0]]))
    >>> round(consensus_bound(graph_problem(pair, 0.0, l1_ratio=0.0)), 6)
    0.707107
    """
    penalty = fusion_of(problem)
    weights = penalty.differences.graph
    if weights.n_edges == 0:
        return 0.0
    steps = consensus_flow(problem) / weights.weight[:, None]
    bound = float(dual_norms(steps, penalty.l1_ratio).max())
    # Identical nodes fuse at any lam above zero, and a path needs one of a size that can be seen.
    each = problem.fidelity.scale / weights.n
    # A kernel is compared with its weights as it is, squared distances by their roots.
    size = each if isinstance(problem.fidelity, Kernel) else each**0.5
    return max(bound, _LEAST * size / float(weights.weight.max())) or 1.0


def consensus_flow(problem: Problem) -> Array:
    """An edge dual under which the consensus is optimal, once its balls hold it.

    The weighted least-norm one, Y_e = w_e^2 (X_i - X_j) with L_{w^2} X = (I - J) T: one sparse
    factorisation and as many solves as the centroids have columns.
    """
    penalty = fusion_of(problem)
    weights = penalty.differences.graph
    if weights.n_edges == 0:
        return np.zeros((0, problem.shape[1]))
    count, labels = weights.components()
    T, mass = problem.fidelity.target, problem.fidelity.metric.mass
    right = T - cluster_means(T, labels, mass)[labels]
    if mass is not None:
        right *= mass[:, None]
    if count == 1 and problem.constraint.row_sums:
        right -= right.mean(axis=1, keepdims=True)
    n = weights.n
    # One grounded node a component makes the Laplacian definite and moves X by a constant there.
    grounded = np.zeros(n)
    grounded[np.unique(labels, return_index=True)[1]] = 1.0
    L = laplacian(weights, np.square(weights.weight))
    scale = float(L.diagonal().max())
    shift = csr_array((scale * grounded, (np.arange(n), np.arange(n))), shape=(n, n))
    X = splu((L + shift).tocsc()).solve(right)
    return np.ascontiguousarray(
        np.square(weights.weight)[:, None] * (X[weights.tail] - X[weights.head])
    )
