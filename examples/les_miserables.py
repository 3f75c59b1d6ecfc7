"""Who appears with whom in Les Miserables: the levels of lam, and groups that are large enough.

Nobody knows the true groups; the suggested scale is a place to start.
"""

import networkx as nx

import convexhc

path = convexhc.cluster(nx.les_miserables_graph())
print(path.summary())

# A level of lam spends its clusters on single characters at the border; a pruning does not.
for by in ("lam", "pruning"):
    groups = path.clusters(n_clusters=6, by=by)
    print(f"by {by}: sizes {sorted((len(group) for group in groups), reverse=True)}")

for group in path.clusters(n_clusters=6):
    print(f"  {len(group):2d}  {', '.join(group[:5])} ...")
