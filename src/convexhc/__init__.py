"""Convex hierarchical clustering of graphs and similarity matrices, certified at every scale."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from convexhc import datasets, metrics, similarity
from convexhc.api import (
    Cohort,
    Options,
    cluster,
    smooth_path,
    solve,
    solve_features_path,
    solve_path,
    solve_paths,
    solve_points_path,
)
from convexhc.graph import Graph
from convexhc.io import as_graph
from convexhc.model.constraint import project_doubly_stochastic
from convexhc.model.problem import Certificate
from convexhc.path import Level, Path
from convexhc.smooth import SmoothModel
from convexhc.solvers.loop import Solution, Status
from convexhc.tree import Tree
from convexhc.version import __version__

if TYPE_CHECKING:
    from convexhc import plots, report, stability, tl
    from convexhc.estimators import ConvexClustering, ConvexHierarchicalClustering

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
    "Tree",
    "__version__",
    "as_graph",
    "cluster",
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
    "tl",
]

# Loaded when asked for: scikit-learn alone takes longer to import than the rest of the package.
_ON_USE = {
    "ConvexClustering": "convexhc.estimators",
    "ConvexHierarchicalClustering": "convexhc.estimators",
    "plots": "convexhc.plots",
    "report": "convexhc.report",
    "stability": "convexhc.stability",
    "tl": "convexhc.tl",
}


def __getattr__(name: str) -> Any:
    if name not in _ON_USE:
        raise AttributeError(f"module 'convexhc' has no attribute {name!r}")
    module = import_module(_ON_USE[name])
    return module if module.__name__.endswith(f".{name}") else getattr(module, name)


def _notebook_view(path: Path) -> str:
    return str(import_module("convexhc.report").notebook_html(path))


# Path cannot import the report, which is made of paths: the view is set from here.
Path.notebook_view = _notebook_view


def __dir__() -> list[str]:
    return __all__
