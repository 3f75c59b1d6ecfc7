"""Inner product of centroid matrices whose rows represent several nodes each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from convexhc._types import FloatArray


@dataclass(frozen=True, eq=False)
class InnerProduct:
    """<A, B> = sum_g mass_g A_g . B_g; Euclidean without masses.

    A row of mass n_g represents n_g fused nodes. In this inner product every term of the contracted
    problem equals that of the full problem restricted to fused centroids.
    """

    mass: FloatArray | None = None  # (c,): number of nodes per row

    def inner(self, A: FloatArray, B: FloatArray) -> float:
        """Inner product. O(c m)."""
        if self.mass is None:
            return float(np.vdot(A, B))
        return float(self.mass @ np.einsum("gk,gk->g", A, B))

    def represent(self, covector: FloatArray) -> FloatArray:
        """Gradient in this metric of the linear form with Euclidean coefficients ``covector``."""
        return covector if self.mass is None else covector / self.mass[:, None]


EUCLIDEAN = InnerProduct()


def averaging_matrix(labels: NDArray[np.int64], mass: FloatArray | None = None) -> csr_array:
    """Sparse matrix that maps rows to their means over clusters, one row per cluster.

    Rows are weighted by their mass, one by default.

    Examples
    --------
    >>> import numpy as np
    >>> averaging_matrix(np.array([0, 0, 1])).toarray()
    array([[0.5, 0.5, 0. ],
           [0. , 0. , 1. ]])
    """
    weight = np.ones(labels.size) if mass is None else mass
    share = weight / np.bincount(labels, weight)[labels]
    shape = (int(labels.max()) + 1, labels.size)
    return csr_array((share, (labels, np.arange(labels.size))), shape=shape)
