"""
Les Miserables: levels and prunings
===================================

Characters of the novel, linked by the chapters in which they appear together. There are no known
groups; the suggested scale is a starting point.
"""

import matplotlib.pyplot as plt
import networkx as nx

import convexhc
from convexhc import plots

novel = nx.les_miserables_graph()
path = convexhc.cluster(novel)
print(path.summary())

# %%
# At a level of lam, single characters at the boundary count as clusters; in a pruning of the tree
# they do not. No level has exactly six clusters.

for by, count in (("lam", 7), ("pruning", 6)):
    clusters = path.clusters(n_clusters=count, by=by)
    print(f"by {by}: sizes {sorted((len(members) for members in clusters), reverse=True)}")

for members in path.clusters(n_clusters=6):
    print(f"  {len(members):2d}  {', '.join(members[:5])} ...")

# %%
# The six clusters of the pruning in the network.

figure, ax = plt.subplots(figsize=(8, 7), layout="constrained")
plots.network(path, novel, n_clusters=6, ax=ax)
plt.show()

# %%
# The tree as nested rectangles, cut at a level of lam: small clusters on the left join the larger
# ones on the right.

figure, ax = plt.subplots(figsize=(8, 7), layout="constrained")
plots.icicle(path, ax=ax)
plt.show()
