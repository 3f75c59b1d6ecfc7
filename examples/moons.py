"""
Two moons: clusters with valleys between them
=============================================

Points in two half circles. The neighbour graph alone has many clusters by modularity, pieces of the
moons; given the points, a scale is suggested whose clusters have valleys of density between them.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

import convexhc
from convexhc.similarity import neighbor_graph

X, moons = make_moons(100, noise=0.07, random_state=0)
graph = neighbor_graph(X)
paths = {
    "graph alone": convexhc.cluster(graph, test_structure=False),
    "with the points": convexhc.cluster(graph, points=X, test_structure=False),
}

# %%
# The suggested clusters with and without the points.

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for ax, (name, path) in zip(axes, paths.items(), strict=True):
    k = path.suggestion.n_clusters
    print(f"{name}: {k} clusters")
    ax.scatter(*X.T, c=path.labels(n_clusters=k), s=18, cmap="tab20")
    ax.set(title=f"{name}: {k} clusters", aspect="equal", xticks=[], yticks=[])
plt.show()
