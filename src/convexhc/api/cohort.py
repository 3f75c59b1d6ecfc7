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
from dataclasses import dataclass, field
from pathlib import Path as File
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed

from convexhc._checks import checked_count
from convexhc.api.clustering import cluster
from convexhc.graph import Graph
from convexhc.io import as_graph
from convexhc.kernels.threads import limited_threads
from convexhc.path.path import Path
from convexhc.version import __version__

# Options of cluster that concern a single run, and what to use instead.
_SINGLE = {"checkpoint": "folder", "on_check": "on_result", "progress": "on_result"}


@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of one graph.

    Attributes
    ----------
    name : hashable
        Its name, or its place among the graphs.
    path : Path or None
        The path; None if it failed.
    error : str or None
        What went wrong, as ``ValueError: ...``; None if nothing did.
    trace : str
        The whole traceback of a failure.
    seconds : float
        Time it took where it was solved; zero if it was read from the folder.
    resumed : bool
        Whether it was read from the folder.
    """

    name: Hashable
    path: Path | None
    error: str | None = None
    trace: str = field(default="", repr=False)
    seconds: float = 0.0
    resumed: bool = False


@dataclass(frozen=True, eq=False)
class Cohort:
    """The outcomes of many graphs, in the order in which these were given."""

    outcomes: tuple[Outcome, ...] = field(repr=False)

    def __repr__(self) -> str:
        return f"Cohort({len(self.paths)} paths, {len(self.failed)} failed)"

    def __len__(self) -> int:
        return len(self.outcomes)

    def __iter__(self) -> Iterator[Outcome]:
        return iter(self.outcomes)

    @property
    def paths(self) -> dict[Hashable, Path]:
        """The paths that were solved, by name."""
        return {each.name: each.path for each in self.outcomes if each.path is not None}

    @property
    def failed(self) -> dict[Hashable, str]:
        """What went wrong with the others, by name."""
        return {each.name: each.error for each in self.outcomes if each.error is not None}


OnResult = Callable[[int, Outcome], object]


class _Task(NamedTuple):
    """One graph on its way: where it stands among the others, and where its path is kept."""

    place: int
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
    **options: Any,
) -> Cohort:
    """Solve the paths of many graphs: a cohort, bootstrap samples, a grid of parameters.

    Each graph is one call of `convexhc.cluster` in a worker of joblib: processes on this
    machine, or whatever backend ``joblib.parallel_config`` names, such as a Dask cluster. A graph
    that fails is reported, and the others go on.

    Parameters
    ----------
    graphs : mapping from name to graph, or iterable of graphs
        Anything `convexhc.as_graph` reads; names are the places 0, 1, ... without a mapping.
    n_jobs : int, optional
        Workers; -1 for one on every core. By default one, or as ``parallel_config`` says.
    n_threads : int
        Threads of a worker. One is best while there are more graphs than cores.
    folder : path, optional
        Where the path of every graph is kept as an npz file as soon as it is solved. A later call
        reads what is there for the same graph, options and version, and solves the rest. Only
        the calling process writes.
    each : mapping from name to options, optional
        Options of single graphs, over the common ones.
    on_result : callable, optional
        Called as ``on_result(done, outcome)`` in the calling process, in the order of completion.
    **options
        Options of `convexhc.cluster`.

    Returns
    -------
    Cohort
        One `Outcome` a graph, in the order given; ``paths`` and ``failed`` by name.

    Raises
    ------
    TypeError
        An option that `cluster` does not have. What is wrong with a graph raises nothing: see
        ``failed``.

    Notes
    -----
    A worker that is killed, for want of memory say, ends the call; what was finished is in the
    folder, and a second call goes on from there.

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
        _Task(place, name, graph, {**common, **_checked(special.get(name, {}))}, n_threads)
        for place, (name, graph) in enumerate(named.items())
    ]
    found: dict[int, Outcome] = {}
    for place, outcome in _outcomes(tasks, n_jobs, folder):
        found[place] = outcome
        if on_result is not None:
            on_result(len(found), outcome)
    return Cohort(tuple(found[place] for place in range(len(tasks))))


