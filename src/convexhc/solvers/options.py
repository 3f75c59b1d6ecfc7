"""Checks on options, with errors that name them."""

from __future__ import annotations

from typing import Any

import numpy as np


def checked_number(name: str, value: float, *, upper: float = np.inf) -> float:
    """A finite number between zero and ``upper``, or an error that names it."""
    if not isinstance(value, int | float | np.integer | np.floating) or isinstance(value, bool):
        raise TypeError(f"{name} must be a number, received {value!r}.")
    if not (0.0 <= float(value) <= upper) or not np.isfinite(value):
        limit = f"between 0 and {upper:g}" if np.isfinite(upper) else "finite and not negative"
        raise ValueError(f"{name} must be {limit}, received {value!r}.")
    return float(value)


def checked_count(name: str, value: int) -> int:
    """A whole number of at least one, or an error that names it."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool):
        raise TypeError(f"{name} must be a whole number, received {value!r}.")
    if value < 1:
        raise ValueError(f"{name} must be at least 1, received {value!r}.")
    return int(value)


def named(option: str, value: Any, choices: dict[str, Any]) -> Any:
    """The choice of that name, or an error that lists them."""
    if value not in choices:
        known = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{option} must be one of {known}, received {value!r}.")
    return choices[value]
