"""The regularisation path: range of lam, march with warm starts, result, storage."""

from convexhc.path.cohort import Cohort, Outcome, solve_paths
from convexhc.path.graph_path import cluster, solve_features_path
from convexhc.path.level import Level
from convexhc.path.points import solve_points_path
from convexhc.path.result import Path, Provenance
from convexhc.path.similarity_path import solve_path
from convexhc.path.suggestion import Suggestion

__all__ = [
    "Cohort",
    "Level",
    "Outcome",
    "Path",
    "Provenance",
    "Suggestion",
    "cluster",
    "solve_features_path",
    "solve_path",
    "solve_paths",
    "solve_points_path",
]
