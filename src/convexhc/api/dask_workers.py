"""Calls on the workers of a Dask cluster, some of which they may kill."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from joblib.parallel import get_active_backend

Result = TypeVar("Result")


def dask_client() -> Any:
    """The client of ``joblib.parallel_config("dask")`` once it has a worker, or None elsewhere."""
    distributed = sys.modules.get("distributed")
    backend = get_active_backend()[0]
    client = getattr(backend, "client", None)
    if distributed is None or not isinstance(client, distributed.Client):
        return None
    # Waits for a worker, and raises TimeoutError if none comes.
    backend.effective_n_jobs(1)
    return client


def on_dask(
    client: Any, function: Callable[..., Result], calls: Iterable[tuple[Any, ...]]
) -> Iterator[Result]:
    """Results of the calls that kill no worker, in the order of completion.

    The error of a killed worker is raised once all others are done. joblib's own backend is of no
    use here: it waits for ever for a call whose workers died.
    """
    from distributed import KilledWorker, as_completed

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
