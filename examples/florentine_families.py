"""
Florentine families: is there any structure?
============================================

Marriages between fifteen families of Renaissance Florence. The graph has three clusters by
modularity, but so few edges that they could be chance: the test says so.
"""

import matplotlib.pyplot as plt
import networkx as nx

import convexhc
from convexhc import plots

marriages = nx.florentine_families_graph()
path = convexhc.cluster(marriages)
print(path.summary())
print("groups beyond chance:", path.structure.found)

# %%
# The tree with the names of the families, and the marriages.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
plots.dendrogram(path, ax=left)
plots.network(path, marriages, ax=right)
plt.show()
