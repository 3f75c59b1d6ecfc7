"""Geometry and colours of the figures, in plain numpy, shared by `plots` and `report`.

``graph_layout`` positions the nodes of a graph and their names, ``trajectories`` the
centroids, ``tree_layout`` the branches of a tree, ``sankey`` the flow between partitions and
``heatmap`` the cells of a matrix. ``partition_distances`` compares the levels of a path.
``palette`` generates colours; ``cluster_colors`` assigns them to clusters.
"""

from convexhc.layout.cluster_colors import cluster_ranks, color_ranks, rank_colors, ranks_by_size
from convexhc.layout.graph_layout import align_nodes, graph_positions, name_sides, strongest_edges
from convexhc.layout.heatmap import binned_matrix, block_borders, color_limit
from convexhc.layout.palette import neutral, palette
from convexhc.layout.partition_distances import PartitionDistances, partition_distances
from convexhc.layout.sankey import Bars, Ribbons, partition_flow
from convexhc.layout.trajectories import Trajectories, centroid_trajectories
from convexhc.layout.tree_layout import (
    Branches,
    Rectangles,
    enclosing_cluster,
    tree_branches,
    tree_rectangles,
)

__all__ = [
    "Bars",
    "Branches",
    "PartitionDistances",
    "Rectangles",
    "Ribbons",
    "Trajectories",
    "align_nodes",
    "binned_matrix",
    "block_borders",
    "centroid_trajectories",
    "cluster_ranks",
    "color_limit",
    "color_ranks",
    "enclosing_cluster",
    "graph_positions",
    "name_sides",
    "neutral",
    "palette",
    "partition_distances",
    "partition_flow",
    "rank_colors",
    "ranks_by_size",
    "strongest_edges",
    "tree_branches",
    "tree_rectangles",
]
