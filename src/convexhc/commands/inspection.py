"""`convexhc cut`, `report` and `info`: the commands that read results or estimate costs."""

from __future__ import annotations

import time
from argparse import Namespace
from pathlib import Path as File

import numpy as np

from convexhc._files import write_text
from convexhc._text import clock, counted, format_number
from convexhc.api.options import Options
from convexhc.api.single_lam import read_problem
from convexhc.commands.attributes import read_attributes
from convexhc.commands.costs import COSTS, feature_cost, road
from convexhc.commands.fit import write_run_report
from convexhc.commands.folder import Folder, refuse_to_overwrite
from convexhc.commands.inputs import in_features, kernel_of, read_graph, weights_of
from convexhc.commands.messages import Refusal, Say
from convexhc.commands.saved_results import describe_saved
from convexhc.export.csv_table import cell, csv_text
from convexhc.graph import Graph
from convexhc.model.problem import FusionProblem
from convexhc.similarity.spectral import N_FEATURES
from convexhc.solvers.choose import choose_method
from convexhc.solvers.loop import run as solve
from convexhc.solvers.memory import available, path_estimate


def cut(options: Namespace, say: Say) -> int:
    """Print the labels at one scale as CSV, or write them to a file."""
    path = Folder(File(options.folder)).path()
    labels = path.labels(
        n_clusters=options.n_clusters,
        lam=options.lam,
        by=options.by,
        min_cluster_size=options.min_cluster_size,
        small="noise" if options.noise else "nearest",
    )
    pairs = zip(path.names, labels.tolist(), strict=True)
    rows = ((cell(name, escape=options.escape_formulas), label) for name, label in pairs)
    text = csv_text(["node", "cluster"], rows)
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
    """Write the report of a finished fit again."""
    folder = Folder(File(options.folder))
    path, run = folder.path(), folder.run()
    file = folder.report
    if options.output:
        file = File(options.output)
        refuse_to_overwrite(file, force=options.force)
    graph = folder.graph(path.names)
    attributes = read_attributes(options.attributes, path.names)
    write_run_report(file, path, graph, run, attributes, folder.support())
    say(f"written to {file}")
    return 0


def info(options: Namespace, say: Say) -> int:
    """Print the size of a graph and the cost of a fit; or describe the results of a fit."""
    if describe_saved(File(options.graph), say):
        return 0
    graph = read_graph(options)
    kernel = kernel_of(graph, options.similarity, options.shift)
    problem = None if in_features(options) else _paper_problem(kernel, options)
    count, _ = graph.components()
    n_isolated = graph.n - np.union1d(graph.tail, graph.head).size
    say(f"{counted(graph.n, 'node')}, {_edges(graph, 'edge')}")
    say(f"{counted(count, 'connected component')}, {counted(n_isolated, 'isolated node')}")
    if kernel is not graph:
        say(f"similarity {options.similarity}: {_edges(kernel, 'similar pair')}")
    say(f"a fit: {road(options, graph.n)}")
    if problem is None:
        needed, seconds = feature_cost(options, graph)
        say(f"memory: about {_of_free(needed)}, in feature space ({N_FEATURES} features)")
        say(f"time: about {clock(seconds)} on one idle core, for a whole path")
    else:
        _say_cost(problem, say)
    return 0


def _paper_problem(kernel: Graph, options: Namespace) -> FusionProblem:
    """The paper's problem on a similarity, to estimate what a fit costs."""
    weights = weights_of(options)
    if weights == "multiscale":
        # An edge joins two nodes.
        weights = COSTS.pairs_per_row // 2
    try:
        return read_problem(kernel, 0.0, weights=weights, options=Options())[1]
    except ValueError as error:
        raise Refusal(str(error)) from error


def _say_cost(problem: FusionProblem, say: Say) -> None:
    """Memory from the sizes of the arrays, time from a few iterations."""
    method = choose_method(problem)
    needed, free = path_estimate(problem, method.name, keep=False), available()
    say(f"memory: about {_of_free(needed)}, with method {method.name}")
    if free is not None and needed > free:
        say("that does not fit: keep fewer neighbours, as with --weights 10")
        return
    # The first iteration may include compilation.
    solve(problem.at(1.0), method, tol=0.0, max_iter=1)
    begun = time.monotonic()
    solve(problem.at(1.0), method, tol=0.0, max_iter=5)
    each = (time.monotonic() - begun) / 5
    low, high = (clock(each * count) for count in (COSTS.min_iterations, COSTS.max_iterations))
    say(f"time: about {low} to {high} for a whole path")


def _edges(graph: Graph, noun: str) -> str:
    """Number of edges, density and range of weights."""
    pairs = graph.n * (graph.n - 1) / 2
    if not graph.n_edges:
        return f"no {noun}s"
    low, high = float(graph.weight.min()), float(graph.weight.max())
    weights = f"weight {low:.4g}" if low == high else f"weights {low:.4g} to {high:.4g}"
    share = 100.0 * graph.n_edges / pairs
    return f"{counted(graph.n_edges, noun)} ({format_number(share)} % of all pairs), {weights}"


def _of_free(count: int) -> str:
    """Bytes in MB or GB, and the free memory if that is known."""
    free = available()
    sizes = [count, free] if free else [count]
    words = [f"{size / 1e6:.0f} MB" if size < 1e9 else f"{size / 1e9:.1f} GB" for size in sizes]
    return " of ".join(words) + (" free" if free else "")
