"""Paths: one engine over lam for every model, and the result."""

from convexhc.path.level import Level
from convexhc.path.path import Path
from convexhc.path.suggestion import Suggestion
from convexhc.provenance import Provenance

__all__ = ["Level", "Path", "Provenance", "Suggestion"]
