"""
Clusters without some of the edges
==================================

How stable is a clustering of the karate club? A tenth of its edges is removed, at random, six
times.
"""

import matplotlib.pyplot as plt
import networkx as nx

import convexhc
from convexhc import stability

club = nx.karate_club_graph()


def three_clusters(graph):
    return convexhc.cluster(graph, test_structure=False).labels(n_clusters=3)


agreement = stability.bootstrap(club, three_clusters, n_resamples=6)
print(agreement)

# %%
# The Jaccard index of every cluster with the most similar one of each resample. A mean above 0.75
# is commonly called stable.

figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.boxplot(agreement.jaccard, tick_labels=range(agreement.jaccard.shape[1]))
ax.axhline(0.75, linestyle=":", color="grey")
ax.set(xlabel="cluster", ylabel="Jaccard index", ylim=(0, 1.05))
plt.show()
