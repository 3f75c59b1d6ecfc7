"""
Groups inside groups
====================

A graph with two communities of three groups each. One path finds both levels, and shows how long
each of them lasts.
"""

import matplotlib.pyplot as plt

import convexhc
from convexhc import plots

graph = convexhc.datasets.fractal_graph(n_meta=2, n_super=3, clique=5, random_state=0)
path = convexhc.cluster(graph.adjacency)
for truth in (graph.fine, graph.coarse):
    k = truth.max() + 1
    scores = convexhc.metrics.partition_scores(truth, path.labels(n_clusters=k))
    print(f"{k} groups: adjusted Rand index {scores.ari:.2f}")

# %%
# Three indicators of good scales over one axis: the number of clusters, the plateaus, and the
# distance between the partitions at any two lam, where a scale that lasts is a dark square.

figure = plt.figure(figsize=(7, 8), layout="constrained")
plots.scan(path, n_clusters=[6, 2], ax=figure.add_subplot())
plt.show()

# %%
# Which clusters join which, from level to level.

figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
plots.sankey(path, n_clusters=[12, 6, 2], ax=ax)
plt.show()
