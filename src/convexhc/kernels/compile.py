"""How kernels are compiled: without the interpreter lock, and kept on disk where that is possible.

The first call of a kernel compiles it, for a few tenths of a second; later processes load it from
the cache, which is beside the package, in the user's cache folder, or in NUMBA_CACHE_DIR. Tuples of
arrays, array expressions and assignments of slices multiply the time, so kernels have few of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any, ParamSpec, TypeVar

from numba import njit
from numba.core import event

P = ParamSpec("P")
R = TypeVar("R")

# Sums may be reordered, as vector units need; NaN and infinities keep their meaning.
FAST = frozenset({"reassoc", "contract", "nsz"})


def compiled(
    *,
    fastmath: frozenset[str] = frozenset(),
    parallel: bool = False,
    inline: bool = False,
    raise_on_division: bool = True,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorator for a kernel.

    Parameters
    ----------
    fastmath : set of str
        Liberties of the compiler with floating point numbers, such as `FAST`.
    parallel : bool
        Whether ``prange`` runs on threads.
    inline : bool
        Copy the function into its callers, which is needed where they pass it on as an argument.
    raise_on_division : bool
        Whether division by zero raises, as in Python, or gives inf and NaN, as in numpy.
    """
    options: dict[str, Any] = {
        "nogil": True,
        "fastmath": set(fastmath),
        "parallel": parallel,
        "inline": "always" if inline else "never",
        "error_model": "python" if raise_on_division else "numpy",
    }

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        try:
            kernel: Callable[P, R] = njit(cache=True, **options)(function)
        except RuntimeError:  # no folder for the cache can be written
            kernel = njit(**options)(function)
        return kernel

    return decorate


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
