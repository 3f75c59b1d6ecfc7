"""Paths: one engine over lam for every model, and the result.

Public names are loaded on first use: a single solve needs levels, but no trees and scores.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from convexhc.path.level import Level
    from convexhc.path.path import Path
    from convexhc.path.suggestion import Suggestion
    from convexhc.provenance import Provenance

__all__ = ["Level", "Path", "Provenance", "Suggestion"]

_HOMES = {
    "Level": "path.level",
    "Path": "path.path",
    "Provenance": "provenance",
    "Suggestion": "path.suggestion",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'convexhc.path' has no attribute {name!r}")
    return getattr(import_module(f"convexhc.{_HOMES[name]}"), name)
