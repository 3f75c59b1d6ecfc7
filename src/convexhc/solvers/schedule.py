"""When to compute a certificate, which costs about as much as a few iterations.

The step length of an iteration comes for free and decreases with the gap: the gap is roughly
proportional to a power of it. For methods that report their step lengths, the last certificate, of
the run or of its start, gives the factor. The next certificate is computed once the step length is
small enough for the predicted gap to be within the tolerance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from convexhc.model.problem import Certificate
from convexhc.solvers.solution import Solution

_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class ScheduleSettings:
    """Constants of the prediction, measured along runs of ADMM."""

    # The gap is proportional to this power of the squared step length.
    power: float = 0.6
    # Iterations that divide the gap by e near the end.
    iterations_per_e: float = 10.0
    # Longest wait for the first certificate of a run, or for one that is far away, in iterations.
    max_wait: int = 40


SETTINGS = ScheduleSettings()


@dataclass
class Schedule:
    """When the next certificate is due: once the step length is small, within two bounds."""

    # Relative and absolute gap, either of which ends the run.
    tol: float
    gap_tol: float
    check_every: int  # most iterations between two certificates, early in a run
    # First and last iteration at which the next certificate may be computed.
    soonest: int = 0
    latest: int = 0
    # Step length at which the gap is predicted to be within the tolerance; negative if unknown.
    level: float = -1.0

    @classmethod
    def of(
        cls, start: Solution | None, *, tol: float, gap_tol: float, min_iter: int, check_every: int
    ) -> Schedule:
        """Schedule the first certificate: at ``min_iter``, or by the prediction of a warm start."""
        schedule = cls(tol, gap_tol, check_every, min_iter, min_iter)
        if start is not None and start.move > 0.0:
            wait = min(max(2 * start.n_iter, check_every), SETTINGS.max_wait)
            schedule.soonest, schedule.latest = max(1, min_iter), max(wait, min_iter)
            schedule.level = schedule._level(start.certificate, start.move)
        return schedule

    def due(self, n_iter: int, move: float) -> bool:
        """Whether to certify after ``n_iter`` iterations, ``move`` the last step length."""
        return n_iter >= self.latest or self.predicts(n_iter, move)

    def predicts(self, n_iter: int, move: float) -> bool:
        """Whether the step length predicts a gap within the tolerance."""
        return n_iter >= max(self.soonest, 1) and move <= self.level

    def record(self, n_iter: int, move: float, certificate: Certificate) -> None:
        """Schedule the next certificate after one whose gap was too large."""
        if move > 0.0:
            self.level = self._level(certificate, move)
            self.soonest = n_iter + 1 + n_iter // 50
            left = min(self._iterations_left(certificate), SETTINGS.max_wait)
            self.latest = n_iter + max(self.check_every, left, n_iter // 10)
        else:
            left = min(self._iterations_left(certificate), self.check_every)
            self.soonest = self.latest = n_iter + max(left, n_iter // 10)

    def _excess(self, certificate: Certificate) -> float:
        """Gap relative to the tolerance."""
        gaps = ((certificate.relative_gap, self.tol), (certificate.gap, self.gap_tol))
        return min(gap / least if least > 0.0 else np.inf for gap, least in gaps)

    def _level(self, certificate: Certificate, move: float) -> float:
        excess = self._excess(certificate)
        round_off = certificate.relative_gap <= _EPS
        return np.inf if round_off else float(move * excess ** (-1.0 / SETTINGS.power))

    def _iterations_left(self, certificate: Certificate) -> int:
        """Predicted number of iterations until the gap is within the tolerance."""
        # Below one at a point that violates the constraint.
        excess = max(self._excess(certificate), 1.0)
        steps = float(np.ceil(SETTINGS.iterations_per_e * np.log(excess)))
        return int(max(min(steps, 1e6), 1))


def predicted_ratio(move: float, earlier: float) -> float:
    """Ratio of the gaps that two squared step lengths predict; zero if both vanish."""
    return float((move / earlier) ** SETTINGS.power) if earlier > 0.0 else 0.0
