"""Options that every path has: which lam to solve, and whose centroids to keep."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from convexhc._checks import checked_number

Keep = Literal["all", "labels"] | Callable[[float], bool]


def checked_grid(lambdas: Iterable[float]) -> list[float]:
    """Increasing, distinct, finite and not negative; in plain floats, as they are saved.

    Examples
    --------
    >>> checked_grid([2, 0.5, 2])
    [0.5, 2.0]
    """
    if isinstance(lambdas, int | float | str):
        raise TypeError(f"lambdas must be a sequence of numbers, received {lambdas!r}.")
    grid = sorted({checked_number("every entry of lambdas", lam) for lam in lambdas})
    if not grid:
        raise ValueError("lambdas is empty: give at least one, or leave it out.")
    return grid


def keeper(keep: Keep | None, *, small: bool) -> Callable[[float], bool]:
    """Whether the centroids of a lam are kept; all of them by default if they are ``small``."""
    if callable(keep):
        return keep
    if keep not in (None, "all", "labels"):
        raise ValueError(f"keep must be 'all', 'labels' or a function of lam, received {keep!r}.")
    every = keep == "all" or (keep is None and small)
    return lambda lam: every
