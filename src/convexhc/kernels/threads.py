"""How many threads the compiled passes use."""

from __future__ import annotations

import numba


def use_threads(count: int) -> int:
    """Use at most ``count`` threads, no more than the process has; return how many."""
    most = int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]
    chosen = max(1, min(count, most))
    numba.set_num_threads(chosen)
    return chosen
