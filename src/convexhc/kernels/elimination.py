"""Sparse elimination of weighted Laplacians in a given order: fill, then L D L'.

Row k of the lower triangle is solved against the columns before it, which the elimination tree
finds (Davis, Direct Methods for Sparse Linear Systems, 2006, section 4.8). All arrays are allocated
by the caller.
"""

from __future__ import annotations

import numpy as np

from convexhc._types import FloatArray, IntArray
from convexhc.kernels.compile import compiled
from convexhc.kernels.flows import Pointer

# Least pivot relative to the diagonal: the precision of its computation.
_LEAST_PIVOT = float(np.finfo(np.float64).eps)


@compiled()
def count_fill(start: IntArray, other: IntArray, parent: IntArray, count: IntArray) -> None:
    """Write the elimination tree, and the entries below the diagonal of every column of L.

    The neighbours of row k that are eliminated before it have positions ``start[k]`` to
    ``start[k + 1]`` in ``other``. ``count`` enters as zeros. O(nnz(L)).
    """
    n = parent.size
    # The row that reached a column last.
    reached = parent.copy()
    for k in range(n):
        parent[k] = -1
        reached[k] = k
        for p in range(start[k], start[k + 1]):
            i = other[p]
            while reached[i] != k:
                if parent[i] == -1:
                    parent[i] = k
                count[i] += 1
                reached[i] = k
                i = parent[i]


@compiled(raise_on_division=False, fastmath=frozenset({"contract"}))
def eliminate(
    start: IntArray,
    other: IntArray,
    conductance: FloatArray,
    parent: IntArray,
    column: Pointer,
    row: Pointer,
    value: FloatArray,
    pivot: FloatArray,
    scratch: IntArray,
    work: FloatArray,
) -> None:
    """Write L D L' of a Laplacian to ``row``, ``value`` and ``pivot``.

    ``pivot`` enters with the diagonal of the Laplacian, ``conductance`` belongs to the positions in
    ``other``, and ``column`` points to the columns of L. ``scratch`` is (3, n), ``work`` (n,) and
    zero. O(sum of the squared column counts of L).
    """
    n = parent.size
    reached, filled, found = scratch[0], scratch[1], scratch[2]
    for k in range(n):
        reached[k] = k
        filled[k] = column[k]
        top = n
        for p in range(start[k], start[k + 1]):
            i = other[p]
            work[i] -= conductance[p]
            length = 0
            while reached[i] != k:
                found[length] = i
                length += 1
                reached[i] = k
                i = parent[i]
            # Columns of a branch come before those that it joins.
            while length > 0:
                top -= 1
                length -= 1
                found[top] = found[length]
        whole = pivot[k]
        left = whole
        for t in range(top, n):
            i = found[t]
            y = work[i]
            work[i] = 0.0
            last = filled[i]
            for p in range(column[i], last):
                work[row[p]] -= value[p] * y
            ratio = y / pivot[i]
            left -= ratio * y
            row[last] = k
            value[last] = ratio
            filled[i] = last + 1
        # Round-off may leave nothing, or less, of a pivot: residuals measure what this costs.
        pivot[k] = max(left, _LEAST_PIVOT * whole)
