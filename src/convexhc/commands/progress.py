"""The progress line of a path: how far along lam it is, and how long the rest will take."""

from __future__ import annotations

import bisect
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TextIO

from convexhc.commands.messages import clock, counted
from convexhc.fusion.lam_max import consensus_bound
from convexhc.graph import Graph
from convexhc.path import Level
from convexhc.solvers.solve import prepare

_BAR = 24
# A path that finds its own lam goes through about so many powers of ten below the bound.
_DECADES = 3.0


@dataclass
class ProgressLine:
    """One line on a terminal that redraws itself: a bar, a text and the time left.

    Where standard error is no terminal nothing is drawn, so that log files stay short.

    Parameters
    ----------
    stream : text stream
        Where to draw; normally standard error, so that standard output stays clean.
    quiet : bool
        Draw nothing.
    now : callable
        The clock, in seconds.
    """

    stream: TextIO
    quiet: bool = False
    now: Callable[[], float] = time.monotonic
    drawn: bool = False
    # Where the way begins: the smallest share seen, and when. A path first looks for its start,
    # and a resumed one begins in the middle.
    lowest: float = math.inf
    begun: float = field(default=0.0)

    def show(self, share: float, text: str) -> None:
        """Redraw at ``share`` of the way, between 0 and 1."""
        if self.quiet or not self.stream.isatty():
            return
        share = min(max(share, 0.0), 1.0)
        if share <= self.lowest:
            self.lowest, self.begun = share, self.now()
        bar = "#" * round(_BAR * share) + "." * (_BAR - round(_BAR * share))
        self.stream.write(f"\r\x1b[K[{bar}] {text}{self._left(share)}")
        self.stream.flush()
        self.drawn = True

    def _left(self, share: float) -> str:
        spent, gone = self.now() - self.begun, share - self.lowest
        if gone < 0.05 or spent < 1.0:
            return ""
        return f"  about {clock(spent * (1.0 - share) / gone)} left"

    def clear(self) -> None:
        """Take the line away; the next one begins anew."""
        if self.drawn:
            self.stream.write("\r\x1b[K")
            self.stream.flush()
        self.drawn, self.lowest = False, math.inf


def follow(
    progress: ProgressLine,
    kernel: Graph,
    *,
    weights: Any,
    l1_ratio: float = 0.05,
    lambdas: Sequence[float] | None = None,
) -> Callable[[Level], None]:
    """What draws the line after every solved lam: its lam, clusters, gap and the time left."""
    if lambdas:
        grid = sorted(set(lambdas))

        def share(lam: float) -> float:
            return bisect.bisect_right(grid, lam) / len(grid)
    else:
        _, problem = prepare(
            kernel, 0.0, weights=weights, l1_ratio=l1_ratio, constraint="doubly_stochastic"
        )
        bound = max(consensus_bound(problem), 1e-300)

        def share(lam: float) -> float:
            return 1.0 + math.log10(max(lam, 1e-300) / bound) / _DECADES

    return lambda level: progress.show(share(level.lam), _words(level))


def count_along(progress: ProgressLine, total: int) -> Callable[[Level], None]:
    """What draws the line after every solved lam of a path of known length."""
    solved = 0

    def draw(level: Level) -> None:
        nonlocal solved
        solved += 1
        progress.show(solved / total, _words(level))

    return draw


def _words(level: Level) -> str:
    clusters = counted(level.n_clusters, "cluster")
    return f"lam {level.lam:.4g}  {clusters}  gap {level.relative_gap:.1e}"
