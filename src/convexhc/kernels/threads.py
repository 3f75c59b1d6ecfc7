"""How many threads the compiled passes use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numba
from threadpoolctl import threadpool_limits


def use_threads(count: int) -> int:
    """Use at most ``count`` threads, no more than the process has; return how many."""
    most = int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]
    chosen = max(1, min(count, most))
    numba.set_num_threads(chosen)
    return chosen


@contextmanager
def limited_threads(count: int) -> Iterator[int]:
    """At most ``count`` threads, in the passes and in BLAS, and as before at the end."""
    before = numba.get_num_threads()
    try:
        with threadpool_limits(limits=count):
            yield use_threads(count)
    finally:
        numba.set_num_threads(before)
