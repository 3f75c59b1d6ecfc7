"""Nesterov's extrapolation weights with restarts."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass
class Momentum:
    """The sequence t -> (1 + sqrt(1 + 4 t^2)) / 2 and the weights (t_old - 1) / t_new it gives."""

    t: float = 1.0

    def advance(self) -> float:
        """Weight of the next extrapolation."""
        old, self.t = self.t, 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * self.t * self.t))
        return (old - 1.0) / self.t

    def reset(self) -> None:
        """Restart: the next weight is zero."""
        self.t = 1.0
