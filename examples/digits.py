"""
Handwritten digits
==================

A hundred and fifty handwritten digits, zero to three, from pixels to clusters: no labels are used.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from convexhc import ConvexHierarchicalClustering

images, digits = load_digits(n_class=4, return_X_y=True)
images, digits = images[:150], digits[:150]
model = ConvexHierarchicalClustering(similarity="nearest_neighbors").fit(images)
labels = model.labels_
print(
    f"{model.n_clusters_} clusters, adjusted Rand index {adjusted_rand_score(digits, labels):.2f}"
)

# %%
# The mean image of every cluster, and how many images it has.

figure, axes = plt.subplots(1, model.n_clusters_, figsize=(10, 2.4), layout="constrained")
for ax, label in zip(axes, np.unique(labels), strict=True):
    members = labels == label
    ax.imshow(images[members].mean(axis=0).reshape(8, 8), cmap="gray_r")
    ax.set(title=f"{members.sum()} images", xticks=[], yticks=[])
plt.show()
