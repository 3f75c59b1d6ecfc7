"""
Which measurements belong together?
===================================

Thirty measurements of tumour cells, compared by their correlation over 569 samples: a tree of the
columns of a table instead of its rows.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

import convexhc
from convexhc import plots

table = load_breast_cancer()
K = convexhc.similarity.correlation(table.data.T, shift="auto")
path = convexhc.cluster(K, similarity="precomputed").renamed(table.feature_names)

for members in path.clusters(n_clusters=4):
    print(f"{len(members):2d}: {', '.join(members)}")

# %%
# The tree with the names of the columns.

figure, ax = plt.subplots(figsize=(8, 7), layout="constrained")
plots.dendrogram(path, n_clusters=4, ax=ax)
plt.show()
