"""`convexhc fit`: from a file to a folder of results."""

from __future__ import annotations

import hashlib
import json
import platform
import time
import warnings
from argparse import Namespace
from collections.abc import Mapping, Sequence
from inspect import signature
from pathlib import Path as File
from typing import Any

import numpy as np
import scipy

from convexhc._checks import checked_count
from convexhc._text import clock, counted
from convexhc.api.clustering import cluster
from convexhc.commands.costs import road
from convexhc.commands.folder import Folder, resume_command
from convexhc.commands.inputs import (
    in_features,
    kernel_of,
    read_attributes,
    read_graph,
    weights_of,
)
from convexhc.commands.messages import Failure, Refusal, Say, resumable
from convexhc.graph import Graph
from convexhc.path import Level, Path
from convexhc.path.suggestion import suggest
from convexhc.progress_line import ProgressLine
from convexhc.report import write_report
from convexhc.resampling.draws import default_resample, draws
from convexhc.resampling.run import support
from convexhc.resampling.support import Support
from convexhc.solvers.solution import Status
from convexhc.version import __version__


def fit(options: Namespace, say: Say, progress: ProgressLine) -> None:
    """Read the graph, solve the path and write the folder; fail if a lam was not solved."""
    begun = time.monotonic()
    folder = Folder(File(options.output))
    lambdas = parse_lambdas(options.lambdas)
    check_solver(options)
    graph = read_graph(options)
    _check_bootstrap(options, graph)
    read_attributes(options.attributes, graph.names)
    with folder.opened(resume=options.resume, force=options.force):
        if not options.json:
            say(f"{options.graph}: {counted(graph.n, 'node')}, {counted(graph.n_edges, 'edge')}")
            say(road(options, graph.n))
        with resumable(progress, lambda: _resumption(options, folder)):
            settings = solver_options(options, lambdas)
            with warnings.catch_warnings():
                # Said at the end, in the words of the command line.
                warnings.filterwarnings("ignore", ".*not solved to tol=")
                path = cluster(
                    graph,
                    **settings,
                    checkpoint=folder.checkpoint,
                    on_check=lambda level: folder.begin(options.given),
                    progress=progress,
                    n_jobs=options.n_jobs,
                )
            progress.clear()
            found = None
            if options.bootstrap is not None:
                found = support(
                    graph,
                    path=path,
                    **_resamples(options),
                    resample=options.resample,
                    n_jobs=options.n_jobs,
                    folder=folder.resamples,
                    progress=progress,
                    **settings,
                )
            folder.write(path, graph, options.min_cluster_size, escape=options.escape_formulas)
            folder.write_support(found, escape=options.escape_formulas)
            run = record(options, path, time.monotonic() - begun, file_digest(options.graph))
            run |= _support_record(path, found)
            attributes = read_attributes(options.attributes, path.names)
            write_run_report(folder.report, path, graph, run, attributes, found)
            folder.finish(run)
    if options.json:
        say(json.dumps({"output": str(folder.root), **run}))
    else:
        say(path.summary())
        if found is not None:
            say(found.summary())
        say(f"written to {folder.root} in {clock(run['seconds'])}: open {folder.report}")
    unsolved = sum(level.status is not Status.SOLVED for level in path.levels)
    if unsolved:
        raise Failure(
            f"the gap is above {options.tol:g} at {unsolved} of {len(path.levels)} lam: raise "
            "--max-iter, or --tol if that will do."
        )


def _check_bootstrap(options: Namespace, graph: Graph) -> None:
    """Refuse resamples that cannot be drawn, before the path is solved."""
    if options.bootstrap is None:
        return
    if options.similarity == "precomputed":
        raise Refusal(
            "--bootstrap resamples the edges of a graph, and a similarity would not stay positive "
            "semidefinite: fit the graph that it was made from."
        )
    next(draws(graph, options.resample or default_resample(graph), **_resamples(options)))


def _resamples(options: Namespace) -> dict[str, Any]:
    return {
        "n_resamples": options.bootstrap,
        "share": options.edge_share,
        "random_state": options.seed,
    }


