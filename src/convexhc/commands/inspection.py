"""`convexhc cut`, `report` and `info`: everything that only reads."""

from __future__ import annotations

import time
from argparse import Namespace
from pathlib import Path as File

import numpy as np

from convexhc._files import write_text
from convexhc._text import clock, counted
from convexhc.api.options import Options
from convexhc.api.single_lam import read_problem
from convexhc.commands.fit import write_page
from convexhc.commands.folder import Folder, csv_text, refuse_to_overwrite
from convexhc.commands.inputs import in_features, kernel_of, read_graph, weights_of
from convexhc.commands.messages import Refusal, Say
from convexhc.commands.saved_results import tell_saved
from convexhc.graph import Graph
from convexhc.model.problem import FusionProblem
from convexhc.similarity.diffusion_time import N_FEATURES
from convexhc.similarity.multiscale import SETTINGS as MULTISCALE
from convexhc.solvers.choose import choose_method
from convexhc.solvers.loop import run
from convexhc.solvers.memory import available, path_estimate

# Iterations of a path on all nodes, about, if they fuse early.
_FEWEST = 500
# Iterations of a path on all nodes, about, if they fuse late.
_MOST = 4000
# In feature space: weighted pairs per node, and copies of their duals that a solve holds.
_PAIRS = 20
_COPIES = 4
# Seconds of a path in feature space of 250 nodes, and how they grow with the nodes (make bench).
_FEATURE_SECONDS = 4.0
_FEATURE_GROWTH = 1.6


def cut(options: Namespace, say: Say) -> int:
    """Labels at one scale, as CSV: to the screen, or to a file."""
    path = Folder(File(options.folder)).path()
    labels = path.labels(
        n_clusters=options.n_clusters,
        lam=options.lam,
        by=options.by,
        min_cluster_size=options.min_cluster_size,
        small="noise" if options.noise else "nearest",
    )
    pairs = zip(path.names, labels.tolist(), strict=True)
    text = csv_text(["node", "cluster"], ((str(name), label) for name, label in pairs))
    if options.output is None:
        say(text.rstrip("\n"))
        return 0
    file = File(options.output)
    refuse_to_overwrite(file, force=options.force)
    write_text(file, text)
    clusters = counted(int(labels.max()) + 1, "cluster")
    say(f"{clusters} of {counted(labels.size, 'node')} written to {file}")
    return 0


def report(options: Namespace, say: Say) -> int:
    """Write report.html anew from a finished fit."""
    folder = Folder(File(options.folder))
    path, said = folder.path(), folder.run()
    file = folder.report
    if options.output:
        file = File(options.output)
        refuse_to_overwrite(file, force=options.force)
    graph = folder.graph(path.names)
    write_page(file, path, graph, said)
    say(f"written to {file}")
    return 0


def info(options: Namespace, say: Say) -> int:
    """Size of a graph, and what a fit would cost; or what a fit left."""
    if tell_saved(File(options.graph), say):
        return 0
    graph = read_graph(options)
    kernel = kernel_of(graph, options.similarity, options.shift)
    problem = None if in_features(options) else _paper_problem(kernel, options)
    count, _ = graph.components()
    isolated = counted(_isolated(graph), "isolated node")
    say(f"{counted(graph.n, 'node')}, {_edges(graph, 'edge')}")
    say(f"{counted(count, 'connected component')}, {isolated}")
    if kernel is not graph:
        say(f"similarity {options.similarity}: {_edges(kernel, 'similar pair')}")
    if problem is None:
        _say_feature_cost(graph, say)
    else:
        _say_cost(problem, say)
    return 0


def _paper_problem(kernel: Graph, options: Namespace) -> FusionProblem:
    weights = weights_of(options)
    if weights == "multiscale":
        # About as many edges as the multiscale weights have.
        weights = _PAIRS // 2
    try:
        return read_problem(kernel, 0.0, weights=weights, options=Options())[1]
    except ValueError as error:
        raise Refusal(str(error)) from error


def _say_feature_cost(graph: Graph, say: Say) -> None:
    """Memory of the features, the duals and the blocks of pairs; time as it was measured."""
    numbers = graph.n * N_FEATURES * (1 + _PAIRS) * _COPIES + 4 * MULTISCALE.block_entries
    free = available()
    of = f" of {_bytes(free)} free" if free else ""
    say(f"memory: about {_bytes(8 * numbers)}{of}, in feature space ({N_FEATURES} features)")
    seconds = _FEATURE_SECONDS * (graph.n / 250.0) ** _FEATURE_GROWTH
    say(f"time: about {clock(seconds / 2)} to {clock(2 * seconds)} for a whole path")


def _say_cost(problem: FusionProblem, say: Say) -> None:
    """Memory by counting arrays, time by a few iterations."""
    method = choose_method(problem)
    needed, free = path_estimate(problem, method.name, keep=False), available()
    of = f" of {_bytes(free)} free" if free else ""
    say(f"memory: about {_bytes(needed)}{of}, with method {method.name}")
    if free is not None and needed > free:
        say("that does not fit: keep fewer neighbours, as with --weights 10")
        return
    # The first iteration may have to compile.
    run(problem.at(1.0), method, tol=0.0, max_iter=1)
    begun = time.monotonic()
    run(problem.at(1.0), method, tol=0.0, max_iter=5)
    each = (time.monotonic() - begun) / 5
    say(f"time: about {clock(each * _FEWEST)} to {clock(each * _MOST)} for a whole path")


def _edges(graph: Graph, noun: str) -> str:
    """How many there are, how full that is, and between which weights."""
    pairs = graph.n * (graph.n - 1) / 2
    if not graph.n_edges:
        return f"no {noun}s"
    low, high = float(graph.weight.min()), float(graph.weight.max())
    weights = f"weight {low:.4g}" if low == high else f"weights {low:.4g} to {high:.4g}"
    share = 100.0 * graph.n_edges / pairs
    return f"{counted(graph.n_edges, noun)} ({share:.2g} % of all pairs), {weights}"


def _bytes(count: int) -> str:
    """Bytes as a person says them."""
    return f"{count / 1e6:.0f} MB" if count < 1e9 else f"{count / 1e9:.1f} GB"


def _isolated(graph: Graph) -> int:
    touched = np.zeros(graph.n, np.bool_)
    touched[graph.tail] = touched[graph.head] = True
    return int(graph.n - touched.sum())
