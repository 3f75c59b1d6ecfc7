"""Run tasks in the workers of joblib, and survive workers that are killed."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path as File
from typing import Any, TypeVar

from joblib import Parallel, delayed

from convexhc.api.dask_workers import dask_client, on_dask

Task = TypeVar("Task")
Result = TypeVar("Result")

# A task is given up when so many workers have died with it, the last time with no other task.
_MOST_DEATHS = 2


def in_workers(
    function: Callable[[Task], Result],
    tasks: Mapping[int, Task],
    n_jobs: int | None,
    lost: Callable[[Task, Exception], Result],
) -> Iterator[tuple[int, Result]]:
    """Position and result of every task, in the order of completion.

    A killed worker takes its pool along, and every task in it; on Dask only those it held. Those
    that had been started are repeated one at a time in fresh pools, the others together. If none
    is known to have been started, as on other machines, the tasks are halved until the culprit is
    alone. ``lost`` gives the result of a task whose workers died twice.
    """
    client = dask_client()
    deaths: Counter[int] = Counter()
    groups = [list(tasks)] if tasks else []
    while groups:
        group = groups.pop()
        unfinished = dict.fromkeys(group)
        with tempfile.TemporaryDirectory(prefix="convexhc-") as folder:
            calls = [(function, tasks[position], position, folder) for position in group]
            try:
                for position, result in _pool(client, calls, n_jobs):
                    del unfinished[position]
                    yield position, result
            except _killed() as error:
                left = list(unfinished)
                started = [position for position in left if File(folder, str(position)).exists()]
                deaths.update(left if len(group) == 1 else started)
                if len(group) == 1 and deaths[group[0]] >= _MOST_DEATHS:
                    yield group[0], lost(tasks[group[0]], error)
                else:
                    groups += _split(left, started)


def _split(left: list[int], started: list[int]) -> list[list[int]]:
    """Groups to repeat, the last one first."""
    alone = [[position] for position in started]
    rest = [position for position in left if position not in set(started)]
    if started or len(rest) == 1:
        return [each for each in (rest, *alone) if each]
    return [rest[len(rest) // 2 :], rest[: len(rest) // 2]]


def _pool(
    client: Any, calls: list[tuple[Any, ...]], n_jobs: int | None
) -> Iterator[tuple[int, Any]]:
    """Results of the calls, in the order of completion."""
    if client is not None:
        yield from on_dask(client, _started, calls)
        return
    # Dispatch everything at once: otherwise joblib sizes its queue by the first workers, and
    # workers that join a cluster later stay idle.
    workers = Parallel(
        n_jobs=n_jobs, return_as="generator_unordered", batch_size=1, pre_dispatch="all"
    )
    yield from workers(delayed(_started)(*call) for call in calls)


def _started(
    function: Callable[[Task], Result], task: Task, position: int, folder: str
) -> tuple[int, Result]:
    """Run a task in a worker, after a note that it was started, if the worker can write one."""
    with contextlib.suppress(OSError):
        File(folder, str(position)).touch()
    return position, function(task)


def _killed() -> tuple[type[Exception], ...]:
    """The errors that tell of a killed worker: of joblib, and of Dask if it is in use."""
    distributed = sys.modules.get("distributed")
    return (
        (BrokenProcessPool,)
        if distributed is None
        else (
            BrokenProcessPool,
            distributed.KilledWorker,
        )
    )