def check_solver(options: Namespace) -> None:
    """Refuse options that do not fit together."""
    if in_features(options) and options.method != "auto":
        raise Refusal("--method is for the paper's problem: add --space similarity.")
    if options.min_cluster_size is not None:
        checked_count("min_cluster_size", options.min_cluster_size)


def solver_options(options: Namespace, lambdas: list[float] | None) -> dict[str, Any]:
    """Every option of `cluster` that the command has, by its name, but for the cores to use."""
    shared = [name for name in signature(cluster).parameters if name in vars(options)]
    given = {name: getattr(options, name) for name in shared if name != "n_jobs"}
    given["lambdas"] = "auto" if lambdas is None else lambdas
    given["weights"] = weights_of(options)
    return given


def _resumption(options: Namespace, folder: Folder) -> str:
    if not folder.checkpoint.exists():
        return " before the first lam was solved, so there is nothing to go on from."
    return f"; go on with: {resume_command(options.given)}"


def parse_lambdas(text: str | None) -> list[float] | None:
    """Parse ``0.1,0.5,1``, or ``0.01:10:30``: thirty values in equal ratios from 0.01 to 10.

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


def file_digest(file: str | File) -> str:
    """SHA-256 of the bytes of a file."""
    return hashlib.sha256(File(file).read_bytes()).hexdigest()


def record(options: Namespace, path: Path, seconds: float, digest: str) -> dict[str, Any]:
    """The content of run.json: versions, options, fingerprints and certificates.

    ``digest`` identifies the input, ``options.graph``.
    """
    suggestion = suggest(path, options.min_cluster_size)
    return {
        "convexhc": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "arguments": list(options.given),
        "input": str(options.graph),
        "input_sha256": digest,
        "similarity": options.similarity,
        "shift": options.shift,
        "weights": options.weights,
        "space": "features" if in_features(options) else "similarity",
        "options": dict(path.provenance.options),
        "data_sha256": path.provenance.data,
        "seconds": round(seconds, 3),
        "complete": path.complete,
        "nested": path.is_nested,
        "n_nodes": len(path.names),
        "level_n_clusters": list(path.level_n_clusters),
        "suggested_n_clusters": suggestion.n_clusters,
        "confident": suggestion.confident,
        "levels": [_level_record(level) for level in path.levels],
    }


def _level_record(level: Level) -> dict[str, Any]:
    names = ("lam", "n_clusters", "relative_gap", "objective", "n_iter")
    proven = None if level.proof is None else level.proof.is_proven
    numbers = {name: getattr(level, name) for name in names}
    return {**numbers, "status": level.status.name, "proven": proven}


def _support_record(path: Path, found: Support | None) -> dict[str, Any]:
    """Entries of run.json: the scales with their reasons, and how the resamples were made."""
    names = ("n_clusters", "lam_from", "lam_to", "modularity", "agreement")
    scales = [
        {name: getattr(scale, name) for name in names}
        | {"robust": scale.survives, "reason": scale.reason}
        for scale in (path.scales if found is None else found.scales)
    ]
    if found is None:
        return {"scales": scales}
    resamples = {
        "n_resamples": found.n_resamples,
        "resample": found.resample,
        "edge_share": found.edge_share,
        "seed": found.random_state,
        "failed": list(found.failed),
    }
    return {"scales": scales, "bootstrap": resamples}


def write_run_report(
    file: File,
    path: Path,
    graph: Graph,
    run: dict[str, Any],
    attributes: Mapping[str, Sequence[Any]] | None = None,
    support: Support | None = None,
) -> None:
    """Write the report of a run, with a note on its origin."""
    kind = run["similarity"]
    kernel = kernel_of(graph, kind, run["shift"])
    made = "precomputed" if kind == "precomputed" else f"made by {kind}"
    note = (
        f"From {run['input']}: {counted(graph.n, 'node')}, {counted(graph.n_edges, 'edge')}; "
        f"similarity {made}, {counted(kernel.n_edges, 'pair')}. "
        f"Computed in {clock(run['seconds'])} with convexhc {run['convexhc']}."
    )
    write_report(
        path,
        file,
        graph=graph,
        similarity=kernel,
        attributes=attributes,
        support=support,
        title=File(run["input"]).name,
        notes=[note],
    )
