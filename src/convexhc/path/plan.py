"""Plans: which lam a path solves next, and when it ends.

A plan is a pure function of the progress made, so a run that is interrupted and resumed takes the
same steps as one that is not.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from convexhc._types import Labels
from convexhc.path.progress import Progress, S, Solved

# First lam of a bisecting path, as a share of the bound on lam.
FIRST_LAM = 1e-3
# How often the first lam is lowered tenfold (or doubled, from above) in search of an end.
_MAX_PROBES = 4
# Longest step of lam, as a ratio, where clusters merge or split.
_STEP = 1.5
# Levels without a split after which a step from above is squared, and squared again.
_MAX_UNCHANGED = 3
# Longest step of lam, as a ratio, while every node is alone.
_STEP_BEFORE_FUSION = 3.0
# Least ratio of lam over which the growth of the number of clusters is measured.
_SPAN = 1.2
# Least power of lam with which clusters are expected to grow once they do: often suddenly.
_LEAST_GROWTH = 3.0
# Clusters that a path from above aims at, as a multiple of those at which it ends.
_BEYOND_END = 1.2
# Relative margin by which bisected steps stay within their bound.
_ROUND_OFF = 1e-9
# Range searched, relative to the bound on lam: a path that leaves it ends incomplete.
_LOWEST, _HIGHEST = 1e-9, 10.0


class Plan(Protocol):
    """Chooses the next lam."""

    @property
    def descending(self) -> bool:
        """Whether lam decreases, from the consensus to finer clusters."""

    def next(self, progress: Progress[S]) -> tuple[Progress[S], float | None]:
        """Accept what is resolved, and name the next lam to solve; None at the end."""

    def is_complete(self, progress: Progress[S]) -> bool:
        """Whether the path reached its end."""

    def max_groups(self, progress: Progress[S], lam: float) -> int | None:
        """Number of groups above which ``lam`` is given up for a shorter step."""

    def share(self, lam: float, n_clusters: int) -> float:
        """Estimated share of the path that is solved once ``lam`` is, between 0 and 1."""


@dataclass(frozen=True)
class Grid:
    """Given values of lam."""

    lambdas: tuple[float, ...]  # increasing
    descending: bool = False  # solve the largest first
    stop_at: int = 0  # end as soon as there are this few clusters; 0 solves every lam

    def next(self, progress: Progress[S]) -> tuple[Progress[S], float | None]:
        """The next of the grid."""
        if progress.ahead:
            progress = progress.advanced()
        count = len(progress.levels)
        if count == len(self.lambdas) or self._fused(progress):
            return progress, None
        return progress, self.lambdas[-1 - count if self.descending else count]

    def is_complete(self, progress: Progress[S]) -> bool:
        """Every lam is solved, or the clusters are as few as they can be."""
        return self._fused(progress) if self.stop_at else len(progress.levels) == len(self.lambdas)

    def max_groups(self, progress: Progress[S], lam: float) -> int | None:
        """No limit: these lam were asked for."""
        return None

    def share(self, lam: float, n_clusters: int) -> float:
        """Share of the grid."""
        below = bisect_right(self.lambdas, lam) / len(self.lambdas)
        return 1.0 - below if self.descending else below

    def _fused(self, progress: Progress[S]) -> bool:
        return progress.current is not None and progress.current.n_clusters <= self.stop_at


@dataclass(frozen=True, eq=False)
class _Refining(ABC):
    """Steps along lam; intervals with more than one merge or split are bisected in log lam."""

    lam_max: float  # bound on the lam at which every component is one cluster
    lam_step: float  # relative length below which an interval is not bisected further
    # Largest and smallest possible number of clusters.
    n_nodes: int
    n_components: int

    def next(self, progress: Progress[S]) -> tuple[Progress[S], float | None]:
        """Probe for an end of the path; then step, or bisect the interval ahead."""
        if progress.current is None:
            probes = len(progress.ahead)
            if not probes or (probes < _MAX_PROBES and not self._at_start(*progress.ahead[-2:])):
                return progress, self._probe(probes)
            progress = progress.advanced()
        while (current := progress.current) is not None and not self._at_end(current):
            if not progress.ahead:
                inside = _LOWEST * self.lam_max < current.lam <= _HIGHEST * self.lam_max
                return progress, current.lam * self._ratio(progress) if inside else None
            ahead = progress.ahead[-1]
            if not self._resolved(current, ahead):
                return progress, float(np.sqrt(current.lam * ahead.lam))
            progress = progress.advanced()
        return progress, None

    def is_complete(self, progress: Progress[S]) -> bool:
        """Whether the last solution is at the end of the path."""
        return progress.current is not None and self._at_end(progress.current)

    def _resolved(self, one: Solved, other: Solved) -> bool:
        ratio = max(one.lam, other.lam) / min(one.lam, other.lam)
        return ratio <= 1.0 + self.lam_step or n_events(one.labels, other.labels) <= 1

    @abstractmethod
    def _probe(self, probes: int) -> float:
        """The next lam in search of the start of the path."""

    @abstractmethod
    def _at_start(self, *probed: Solved) -> bool:
        """Whether the last lam probed is the start of the path."""

    @abstractmethod
    def _at_end(self, solution: Solved) -> bool:
        """Whether the path ends with this solution."""

    @abstractmethod
    def _ratio(self, progress: Progress[S]) -> float:
        """Ratio of the next lam to the current one."""


@dataclass(frozen=True, eq=False)
class Bisecting(_Refining):
    """From single nodes to one cluster per component."""

    # Whether a partition fuses only identical nodes, which fuse at any lam.
    only_identical: Callable[[Labels], bool]
    descending: bool = False

    def max_groups(self, progress: Progress[S], lam: float) -> int | None:
        """No limit: single nodes are where the path starts."""
        return None

    def share(self, lam: float, n_clusters: int) -> float:
        """Share of the decades between the first lam and the bound."""
        return 1.0 - math.log(max(lam, 1e-300) / self.lam_max) / math.log(FIRST_LAM)

    def _probe(self, probes: int) -> float:
        return self.lam_max * FIRST_LAM * 0.1**probes

    def _at_start(self, *probed: Solved) -> bool:
        """Only identical nodes are fused, or lowering lam tenfold split nothing."""
        last = probed[-1]
        unchanged = len(probed) > 1 and last.n_clusters == probed[0].n_clusters
        return unchanged or self.only_identical(last.labels)

    def _at_end(self, solution: Solved) -> bool:
        return solution.n_clusters <= self.n_components

    def _ratio(self, progress: Progress[S]) -> float:
        """Long steps while no nodes are fused: nothing can be missed there."""
        current = progress.current
        alone = current is not None and current.n_clusters == self.n_nodes
        return _STEP_BEFORE_FUSION if alone else _STEP


@dataclass(frozen=True, eq=False)
class Descending(_Refining):
    """From the consensus down to more than ``max_clusters`` clusters.

    A lam at which many more groups are needed is given up for a shorter step. Where the shortest
    one needs twice as many as that, clusters fall apart at once, and the path ends above.
    """

    max_clusters: int  # the path ends as soon as there are more clusters than this
    # Give up a lam that needs more than this multiple of ``max_clusters`` groups,
    crowd_factor: ClassVar[int] = 4
    # plus this many.
    crowd_offset: ClassVar[int] = 100
    descending: bool = True

    def max_groups(self, progress: Progress[S], lam: float) -> int | None:
        """A limit, twice as high where no shorter step is left to try; none at the start."""
        if progress.current is None:
            return None
        limit = self.crowd_factor * self.max_clusters + self.crowd_offset
        shortest = progress.current.lam <= (1.0 + self.lam_step) * (1.0 + 1e-9) * lam
        return 2 * limit if shortest else limit

    def next(self, progress: Progress[S]) -> tuple[Progress[S], float | None]:
        """As for every refined path, until clusters fall apart."""
        progress, lam = super().next(progress)
        return progress, None if self._collapses(progress) else lam

    def is_complete(self, progress: Progress[S]) -> bool:
        """Whether there are more clusters than wanted, or the next lam has far more."""
        return super().is_complete(progress) or self._collapses(progress)

    def _collapses(self, progress: Progress[S]) -> bool:
        """Whether the shortest step from the current lam was given up."""
        current, crowded = progress.current, progress.crowded_lam
        if current is None or progress.ahead or not crowded:
            return False
        return math.isclose(crowded, current.lam / self._shortest_step, rel_tol=1e-12)

    @property
    def _shortest_step(self) -> float:
        """Ratio of the shortest step, which no sum of other steps ends at."""
        return min((1.0 + self.lam_step) * (1.0 - _ROUND_OFF) ** 2, _STEP)

    def share(self, lam: float, n_clusters: int) -> float:
        """Share of the clusters wanted, on a logarithmic scale."""
        return math.log(n_clusters) / math.log(self.max_clusters + 1)

    def _probe(self, probes: int) -> float:
        return self.lam_max * 2.0**probes

    def _at_start(self, *probed: Solved) -> bool:
        return probed[-1].n_clusters == self.n_components

    def _at_end(self, solution: Solved) -> bool:
        return solution.n_clusters > self.max_clusters or solution.n_clusters == self.n_nodes

    def _ratio(self, progress: Progress[S]) -> float:
        """A step to somewhat more than ``max_clusters``, and not to a lam that was given up.

        Bisected, it ends in steps of ``lam_step`` exactly: a longer one would be bisected once
        more, into steps of half the length.
        """
        assert progress.current is not None
        crowded, lam = progress.crowded_lam, progress.current.lam
        halfway = math.sqrt(lam / crowded) if 0.0 < crowded < lam else math.inf
        longest = min(
            _STEP ** (2 ** max(_unchanged(progress) - 1, 0)), halfway, self._to_the_end(progress)
        )
        step = min((1.0 + self.lam_step) * (1.0 - _ROUND_OFF), _STEP)
        if step**2 > longest:
            return 1.0 / self._shortest_step
        while step**2 <= longest:
            step *= step
        return 1.0 / step

    def _to_the_end(self, progress: Progress[S]) -> float:
        """Ratio to the end of the path, where clusters grow with the power of lam of late."""
        current = progress.current
        assert current is not None
        before = [level for level in progress.levels if level.lam >= _SPAN * current.lam]
        last = min(before, key=lambda level: level.lam, default=None)
        if last is None or last.n_clusters >= current.n_clusters:
            return math.inf
        growth = math.log(current.n_clusters / last.n_clusters) / math.log(last.lam / current.lam)
        missing = math.log(_BEYOND_END * self.max_clusters / current.n_clusters)
        return math.exp(missing / max(growth, _LEAST_GROWTH))


def _unchanged(progress: Progress[S]) -> int:
    """How many levels above the current one have as many clusters, up to a limit."""
    current, count = progress.current, 0
    assert current is not None
    for level in sorted(progress.levels, key=lambda level: level.lam):
        if level.lam > current.lam and count < _MAX_UNCHANGED:
            if level.n_clusters != current.n_clusters:
                break
            count += 1
    return count


def n_events(left: Labels, right: Labels) -> int:
    """Number of pairwise merges and splits that lead from one partition to the other.

    Examples
    --------
    >>> import numpy as np
    >>> n_events(np.array([0, 1, 2, 3]), np.array([0, 0, 1, 1]))
    2
    """
    both = np.unique(np.stack([left, right]), axis=1).shape[1]
    return int(2 * both - np.unique(left).size - np.unique(right).size)
