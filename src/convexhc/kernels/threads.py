"""Number of threads of the compiled kernels and of BLAS.

Each has its own thread pool, whose threads spin for some milliseconds after their work. Where both
are used in turn they compete for cores, and two threads are slower than one.

BLAS has one number of threads per process: limits that overlap, from several Python threads, are
kept together, and the number of before returns with the end of the last. The kernels have one per
Python thread.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache

import numba
from numba.np.ufunc import parallel as pool
from threadpoolctl import ThreadpoolController

# Rows and columns from which dense products gain from threads; below, waiting costs more.
_MIN_SIZE = 400
# Operations: a pass with fewer takes less than a millisecond, too short for several threads.
_WORTH_SHARING = 1_000_000
# Threading layer of numba on which a second Python thread that enters the pool ends the process.
_EXCLUSIVE_LAYER = "workqueue"


def threads_for(shape: tuple[int, int], *, dense: bool) -> AbstractContextManager[object]:
    """One thread for BLAS, or for the kernels if ``dense`` products of this shape dominate.

    For a single solve; see `threads_along` for a sequence of solves.
    """
    return _kernel_threads(1) if _gains_from_threads(shape, dense) else _LIMITS.at_most(1, "blas")


def threads_along(shape: tuple[int, int], *, dense: bool) -> AbstractContextManager[object]:
    """One thread for BLAS, unless solves inside the context may use more."""
    return nullcontext() if _gains_from_threads(shape, dense) else _LIMITS.at_most(1, "blas")


def thread_count() -> int:
    """Threads for a kernel called from here.

    One in a forked process: the pool of its parent has no threads there, and GNU OpenMP ends a
    process that uses it. One outside the main thread, if only that can use the pool.
    """
    if _FORKED.is_set():
        return 1
    count = int(numba.get_num_threads())
    if count > 1 and pool.threading_layer() == _EXCLUSIVE_LAYER:  # type: ignore[no-untyped-call]
        return count if threading.current_thread() is threading.main_thread() else 1
    return count


def runs_for(operations: int) -> int:
    """Runs into which a pass is split, one per thread; one if it is too short for several."""
    return thread_count() if operations > _WORTH_SHARING else 1


@contextmanager
def limited_threads(count: int) -> Iterator[int]:
    """At most ``count`` threads in the kernels and in BLAS inside the context."""
    with _LIMITS.at_most(max(1, count)), _kernel_threads(count) as chosen:
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


def _gains_from_threads(shape: tuple[int, int], dense: bool) -> bool:
    return dense and min(shape) >= _MIN_SIZE


@cache
def _controller() -> ThreadpoolController:
    # Searches the loaded libraries, once per process.
    return ThreadpoolController()


class _Limits:
    """Limits of the thread pools of libraries, from any number of Python threads at once."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget every limit; for a forked process, in which no other thread exists."""
        self.lock = threading.Lock()
        self.active: list[tuple[str | None, int]] = []
        self.before: dict[str, int] = {}

    @contextmanager
    def at_most(self, count: int, api: str | None = None) -> Iterator[None]:
        """At most ``count`` threads inside the context; the smallest of all active limits holds.

        ``api`` is a kind of library, as threadpoolctl names it; None for all, those included that
        were loaded since the last search.
        """
        limit = (api, count)
        with self.lock:
            if api is None:
                _controller.cache_clear()
            if not self.active:
                self.before.clear()
            for each in _controller().lib_controllers:
                self.before.setdefault(each.filepath, each.num_threads)
            self.active.append(limit)
            self._apply(api)
        try:
            yield
        finally:
            with self.lock:
                self.active.remove(limit)
                self._apply(api)

    def _apply(self, api: str | None) -> None:
        for each in _controller().lib_controllers:
            if api in (None, each.user_api) and each.filepath in self.before:
                counts = [count for of, count in self.active if of in (None, each.user_api)]
                before = self.before[each.filepath]
                # A pool that has not been used may report zero threads.
                each.set_num_threads(max(1, min(before, *counts)) if counts else before)


_LIMITS = _Limits()
_FORKED = threading.Event()


def _after_fork() -> None:
    """In the child: no thread of the pool exists, and no other Python thread."""
    if pool._is_initialized:
        _FORKED.set()
    _LIMITS.reset()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
