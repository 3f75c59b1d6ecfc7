"""
Beside the linkages of scipy
============================

Single and Ward linkage of the same similarity, and the convex path, on a graph with two levels of
known groups and some noise.
"""

import matplotlib.pyplot as plt
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist
from sklearn.metrics import adjusted_mutual_info_score

import convexhc

graph = convexhc.datasets.nested_blocks((2, 3, 8), (0.05, 0.2, 0.6), random_state=3)
path = convexhc.cluster(graph.adjacency)
features = convexhc.similarity.diffusion_features(graph.adjacency)
linkages = {
    "convexhc": path.linkage,
    "ward": hierarchy.ward(features),
    "single": hierarchy.single(pdist(features)),
}

# %%
# Agreement with the known groups at their known numbers. For the convex path the best pruning of
# the tree is taken.

scores = {}
for name, Z in linkages.items():
    scores[name] = []
    for truth in graph.labels:
        k = truth.max() + 1
        labels = path.labels(n_clusters=k) if name == "convexhc" else hierarchy.cut_tree(Z, k)[:, 0]
        scores[name].append(adjusted_mutual_info_score(truth, labels))
    print(f"{name:9s}", *(f"{score:.2f}" for score in scores[name]))

# %%
# ``path.linkage`` has scipy's form, and scipy draws it.

figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
for ax, (name, Z) in zip(axes, linkages.items(), strict=True):
    hierarchy.dendrogram(Z, no_labels=True, ax=ax)
    ax.set_title(name)
plt.show()
