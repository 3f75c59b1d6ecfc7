"""Southern women: the bipartite network of women and social events, projected on the women.

The problem of the paper on the two-hop similarity. With weights from 2 to 8 neighbours, two
clusters have nine women each; with all weights nearly all nodes fuse at once, except two.
"""

import networkx as nx
from networkx.algorithms import bipartite

import convexhc

davis = nx.davis_southern_women_graph()
women = bipartite.weighted_projected_graph(davis, davis.graph["top"])
path = convexhc.solve_path(convexhc.similarity.two_hop(women), weights=3)

for members in path.clusters(n_clusters=2):
    print(f"{len(members)} women: {', '.join(members)}")
