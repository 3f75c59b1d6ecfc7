"""
Convex clustering of points
===========================

Every point has a centroid, and centroids of near points attract each other. As lam grows they move,
meet, and stay together: the paths of the centroids are the tree.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

import convexhc
from convexhc import plots

centres = [(0, 0), (1.6, 0.4), (5, 4), (6.2, 3.2), (0.5, 5)]
X, blobs = make_blobs([8] * 5, centers=centres, cluster_std=0.3, random_state=1)
path = convexhc.solve_points_path(X)
print(path.summary())
agreement = convexhc.metrics.partition_scores(blobs, path.labels(n_clusters=5)).ari
print(f"five clusters: adjusted Rand index {agreement:.2f}")

# %%
# The trajectories of the centroids, with the five clusters.

figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
plots.coalescence(path, n_clusters=5, ax=left)
plots.dendrogram(path, n_clusters=5, names=False, ax=right)
plt.show()
