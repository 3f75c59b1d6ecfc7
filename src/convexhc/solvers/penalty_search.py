"""Hill-climb a penalty: double or halve it while convergence speeds up, otherwise reverse."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# Factor by which the penalty is multiplied or divided.
_FACTOR = 2.0
# Iterations to wait after a change before rates are measured.
_SETTLE = 8


@dataclass
class HillClimb:
    """Changes of one penalty parameter, each judged by the rate of convergence under it.

    Residuals do not tell whether a larger or a smaller penalty converges faster: that depends on
    the slowest mode alone. The rate at which step lengths fall does, in any unit.

    Parameters
    ----------
    begin : int
        Iteration after which rates are measured.
    """

    begin: int
    way: float = 1.0
    rate: float = -np.inf
    mark: float = 0.0

    def observe(self, n_iter: int, move: float) -> None:
        """Record the step length of an iteration."""
        if n_iter == self.begin:
            self.mark = move

    def changed(self, penalty: float, n_iter: int, move: float) -> float:
        """Next penalty: same direction, or reversed if the last change slowed convergence."""
        if n_iter > self.begin and self.mark > 0.0 and move > 0.0:
            rate = float(np.log(self.mark / move)) / (n_iter - self.begin)
            if rate < self.rate:
                self.way = -self.way
            self.rate = rate
        self.begin, self.mark = n_iter + _SETTLE, 0.0
        return float(penalty * _FACTOR**self.way)
