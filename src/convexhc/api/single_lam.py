"""`convexhc.solve`: one graph, one strength of the penalty, one certified answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from convexhc._checks import LARGEST, check_magnitude, checked_number
from convexhc._warnings import warn_unsolved
from convexhc.api.options import CONSTRAINTS, MethodLike, Options, explains_renamed_options
from convexhc.fusion.contraction import alone
from convexhc.fusion.graph_proof import LEAST_TOL, TIGHTER, prove_graph
from convexhc.fusion.graph_solve import ContractedSolution
from convexhc.graph import Graph
from convexhc.io import as_graph
from convexhc.model.problem import FusionProblem, graph_problem
from convexhc.path.graph_model import GraphModel
from convexhc.progress_line import ProgressLine, certificate_listener, shown
from convexhc.provenance import Provenance, fingerprint
from convexhc.similarity import Similarity, require_psd, sparsify
from convexhc.solvers.choose import choose_method
from convexhc.solvers.loop import OnCheck, Solution, Status, run
from convexhc.solvers.memory import check_memory

# Nodes up to which labels are settled thoroughly. A path does so on few groups, and up to more
# nodes; here every node is a group, and above 60 nodes it takes 2.7 times as long as the solve.
_THOROUGH_NODES = 60


@explains_renamed_options
def solve(
    K: Any,
    lam: float,
    *,
    weights: Any = None,
    l1_ratio: float = Options.l1_ratio,
    method: MethodLike = Options.method,
    tol: float = Options.tol,
    max_iter: int = Options.max_iter,
    start: Solution | None = None,
    constraint: str = Options.constraint,
    prove: bool = Options.prove,
    on_check: OnCheck | None = None,
    progress: bool | ProgressLine | OnCheck = False,
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
        entries of K by default. Weights below 1e-7 of the largest count as zero.
    l1_ratio, method, tol, max_iter, constraint, prove
        As for `convexhc.Options`. As on a path, a graph of up to 1000 nodes is solved more
        accurately where its labels are in doubt.
    start : Solution, optional
        Warm start from another lam of the same graph; not altered.
    on_check : callable, optional
        Called as ``on_check(n_iter, certificate)`` at every check, with the objective and the gap
        in the scale of ``Solution.objective``; a true answer stops. Not while doubts about labels
        are settled.
    progress : bool or callable
        True shows iteration, gap and time left, as for `convexhc.solve_path`; a callable is called
        as ``on_check`` is, and its answer ignored.

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

    Warns
    -----
    ConvergenceWarning
        The certificate did not reach ``tol`` (scikit-learn's class).

    Examples
    --------
    >>> import numpy as np
    >>> import convexhc
    >>> K = np.kron(np.eye(2), np.ones((3, 3))) + np.eye(6)
    >>> convexhc.solve(K, lam=1.0).labels
    array([0, 0, 0, 1, 1, 1])
    """
    options = Options.among(locals())
    graph, problem = read_problem(K, lam, weights=weights, options=options)
    chosen = choose_method(problem, options.method)
    check_memory(problem, chosen.name)
    model = GraphModel(
        graph, problem, chosen, options.tol, options.max_iter, thorough_nodes=_THOROUGH_NODES
    )
    with shown(progress) as line:
        listen = certificate_listener(line, progress, on_check, lam=problem.lam, tol=options.tol)
        start, tol = None if start is None else start.in_scale(halved=True), options.tol
        while True:
            # Without a penalty nothing is fused, though a singular kernel would allow it.
            settling = tol == options.tol and problem.lam > 0.0
            solution = run(
                problem,
                chosen,
                start=start,
                tol=tol,
                max_iter=options.max_iter,
                # The solver halves the problem.
                on_check=lambda n_iter, halved: listen(n_iter, halved.scaled(2.0)),
                doubt=model.doubt() if settling and model.doubt is not None else None,
            )
            found = ContractedSolution(alone(problem), solution)
            if settling and solution.status is Status.SOLVED:
                found, tol = model.settled(problem, found)
                solution = found.small
            proof = prove_graph(problem, found, thorough=options.prove)
            done = proof.is_proven or tol <= LEAST_TOL or solution.status is not Status.SOLVED
            if done or not options.prove:
                break
            start, tol = solution, max(tol * TIGHTER, LEAST_TOL)
    solution = solution.in_scale(halved=False)
    if solution.status not in (Status.SOLVED, Status.STOPPED):
        warn_unsolved(
            f"lam {problem.lam:g} was not solved to tol={options.tol:g} (relative gap "
            f"{solution.relative_gap:.1e}). {solution.status.value}"
        )
    record = options.record(lam=problem.lam, similarity=similarity_record(K))
    provenance = Provenance.of(record, fingerprint(graph, problem.penalty.graph))
    return replace(solution, names=graph.names, provenance=provenance, proof=proof)


def read_problem(
    K: Any, lam: float, *, weights: Any, options: Options
) -> tuple[Graph, FusionProblem]:
    """Read and check the data of the paper's problem; refuse what is not convex."""
    graph = as_graph(K, signed=weights is not None)
    check_magnitude("entries of the similarity", graph.largest)
    require_psd(graph)
    problem = graph_problem(
        graph,
        checked_number("lam", lam, upper=LARGEST),
        weights=edge_weights(graph, weights),
        l1_ratio=options.l1_ratio,
        constraint=CONSTRAINTS[options.constraint](),
    )
    return graph, problem


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


def similarity_record(K: Any) -> dict[str, Any] | None:
    """How K was made, if it is a `Similarity`."""
    return K.record if isinstance(K, Similarity) else None
