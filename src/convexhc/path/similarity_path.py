"""`convexhc.solve_path`: from single nodes to the consensus, every lam certified."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

from convexhc._checks import checked_number
from convexhc.kernels.threads import threads_along
from convexhc.path.checkpoint import Checkpoint
from convexhc.path.continuation import Continuation
from convexhc.path.level import Level
from convexhc.path.options import Keep, checked_grid, keeper
from convexhc.path.result import Path
from convexhc.similarity import Similarity
from convexhc.solvers.memory import check_memory
from convexhc.solvers.provenance import Provenance, fingerprint
from convexhc.solvers.solve import choose_method, prepare

# Centroids of every lam are kept by default while all of them together stay small.
_KEEP_NODES = 1000


def solve_path(
    K: Any,
    lambdas: Iterable[float] | None = None,
    *,
    weights: Any = None,
    l1_ratio: float = 0.05,
    method: str = "auto",
    tol: float = 1e-4,
    max_iter: int = 20_000,
    max_clusters: int | None = None,
    lam_step: float = 0.1,
    keep: Keep | None = None,
    constraint: str = "doubly_stochastic",
    checkpoint: str | os.PathLike[str] | None = None,
    on_check: Callable[[Level], object] | None = None,
) -> Path:
    """Cluster a graph or similarity matrix at every scale.

    Solves the problem of `convexhc.solve` for growing lam, each from the solution before it, from
    single nodes until every connected component is one cluster. Without ``lambdas`` the range is
    found and refined: an interval in which more than one fusion happens is halved (in log lam)
    until its ends are within ``lam_step``; several fusions at one lam stay one event.

    With ``max_clusters`` only the coarse scales are solved, from the consensus downwards, and
    clusters part where the certificate demands it: memory grows like c n for c clusters, not like
    n^2, so that graphs of ten thousand nodes can be done.

    Parameters
    ----------
    K : graph or (n, n) similarity
        As for `convexhc.solve`.
    lambdas : iterable of float, optional
        Solve exactly these.
    weights, l1_ratio, method, tol, max_iter, constraint
        As for `convexhc.solve`.
    max_clusters : int, optional
        Go down from the consensus until there are more clusters than this.
    lam_step : float
        Relative step of lam below which fusions are no longer told apart.
    keep : {"all", "labels"} or callable, optional
        Which centroids to keep: of every lam, of none, or of those for which ``keep(lam)`` is true.
        Default: all up to 1000 nodes.
    checkpoint : path, optional
        File written after every lam; if it is large, when the run ends, is interrupted, or has
        gone on for a while. If it exists, the run goes on from there and ends in the same result
        as an uninterrupted one.
    on_check : callable, optional
        Called with every solved `Level`; a true answer ends the path there.

    Returns
    -------
    Path
        Partitions, certificates and the tree.

    Raises
    ------
    ValueError, TypeError
        As for `convexhc.solve`; or a checkpoint of another run, or a damaged one.

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
    graph, problem = prepare(K, 0.0, weights=weights, l1_ratio=l1_ratio, constraint=constraint)
    if max_clusters is None:
        check_memory(problem, choose_method(problem, method).name)
    options = {
        "l1_ratio": float(l1_ratio),
        "method": method,
        "tol": checked_number("tol", tol),
        "max_iter": int(checked_number("max_iter", max_iter)),
        "lam_step": _checked_step(lam_step),
        "constraint": constraint,
        "lambdas": None if lambdas is None else checked_grid(lambdas),
        "max_clusters": _checked_count(max_clusters),
        "similarity": K.record if isinstance(K, Similarity) else None,
    }
    weighed = problem.penalty.graph
    provenance = Provenance.of(options, fingerprint(graph, weighed))
    saved = Checkpoint(checkpoint, provenance.digest) if checkpoint is not None else None
    keep_if = keeper(keep, small=graph.n <= _KEEP_NODES)
    with threads_along(problem.shape, dense=problem.fidelity.dense_products):
        levels, complete = Continuation(graph, problem, options, keep_if, saved, on_check).go()
    return Path(
        levels=tuple(sorted(levels, key=lambda level: level.lam)),
        names=graph.names,
        components=weighed.components()[1],
        complete=complete,
        provenance=provenance,
        graph=graph,
    )


def _checked_count(max_clusters: int | None) -> int | None:
    if max_clusters is None:
        return None
    if checked_number("max_clusters", max_clusters) != int(max_clusters) or max_clusters < 1:
        raise ValueError(f"max_clusters must be a whole number from 1, received {max_clusters!r}.")
    return int(max_clusters)


def _checked_step(lam_step: float) -> float:
    if checked_number("lam_step", lam_step) == 0.0:
        raise ValueError("lam_step must be above 0, received 0: 0.01 tells 1 % steps apart.")
    return float(lam_step)
