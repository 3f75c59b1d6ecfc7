"""The regularisation path: range of lam, march with warm starts, result, storage."""

from convexhc.path.point import Point
from convexhc.path.points import solve_points_path
from convexhc.path.result import Path, Provenance
from convexhc.path.walk import solve_path

__all__ = ["Path", "Point", "Provenance", "solve_path", "solve_points_path"]
