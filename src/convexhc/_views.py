"""Functions of higher rooms that results call: set by the package when it is imported."""

from collections.abc import Callable
from typing import Any

# How a notebook shows a path.
notebook_view: Callable[[Any], str] = repr
# The support of a path, given its settings.
path_support: Callable[..., Any]
# How the page of a cohort is written.
cohort_report: Callable[..., None]
