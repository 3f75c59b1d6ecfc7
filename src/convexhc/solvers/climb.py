"""A penalty that finds its own size: on the way it goes while moves fall the faster, else back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# Factor by which the penalty is multiplied or divided.
_FACTOR = 2.0
# Iterations to wait after a change before rates are measured.
_SETTLE = 8


@dataclass
class Climb:
    """Changes of one penalty, each judged by how fast the moves of a run fall under it.

    No residual tells whether a larger or a smaller penalty would do better, since that depends on
    the slowest mode alone. The rate at which moves fall shows it, whatever their unit.

    Parameters
    ----------
    begin : int
        Iteration after which rates are measured.
    """

    begin: int
    way: float = 1.0
    rate: float = -np.inf
    mark: float = 0.0

    def see(self, n_iter: int, move: float) -> None:
        """Tell of every iteration how far it moved."""
        if n_iter == self.begin:
            self.mark = move

    def changed(self, penalty: float, n_iter: int, move: float) -> float:
        """Another penalty: further the same way, or back if the last change slowed the run."""
        if n_iter > self.begin and self.mark > 0.0 and move > 0.0:
            rate = float(np.log(self.mark / move)) / (n_iter - self.begin)
            if rate < self.rate:
                self.way = -self.way
            self.rate = rate
        self.begin, self.mark = n_iter + _SETTLE, 0.0
        return float(penalty * _FACTOR**self.way)
