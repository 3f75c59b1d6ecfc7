"""`convexhc.solve_paths`: many graphs at once, on the cores of a machine or on a cluster."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import re
import time
import traceback
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from pathlib import Path as File
from typing import Any, NamedTuple

import joblib
import numpy as np

from convexhc._checks import checked_count
from convexhc._workers import in_workers
from convexhc.api.clustering import FROM_POINTS, cluster
from convexhc.api.options import instead
from convexhc.api.outcomes import Cohort, OnResult, Outcome
from convexhc.api.single_lam import similarity_record
from convexhc.io import as_graph
from convexhc.kernels.threads import limited_threads
from convexhc.path.path import Path
from convexhc.progress_line import ProgressLine, count_listener, shown
from convexhc.provenance import fingerprint
from convexhc.similarity import Similarity
from convexhc.version import __version__

# Options of `cluster` that concern a single run, and what to use instead.
_SINGLE = {"checkpoint": "folder", "on_check": "on_result", "progress": "on_result"}


class _Task(NamedTuple):
    """One graph to solve: position, name, data, options, and the file for its path."""

    position: int
    name: Hashable
    graph: Any
    options: dict[str, Any]
    n_threads: int
    file: File | None = None


def solve_paths(
    graphs: Mapping[Hashable, Any] | Iterable[Any],
    *,
    n_jobs: int | None = None,
    n_threads: int = 1,
    folder: str | os.PathLike[str] | None = None,
    each: Mapping[Hashable, Mapping[str, Any]] | None = None,
    on_result: OnResult | None = None,
    progress: bool | ProgressLine | Callable[[int, int], object] = False,
    **options: Any,
) -> Cohort:
    """Solve the paths of many graphs: a cohort, bootstrap samples, a grid of parameters.

    Each graph is one call of `convexhc.cluster` in a worker of joblib: processes on this
    machine, or whatever backend ``joblib.parallel_config`` names, such as a Dask cluster. A graph
    that fails is reported, and the others go on.

    Parameters
    ----------
    graphs : mapping from name to graph, or iterable of graphs
        What `convexhc.cluster` takes; without a mapping the names are the positions 0, 1, ...
    n_jobs : int, optional
        Workers; -1 for one per core. Default: one, or the setting of ``parallel_config``.
    n_threads : int
        Threads per worker. One is best while there are more graphs than cores.
    folder : path, optional
        Folder in which each path is saved as an npz file once it is solved. A later call reads the
        files of the same graph, options and version, and solves the rest. Only the calling process
        writes.
    each : mapping from name to options, optional
        Options of single graphs, which override the common ones.
    on_result : callable, optional
        Called as ``on_result(done, outcome)`` in the calling process, in the order of completion.
    progress : bool or callable
        True shows the graphs done and the time left on a terminal or in a notebook; a callable is
        called as ``progress(done, total)``.
    **options
        Options of `convexhc.cluster`.

    Returns
    -------
    Cohort
        One `Outcome` per graph, in the order of the input; ``paths`` and ``failed`` by name. Its
        methods compare the subjects: ``distances``, ``compare``, ``consensus``, ``report``.

    Raises
    ------
    TypeError
        An option that `cluster` does not have. An error of a single graph is not raised: it is
        reported in ``failed``.

    Notes
    -----
    A worker that is killed, for instance for lack of memory, is replaced. The graphs that it may
    have been solving are solved again, one at a time; one with which a second worker dies is
    reported in ``failed``. With one job there is no worker: the calling process is killed, the
    paths finished until then are in the folder, and a second call solves the rest.

    Examples
    --------
    >>> import numpy as np
    >>> import convexhc
    >>> pair = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> cohort = convexhc.solve_paths({"good": pair, "bad": -pair})
    >>> cohort
    Cohort(1 paths, 1 failed)
    >>> cohort.paths["good"].available_n_clusters
    (2, 1)
    """
    named = graphs if isinstance(graphs, Mapping) else dict(enumerate(graphs))
    special = {} if each is None else each
    checked_count("n_threads", n_threads)
    common = _checked(options)
    unknown = [name for name in special if name not in named]
    if unknown:
        raise ValueError(f"each has options for {unknown[0]!r}, which is no name of a graph.")
    tasks = [
        _Task(position, name, graph, {**common, **_checked(special.get(name, {}))}, n_threads)
        for position, (name, graph) in enumerate(named.items())
    ]
    found: dict[int, Outcome] = {}
    with shown(progress) as line:
        count = count_listener(line, progress, len(tasks), "graph")
        for position, outcome in _outcomes(tasks, n_jobs, folder):
            found[position] = outcome
            count(len(found))
            if on_result is not None:
                on_result(len(found), outcome)
    return Cohort(tuple(found[position] for position in range(len(tasks))), common)


def _outcomes(
    tasks: list[_Task], n_jobs: int | None, folder: str | os.PathLike[str] | None
) -> Iterator[tuple[int, Outcome]]:
    """Position and outcome of every task: saved ones first, then in the order of completion."""
    unsolved: dict[int, _Task] = {}
    for task in tasks:
        if folder is not None:
            try:
                task = _with_file(task, File(folder))
            except Exception as error:
                yield task.position, _failure(task.name, error)
                continue
            saved = _saved(task)
            if saved is not None:
                yield task.position, saved
                continue
        unsolved[task.position] = task
    for position, outcome in in_workers(_solve, unsolved, n_jobs, _lost):
        file = unsolved[position].file
        if file is not None and outcome.path is not None:
            outcome.path.save(file)
        yield position, outcome


def _solve(task: _Task) -> Outcome:
    """Solve one path, in a worker; an error becomes an outcome."""
    begun = time.perf_counter()
    try:
        with limited_threads(task.n_threads):
            path = cluster(task.graph, **task.options)
    except Exception as error:
        return _failure(task.name, error)
    return Outcome(task.name, path, seconds=time.perf_counter() - begun)


def _lost(task: _Task, error: Exception) -> Outcome:
    """The outcome of a graph whose workers were killed twice."""
    said = (
        "two workers died while they solved it, the second with no other graph: it needs more "
        "memory than there is, or its own code ends the process."
    )
    return _failure(task.name, error, said)


def _failure(name: Hashable, error: Exception, said: str | None = None) -> Outcome:
    text = f"{type(error).__name__}: {error if said is None else said}"
    return Outcome(name, None, text, "".join(traceback.format_exception(error)))


def _checked(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options, if `cluster` has them and several graphs can share them."""
    known = list(inspect.signature(cluster).parameters)[1:]
    for name in options:
        if name in _SINGLE:
            raise TypeError(f"{name} is for a single path: use {_SINGLE[name]}.")
        if name not in known:
            advice = instead(name) or f"; it has {', '.join(known)}"
            raise TypeError(f"cluster has no option {name!r}{advice}.")
    shared = dict(options)
    if isinstance(shared.get("lambdas"), Iterator):
        # The first graph would exhaust an iterator.
        shared["lambdas"] = list(shared["lambdas"])
    return shared


