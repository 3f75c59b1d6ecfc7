"""Convex hierarchical clustering of graphs and similarity matrices, certified at every scale."""

from convexhc import datasets, metrics, similarity
from convexhc.graph import Graph
from convexhc.io import as_graph
from convexhc.path import Path, solve_path
from convexhc.problem import Certificate
from convexhc.solvers.loop import Solution, Status
from convexhc.solvers.smooth import SmoothPath, smooth_path
from convexhc.solvers.solve import solve
from convexhc.terms.constraint import project_doubly_stochastic
from convexhc.tree import Tree
from convexhc.version import __version__

__all__ = [
    "Certificate",
    "Graph",
    "Path",
    "SmoothPath",
    "Solution",
    "Status",
    "Tree",
    "__version__",
    "as_graph",
    "datasets",
    "metrics",
    "project_doubly_stochastic",
    "similarity",
    "smooth_path",
    "solve",
    "solve_path",
]
