"""Number of threads of the compiled kernels and of BLAS.

Each has its own thread pool, whose threads spin for some milliseconds after their work. Where both
are used in turn they compete for cores, and two threads are slower than one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache

import numba
from threadpoolctl import ThreadpoolController, threadpool_limits

# Rows and columns from which dense products gain from threads; below, waiting costs more.
_MIN_SIZE = 400


def threads_for(shape: tuple[int, int], *, dense: bool) -> AbstractContextManager[object]:
    """One thread for BLAS, or for the kernels if ``dense`` products of this shape dominate.

    For a single solve; see `threads_along` for a sequence of solves.
    """
    return _kernel_threads(1) if _gains_from_threads(shape, dense) else _single_threaded_blas()


def threads_along(shape: tuple[int, int], *, dense: bool) -> AbstractContextManager[object]:
    """One thread for BLAS, unless solves inside the context may use more."""
    return nullcontext() if _gains_from_threads(shape, dense) else _single_threaded_blas()


def _gains_from_threads(shape: tuple[int, int], dense: bool) -> bool:
    return dense and min(shape) >= _MIN_SIZE


def _single_threaded_blas() -> AbstractContextManager[object]:
    return _controller().limit(limits=1, user_api="blas")  # type: ignore[no-any-return]


@cache
def _controller() -> ThreadpoolController:
    # Searches the loaded libraries, once per process.
    return ThreadpoolController()


@contextmanager
def limited_threads(count: int) -> Iterator[int]:
    """At most ``count`` threads in the kernels and in BLAS inside the context."""
    with threadpool_limits(limits=max(1, count)), _kernel_threads(count) as chosen:
        yield chosen


@contextmanager
def _kernel_threads(count: int) -> Iterator[int]:
    """At most ``count`` threads for the kernels inside the context; yields the number set."""
    before = numba.get_num_threads()
    most = int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]
    chosen = max(1, min(count, most))
    numba.set_num_threads(chosen)
    try:
        yield chosen
    finally:
        numba.set_num_threads(before)
