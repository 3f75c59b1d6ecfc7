"""
Southern women: the problem of the paper
========================================

The bipartite network of women and social events, projected on the women. Nearly every pair of
women met at some event, so that the projection has no groups beyond chance: ``cluster`` says so.
The problem of the paper takes the two-hop similarity. With weights from 2 to 8 neighbours, two
clusters have nine women each; with all weights nearly all nodes fuse at once, except two.
"""

import matplotlib.pyplot as plt
import networkx as nx
from networkx.algorithms import bipartite

import convexhc
from convexhc import plots

davis = nx.davis_southern_women_graph()
women = bipartite.weighted_projected_graph(davis, davis.graph["top"])
similarity = convexhc.similarity.two_hop(women)
path = convexhc.solve_path(similarity, weights=3)

for members in path.clusters(n_clusters=2):
    print(f"{len(members)} women: {', '.join(members)}")

# %%
# The similarity, with rows in the order of the tree: the blocks of the cut lie along the diagonal.

figure, (left, right) = plt.subplots(1, 2, figsize=(13, 6), layout="constrained")
plots.heatmap(path, similarity.graph, n_clusters=2, ax=left)
plots.dendrogram(path, n_clusters=2, ax=right)
plt.show()
