"""One mean-field update of a degree-corrected block model, all nodes at once."""

from __future__ import annotations

import math

import numpy as np

from convexhc._types import FloatArray
from convexhc.kernels.compile import FAST, compiled


@compiled(fastmath=FAST)
def update_memberships(
    links: FloatArray,
    degree: FloatArray,
    gain: FloatArray,
    cost: FloatArray,
    damping: float,
    q: FloatArray,
) -> float:
    """Replace q by damping q + (1 - damping) softmax(gain links - degree cost); largest change.

    O(n k).
    """
    n, k = q.shape
    score, largest = np.empty(k), 0.0
    for i in range(n):
        row, mine = links[i], q[i]
        top = -math.inf
        for g in range(k):
            score[g] = gain[g] * row[g] - degree[i] * cost[g]
            top = max(top, score[g])
        total = 0.0
        for g in range(k):
            score[g] = math.exp(score[g] - top)
            total += score[g]
        scale = (1.0 - damping) / total
        for g in range(k):
            new = damping * mine[g] + scale * score[g]
            largest = max(largest, abs(new - mine[g]))
            mine[g] = new
    return largest
