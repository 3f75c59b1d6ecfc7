"""Women and the parties they went to: a bipartite network, projected on the women.

The paper's problem, on the similarity of common acquaintances. From 2 to 8 neighbours give two
groups of nine; with all weights nearly everybody fuses at once, and two women are left over.
"""

import networkx as nx
from networkx.algorithms import bipartite

import convexhc

davis = nx.davis_southern_women_graph()
women = bipartite.weighted_projected_graph(davis, davis.graph["top"])
path = convexhc.solve_path(convexhc.similarity.two_hop(women), weights=3)

for members in path.clusters(n_clusters=2):
    print(f"{len(members)} women: {', '.join(members)}")
