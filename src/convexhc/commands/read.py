"""`convexhc cut`, `report` and `info`: everything that only reads."""

from __future__ import annotations

import json
import time
from argparse import Namespace
from pathlib import Path as File

import numpy as np

from convexhc.commands.fit import read_similarity
from convexhc.commands.folder import Folder, csv_text, write_text
from convexhc.commands.speech import Refusal, Say, clock
from convexhc.graph import Graph
from convexhc.report import write_report
from convexhc.solvers.loop import run
from convexhc.solvers.memory import available, path_estimate
from convexhc.solvers.solve import choose_method, prepare


def cut(options: Namespace, say: Say) -> int:
    """Labels at one scale, as CSV: to the screen, or to a file."""
    path = Folder(File(options.folder)).path()
    size = {"min_cluster_size": options.min_size, "small": "noise" if options.noise else "nearest"}
    labels = path.labels(n_clusters=options.clusters, lam=options.lam, **size)
    pairs = zip(path.names, labels.tolist(), strict=True)
    text = csv_text(["node", "cluster"], ((str(name), label) for name, label in pairs))
    if options.output is None:
        say(text.rstrip("\n"))
    else:
        write_text(File(options.output), text)
        say(f"{labels.max() + 1} clusters of {labels.size} nodes written to {options.output}")
    return 0


def report(options: Namespace, say: Say) -> int:
    """Write report.html anew from a finished fit."""
    folder = Folder(File(options.folder))
    path = folder.path()
    file = File(options.output) if options.output else folder.root / "report.html"
    said = json.loads((folder.root / "run.json").read_text(encoding="utf-8"))
    write_report(path, file, graph=folder.graph(path), title=File(said["input"]).name)
    say(f"written to {file}")
    return 0


def info(options: Namespace, say: Say) -> int:
    """Size of a graph, and what a fit would cost."""
    kernel = read_similarity(options)
    try:
        _, problem = prepare(
            kernel,
            0.0,
            weights=options.neighbors or None,
            l1_ratio=0.05,
            constraint="doubly_stochastic",
        )
    except ValueError as error:
        raise Refusal(str(error)) from error
    count, _ = kernel.components()
    weights = kernel.weight
    pairs = kernel.n * (kernel.n - 1) / 2
    share = 100.0 * kernel.n_edges / pairs if pairs else 0.0
    method = choose_method(problem, bound=0.0)
    say(f"{kernel.n} nodes, {kernel.n_edges} similar pairs ({share:.2g} % of all)")
    say(f"{count} connected component(s), {_isolated(kernel)} isolated node(s)")
    if weights.size:
        say(f"similarities from {weights.min():.4g} to {weights.max():.4g}")
    needed, free = path_estimate(problem, method.name, keep=False), available()
    of = f" of {free / 1e9:.1f} GB free" if free else ""
    say(f"memory: about {needed / 1e9:.2g} GB{of} with method {method.name}")
    if free is not None and needed > free:
        say("that does not fit: keep fewer neighbours with --neighbors 10")
        return 1
    # A path takes some forty lam of about a hundred iterations; most of them on fused nodes.
    begun = time.monotonic()
    run(problem.at(1.0), method, tol=0.0, max_iter=5)
    each = (time.monotonic() - begun) / 5
    say(f"time: about {clock(each * 1000)} to {clock(each * 4000)} for a whole path")
    return 0


def _isolated(kernel: Graph) -> int:
    touched = np.zeros(kernel.n, np.bool_)
    touched[kernel.tail] = touched[kernel.head] = True
    return int(kernel.n - touched.sum())
