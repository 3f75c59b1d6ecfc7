"""The march along lam: what to solve next, from which solution, and when to stop.

Upwards from single nodes, or downwards from the consensus when only the coarse scales are wanted.
Either way one solution stands behind and others, already solved, lie ahead; an interval between two
in which more than one fusion happens is halved (in log lam) until it is short.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from convexhc._types import Labels
from convexhc.fusion.contracted_solve import ContractedSolution, at_rest, solve_fused
from convexhc.fusion.lam_max import consensus_bound
from convexhc.graph import Graph
from convexhc.model.problem import FusionProblem
from convexhc.path.checkpoint import Checkpoint, Progress
from convexhc.path.level import Level, level_of
from convexhc.solvers.solve import choose_method

# First lam of an ascending path, as a share of the bound on lam.
_FIRST = 1e-3
# Tenfold reductions of the first lam until nothing is fused.
_DESCENTS = 4
# Longest step in lam, as a ratio, where nodes fuse.
_STRIDE = 1.5
# Longest step in lam, as a ratio, where nothing fuses.
_LEAP = 3.0
# How far beyond the bound on lam to search, as a ratio.
_BEYOND = 10.0
# Share of the largest similarity by which twins, which fuse at any lam, may differ.
_ALIKE = 1e-9
# How far beyond two solutions the line through them is trusted, in units of their distance.
_REACH = 2.0
# A descending path stops at this many times as many groups as clusters were asked for.
_CROWD = 4
# Fewest groups at which it stops.
_CROWD_LEAST = 100


@dataclass
class Continuation:
    """A solution behind, solutions ahead, and what has been solved so far.

    Parameters
    ----------
    kernel : Graph
        The similarity.
    problem : FusionProblem
        At any lam.
    options : dict
        As `solve_path` records them.
    keep : callable
        Whether the centroids of a lam are kept.
    saved : Checkpoint or None
        Where the progress is written.
    on_check : callable or None
        Told of every level; a true answer stops.
    """

    kernel: Graph
    problem: FusionProblem
    options: dict[str, Any]
    keep: Callable[[float], bool]
    saved: Checkpoint | None
    on_check: Callable[[Level], object] | None
    progress: Progress = field(default_factory=Progress)

    def __post_init__(self) -> None:
        self.matrix = self.kernel.matrix()
        self.weights = self.problem.penalty.graph
        self.fewest = self.weights.components()[0]
        self.most: int | None = self.options["max_clusters"]
        self.down = self.most is not None
        self.first_groups = self._first_groups()

    @cached_property
    def bound(self) -> float:
        """The lam from which on everything is fused, or a little more."""
        return consensus_bound(self.problem)

    def go(self) -> tuple[tuple[Level, ...], bool]:
        """Solve what has not been solved yet; tell whether the end was reached."""
        if self.saved is not None:
            self.progress = self.saved.load(self.problem) or self.progress
        given = self.options["lambdas"] is not None
        try:
            stopped = any(self._stopped(lam) for lam in (self._given() if given else self._found()))
        finally:
            if self.saved is not None:
                self.saved.finish(self.progress)
        behind = self.progress.behind
        reached = given or (behind is not None and self._at_end(behind))
        return self.progress.levels, reached and not stopped

    def _first_groups(self) -> Labels:
        """Single nodes upwards; downwards everything that hangs together."""
        return self.weights.components()[1] if self.down else np.arange(self.kernel.n)

    def _at_end(self, here: ContractedSolution) -> bool:
        """Whether everything that can be fused is; or, downwards, whether enough has parted."""
        if self.most is not None:
            return here.n_clusters > self.most or here.n_clusters == self.kernel.n
        return here.n_clusters <= self.fewest

    def _given(self) -> Iterable[float]:
        """The lam asked for, upwards or downwards."""
        grid = self.options["lambdas"]
        for lam in (grid[::-1] if self.down else grid)[len(self.progress.levels) :]:
            if self.progress.ahead:
                self._advance()
            yield lam

    def _found(self) -> Iterable[float]:
        """The lam that the fusions ask for; each is solved by the time the next is drawn."""
        if self.progress.behind is None:
            yield from self._beginning()
            self._advance()
        while (behind := self.progress.behind) is not None and not self._at_end(behind):
            if not self.progress.ahead:
                if not self.bound * 1e-9 < behind.lam <= _BEYOND * self.bound:
                    return
                yield behind.lam * self._stride(behind)
                if not self.progress.ahead:
                    continue
            ahead = self.progress.ahead[-1]
            if self._resolved(behind, ahead):
                self._advance()
            else:
                yield float(np.sqrt(behind.lam * ahead.lam))

    def _beginning(self) -> Iterable[float]:
        """Away from the march until nothing is fused, or everything; what is met lies ahead."""
        while (tries := len(self.progress.ahead)) < _DESCENTS:
            if tries and self._begun(*self.progress.ahead[-2:]):
                return
            yield self.bound * (2.0**tries if self.down else _FIRST * 0.1**tries)

    def _begun(self, *ahead: ContractedSolution) -> bool:
        """Whether everything is fused, downwards; or only twins, or a tenth of lam parted none."""
        here = ahead[-1]
        if self.down:
            return here.n_clusters == self.fewest
        first = np.unique(here.labels, return_index=True)[1]
        unlike = abs(self.matrix - self.matrix[first[here.labels]]).max()
        only_twins = bool(unlike <= _ALIKE * abs(self.matrix).max())
        return only_twins or (len(ahead) > 1 and here.n_clusters == ahead[0].n_clusters)

    def _stride(self, behind: ContractedSolution) -> float:
        """Ratio to the next lam: long while nothing is fused, since nothing can be missed there."""
        if self.down:
            far = self.progress.too_far
            halfway = float(np.sqrt(far / behind.lam)) if far < behind.lam else 0.0
            # No shorter than what is told apart, or the march would never pass there.
            finest = 1.0 / (1.0 + float(self.options["lam_step"]))
            return max(1.0 / _STRIDE, min(halfway, finest))
        return _LEAP if behind.n_clusters == self.kernel.n else _STRIDE

    def _resolved(self, one: ContractedSolution, other: ContractedSolution) -> bool:
        ratio = max(one.lam, other.lam) / min(one.lam, other.lam)
        close = ratio <= 1.0 + self.options["lam_step"]
        return close or events(one.labels, other.labels) <= 1

    def _advance(self) -> None:
        self.progress = self.progress.advanced()

    def _stopped(self, lam: float) -> bool:
        """Solve one lam from the solution behind, keep it, save it, hand it over."""
        behind = self.progress.behind
        found = solve_fused(
            self.problem.at(lam),
            self.first_groups if behind is None else behind.labels,
            lambda small: choose_method(small, self.options["method"]),
            start=self._at_first() if behind is None else behind,
            beside=self._beside(lam),
            tol=self.options["tol"],
            max_iter=self.options["max_iter"],
            most=self._most_groups(lam),
        )
        if found is None:
            self.progress = replace(self.progress, too_far=lam)
            return False
        level = level_of(found, self.matrix, keep=self.keep(lam))
        self.progress = self.progress.solved(level, found)
        if self.saved is not None:
            self.saved.keep(self.progress)
        return self.on_check is not None and bool(self.on_check(level))

    def _at_first(self) -> ContractedSolution | None:
        """Where a lam below all that are solved starts from: the solution at lam = 0."""
        return None if self.down or not self.progress.ahead else at_rest(self.problem)

    def _beside(self, lam: float) -> ContractedSolution | None:
        """A second solution to start from: the other end of the interval, or one farther behind."""
        progress = self.progress
        if progress.ahead:
            return progress.ahead[-1]
        one, other = progress.before, progress.behind
        if other is None:
            return None
        if one is None:
            return None if self.down else at_rest(self.problem)
        return one if abs(lam - other.lam) <= _REACH * abs(other.lam - one.lam) else None

    def _most_groups(self, lam: float) -> int | None:
        """Groups from which on a lam is left for a shorter stride, while there is a shorter one."""
        behind, lam_step = self.progress.behind, 1.0 + self.options["lam_step"]
        given = self.options["lambdas"] is not None
        if (
            self.most is None
            or given
            or behind is None
            or behind.lam <= lam_step * lam * (1.0 + 1e-9)
        ):
            return None
        return _CROWD * self.most + _CROWD_LEAST


def events(left: Labels, right: Labels) -> int:
    """Joins of two clusters that lead from one partition to the other, and partings.

    Examples
    --------
    >>> import numpy as np
    >>> events(np.array([0, 1, 2, 3]), np.array([0, 0, 1, 1]))
    2
    """
    both = np.unique(np.stack([left, right]), axis=1).shape[1]
    return int(2 * both - np.unique(left).size - np.unique(right).size)