def _outcomes(
    tasks: list[_Task], n_jobs: int | None, folder: str | os.PathLike[str] | None
) -> Iterator[tuple[int, Outcome]]:
    """Place and outcome of every task: those in the folder first, then as they come."""
    open_: dict[int, _Task] = {}
    for task in tasks:
        kept = task
        if folder is not None:
            try:
                kept = _kept(task, File(folder))
            except Exception as error:
                yield task.place, _failure(task.name, error)
                continue
            stored = _stored(kept)
            if stored is not None:
                yield task.place, stored
                continue
        open_[task.place] = kept
    # All at once: joblib would else hold back what its workers of the first moment cannot take,
    # and workers of a cluster that come later would stay idle.
    workers = Parallel(
        n_jobs=n_jobs, return_as="generator_unordered", batch_size=1, pre_dispatch="all"
    )
    for place, outcome in workers(delayed(_solved)(task) for task in open_.values()):
        file = open_[place].file
        if file is not None and outcome.path is not None:
            outcome.path.save(file)
        yield place, outcome


def _solved(task: _Task) -> tuple[int, Outcome]:
    """One path, in a worker; an error becomes an outcome."""
    begun = time.perf_counter()
    try:
        with limited_threads(task.n_threads):
            path = cluster(task.graph, **task.options)
    except Exception as error:
        return task.place, _failure(task.name, error)
    return task.place, Outcome(task.name, path, seconds=time.perf_counter() - begun)


def _failure(name: Hashable, error: Exception) -> Outcome:
    said = f"{type(error).__name__}: {error}"
    return Outcome(name, None, said, "".join(traceback.format_exception(error)))


def _checked(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options that cluster has, and that several graphs can share."""
    known = list(inspect.signature(cluster).parameters)[1:]
    for name in options:
        if name in _SINGLE:
            raise TypeError(f"{name} is for a single path: use {_SINGLE[name]}.")
        if name not in known:
            raise TypeError(f"cluster has no option {name!r}; it has {', '.join(known)}.")
    shared = dict(options)
    if isinstance(shared.get("lambdas"), Iterator):
        # An iterator would be empty after the first graph.
        shared["lambdas"] = list(shared["lambdas"])
    return shared


def _kept(task: _Task, folder: File) -> _Task:
    """The task with the file its path is kept in; its name tells data, options and version."""
    folder.mkdir(parents=True, exist_ok=True)
    graph = as_graph(task.graph, signed=task.options.get("similarity") == "precomputed")
    mark = hashlib.sha256(_digest(graph).encode())
    for key in sorted(task.options):
        mark.update(json.dumps([key, _plain(key, task.options[key])]).encode())
    mark.update(json.dumps([__version__, repr(task.name), [str(n) for n in graph.names]]).encode())
    said = re.sub(r"[^A-Za-z0-9]+", "-", str(task.name)).strip("-")[:40]
    return task._replace(graph=graph, file=folder / f"{said}-{mark.hexdigest()[:16]}.npz")


def _stored(task: _Task) -> Outcome | None:
    """The outcome of an earlier call, if its file is there and whole."""
    if task.file is None or not task.file.exists():
        return None
    try:
        return Outcome(task.name, Path.load(task.file), resumed=True)
    except ValueError:
        return None


def _plain(key: str, value: Any) -> Any:
    """An option as JSON, for the fingerprint."""
    if key == "weights" and not isinstance(value, str | int | np.integer | None):
        return _digest(as_graph(value))
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


def _digest(graph: Graph) -> str:
    mark = hashlib.sha256()
    for array in (graph.tail, graph.head, graph.weight, graph.diagonal):
        mark.update(array.tobytes())
    return mark.hexdigest()
