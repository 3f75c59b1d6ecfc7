"""`convexhc.solve_path`: the paper's problem from single nodes to the consensus."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from convexhc.api.options import (
    Keep,
    Lambdas,
    MethodLike,
    Monitor,
    OnLevel,
    Options,
    Progress,
    explains_renamed_options,
)
from convexhc.api.single_lam import read_problem, similarity_record
from convexhc.fusion.pieces import neighbouring_pieces
from convexhc.kernels.threads import threads_along
from convexhc.model.problem import FusionProblem
from convexhc.path.cautions import warned_if_unsolved
from convexhc.path.engine import FusionModel, run
from convexhc.path.graph_model import GraphModel
from convexhc.path.path import Path
from convexhc.path.plan import Bisecting, Descending, Grid, Plan
from convexhc.provenance import Provenance, fingerprint
from convexhc.solvers.choose import choose_method
from convexhc.solvers.memory import (
    check_memory,
    coarse_path_estimate,
    path_estimate,
    require_memory,
)

if TYPE_CHECKING:
    from convexhc.path.points_model import PointsModel

# Centroids of every lam are kept by default up to this many nodes.
_KEEP_NODES = 1000


@explains_renamed_options
def solve_path(
    K: Any,
    lambdas: Lambdas = Options.lambdas,
    *,
    weights: Any = None,
    l1_ratio: float = Options.l1_ratio,
    method: MethodLike = Options.method,
    tol: float = Options.tol,
    max_iter: int = Options.max_iter,
    max_clusters: int | None = Options.max_clusters,
    lam_step: float = Options.lam_step,
    keep: Keep | None = Options.keep,
    prove: bool = Options.prove,
    constraint: str = Options.constraint,
    checkpoint: str | os.PathLike[str] | None = None,
    on_check: OnLevel | None = None,
    progress: Progress = False,
    n_jobs: int | None = None,
) -> Path:
    """Cluster a graph or similarity matrix at every scale.

    Solves the problem of `convexhc.solve` for growing lam, each from the solution before it, from
    single nodes until every connected component is one cluster. Without ``lambdas`` the range is
    found and refined: an interval in which more than one fusion happens is bisected (in log lam)
    until its ends are within ``lam_step``; several fusions at one lam stay one event.

    With ``max_clusters`` only the coarse scales are solved, from the consensus downwards, and
    clusters are split where the certificate demands it: memory grows like c n for c clusters, not
    like n^2, so that graphs of ten thousand nodes are feasible.

    Parameters
    ----------
    K : graph or (n, n) similarity
        As for `convexhc.solve`.
    lambdas : iterable of float or int, optional
        Solve exactly these; or this number of them, in equal ratios up to the consensus.
    weights
        As for `convexhc.solve`.
    l1_ratio, method, tol, max_iter, max_clusters, lam_step, keep, prove, constraint
        As for `convexhc.Options`.
    checkpoint : path, optional
        File written after every lam; if it is large, when the run ends, is interrupted, or has
        been running for a while. If it exists, the run continues from there and ends in the same
        result as an uninterrupted one.
    on_check : callable, optional
        Called with every solved `Level`; a true answer ends the path there.
    progress : bool or callable
        True shows lam, clusters, gap and time left on a terminal or in a notebook, through tqdm
        if it is installed; a callable is called with every `Level`.
    n_jobs : int, optional
        Cores: threads of this process, by default as many as it may use. Inside
        ``joblib.parallel_config``, workers of the backend that it names, such as a Dask cluster,
        among which the columns of large proofs are divided, and in feature space the connected
        components. The answer does not depend on it.

    Returns
    -------
    Path
        Partitions, certificates and the tree.

    Raises
    ------
    ValueError, TypeError
        As for `convexhc.solve`; or a checkpoint of another run, or a damaged one.

    Warns
    -----
    ConvergenceWarning
        Some lam was not solved to ``tol`` (scikit-learn's class).

    Examples
    --------
    >>> import numpy as np
    >>> import convexhc
    >>> K = np.kron(np.eye(2), np.ones((3, 3))) + 0.1 + np.eye(6)
    >>> path = convexhc.solve_path(K)
    >>> path.level_n_clusters
    (6, 2, 1)
    >>> path.labels(n_clusters=2)
    array([0, 0, 0, 1, 1, 1])
    """
    options = Options.among(locals())
    return graph_path(K, weights, options, Monitor(checkpoint, on_check, progress, n_jobs))


def graph_path(K: Any, weights: Any, options: Options, monitor: Monitor) -> Path:
    """The path of the paper's problem, with checked options."""
    graph, problem = read_problem(K, 0.0, weights=weights, options=options)
    small = graph.n <= _KEEP_NODES
    _check_memory(problem, options, keeps=options.keeps(small=small))
    record = options.record(similarity=similarity_record(K))
    provenance = Provenance.of(record, fingerprint(graph, problem.penalty.graph))
    from_above = options.max_clusters is not None
    model = GraphModel(
        graph, problem, options.method, options.tol, options.max_iter, from_above, options.prove
    )
    return run_model(model, options, monitor, provenance, small=small)


def run_model(
    model: GraphModel | PointsModel,
    options: Options,
    monitor: Monitor,
    provenance: Provenance,
    *,
    small: bool,
) -> Path:
    """Solve a model at the lam that the options ask for; warn if some were not solved."""
    problem = model.problem
    file = monitor.checkpoint
    store = None
    if file is not None:
        from convexhc.path.checkpoint import Checkpoint

        store = Checkpoint(file, provenance.digest, problem)
    # Sums over points are short: two threads of BLAS take longer than one.
    threads = threads_along(problem.shape, dense=problem.fidelity.dense_products)
    with threads, monitor.listener(lambda: choose_plan(model, options)) as (plan, listen):
        path = run(
            model,
            plan,
            provenance,
            keep=options.keeper(small=small),
            store=store,
            listen=listen,
        )
    return warned_if_unsolved(path, options.tol)


def _check_memory(problem: FusionProblem, options: Options, *, keeps: bool) -> None:
    """Raise MemoryError if the path does not fit; every kept level counts."""
    if options.max_clusters is not None:
        most = Descending.crowd_factor * options.max_clusters + Descending.crowd_offset
        groups, kept = min(most, problem.shape[0]), options.most_levels if keeps else 0
        graph = problem.penalty.graph
        # Clusters have longer borders than pieces of the same number.
        pairs = min(2 * neighbouring_pieces(graph, groups), graph.n_edges)
        require_memory(
            f"a path from above with {options.max_clusters} clusters",
            coarse_path_estimate(problem, "admm", groups, pairs, kept=kept),
            "ask for fewer clusters (max_clusters), or keep fewer edges (weights=10)",
        )
    else:
        method = choose_method(problem, options.method).name
        needed = path_estimate(problem, method, keep=keeps, solved=options.most_levels)
        check_memory(problem, method, needed)


def choose_plan(model: FusionModel[Any], options: Options) -> Plan:
    """The plan of lam that the options ask for: a grid, bisection, or descent from consensus."""
    n_components = int(model.components.max()) + 1
    if options.grid is not None:
        return Grid(options.grid, descending=options.max_clusters is not None)
    if options.max_clusters is not None:
        return Descending(
            model.lam_max, options.lam_step, model.most_clusters, n_components, options.max_clusters
        )
    if isinstance(options.lambdas, int):
        return Grid(model.geometric_grid(options.lambdas), stop_at=n_components)
    return Bisecting(
        model.lam_max, options.lam_step, model.most_clusters, n_components, model.only_identical
    )
