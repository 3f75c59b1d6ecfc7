"""Who appears with whom in Les Miserables: levels that last, and groups that are large enough."""

import networkx as nx

import convexhc

K = convexhc.similarity.two_hop(nx.les_miserables_graph())
path = convexhc.solve_path(K, weights=3)

# A plain cut spends its clusters on single characters at the border; a condensed one does not.
for label, options in {"plain": {}, "condensed": {"min_cluster_size": 4}}.items():
    groups = path.clusters(n_clusters=6, **options)
    print(f"{label}: sizes {sorted((len(group) for group in groups), reverse=True)}")

for group in path.clusters(n_clusters=6, min_cluster_size=4):
    print(f"  {len(group):2d}  {', '.join(group[:5])} ...")