def _with_file(task: _Task, folder: File) -> _Task:
    """The task with its file, whose name is a digest of data, options and version."""
    folder.mkdir(parents=True, exist_ok=True)
    kind = task.options.get("similarity")
    data = task.graph
    if kind in FROM_POINTS:
        mark: list[Any] = [joblib.hash(data)]
    else:
        graph = as_graph(data, signed=kind == "precomputed")
        mark = [fingerprint(graph), [str(name) for name in graph.names], similarity_record(data)]
        data = data if isinstance(data, Similarity) else graph
    options = [[key, _as_json(key, task.options[key])] for key in sorted(task.options)]
    text = json.dumps([__version__, repr(task.name), mark, options])
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    name = re.sub(r"[^A-Za-z0-9]+", "-", str(task.name)).strip("-")[:40]
    return task._replace(graph=data, file=folder / f"{name}-{digest}.npz")


def _saved(task: _Task) -> Outcome | None:
    """The outcome of an earlier call, if its file exists and is complete."""
    if task.file is None or not task.file.exists():
        return None
    try:
        return Outcome(task.name, Path.load(task.file), resumed=True)
    except ValueError:
        return None


def _as_json(key: str, value: Any) -> Any:
    """An option as JSON can hold it."""
    if key == "weights" and not isinstance(value, str | int | np.integer | None):
        return fingerprint(as_graph(value))
    if key == "points" and value is not None:
        return joblib.hash(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, str | int | float | None):
        return value
    if isinstance(value, Iterable):
        return [float(entry) for entry in value]
    raise TypeError(
        f"{key} = {value!r} cannot be told apart from one run to the next: give a plain value, or "
        "leave the folder out."
    )
