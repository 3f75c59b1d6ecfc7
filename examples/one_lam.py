"""
One lam and its certificate
===========================

``solve`` finds the doubly stochastic matrix of centroids at one lam. The certificate bounds how far
its objective can be from the best one, and is computed from the answer itself.
"""

import matplotlib.pyplot as plt

import convexhc
from convexhc import plots

graph = convexhc.datasets.fractal_graph(n_meta=2, n_super=3, clique=4, random_state=0)
K = convexhc.similarity.two_hop(graph.adjacency)
solutions = [convexhc.solve(K, lam=lam) for lam in (0.1, 1.0, 6.0)]
for solution in solutions:
    print(
        f"lam {solution.lam:4.1f}: {solution.n_clusters:2d} clusters, {solution.status.name}, "
        f"relative gap {solution.relative_gap:.0e}"
    )

# %%
# The centroids at the three lam. Nodes of one cluster have equal rows.

figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
for ax, solution in zip(axes, solutions, strict=True):
    plots.heatmap(solution, ax=ax)
    ax.set_title(f"lam = {solution.lam:g}")
plt.show()
