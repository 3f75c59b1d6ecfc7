"""Label propagation: groups of nodes with many edges between them, in a few passes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from convexhc._types import FloatArray
from convexhc.kernels.compile import compiled

Index = NDArray[np.integer]


@compiled()
def propagate(
    start: Index, column: Index, weight: FloatArray, label: Index, total: FloatArray, seed: int
) -> None:
    """Give every node in turn the label of largest weight among its neighbours, in place.

    Ties go to the label with the largest hash, which depends on ``seed``: a fixed order would let
    single labels win by their number. ``total`` is zero, one entry per label, and is left zero.
    O(entries).
    """
    for i in range(start.size - 1):
        for p in range(start[i], start[i + 1]):
            total[label[column[p]]] += weight[p]
        best, most, mark = label[i], -1.0, 0
        for p in range(start[i], start[i + 1]):
            other = label[column[p]]
            if most < 0.0 or (total[other] >= most and other != best):
                # Knuth's multiplicative hash, 20 bits of it.
                hashed = ((other + 1) * 2654435761 + seed * 40503) & 1048575
                if total[other] > most or hashed > mark:
                    best, most, mark = other, total[other], hashed
        for p in range(start[i], start[i + 1]):
            total[label[column[p]]] = 0.0
        label[i] = best
