"""Options by the names of other libraries or earlier versions: refused, with the name here."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

# What to give instead.
INSTEAD = {
    "alpha": "l1_ratio, which is 1 - alpha: the share of the l1 norm in the penalty",
    "gamma": "shift, which is added to the diagonal of K",
    "affinity": "similarity",
    "neighbors": "weights, a number of strongest neighbours per node",
    "resolution": "lam_step, or n_clusters for the scale",
    "k": "n_clusters",
    "verbose": "progress=True",
    "callback": "progress, or on_check to end the run early",
}


def instead(name: str) -> str:
    """Advice about an option that does not exist: ``: give ...``, or empty if there is none."""
    return f": give {INSTEAD[name]}" if name in INSTEAD else ""


def explains_renamed_options(function: Callable[P, R]) -> Callable[P, R]:
    """Decorator: an option by another name raises a TypeError that says what to give instead.

    Examples
    --------
    >>> @explains_renamed_options
    ... def solve(K, *, l1_ratio=0.05):
    ...     return l1_ratio
    >>> solve(0, alpha=0.95)
    Traceback (most recent call last):
    ...
    TypeError: solve has no option 'alpha': give l1_ratio, which is 1 - alpha: the share of the l1
    norm in the penalty.
    """
    code = getattr(function, "__code__")  # noqa: B009, callables need not have code
    known = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in kwargs:
            if name in INSTEAD and name not in known:
                raise TypeError(f"{function.__name__} has no option {name!r}{instead(name)}.")
        return function(*args, **kwargs)

    return checked
