"""The smooth model (appendix D) on a path: closed form, clusters from its geometry."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from convexhc._types import FloatArray, Labels
from convexhc.graph import Graph
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
    """The smooth model as the engine sees it.

    Parameters
    ----------
    smooth : SmoothModel
        The closed form.
    first_lam : float
        Smallest lam of the path: the features are the coordinates of the nodes there.
    """

    smooth: SmoothModel
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
    def features(self) -> FloatArray:
        """Smoothest modes at the first lam."""
        known = self.smooth.modes.eigenvalues.shape[1]
        return self.smooth.coordinates(self.first_lam, min(known, MAX_LEVELS) or None)

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
        """The clusters that lam resolves."""
        return SmoothPartition(lam, self.smooth.labels(lam=lam))

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
