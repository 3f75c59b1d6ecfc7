"""Where things go in a picture, and which colour they wear: plain numpy, whoever draws.

``graph_layout`` places the nodes of a graph (``forces`` pushes them apart), ``names`` what is
written beside them, ``trails`` the centroids, ``branches`` the tree, ``ribbons`` the flow between
levels, ``matrix`` the cells of a heat map; ``scales`` finds the levels of a path worth showing,
``palette`` makes colours and ``colors`` hands them out.
"""

from convexhc.layout.branches import (
    Branches,
    Rectangles,
    inside_cluster,
    tree_branches,
    tree_rectangles,
)
from convexhc.layout.colors import (
    cluster_ranks,
    color_ranks,
    colors_of,
    node_colors,
    ranks_by_size,
)
from convexhc.layout.graph_layout import graph_positions
from convexhc.layout.information_map import (
    InformationMap,
    information_map,
    lam_limits,
)
from convexhc.layout.matrix import block_borders, ordered_cells, shade_limit
from convexhc.layout.names import name_sides
from convexhc.layout.palette import neutral, palette
from convexhc.layout.ribbons import Bars, Ribbons, partition_flow
from convexhc.layout.trails import Trails, centroid_trails

__all__ = [
    "Bars",
    "Branches",
    "InformationMap",
    "Rectangles",
    "Ribbons",
    "Trails",
    "block_borders",
    "centroid_trails",
    "cluster_ranks",
    "color_ranks",
    "colors_of",
    "graph_positions",
    "information_map",
    "inside_cluster",
    "lam_limits",
    "name_sides",
    "neutral",
    "node_colors",
    "ordered_cells",
    "palette",
    "partition_flow",
    "ranks_by_size",
    "shade_limit",
    "tree_branches",
    "tree_rectangles",
]
