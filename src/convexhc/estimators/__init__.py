"""The scikit-learn clusterers: of graphs and similarities, and of points."""

from convexhc.estimators.hierarchical import ConvexHierarchicalClustering
from convexhc.estimators.points import ConvexClustering

__all__ = ["ConvexClustering", "ConvexHierarchicalClustering"]
