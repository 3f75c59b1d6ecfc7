"""`convexhc.solve`: one graph, one strength of the penalty, one certified answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from convexhc._checks import checked_number, named
from convexhc.graph import Graph
from convexhc.io import as_graph
from convexhc.model.constraint import Constraint, DoublyStochastic, RowSimplex
from convexhc.model.fidelity import Kernel, Proximity
from convexhc.model.problem import FusionProblem, graph_problem
from convexhc.similarity import Similarity, require_psd, sparsify
from convexhc.solvers.admm import ADMM
from convexhc.solvers.centroid_step import factors_sparsely
from convexhc.solvers.dual_fista import DualAscent, DualFISTA
from convexhc.solvers.loop import Method, OnCheck, Solution, run
from convexhc.solvers.memory import check_memory
from convexhc.solvers.primal_dual import PrimalDual
from convexhc.solvers.provenance import Provenance, fingerprint

MethodName = Literal["auto", "dual_fista", "admm", "primal_dual"]
ConstraintName = Literal["doubly_stochastic", "simplex"]

# Nodes up to which ADMM with an exact centroid step is fastest.
_EXACT_NODES = 500
# The same for a sparse K.
_EXACT_SPARSE = 250
# Rows up to which linearised ADMM is fastest if its factor is dense.
_LINEAR_ROWS = 3000

CONSTRAINTS: dict[str, type[Constraint]] = {
    "doubly_stochastic": DoublyStochastic,
    "simplex": RowSimplex,
}


def solve(
    K: Any,
    lam: float,
    *,
    weights: Any = None,
    l1_ratio: float = 0.05,
    method: MethodName = "auto",
    tol: float = 1e-4,
    max_iter: int = 20_000,
    start: Solution | None = None,
    constraint: ConstraintName = "doubly_stochastic",
    on_check: OnCheck | None = None,
) -> Solution:
    """Cluster a graph or similarity matrix at one strength of the penalty.

    Minimises Tr[pi'K pi - 2 K pi] + lam sum_ij W_ij (alpha |pi_i - pi_j|_2 + l1_ratio
    |pi_i - pi_j|_1), alpha = 1 - l1_ratio, over doubly stochastic pi (eq. 4 of Donnat & Holmes):
    column pi_i is the centroid of node i, and nodes whose centroids coincide form a cluster.

    Parameters
    ----------
    K : graph or (n, n) similarity
        Anything `convexhc.as_graph` reads: array, sparse matrix, DataFrame, networkx or igraph
        graph, edges, file name. Symmetric and positive semidefinite.
    lam : float
        Strength of the fusion penalty, zero or more.
    weights : graph, int or None
        Edge weights W of the penalty: a graph on the same nodes, or the number of strongest
        neighbours of K to keep, as connected as K (`similarity.sparsify`); the off-diagonal
        entries of K by default. Weights below 1e-7 of the largest count as none.
    l1_ratio : float
        Share of the l1 norm in the penalty, between 0 and 1.
    method : {"auto", "dual_fista", "admm", "primal_dual"}
        Solver; all reach the same answer.
    tol : float
        Relative duality gap at which to stop.
    max_iter : int
        Iteration budget.
    start : Solution, optional
        Warm start from another lam of the same graph; not altered.
    constraint : {"doubly_stochastic", "simplex"}
        Both sums of pi fixed to one, or only those of its columns.
    on_check : callable, optional
        Called as ``on_check(n_iter, certificate)`` at every check; a true answer stops.

    Returns
    -------
    Solution
        With ``labels``, ``pi``, ``objective``, ``relative_gap`` and ``status``. Memory is
        O(n^2 + n edges); an estimate is checked before anything is allocated.

    Raises
    ------
    ValueError, TypeError
        Input that is not a finite, symmetric, positive semidefinite similarity, or an option out
        of its range.
    MemoryError
        The problem will not fit; the message says how much it needs.

    Examples
    --------
    >>> import numpy as np
    >>> import convexhc
    >>> K = np.kron(np.eye(2), np.ones((3, 3))) + np.eye(6)
    >>> convexhc.solve(K, lam=1.0).labels
    array([0, 0, 0, 1, 1, 1])
    """
    graph, problem = prepare(K, lam, weights=weights, l1_ratio=l1_ratio, constraint=constraint)
    chosen = choose_method(problem, method)
    options: dict[str, Any] = {
        "lam": problem.lam,
        "l1_ratio": float(l1_ratio),
        "method": method,
        "tol": checked_number("tol", tol),
        "max_iter": int(checked_number("max_iter", max_iter)),
        "constraint": constraint,
        "similarity": K.record if isinstance(K, Similarity) else None,
    }
    check_memory(problem, chosen.name)
    solution = run(
        problem,
        chosen,
        start=start,
        tol=options["tol"],
        max_iter=options["max_iter"],
        on_check=on_check,
    )
    data = fingerprint(graph, problem.penalty.graph)
    return replace(solution, names=graph.names, provenance=Provenance.of(options, data))


def prepare(
    K: Any, lam: float, *, weights: Any, l1_ratio: float, constraint: str
) -> tuple[Graph, FusionProblem]:
    """Read and check everything a graph problem is made of; refuse what is not convex."""
    graph = as_graph(K, signed=weights is not None)
    require_psd(graph)
    problem = graph_problem(
        graph,
        checked_number("lam", lam),
        weights=edge_weights(graph, weights),
        l1_ratio=checked_number("l1_ratio", l1_ratio, upper=1.0),
        constraint=named("constraint", constraint, CONSTRAINTS)(),
    )
    return graph, problem


def choose_method(problem: FusionProblem, name: str = "auto") -> Method[FusionProblem, Any]:
    """The solver of that name; "auto" picks by size, on the figures of `make bench`.

    ADMM needs the fewest iterations, but each has four N^3 products. On larger graphs it is
    linearised, as long as a sparse factor or the eigenvectors of the Laplacian can be had.
    """
    methods: dict[str, Method[FusionProblem, Any]] = {
        "dual_fista": DualAscent() if isinstance(problem.fidelity, Proximity) else DualFISTA(),
        "admm": ADMM(),
        "primal_dual": PrimalDual(),
    }
    if name != "auto":
        chosen: Method[FusionProblem, Any] = named("method", name, {**methods, "auto": None})
        return chosen
    if problem.shape[0] > _LINEAR_ROWS and not factors_sparsely(problem):
        return methods["primal_dual"]
    fidelity = problem.fidelity
    sparse = isinstance(fidelity, Kernel) and fidelity.matrix.is_sparse
    return ADMM(linear=max(problem.shape) > (_EXACT_SPARSE if sparse else _EXACT_NODES))


def edge_weights(kernel: Graph, weights: Any) -> Graph:
    """Edge weights of the penalty as a graph on the nodes of the kernel."""
    if weights is None:
        return kernel
    if isinstance(weights, int | np.integer) and not isinstance(weights, bool):
        return sparsify(kernel, int(weights), connected=True)
    graph = as_graph(weights)
    if graph.n != kernel.n:
        raise ValueError(
            f"weights has {graph.n} nodes and K has {kernel.n}: give weights on the same nodes."
        )
    return graph
