"""Convex hierarchical clustering of graphs and similarity matrices, certified at every scale.

Every public name is loaded on first use: ``import convexhc`` itself imports neither numpy nor
numba, and ``convexhc.solve`` does not import scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from convexhc.version import __version__

if TYPE_CHECKING:
    from convexhc import cohort, datasets, metrics, plots, report, similarity, stability, tl
    from convexhc.api.clustering import cluster
    from convexhc.api.cohort import solve_paths
    from convexhc.api.graph_path import solve_path
    from convexhc.api.options import Options
    from convexhc.api.outcomes import Cohort
    from convexhc.api.points_path import solve_features_path, solve_points_path
    from convexhc.api.single_lam import solve
    from convexhc.api.smooth import smooth_path
    from convexhc.estimators import ConvexClustering, ConvexHierarchicalClustering
    from convexhc.graph import Graph
    from convexhc.io import as_graph
    from convexhc.model.constraint import project_doubly_stochastic
    from convexhc.model.problem import Certificate
    from convexhc.path.level import Level
    from convexhc.path.path import Path
    from convexhc.resampling.run import support
    from convexhc.resampling.support import Support
    from convexhc.smooth.model import SmoothModel
    from convexhc.solvers.solution import Solution, Status
    from convexhc.tree.tree import Tree

__all__ = [
    "Certificate",
    "Cohort",
    "ConvexClustering",
    "ConvexHierarchicalClustering",
    "Graph",
    "Level",
    "Options",
    "Path",
    "SmoothModel",
    "Solution",
    "Status",
    "Support",
    "Tree",
    "__version__",
    "as_graph",
    "cluster",
    "cohort",
    "datasets",
    "metrics",
    "plots",
    "project_doubly_stochastic",
    "report",
    "similarity",
    "smooth_path",
    "solve",
    "solve_features_path",
    "solve_path",
    "solve_paths",
    "solve_points_path",
    "stability",
    "support",
    "tl",
]

# Where a public name is defined; the names not listed are modules of the package.
_HOMES = {
    "Certificate": "model.problem",
    "Cohort": "api.outcomes",
    "ConvexClustering": "estimators",
    "ConvexHierarchicalClustering": "estimators",
    "Graph": "graph",
    "Level": "path.level",
    "Options": "api.options",
    "Path": "path.path",
    "SmoothModel": "smooth.model",
    "Solution": "solvers.solution",
    "Status": "solvers.solution",
    "Support": "resampling.support",
    "Tree": "tree.tree",
    "as_graph": "io",
    "cluster": "api.clustering",
    "project_doubly_stochastic": "model.constraint",
    "smooth_path": "api.smooth",
    "solve": "api.single_lam",
    "solve_features_path": "api.points_path",
    "solve_path": "api.graph_path",
    "solve_paths": "api.cohort",
    "solve_points_path": "api.points_path",
    "support": "resampling.run",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        found = getattr(import_module(f"convexhc.{_HOMES[name]}"), name)
        # Found without this function from now on.
        globals()[name] = found
        return found
    if name in __all__:
        return import_module(f"convexhc.{name}")
    raise AttributeError(f"module 'convexhc' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
