"""
Many graphs at once
===================

Eight graphs on the same nodes, drawn from two models: ``solve_paths`` clusters all of them, and the
distances between their trees tell the models apart.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import spearmanr

import convexhc
from convexhc.metrics import cophenetic_distances

graphs = {}
for seed in range(4):
    two = convexhc.datasets.nested_blocks((2, 8), (0.1, 0.8), random_state=seed)
    four = convexhc.datasets.nested_blocks((4, 4), (0.1, 0.9), random_state=seed)
    graphs[f"two {seed}"], graphs[f"four {seed}"] = two.adjacency, four.adjacency
cohort = convexhc.solve_paths(graphs, test_structure=False)
print(cohort)

# %%
# Every tree is an array of cophenetic distances, the lam at which two nodes fuse. Their rank
# correlation compares trees, whatever the range of lam.

names = sorted(graphs)
pairs = np.triu_indices(16, 1)
heights = [cophenetic_distances(cohort.paths[name].linkage)[pairs] for name in names]
correlation = spearmanr(np.transpose(heights)).statistic

figure, ax = plt.subplots(figsize=(6, 5), layout="constrained")
picture = ax.imshow(correlation, vmin=0, vmax=1, cmap="Blues")
ax.set_xticks(range(8), names, rotation=90)
ax.set_yticks(range(8), names)
figure.colorbar(picture, label="rank correlation of the trees")
plt.show()
