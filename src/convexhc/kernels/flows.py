"""How much a flow along the edges asks of their dual balls."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def measure(
    X: Array, tail: Index, head: Index, conductance: Array, soft: Array, excess: Array, most: Array
) -> None:
    """Add a block of columns of the flow Y_e = conductance_e (X_i - X_j) to two measures of it.

    ``excess`` gets sum_k max(|Y_ek| - soft_e, 0)^2 and ``most`` the largest |Y_ek|, both in place,
    so that the columns may come in any number of blocks. Nothing is stored. O(E m).
    """
    for e in range(tail.size):
        i, j, c, s = tail[e], head[e], conductance[e], soft[e]
        total, largest = 0.0, most[e]
        for k in range(X.shape[1]):
            y = abs(c * (X[i, k] - X[j, k]))
            over = y - s
            over = over if over > 0.0 else 0.0
            total += over * over
            largest = max(largest, y)
        excess[e] += total
        most[e] = largest
