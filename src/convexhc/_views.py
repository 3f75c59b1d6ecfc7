"""Views of results that are made by rooms above them: set by the package."""

from collections.abc import Callable
from typing import Any

# How a notebook shows a path.
notebook_view: Callable[[Any], str] = repr


def _no_report(*_: Any, **__: Any) -> None:
    raise RuntimeError("import convexhc first: the package sets the report of a cohort.")


# How the page of a cohort is written.
cohort_report: Callable[..., None] = _no_report
