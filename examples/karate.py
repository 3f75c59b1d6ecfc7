"""
Zachary's karate club
=====================

Clusters of the friendship network of a club that later split into two. No option was tuned to the
split. The suggested scale has three clusters; two clusters agree with the split except for one
member.
"""

import matplotlib.pyplot as plt
import networkx as nx

import convexhc
from convexhc import plots

club = nx.karate_club_graph()
path = convexhc.cluster(club)
print(path.summary())

# %%
# Any number of clusters can be had. Two of them are compared with the sides that the members took.

for number, members in enumerate(path.clusters(n_clusters=2)):
    sides = [club.nodes[member]["club"] for member in members]
    side = max(set(sides), key=sides.count)
    others = [member for member in members if club.nodes[member]["club"] != side]
    print(f"group {number}: {len(members)} members, {side}; on the other side: {others}")

# %%
# The same two clusters in the graph and in the tree. A cluster has one colour in all figures.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
plots.network(path, club, n_clusters=2, ax=left)
plots.dendrogram(path, n_clusters=2, ax=right)
plt.show()
