"""`convexhc.support`: a path and those of resamples of what was observed."""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from convexhc._types import FloatArray
from convexhc.api.clustering import FROM_POINTS, cluster
from convexhc.api.cohort import solve_paths
from convexhc.api.outcomes import Outcome
from convexhc.graph import Graph
from convexhc.io import as_graph
from convexhc.path import Path
from convexhc.progress_line import ProgressLine
from convexhc.resampling.comparison import Comparison, Reference
from convexhc.resampling.draws import Resample, default_resample, draws
from convexhc.resampling.support import Support
from convexhc.similarity import Similarity
from convexhc.similarity.spectral import diffusion_time

# Options of `cluster` that a path records by the same names.
_RECORDED = ("lambdas", "l1_ratio", "tol", "max_iter", "max_clusters", "lam_step")


def support(
    G: Any,
    *,
    path: Path | None = None,
    n_resamples: int = 100,
    resample: Resample | None = None,
    share: float = 0.95,
    random_state: int = 0,
    n_jobs: int | None = None,
    n_threads: int = 1,
    folder: str | os.PathLike[str] | None = None,
    progress: bool | ProgressLine = False,
    **options: Any,
) -> Support:
    """How sure each branch of a tree is: resample what was observed, and solve again.

    Every resample is solved by `convexhc.cluster` with the same options, on workers of joblib
    (`convexhc.solve_paths`), and its tree and partitions are compared with those of the whole.

    Parameters
    ----------
    G : graph or (n, d) points
        What was observed, as `convexhc.cluster` takes it. Not a similarity: it would not stay
        positive semidefinite without some of its entries.
    path : Path, optional
        The path of ``G`` with these options, if it is solved already.
    n_resamples : int
        Number of resamples.
    resample : {"drop", "edges", "weights", "columns"}, optional
        What is drawn: see `resampling.draws`. Default: "columns" for points, "weights" for graphs
        whose weights are counts, else "drop".
    share : float
        Probability that an edge is kept, for "drop".
    random_state : int
        Seed. The same seed gives the same values for any number of workers.
    n_jobs, n_threads : int
        Workers, and threads per worker, as in `convexhc.solve_paths`.
    folder : path, optional
        Folder for the paths of the resamples: a later call reads them, and solves the rest.
    progress : bool or ProgressLine
        Whether to draw a progress line on standard error.
    **options
        Options of `convexhc.cluster`.

    Returns
    -------
    Support
        Costs as much as ``n_resamples`` paths; O(n m) for each comparison of trees of m merges.

    Raises
    ------
    ValueError
        A similarity, a way to resample that the input does not have, a path of other nodes, or no
        resample that could be solved.

    Examples
    --------
    >>> import convexhc
    >>> graph = convexhc.datasets.fractal_graph(n_meta=2, n_super=3, clique=6)
    >>> found = convexhc.support(graph.adjacency, n_resamples=3, share=0.98, lambdas=20)
    >>> found.share.size == found.tree.nodes.n_merges, found.n_resamples
    (True, 3)
    """
    observed = _observed(G, options)
    kind = default_resample(observed) if resample is None else resample
    samples = draws(observed, kind, n_resamples=n_resamples, share=share, random_state=random_state)
    # Drawn first, so that bad options are refused before anything is solved.
    resampled = dict(enumerate(samples))
    whole = cluster(observed, **options) if path is None else path
    n = observed.n if isinstance(observed, Graph) else len(observed)
    if len(whole.names) != n:
        raise ValueError(f"the path has {len(whole.names)} nodes, and what was observed has {n}.")
    reference = Reference(whole, whole.scales)
    found: dict[int, Comparison] = {}
    line = ProgressLine(sys.stderr) if progress is True else progress

    def compare(done: int, outcome: Outcome) -> None:
        if outcome.path is not None:
            found[int(str(outcome.name))] = reference.compare(outcome.path)
        if isinstance(line, ProgressLine):
            line.show(done / len(resampled), f"resample {done} of {len(resampled)}")

    solved = solve_paths(
        resampled,
        n_jobs=n_jobs,
        n_threads=n_threads,
        folder=folder,
        on_result=compare,
        **{**options, "keep": "labels", "test_structure": False},
    )
    if isinstance(line, ProgressLine):
        line.clear()
    if not found:
        raise ValueError(f"no resample could be solved; the first failed with {solved.failed[0]}")
    return Support.of(
        whole,
        reference.scales,
        [found[position] for position in sorted(found)],
        resample=kind,
        edge_share=float(share),
        random_state=int(random_state),
        failed=tuple(solved.failed.values()),
    )


def path_support(path: Path, **settings: Any) -> Support:
    """Support of a path whose graph was observed; the settings are those of `support`."""
    return support(path.graph, path=path, **{**options_of(path), **settings})


def options_of(path: Path) -> dict[str, Any]:
    """The options of `convexhc.cluster` that made a path of a graph, which holds the graph."""
    recorded = path.provenance.options
    made = recorded.get("similarity")
    # Only features of a diffusion on the graph itself have an edge of noise.
    known = made if isinstance(made, dict) and "noise_edge" in made else None
    if known is None or path.graph is None or path.density is not None:
        raise ValueError(
            "this path does not hold what was observed, only what was made of it: use "
            "convexhc.support(G, path=path, ...) with the graph or the points and the options of "
            "the path."
        )
    options = {name: recorded[name] for name in _RECORDED}
    options["n_features"] = known["n_features"]
    if known["time"] != diffusion_time(path.graph):
        options["time"] = known["time"]
    return options


def _observed(G: ArrayLike | Any, options: dict[str, Any]) -> Graph | FloatArray:
    """The graph, or the table of points, that is resampled."""
    kind = options.get("similarity", "graph")
    if kind in FROM_POINTS:
        table = np.asarray(G, dtype=np.float64)
        if table.ndim != 2:
            raise ValueError(f"points must be a table of one row each; got shape {table.shape}.")
        return table
    if kind == "precomputed" or isinstance(G, Similarity):
        raise ValueError(
            "a similarity cannot be resampled, it would not stay positive semidefinite: give the "
            "graph or the points that it was made from, and similarity=... that makes it."
        )
    return as_graph(G)
