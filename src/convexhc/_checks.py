"""Validation of options; every error names the option, its range and the value received."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from numbers import Real
from typing import Any, SupportsIndex

import numpy as np

# Largest weights, coordinates and lam: products of five of them are finite.
LARGEST = 1e60
# Smallest largest entry of a similarity or of points: its square must not vanish next to 1.
SMALLEST = 1.0 / LARGEST


# Scores, weights and shares that differ by less are equal: sums in another order round otherwise,
# and no choice may depend on the order of the nodes.
TIE = 1e-9


def checked_number(
    name: str, value: Any, *, upper: float = np.inf, positive: bool = False, finite: bool = True
) -> float:
    """Return ``value`` as a float in ``[0, upper]``, zero excluded if ``positive``.

    Raises TypeError if it is not a real number, ValueError if it is NaN or out of range.

    Examples
    --------
    >>> checked_number("l1_ratio", 2, upper=1.0)
    Traceback (most recent call last):
    ...
    ValueError: l1_ratio must be between 0 and 1, received 2.
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, received {value!r}.")
    number = float(value)
    if not 0.0 <= number <= upper or (positive and number == 0.0) or (finite and number == np.inf):
        limit = "finite and positive" if positive else "finite and not negative"
        limit = limit if finite else "at least 0"
        limit = limit if upper == np.inf else f"between 0 and {upper:g}"
        raise ValueError(f"{name} must be {limit}, received {value!r}.")
    return number


def check_magnitude(what: str, largest: float) -> None:
    """Raise ValueError if a set of numbers is so large or so small that products leave the range.

    ``largest`` is the largest of their absolute values.
    """
    if largest > LARGEST or 0.0 < largest < SMALLEST:
        raise ValueError(
            f"{what} must be between {SMALLEST:g} and {LARGEST:g} or all zero, the largest is "
            f"{largest:.4g}: take another unit. Clusters do not depend on it."
        )


def checked_count(name: str, value: SupportsIndex, *, lower: int = 1) -> int:
    """Return ``value`` as an int of at least ``lower``.

    Raises TypeError if it is not an integer (a bool is not), ValueError if it is too small.
    """
    try:
        if isinstance(value, bool):
            raise TypeError
        count = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, received {value!r}.") from None
    if count < lower:
        raise ValueError(f"{name} must be at least {lower}, received {value!r}.")
    return count


def named(option: str, value: Any, choices: Mapping[Any, Any]) -> Any:
    """Return the entry of ``choices`` called ``value``; the error lists the names."""
    if value not in choices:
        known = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{option} must be one of {known}, received {value!r}.")
    return choices[value]


def check_one_of(name: str, value: object, other_name: str, other: object) -> None:
    """Require exactly one of two options; an option that is None counts as not given."""
    if (value is None) == (other is None):
        received = "neither" if value is None else "both"
        raise ValueError(f"Give either {name} or {other_name}; received {received}.")
