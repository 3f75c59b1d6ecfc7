"""The sign update of ADMM: a copy of the centroids that is not negative, and its dual."""

from __future__ import annotations

from numba import njit

from convexhc._types import FloatArray


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def z_and_dual_update(
    C: FloatArray, V: FloatArray, S: FloatArray, rho: float, relax: float, right: FloatArray
) -> tuple[float, float]:
    """One update of the copy V of C and of its dual S <= 0, in one pass.

    With X = S + rho (relax C + (1 - relax) V): S <- min(X, 0) and V <- (X - S) / rho, in place.
    ``right`` gains rho V - S, the part of the signs in the next centroid step. Returns |C - V|^2
    and |change of V|^2. O(n m).
    """
    apart, moved = 0.0, 0.0
    for i in range(C.shape[0]):
        for k in range(C.shape[1]):
            x = S[i, k] + rho * (relax * C[i, k] + (1.0 - relax) * V[i, k])
            s = x if x < 0.0 else 0.0
            new = (x - s) / rho
            change, miss = new - V[i, k], C[i, k] - new
            moved += change * change
            apart += miss * miss
            V[i, k] = new
            S[i, k] = s
            right[i, k] += x - 2.0 * s
    return apart, moved
