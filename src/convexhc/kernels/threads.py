"""How many threads the compiled passes and the products of BLAS use.

Both keep threads of their own, which go on spinning for some milliseconds after their work: where
both are used in turn, they hold each other up, and two threads are slower than one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache

import numba
from threadpoolctl import ThreadpoolController, threadpool_limits

# Products of fewer rows or columns than this are too short to share: threads of BLAS that wait for
# each other cost more than they bring, and far more on a machine with other work to do.
_SHORT = 400


def threads_for(shape: tuple[int, int], *, dense: bool) -> AbstractContextManager[object]:
    """One thread for BLAS; or for the passes, if ``dense`` products of such a shape are the work.

    For one solve; `threads_along` is for what happens between many of them.
    """
    return _passes(1) if _long(shape, dense) else _one_product_at_a_time()


def threads_along(shape: tuple[int, int], *, dense: bool) -> AbstractContextManager[object]:
    """One thread for BLAS, unless some of the solves inside may need more."""
    return nullcontext() if _long(shape, dense) else _one_product_at_a_time()


def _long(shape: tuple[int, int], dense: bool) -> bool:
    return dense and min(shape) >= _SHORT


def _one_product_at_a_time() -> AbstractContextManager[object]:
    return _controller().limit(limits=1, user_api="blas")  # type: ignore[no-any-return]


@cache
def _controller() -> ThreadpoolController:
    # Looks through the libraries of the process, once.
    return ThreadpoolController()


@contextmanager
def limited_threads(count: int) -> Iterator[int]:
    """At most ``count`` threads, in the passes and in BLAS, and as before at the end."""
    with threadpool_limits(limits=max(1, count)), _passes(count) as chosen:
        yield chosen


@contextmanager
def _passes(count: int) -> Iterator[int]:
    """At most ``count`` threads for the passes, no more than the process has; tells how many."""
    before = numba.get_num_threads()
    most = int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]
    chosen = max(1, min(count, most))
    numba.set_num_threads(chosen)
    try:
        yield chosen
    finally:
        numba.set_num_threads(before)
