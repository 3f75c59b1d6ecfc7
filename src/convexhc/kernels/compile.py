"""How and when kernels are compiled: without the interpreter lock, and kept on disk if possible.

The first call of a kernel compiles it, for a few tenths of a second; later processes load it from
the cache, which is beside the package, in the user's cache folder, or in NUMBA_CACHE_DIR. Tuples of
arrays, array expressions and assignments of slices multiply the time, so kernels have few of them.
Only passes whose time is felt are kernels; the others are numpy, block by block.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any, ParamSpec, TypeVar

from numba import njit
from numba.core import event
from numba.core.compiler_lock import global_compiler_lock

from convexhc._files import turn_at

P = ParamSpec("P")
R = TypeVar("R")

# Entries of a block that fits in the cache.
CACHED_ENTRIES = 16384

# Sums may be reordered, as vector units need; NaN and infinities keep their meaning.
FAST = frozenset({"reassoc", "contract", "nsz"})


def blocks(shape: tuple[int, int], *, least: int = 1) -> Iterator[slice]:
    """Runs of rows of a matrix, for passes in numpy: of one cache, and of ``least`` rows or more.

    Examples
    --------
    >>> list(blocks((3, 10_000)))
    [slice(0, 1, None), slice(1, 2, None), slice(2, 3, None)]
    """
    size = max(least, CACHED_ENTRIES // max(shape[1], 1), 1)
    for first in range(0, shape[0], size):
        yield slice(first, min(first + size, shape[0]))


def compiled(
    *,
    fastmath: frozenset[str] = frozenset(),
    parallel: bool = False,
    inline: bool = False,
    raise_on_division: bool = True,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorator for a kernel.

    ``fastmath`` are liberties of the compiler with floating point numbers, such as `FAST`. With
    ``parallel``, ``prange`` runs on threads. ``inline`` copies the function into its callers, which
    is needed where they pass it on as an argument. Without ``raise_on_division``, division by zero
    gives inf and NaN, as in numpy.
    """
    options: dict[str, Any] = {
        "nogil": True,
        "fastmath": set(fastmath),
        "parallel": parallel,
        "inline": "always" if inline else "never",
        "error_model": "python" if raise_on_division else "numpy",
        # A pointer for C, which nobody asks for.
        "no_cfunc_wrapper": True,
    }

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        try:
            kernel: Callable[P, R] = njit(cache=True, **options)(function)
        except RuntimeError:  # no folder for the cache can be written
            return njit(**options)(function)  # type: ignore[no-any-return]
        _compile_once(kernel)
        return kernel

    return decorate


def _compile_once(kernel: Any) -> None:
    """Let one process at a time compile a kernel, so that the others find it in the cache.

    Two processes could also write two signatures under one name. A kernel is locked while those
    that it calls are compiled; as no kernel calls itself, no two processes wait for each other.
    Within a process numba's own lock comes first, for the same reason.
    """
    compile_now, function = kernel.compile, kernel.py_func
    name = f"{function.__module__}.{function.__qualname__}.lock"

    def compile_locked(signature: Any) -> Any:
        folder = Path(kernel.stats.cache_path)
        with global_compiler_lock, turn_at(folder / name), _no_collection():
            return compile_now(signature)

    kernel.compile = compile_locked


@contextmanager
def _no_collection() -> Iterator[None]:
    """Without the garbage collector, which takes a tenth of the time of the compiler."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class _Announcement(event.Listener):
    def __init__(
        self, announce: Callable[[], object], spent: Callable[[float], object] | None
    ) -> None:
        self.announce: Callable[[], object] | None = announce
        self.spent = spent
        # Kernels that are being compiled: each compiles those it calls.
        self.depth, self.began = 0, 0.0

    def on_start(self, event: Any) -> None:
        """A kernel is not in the cache."""
        if self.announce is not None:
            self.announce()
            self.announce = None
        if self.depth == 0:
            self.began = perf_counter()
        self.depth += 1

    def on_end(self, event: Any) -> None:
        """A kernel is compiled."""
        self.depth -= 1
        if self.depth == 0 and self.spent is not None:
            self.spent(perf_counter() - self.began)


@contextmanager
def announced(
    announce: Callable[[], object], spent: Callable[[float], object] | None = None
) -> Iterator[None]:
    """Call ``announce`` before the first kernel is compiled within the context, if one is.

    ``spent`` is called with the seconds that each took.
    """
    with event.install_listener("numba:compile", _Announcement(announce, spent)):
        yield
