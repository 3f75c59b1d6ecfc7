"""`convexhc info`: the size of a graph and the cost of a fit; or the results of one."""

from __future__ import annotations

import os
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path as File
from typing import Any

import numpy as np

from convexhc._text import clock, counted, format_number
from convexhc.api.options import Options
from convexhc.api.single_lam import read_problem
from convexhc.commands.costs import COSTS, feature_cost, road
from convexhc.commands.folder import Folder, resume_command
from convexhc.commands.inputs import in_features, kernel_of, read_graph, weights_of
from convexhc.commands.messages import Refusal, Say
from convexhc.graph import Graph
from convexhc.io.archive import kind_of
from convexhc.model.problem import FusionProblem
from convexhc.path import Level, Path
from convexhc.path.checkpoint import solved_so_far
from convexhc.progress_line import ProgressLine
from convexhc.resampling.support import Support
from convexhc.similarity.spectral import N_FEATURES
from convexhc.solvers.choose import choose_method
from convexhc.solvers.loop import run as solve
from convexhc.solvers.memory import available, path_estimate
from convexhc.solvers.solution import Solution, Status
from convexhc.version import __version__


def info(options: Namespace, say: Say, progress: ProgressLine) -> None:
    """Print the size of a graph and the cost of a fit; or describe the results of a fit."""
    if _describe_saved(File(options.graph), say):
        return
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


def _describe_saved(file: File, say: Say) -> bool:
    """Describe a folder or a file of results; False if it is neither."""
    if file.is_dir():
        _describe_folder(Folder(file), say)
        return True
    kind = kind_of(file)
    if kind == "path":
        path = Path.load(file)
        say(f"{file}: a path, of convexhc {path.provenance.version}")
        _describe_path(path, path.provenance.options, say)
    elif kind == "support":
        say(f"{file}: the support of a tree")
        say(Support.load(file).summary())
    elif kind == "checkpoint":
        _describe_checkpoint(file, say)
    elif kind == "solution":
        say(f"{file}: the solution at one lam")
        say(Solution.load(file).summary())
    else:
        return False
    return True


def _describe_folder(folder: Folder, say: Say) -> None:
    if not folder.finished() and not folder.checkpoint.exists():
        raise Refusal(
            f"{folder.root} is a folder without a run: looked for {folder.record_name} of a "
            f"finished one and {folder.checkpoint.name} of an unfinished one. Name a graph file, "
            "or the folder that convexhc fit -o wrote."
        )
    if folder.finished():
        run = folder.run()
        say(
            f"{folder.root}: finished run of {run['input']}, in {clock(run['seconds'])} with "
            f"convexhc {run['convexhc']}"
        )
        made = {name: run[name] for name in ("similarity", "shift", "weights", "space")}
        _describe_path(folder.path(), {**run["options"], **made}, say)
        found = folder.support()
        if found is not None:
            say(found.summary())
    if folder.checkpoint.exists():
        _describe_checkpoint(folder.checkpoint, say)
        _describe_resumption(folder, say)


def _describe_path(path: Path, options: Mapping[str, Any], say: Say) -> None:
    say(path.summary())
    say(f"clusters: {_listed(path.level_n_clusters[::-1])}")
    if not path.complete:
        say("not complete: the path ends before everything is fused that can be")
    _describe_unsolved(path.levels, say)
    say(f"options: {_one_line(options)}")


def _describe_checkpoint(checkpoint: File, say: Say) -> None:
    levels = solved_so_far(checkpoint)
    low, high = levels[0], levels[-1]
    say(f"{checkpoint}: unfinished run, {counted(low.labels.size, 'node')}")
    say(
        f"{len(levels)} lam solved, from {low.lam:.4g} ({counted(low.n_clusters, 'cluster')}) to "
        f"{high.lam:.4g} ({counted(high.n_clusters, 'cluster')}), in "
        f"{clock(sum(level.seconds for level in levels))}"
    )
    say(f"certificate: largest relative gap {max(level.relative_gap for level in levels):.1e}")
    _describe_unsolved(levels, say)


def _describe_resumption(folder: Folder, say: Say) -> None:
    """The command that resumes a run, and a warning if it needs another version."""
    if not folder.begun.exists():
        say("go on with: the command it was begun with, and --resume")
        return
    begun = folder.beginning()
    where = "" if begun["directory"] == os.getcwd() else f" in {begun['directory']}"
    say(f"go on{where} with: {resume_command(begun['arguments'])}")
    if begun["convexhc"] != __version__:
        say(f"begun with convexhc {begun['convexhc']}, which it needs; this is {__version__}")


def _describe_unsolved(levels: Sequence[Level], say: Say) -> None:
    """For every status but SOLVED: the number of lam, their range, and the advice."""
    for status, count in Counter(level.status for level in levels).items():
        if status is not Status.SOLVED:
            lambdas = [level.lam for level in levels if level.status is status]
            first, last = f"{lambdas[0]:.4g}", f"{lambdas[-1]:.4g}"
            span = f"at {first}" if count == 1 else f"from {first} to {last}"
            say(f"{status.name}: {count} lam, {span}. {status.value}")


def _listed(counts: Sequence[int]) -> str:
    """The first twenty numbers of clusters, and how many more there are."""
    first = " ".join(str(count) for count in counts[:20])
    more = len(counts) - 20
    return f"{first} and {more} more up to {counts[-1]}" if more > 0 else first


def _one_line(options: Mapping[str, Any]) -> str:
    """The options that are set, in one line."""
    plain = {name: value for name, value in options.items() if value is not None}
    if isinstance(plain.get("lambdas"), list):
        plain["lambdas"] = f"{len(plain['lambdas'])} given"
    if isinstance(plain.get("similarity"), Mapping):
        plain["similarity"] = plain["similarity"]["kind"]
    return ", ".join(f"{name} {value}" for name, value in plain.items())
