"""Factors of sparse definite matrices."""

from __future__ import annotations

from scipy.sparse import csc_array
from scipy.sparse.linalg import SuperLU, splu

# Neighbour graphs of points in at most so many dimensions have sparse factors.
SPATIAL = 3


def definite_factor(matrix: csc_array) -> SuperLU:
    """Factor a symmetric positive definite matrix in an order that keeps the factors sparse.

    Definite matrices need no pivoting, so that the factors stay symmetric: L D L'.
    """
    return splu(
        matrix,
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
