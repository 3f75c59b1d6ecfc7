"""Women and the parties they went to: a bipartite network, projected on the women."""

import networkx as nx
from networkx.algorithms import bipartite

import convexhc

davis = nx.davis_southern_women_graph()
women = bipartite.weighted_projected_graph(davis, davis.graph["top"])
path = convexhc.solve_path(convexhc.similarity.two_hop(women), weights=3)

for members in path.clusters(n_clusters=2):
    print(f"{len(members)} women: {', '.join(members)}")
