"""Checks on options, with errors that name them."""

from __future__ import annotations

import operator
from numbers import Real
from typing import Any, SupportsIndex

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


def check_one_of(name: str, value: object, other_name: str, other: object) -> None:
    """Refuse both or neither of two ways to ask for a cut."""
    if (value is None) == (other is None):
        got = "neither" if value is None else "both"
        raise ValueError(f"Give either {name} or {other_name}; got {got}.")


def positive_int(name: str, value: SupportsIndex) -> int:
    """Verify an integer of at least one."""
    try:
        number = operator.index(value)
    except TypeError as error:
        raise TypeError(f"{name} must be an integer; got {value!r}.") from error
    if number < 1:
        raise ValueError(f"{name} must be at least 1; got {number}.")
    return number


def nonnegative(name: str, value: float | None) -> float:
    """Verify a number that is at least zero; infinity passes, NaN does not."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number; got {value!r}.")
    if not value >= 0:
        raise ValueError(f"{name} must be a number of at least 0; got {value}.")
    return float(value)
