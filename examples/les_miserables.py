"""Co-appearances in Les Miserables: cuts at a level of lam and prunings of the tree.

There are no known groups; the suggested scale is a starting point.
"""

import networkx as nx

import convexhc

path = convexhc.cluster(nx.les_miserables_graph())
print(path.summary())

# At a level of lam, single characters at the boundary count as clusters; in a pruning they do not.
# No level has exactly six clusters.
for by, count in (("lam", 7), ("pruning", 6)):
    clusters = path.clusters(n_clusters=count, by=by)
    print(f"by {by}: sizes {sorted((len(members) for members in clusters), reverse=True)}")

for members in path.clusters(n_clusters=6):
    print(f"  {len(members):2d}  {', '.join(members[:5])} ...")
