"""Hill-climb a penalty: double or halve it while convergence speeds up, otherwise reverse."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass
class HillClimb:
    """Changes of one penalty parameter, each judged by the rate of convergence under it.

    Residuals do not show whether a larger or a smaller penalty converges faster: that depends on
    the slowest mode alone. The rate at which the step lengths decrease does, in any unit.
    """

    begin: int  # iteration at which the measurement of the rate begins
    factor: float = 2.0  # factor of the next change; its inverse after a reversal
    wait: int = 8  # iterations to skip after a change before the rate is measured
    rate: float = -np.inf
    first_move: float = 0.0

    def observe(self, n_iter: int, move: float) -> None:
        """Record the step length at which the measurement begins."""
        if n_iter == self.begin:
            self.first_move = move

    def update(self, penalty: float, n_iter: int, move: float) -> float:
        """Next penalty: same direction, or reversed if the last change slowed convergence."""
        if n_iter > self.begin and self.first_move > 0.0 and move > 0.0:
            rate = float(np.log(self.first_move / move)) / (n_iter - self.begin)
            if rate < self.rate:
                self.factor = 1.0 / self.factor
            self.rate = rate
        self.begin, self.first_move = n_iter + self.wait, 0.0
        return float(penalty * self.factor)
