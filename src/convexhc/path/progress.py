"""How far a path has come: the levels solved, and the solutions that start the next one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Generic, Protocol, TypeVar

from convexhc._types import Labels
from convexhc.path.level import Level


class Solved(Protocol):
    """A solution at one lam, in whatever form its model keeps it."""

    @property
    def lam(self) -> float:
        """Strength of the penalty."""

    @property
    def labels(self) -> Labels:
        """Cluster of every node."""

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""


S = TypeVar("S", bound=Solved)


@dataclass(frozen=True, eq=False)
class Progress(Generic[S]):
    """State of a path under way. It is replaced, never altered: an interrupt finds it whole."""

    levels: tuple[Level, ...] = ()  # in the order in which they were solved
    # The last two solutions accepted; the next lam starts from ``current``.
    previous: S | None = None
    current: S | None = None
    ahead: tuple[S, ...] = ()  # beyond ``current``, their interval still refined, the nearest last
    crowded_lam: float = 0.0  # the last lam given up because it would have needed too many groups

    def solved(self, level: Level, solution: S) -> Progress[S]:
        """Add a solution beyond ``current``."""
        return replace(self, levels=(*self.levels, level), ahead=(*self.ahead, solution))

    def advanced(self) -> Progress[S]:
        """Accept the nearest solution ahead: it becomes ``current``."""
        *ahead, nearest = self.ahead
        return replace(self, previous=self.current, current=nearest, ahead=tuple(ahead))
