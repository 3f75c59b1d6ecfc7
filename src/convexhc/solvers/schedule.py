"""When a certificate is worth its cost, which is about that of a few iterations.

How far an iteration moves is known for nothing, and falls along with the gap: the gap is about in
proportion to a power of the move. Where a method tells its moves, the last certificate, of the run
or of its start, gives the factor, and the next one is taken once the move is as small as a gap
within the tolerance asks for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from convexhc.model.problem import Certificate
from convexhc.solvers.solution import Solution

# The gap is proportional to this power of the step length, as measured along runs of ADMM.
_POWER = 0.6
# Gaps below this share of the tolerance are round-off.
_NOUGHT = 1e-9
# Iterations that divide the gap by e near the end, about.
_PACE = 10.0
# Fewest iterations to the next certificate.
_SOONEST = 2
# Longest wait for the first certificate of a run, in iterations.
_LONGEST = 40


@dataclass
class Schedule:
    """The next certificate: not before ``soonest``, not after ``latest``, else at a small move.

    Parameters
    ----------
    tol, gap_tol : float
        Relative and absolute gap, either of which ends the run.
    check_every : int
        Iterations between two certificates at the most, while there are few.
    soonest, latest : int
        Iterations.
    level : float
        The move at which the gap is expected to be within the tolerance; negative if unknown.
    """

    tol: float
    gap_tol: float
    check_every: int
    soonest: int = 0
    latest: int = 0
    level: float = -1.0

    @classmethod
    def of(
        cls, start: Solution | None, *, tol: float, gap_tol: float, min_iter: int, check_every: int
    ) -> Schedule:
        """The first certificate: at ``min_iter``, or when the start tells at what move."""
        schedule = cls(tol, gap_tol, check_every, min_iter, min_iter)
        if start is not None and start.move > 0.0:
            wait = min(max(2 * start.n_iter, check_every), _LONGEST)
            schedule.soonest, schedule.latest = max(1, min_iter), max(wait, min_iter)
            schedule.level = schedule._level(start.certificate, start.move)
        return schedule

    def due(self, n_iter: int, move: float) -> bool:
        """Whether to certify after so many iterations, the last of which moved so far."""
        return n_iter >= self.latest or (n_iter >= self.soonest and move <= self.level)

    def record(self, n_iter: int, move: float, certificate: Certificate) -> None:
        """Set the next one, after a certificate that was not enough."""
        if move > 0.0:
            self.level = self._level(certificate, move)
            self.soonest = n_iter + max(_SOONEST, n_iter // 50)
            self.latest = n_iter + max(self.check_every, n_iter // 10)
        else:
            self.soonest = self.latest = n_iter + max(self._steps_left(certificate), n_iter // 10)

    def _excess(self, certificate: Certificate) -> float:
        """The gap in units of what is allowed."""
        gaps = ((certificate.relative_gap, self.tol), (certificate.gap, self.gap_tol))
        return min(gap / least if least > 0.0 else np.inf for gap, least in gaps)

    def _level(self, certificate: Certificate, move: float) -> float:
        excess = self._excess(certificate)
        return float(move * excess ** (-1.0 / _POWER)) if excess > _NOUGHT else np.inf

    def _steps_left(self, certificate: Certificate) -> int:
        """How many iterations a gap usually needs to fall to the tolerance, up to the most."""
        steps = float(np.ceil(_PACE * np.log(self._excess(certificate))))
        return int(min(max(steps, _SOONEST), self.check_every))
