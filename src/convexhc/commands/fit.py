"""`convexhc fit`: from a file to a folder of results."""

from __future__ import annotations

import math
import platform
import time
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path as File
from typing import Any

import numpy as np
import scipy

from convexhc import similarity
from convexhc.commands.folder import Folder
from convexhc.commands.speech import ProgressLine, Refusal, Say, clock
from convexhc.graph import Graph
from convexhc.io import as_graph
from convexhc.kernels.threads import use_threads
from convexhc.path import Path, Point, solve_path
from convexhc.report import write_report
from convexhc.similarity import Similarity
from convexhc.solvers.bounds import consensus_bound
from convexhc.solvers.solve import prepare
from convexhc.version import __version__

FROM_GRAPH: dict[str, Callable[..., Similarity]] = {
    "two_hop": similarity.two_hop,
    "two_hop_diagonal": similarity.two_hop_diagonal,
    "normalized": similarity.normalized,
    "laplacian": similarity.laplacian,
    "self_loops": similarity.self_loops,
    "diffusion": similarity.diffusion,
    "heat": similarity.heat,
}
# Six steps of a walk reach across most graphs, so the kernel is dense; two stay sparse.
AUTO_NODES = 2000


def fit(options: Namespace, say: Say, progress: ProgressLine) -> int:
    """Read, build the similarity, walk the path, write the folder; 1 if a lam was not solved."""
    begun = time.monotonic()
    folder = Folder(File(options.output))
    kernel = read_similarity(options)
    folder.prepare(resume=options.resume, force=options.force)
    use_threads(options.n_jobs)
    arguments = path_arguments(options)
    say(f"{options.graph}: {kernel.n} nodes, {kernel.n_edges} similar pairs")
    try:
        path = solve_path(
            kernel,
            parse_lambdas(options.lambdas),
            checkpoint=folder.checkpoint,
            on_check=_drawer(kernel, options, progress),
            **arguments,
        )
    except KeyboardInterrupt:
        progress.clear()
        say(f"interrupted; go on with: convexhc fit {options.graph} -o {options.output} --resume")
        return 130
    progress.clear()
    run = record(options, path, time.monotonic() - begun)
    folder.write(path, kernel, run)
    write_report(path, folder.root / "report.html", graph=kernel, title=File(options.graph).name)
    folder.checkpoint.unlink(missing_ok=True)
    say(path.summary())
    say(f"written to {folder.root} in {clock(run['seconds'])}: open {folder.root / 'report.html'}")
    unsolved = [point.lam for point in path.points if point.status != "SOLVED"]
    if unsolved:
        say(f"not solved to {options.tol:g} at {len(unsolved)} lam: raise --max-iter or --tol")
    return 1 if unsolved else 0


def read_similarity(options: Namespace) -> Graph:
    """The graph of the file as a similarity; errors of reading are the user's to mend."""
    try:
        graph = as_graph(options.graph, symmetrize=options.symmetrize)
        kind = similarity_for(options.similarity, graph.n)
        if kind == "none":
            return graph
        gamma = {} if options.gamma is None else {"gamma": options.gamma}
        return FROM_GRAPH[kind](graph, **gamma).graph
    except (ValueError, TypeError, OSError, ImportError) as error:
        raise Refusal(str(error)) from error


def similarity_for(name: str, n_nodes: int) -> str:
    """The similarity asked for, or the one that suits a graph of this size.

    Examples
    --------
    >>> similarity_for("auto", 100), similarity_for("auto", 100_000), similarity_for("heat", 100)
    ('diffusion', 'two_hop', 'heat')
    """
    if name != "auto":
        return name
    return "diffusion" if n_nodes <= AUTO_NODES else "two_hop"


def path_arguments(options: Namespace) -> dict[str, Any]:
    """Options of the command as arguments of `solve_path`."""
    return {
        "weights": options.neighbors or None,
        "l1_ratio": options.l1_ratio,
        "method": options.method,
        "tol": options.tol,
        "max_iter": options.max_iter,
        "resolution": options.resolution,
    }


def parse_lambdas(text: str | None) -> list[float] | None:
    """Read ``0.1,0.5,1``, or ``0.01:10:30``: thirty values from 0.01 to 10, evenly in log lam.

    Examples
    --------
    >>> parse_lambdas("1:100:3")
    [1.0, 10.0, 100.0]
    """
    if text is None:
        return None
    try:
        if ":" in text:
            low, high, count = text.split(":")
            return [float(lam) for lam in np.geomspace(float(low), float(high), int(count))]
        return [float(word) for word in text.split(",")]
    except ValueError as error:
        raise Refusal(
            f"--lambdas {text!r} is neither 'a,b,c' nor 'from:to:count' with numbers."
        ) from error


def record(options: Namespace, path: Path, seconds: float) -> dict[str, Any]:
    """What run.json says: enough to do it again and to trust it."""
    return {
        "convexhc": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "input": str(options.graph),
        "similarity": similarity_for(options.similarity, len(path.names)),
        "gamma": options.gamma,
        "neighbors": options.neighbors,
        "options": dict(path.provenance.options),
        "data_sha256": path.provenance.data,
        "seconds": round(seconds, 3),
        "complete": path.complete,
        "nested": path.is_nested,
        "n_nodes": len(path.names),
        "available_n_clusters": list(path.available_n_clusters),
        "levels": [
            {
                "lam": point.lam,
                "n_clusters": point.n_clusters,
                "relative_gap": point.relative_gap,
                "objective": point.objective,
                "n_iter": point.n_iter,
                "status": point.status,
            }
            for point in path.points
        ],
    }


def _drawer(kernel: Graph, options: Namespace, progress: ProgressLine) -> Callable[[Point], None]:
    """Draw the progress line after every lam; the way goes from a thousandth of the bound to it."""
    _, problem = prepare(
        kernel,
        0.0,
        weights=options.neighbors or None,
        l1_ratio=options.l1_ratio,
        constraint="doubly_stochastic",
    )
    bound = max(consensus_bound(problem), 1e-300)

    def draw(point: Point) -> None:
        share = 1.0 + math.log(max(point.lam, 1e-300) / bound) / math.log(1000.0)
        progress.show(
            share,
            f"lam {point.lam:.4g}  {point.n_clusters} clusters  gap {point.relative_gap:.1e}",
        )

    return draw
