"""The karate club that split in two: who went with whom, read from their friendships alone."""

import networkx as nx

import convexhc

club = nx.karate_club_graph()
K = convexhc.similarity.two_hop(club)
path = convexhc.solve_path(K, weights=3)

print(path.summary())
for number, members in enumerate(path.clusters(n_clusters=2)):
    sides = [club.nodes[member]["club"] for member in members]
    side = max(set(sides), key=sides.count)
    others = [member for member in members if club.nodes[member]["club"] != side]
    print(f"group {number}: {len(members)} members, {side}; on the other side: {others}")
