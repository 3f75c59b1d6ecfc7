"""
Wines: from measurements to cultivars
=====================================

Chemical measurements of 178 wines: from points to a neighbourhood graph to cultivars. No option was
tuned to the cultivars; the suggested scale has three clusters, their true number. The same recipe
on scikit-learn's iris data, with three species, suggests more than three.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from convexhc import ConvexHierarchicalClustering

wine = load_wine()
model = make_pipeline(
    StandardScaler(),
    ConvexHierarchicalClustering(similarity="nearest_neighbors"),
)
labels = model.fit_predict(wine.data)
fitted = model[-1]

print(fitted.path_.summary())
print(
    f"{fitted.n_clusters_} clusters, adjusted Rand index with the cultivars "
    f"{adjusted_rand_score(wine.target, labels):.2f}"
)

# %%
# Clusters and cultivars on the first two principal components.

plane = PCA(2).fit_transform(model[0].transform(wine.data))
figure, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
for ax, title, groups in zip(axes, ("clusters", "cultivars"), (labels, wine.target), strict=True):
    ax.scatter(*plane.T, c=groups, s=18, cmap="viridis")
    ax.set(title=title, xticks=[], yticks=[])
plt.show()
