"""Optional packages, imported when they are needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def required(package: str, user: str, extra: str = "graphs") -> Any:
    """Import a package that an extra installs; the error says who needs it and how to get it.

    Examples
    --------
    >>> required("no_such_package", "to_networkx")
    Traceback (most recent call last):
    ...
    ImportError: to_networkx needs no_such_package, which is not installed: pip install
    'convexhc[graphs]'.
    """
    try:
        return import_module(package)
    except ImportError as error:
        raise ImportError(
            f"{user} needs {package}, which is not installed: pip install 'convexhc[{extra}]'."
        ) from error
