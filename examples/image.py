"""
Regions of a picture
====================

Pixels as nodes, linked to their neighbours by how similar their grey values are: clusters are
regions, at every scale.
"""

import matplotlib.pyplot as plt
import numpy as np

import convexhc

# A disc, a ring around it, and a bright corner, with noise.
rng = np.random.default_rng(0)
y, x = np.mgrid[-1:1:12j, -1:1:12j]
radius = np.hypot(x, y)
clean = np.where(radius < 0.4, 1.0, np.where(radius < 0.85, 0.45, 0.0))
clean[(x > 0.5) & (y < -0.5)] = 1.0
picture = clean + rng.normal(scale=0.06, size=clean.shape)

# %%
# An edge between pixels side by side, strong where their values are near.

number = np.arange(picture.size).reshape(picture.shape)
pairs = [(number[:, :-1], number[:, 1:]), (number[:-1], number[1:])]
tail, head = (np.concatenate([pair[side].ravel() for pair in pairs]) for side in (0, 1))
values = picture.ravel()
strength = np.exp(-(((values[tail] - values[head]) / 0.15) ** 2)) + 1e-3
path = convexhc.cluster(zip(tail, head, strength, strict=True))
order = np.argsort(np.array(path.names))

# %%
# The picture, and its regions at three scales.

figure, axes = plt.subplots(1, 4, figsize=(12, 3.2), layout="constrained")
axes[0].imshow(picture, cmap="gray")
axes[0].set_title("picture")
for ax, k in zip(axes[1:], (8, 6, 4), strict=True):
    regions = path.labels(n_clusters=k)[order].reshape(picture.shape)
    ax.imshow(regions, cmap="tab20")
    ax.set_title(f"{k} regions")
for ax in axes:
    ax.set(xticks=[], yticks=[])
plt.show()
