"""Run tasks in the workers of joblib or of a Dask cluster, and survive workers that are killed.

joblib is imported where it is used: it takes longer than a small solve.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path as File
from typing import Any, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


def chosen_elsewhere() -> bool:
    """Whether ``joblib.parallel_config`` names workers: several, or not the default processes."""
    if "joblib" not in sys.modules:
        return False
    from joblib.parallel import BACKENDS, DEFAULT_BACKEND, get_active_backend

    return worker_count() > 1 or not isinstance(get_active_backend()[0], BACKENDS[DEFAULT_BACKEND])


def worker_count() -> int:
    """Workers that joblib would use here: one, unless ``joblib.parallel_config`` names more."""
    if "joblib" not in sys.modules:
        return 1
    from joblib.parallel import get_active_backend

    backend, n_jobs = get_active_backend()
    return int(backend.effective_n_jobs(1 if n_jobs is None else n_jobs))


def map_in_workers(function: Callable[[Task], Result], tasks: Sequence[Task]) -> list[Result]:
    """Results of all tasks, in their order, by the workers that ``joblib.parallel_config`` names.

    A task whose workers die twice raises a RuntimeError.
    """
    found = dict(in_workers(function, dict(enumerate(tasks)), None, _give_up))
    return [found[position] for position in range(len(tasks))]


def _give_up(task: Any, error: Exception) -> Any:
    raise RuntimeError(
        "two workers died while they computed a part of the problem: give them more memory, or "
        "solve it in this process, outside joblib.parallel_config."
    ) from error


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
    client = _dask_client()
    suspects: set[int] = set()
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
                # Given up when a second worker has died with it, and with no other task.
                if len(group) == 1 and suspects.intersection(left):
                    yield group[0], lost(tasks[group[0]], error)
                else:
                    suspects.update(left if len(group) == 1 else started)
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
        yield from _on_dask(client, _started, calls)
        return
    from joblib import Parallel, delayed

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
    from concurrent.futures.process import BrokenProcessPool

    distributed = sys.modules.get("distributed")
    return (BrokenProcessPool,) + (() if distributed is None else (distributed.KilledWorker,))


def _dask_client() -> Any:
    """The client of ``joblib.parallel_config("dask")`` once it has a worker, or None elsewhere."""
    from joblib.parallel import get_active_backend

    distributed = sys.modules.get("distributed")
    backend = get_active_backend()[0]
    client = getattr(backend, "client", None)
    if distributed is None or not isinstance(client, distributed.Client):
        return None
    # Waits for a worker, and raises TimeoutError if none comes.
    backend.effective_n_jobs(1)
    return client


def _on_dask(
    client: Any, function: Callable[..., Result], calls: Iterable[tuple[Any, ...]]
) -> Iterator[Result]:
    """Results of the calls that kill no worker, in the order of completion.

    The error of a killed worker is raised once all others are done. joblib's own backend is of no
    use here: it waits for ever for a call whose workers died.
    """
    import dask.config
    from distributed import KilledWorker, as_completed

    # A task carries its data, so that it can be repeated elsewhere: large ones are no mistake.
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 PB"}):
        pending = {client.submit(function, *call, pure=False) for call in calls}
    killed = None
    try:
        for future in as_completed(list(pending)):  # type: ignore[no-untyped-call]
            pending.discard(future)
            try:
                result = future.result()
            except KilledWorker as error:
                killed = error
            else:
                yield result
    finally:
        client.cancel(list(pending))
    if killed is not None:
        raise killed
