"""Mean rows of groups."""

from __future__ import annotations

import numpy as np
from numba import njit

from convexhc._types import FloatArray, Labels


@njit(cache=True, nogil=True)
def group_means(C: FloatArray, labels: Labels, mass: FloatArray) -> FloatArray:
    """Mean of the rows of every group, each row counting as often as its mass. O(N m).

    Groups are numbered from zero, and none is empty.
    """
    weight = np.zeros(labels.max() + 1)
    for i in range(labels.size):
        weight[labels[i]] += mass[i]
    out = np.zeros((weight.size, C.shape[1]))
    for i in range(labels.size):
        share = mass[i] / weight[labels[i]]
        row = out[labels[i]]
        for k in range(C.shape[1]):
            row[k] += share * C[i, k]
    return out
