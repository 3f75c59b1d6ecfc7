"""
Noise is called noise
=====================

Every method finds clusters in a random graph. A test sets edges aside, finds groups on the rest,
and counts how many of the others fall inside: here not more than by chance.
"""

import matplotlib.pyplot as plt
import networkx as nx

import convexhc
from convexhc import plots

noise = nx.gnp_random_graph(60, 0.15, seed=1)
groups = nx.planted_partition_graph(4, 15, 0.5, 0.03, seed=1)
paths = {name: convexhc.cluster(g) for name, g in [("noise", noise), ("groups", groups)]}
for name, path in paths.items():
    print(
        f"{name}: {path.suggestion.n_clusters} clusters suggested, "
        f"confident: {path.suggestion.confident}"
    )

# %%
# Both trees can be cut, but only one of them means something.

figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
for ax, (name, path), graph in zip(axes, paths.items(), (noise, groups), strict=True):
    plots.network(path, graph, names=False, ax=ax)
    found = "groups beyond chance" if path.structure.found else "no groups beyond chance"
    ax.set_title(f"{name}: {found}")
plt.show()
