"""The smooth model (appendix D) on a path: closed form, clusters from its geometry."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
import scipy
from scipy.sparse import coo_array

from convexhc._types import FloatArray, Labels
from convexhc.graph import Graph
from convexhc.kernels.labels import numbered_by_first
from convexhc.kernels.rows import group_means
from convexhc.model.problem import smooth_problem
from convexhc.path.level import Level
from convexhc.smooth.labels import counts_for, middle_lam
from convexhc.smooth.model import SmoothModel
from convexhc.solvers.solution import Status

# Largest number of nodes for which the closed form is certified as any other solution. O(n^3).
_CERTIFIED_NODES = 500


@dataclass(frozen=True, eq=False)
class SmoothPartition:
    """Clusters of the smooth model at one lam."""

    lam: float
    labels: Labels

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.labels.max()) + 1


@dataclass(frozen=True, eq=False)
class SmoothPathModel:
    """The smooth model as the engine sees it."""

    smooth: SmoothModel  # the closed form
    # Smallest lam of the path: the features are the coordinates of the nodes there.
    first_lam: float

    @property
    def names(self) -> tuple[Hashable, ...]:
        """Names of the nodes."""
        return self.smooth.names

    @property
    def components(self) -> Labels:
        """Connected components of K."""
        return self.smooth.components

    @property
    def graph(self) -> Graph:
        """K."""
        return self.smooth.graph

    @property
    def features(self) -> FloatArray | None:
        """Coordinates whose distances are those of the centroids at the first lam.

        The smoothest modes, and one indicator per component; None for many components.
        """
        modes = self.smooth.modes
        if modes.n_components > MAX_LEVELS:
            return None
        indicators = np.zeros((modes.component.size, modes.n_components))
        size = modes.sizes[modes.component]
        indicators[np.arange(size.size), modes.component] = 1.0 / np.sqrt(size)
        count = min(modes.eigenvalues.shape[1], MAX_LEVELS)
        if not count:
            return indicators
        return np.hstack([self.smooth.coordinates(self.first_lam, count), indicators])

    def unpenalized(self) -> None:
        """The closed form needs no warm start."""

    def solve(
        self,
        lam: float,
        *,
        start: SmoothPartition | None,
        second: SmoothPartition | None,
        max_groups: int | None,
    ) -> SmoothPartition:
        """The clusters that lam resolves, inside the clusters of ``start`` at a larger lam.

        A finer cluster belongs to the coarser one that has most of its nodes; its other nodes go to
        the nearest cluster inside their own coarser one. So the path is a hierarchy, exact at
        coarse levels.
        """
        labels = self.smooth.labels(lam=lam)
        if start is not None:
            labels = _nested(labels, start.labels, self.smooth.coordinates(lam))
        return SmoothPartition(lam, labels)

    def level(self, solution: SmoothPartition, *, keep: bool) -> Level:
        """Small problems are certified; larger ones have a closed form and no certificate."""
        objective = gap = residual = math.nan
        lam, rank = solution.lam, math.nan
        if self.graph.n <= _CERTIFIED_NODES and self.smooth.dimensions is None:
            problem = smooth_problem(self.graph, lam)
            proof = problem.certify(self.smooth.pi(lam), np.empty((0, 0)))
            objective, gap, residual = 2.0 * proof.objective, proof.relative_gap, proof.residual
            rank = float(self.smooth.effective_rank([lam])[0][0])
        return Level(lam, solution.labels, objective, gap, residual, 0, Status.SOLVED, rank)


# Largest number of clusters per path when the levels are found.
MAX_LEVELS = 32


def resolving_lambdas(smooth: SmoothModel, max_clusters: int = MAX_LEVELS) -> tuple[float, ...]:
    """One lam for every number of clusters, in the middle of the range that resolves it."""
    modes = smooth.modes
    finite = modes.eigenvalues[np.isfinite(modes.eigenvalues) & (modes.eigenvalues > 0.0)]
    if not finite.size:
        return (1.0,)
    # Twice the lam at which the smoothest mode is shrunk by half: one cluster per component.
    lambdas = {1.0 / float(finite.min())}
    n, fewest = modes.component.size, modes.n_components
    for count in range(fewest + 1, min(n, fewest + max_clusters)):
        try:
            lambdas.add(middle_lam(modes, counts_for(modes, count)))
        except ValueError:
            # More clusters than the modes computed can resolve.
            break
    return tuple(sorted(lambdas))


def _nested(fine: Labels, coarse: Labels, X: FloatArray) -> Labels:
    """The partition nearest to ``fine`` that refines ``coarse``. O(n k) in the worst case."""
    shared = coo_array((np.ones(fine.size), (fine, coarse))).tocsr()
    home = np.asarray(shared.argmax(axis=1)).ravel()
    stray = np.flatnonzero(home[fine] != coarse)
    if not stray.size:
        return fine
    labels, center = fine.copy(), group_means(X, fine, (home[fine] == coarse).astype(np.float64))
    for cluster in np.unique(coarse[stray]):
        nodes, own = stray[coarse[stray] == cluster], np.flatnonzero(home == cluster)
        if own.size:
            distance = scipy.spatial.distance.cdist(X[nodes], center[own])
            labels[nodes] = own[np.argmin(distance, axis=1)]
        else:
            labels[nodes] = labels.max() + 1
    return numbered_by_first(labels)
