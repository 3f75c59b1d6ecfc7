"""Geometry and colours of the figures, in plain numpy, shared by `plots` and `report`.

``graph_layout`` positions the nodes of a graph and their names, ``trajectories`` the centroids,
``tree_layout`` the branches of a tree, ``sankey`` the flow between partitions and ``heatmap`` the
cells of a matrix. ``colors`` generates colours and assigns them to clusters.
"""
