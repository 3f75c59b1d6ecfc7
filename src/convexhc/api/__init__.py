"""The entry points: one set of options behind all of them."""

from convexhc.api.clustering import cluster
from convexhc.api.cohort import solve_paths
from convexhc.api.features_path import solve_features_path
from convexhc.api.graph_path import solve_path
from convexhc.api.options import Options
from convexhc.api.outcomes import Cohort, Outcome
from convexhc.api.points_path import solve_points_path
from convexhc.api.single_lam import solve
from convexhc.api.smooth import smooth_path

__all__ = [
    "Cohort",
    "Options",
    "Outcome",
    "cluster",
    "smooth_path",
    "solve",
    "solve_features_path",
    "solve_path",
    "solve_paths",
    "solve_points_path",
]
