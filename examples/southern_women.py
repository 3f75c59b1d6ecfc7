"""Southern women: the bipartite network of women and social events, projected on the women.

Nearly every pair of women met at some event, so that the projection has no groups beyond chance
(`convexhc.cluster(women)` says so). The problem of the paper, on the two-hop similarity and with
few weights, from 2 to 8 neighbours, has two clusters of nine women each. With all weights nearly
all nodes fuse at once, except two.
"""

import networkx as nx
from networkx.algorithms import bipartite

import convexhc

davis = nx.davis_southern_women_graph()
women = bipartite.weighted_projected_graph(davis, davis.graph["top"])
path = convexhc.solve_path(convexhc.similarity.two_hop(women), weights=3)

for members in path.clusters(n_clusters=2):
    print(f"{len(members)} women: {', '.join(members)}")
