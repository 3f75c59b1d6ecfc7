"""Functions of higher rooms that results call; these rooms are imported at the call."""

from importlib import import_module
from typing import Any


def notebook_view(path: Any) -> str:
    """How a notebook shows a path."""
    return str(import_module("convexhc.report").notebook_html(path))


def path_support(path: Any, **settings: Any) -> Any:
    """The support of a path."""
    return import_module("convexhc.resampling.run").path_support(path, **settings)


def cohort_report(*arguments: Any, **options: Any) -> None:
    """Write the page of a cohort."""
    import_module("convexhc.report").write_cohort_report(*arguments, **options)
