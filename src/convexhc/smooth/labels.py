"""Clusters of the smooth model: their number at a given lam, and their members."""

from __future__ import annotations

import warnings

import numpy as np
from scipy import linalg

from convexhc._types import FloatArray, Labels
from convexhc.kernels.labels import numbered_by_first
from convexhc.kernels.rows import group_means
from convexhc.smooth.spectrum import Modes

# Rows that represent a group in the choice of representatives, on average, and fewest in all.
CANDIDATES = 200
MIN_CANDIDATES = 10_000


def counts_at(modes: Modes, lam: float) -> Labels:
    """Number of clusters of every component at lam: modes shrunk by less than half.

    A mode of eigenvalue mu is multiplied by 1 / (1 + 2 lam mu), which is above one half while
    2 lam mu < 1. k separated groups give k such modes over a whole range of lam.
    """
    if lam == 0.0:
        return modes.sizes
    reach = 0.5 / lam
    if reach >= modes.horizon:
        finest = 0.5 / modes.horizon if modes.horizon > 0.0 else np.inf
        raise ValueError(
            f"lam = {lam:g} resolves more than the {modes.eigenvalues.shape[1]} modes computed, "
            f"which reach down to lam = {finest:.4g}: ask smooth_path for more dimensions."
        )
    return np.asarray(1 + (modes.eigenvalues < reach).sum(axis=1))


def counts_for(modes: Modes, n_clusters: int) -> Labels:
    """Number of clusters of every component for ``n_clusters`` in total: the smoothest modes."""
    n, c = modes.component.size, modes.n_components
    if not c <= n_clusters <= n:
        raise ValueError(
            f"n_clusters must be between {c}, the number of connected components, which never "
            f"join in the smooth model, and the {n} nodes; received {n_clusters}."
        )
    if n_clusters == n:
        return modes.sizes
    chosen = np.argsort(modes.eigenvalues, axis=None, kind="stable")[: n_clusters - c]
    values = modes.eigenvalues.ravel()[chosen]
    if chosen.size < n_clusters - c or (values > modes.horizon).any():
        raise ValueError(
            f"{n_clusters} clusters need more than the {modes.eigenvalues.shape[1]} modes "
            "computed: ask smooth_path for more dimensions."
        )
    return np.asarray(1 + np.bincount(chosen // modes.eigenvalues.shape[1], minlength=c))


def middle_lam(modes: Modes, counts: Labels) -> float:
    """Geometric mean of the range of lam that gives these counts."""
    place = np.arange(modes.eigenvalues.shape[1])
    inside = place < (counts - 1)[:, None]
    last = float(np.max(modes.eigenvalues, where=inside, initial=0.0))
    outside = ~inside & np.isfinite(modes.eigenvalues)
    following = float(np.min(modes.eigenvalues, where=outside, initial=np.inf))
    if last == 0.0:
        return 0.0
    return 0.5 / float(np.sqrt(last * max(following, last) if following < np.inf else last**2))


def partition(modes: Modes, counts: Labels, lam: float) -> Labels:
    """Partition every component into ``counts`` clusters by the coordinates at lam. O(n k^2).

    Pivoted QR of the modes finds one representative node per cluster and the rotation that aligns
    them with the axes; every node joins its nearest axis. k-means on the coordinates starts from
    there. Deterministic and invariant to rotations of the modes. Empty clusters are dropped.
    """
    n = modes.component.size
    order = np.argsort(modes.component, kind="stable")
    ends = np.cumsum(modes.sizes)
    labels = np.empty(n, dtype=np.int64)
    used = 0
    for c, k in enumerate(counts.tolist()):
        nodes = order[ends[c] - modes.sizes[c] : ends[c]]
        if k == 1:
            labels[nodes] = used
        elif k == nodes.size:
            labels[nodes] = used + np.arange(k)
        else:
            mu, vectors = modes.eigenvalues[c, : k - 1], modes.vectors[nodes, : k - 1]
            labels[nodes] = used + _grouped(vectors, vectors / (1.0 + 2.0 * lam * mu))
        used += k
    return numbered_by_first(labels)


def _candidates(basis: FloatArray) -> Labels:
    """Rows among which the representatives are sought: all, or a sample by leverage.

    The leverage scores of k groups sum to about one each, whatever their sizes.
    """
    n, k = basis.shape
    most = max(MIN_CANDIDATES, CANDIDATES * k)
    if n <= most:
        return np.arange(n)
    leverage = np.cumsum(np.einsum("ij,ij->i", basis, basis))
    # Systematic sampling: one row in every equal part of the total.
    marks = (np.arange(most) + 0.5) * (leverage[-1] / most)
    return np.unique(np.searchsorted(leverage, marks))


def _grouped(vectors: FloatArray, points: FloatArray) -> Labels:
    """Clusters of one component, one more than there are columns."""
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    n = len(vectors)
    basis = np.concatenate([np.full((n, 1), n**-0.5), vectors], axis=1)
    rows = _candidates(basis)
    pivots = rows[linalg.qr(basis[rows].T, mode="r", pivoting=True)[1][: basis.shape[1]]]
    U, _, Vt = np.linalg.svd(basis[pivots].T)
    first = np.argmax(np.abs(basis @ (U @ Vt)), axis=1)
    present = np.unique(first)
    centres = group_means(points, np.searchsorted(present, first), np.ones(n))
    model = KMeans(n_clusters=present.size, init=centres, n_init=1, random_state=0)
    with warnings.catch_warnings():
        # Nodes with equal coordinates can leave fewer clusters than asked for.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.asarray(model.fit_predict(points), dtype=np.int64)
