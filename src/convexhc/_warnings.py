"""Warnings that point to the line of the user's code, however deep in the package they arise."""

from __future__ import annotations

import sys
import warnings

# Frames of these packages are between the user's line and the warning.
_INSIDE = ("convexhc", "sklearn", "joblib", "contextlib")


def warn_user(text: str, category: type[Warning]) -> None:
    """Issue a warning at the innermost frame outside the package and what calls it for the user."""
    level = 1
    frame = sys._getframe(0)
    while frame.f_back is not None and _is_inside(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)


def warn_unsolved(text: str) -> None:
    """Issue scikit-learn's `ConvergenceWarning`: one class for solves, paths and estimators."""
    # Imported only when there is something to say: solving needs no scikit-learn.
    from sklearn.exceptions import ConvergenceWarning

    warn_user(text, ConvergenceWarning)


def _is_inside(name: str) -> bool:
    return name.split(".")[0] in _INSIDE
