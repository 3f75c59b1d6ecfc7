"""How many threads the compiled passes use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache

import numba
from threadpoolctl import ThreadpoolController, threadpool_limits

# Products of fewer rows or columns than this are too short to share: threads of BLAS that wait for
# each other cost more than they bring, and far more on a machine with other work to do.
_SHORT = 400


def threads_for(shape: tuple[int, int]) -> AbstractContextManager[object]:
    """One thread of BLAS for products of matrices of such a shape if they are short."""
    if min(shape) >= _SHORT:
        return nullcontext()
    return _controller().limit(limits=1, user_api="blas")  # type: ignore[no-any-return]


@cache
def _controller() -> ThreadpoolController:
    # Looks through the libraries of the process, once.
    return ThreadpoolController()


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
