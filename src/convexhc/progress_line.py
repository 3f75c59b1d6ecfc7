"""The progress line of a path: share of the path solved, last level, time left."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TextIO

from convexhc._text import clock, counted
from convexhc.kernels.compile import announced
from convexhc.path.level import Level
from convexhc.path.plan import Plan


@dataclass
class ProgressLine:
    """One line on a terminal that redraws itself: a bar, a text and the time left.

    Nothing is drawn where the stream is not a terminal, so log files stay short.

    Parameters
    ----------
    stream : text stream
        Where to draw; standard error keeps standard output clean.
    quiet : bool
        Draw nothing.
    now : callable
        The clock, in seconds.
    width : int
        Characters of the bar.
    """

    stream: TextIO
    quiet: bool = False
    now: Callable[[], float] = time.monotonic
    width: int = 24
    drawn: bool = False
    # Smallest share seen, and when: a path first probes for its start, and a resumed one starts
    # in the middle.
    lowest: float = math.inf
    began: float = 0.0

    def show(self, share: float, text: str) -> None:
        """Redraw at ``share`` of the path, between 0 and 1."""
        if self.quiet or not self.stream.isatty():
            return
        share = min(max(share, 0.0), 1.0)
        if share <= self.lowest:
            self.lowest, self.began = share, self.now()
        bar = ("#" * round(self.width * share)).ljust(self.width, ".")
        self.stream.write(f"\r\x1b[K[{bar}] {text}{self._time_left(share)}")
        self.stream.flush()
        self.drawn = True

    def note(self, text: str) -> None:
        """Write a text in place of the line, until it is redrawn."""
        if not self.quiet and self.stream.isatty():
            self.stream.write(f"\r\x1b[K{text}")
            self.stream.flush()
            self.drawn = True

    def _time_left(self, share: float) -> str:
        spent, done = self.now() - self.began, share - self.lowest
        if done < 0.05 or spent < 1.0:
            return ""
        return f"  about {clock(spent * (1.0 - share) / done)} left"

    def clear(self) -> None:
        """Erase the line; the next one starts anew."""
        if self.drawn:
            self.stream.write("\r\x1b[K")
            self.stream.flush()
        self.drawn, self.lowest = False, math.inf


def compile_notice(
    progress: bool | ProgressLine | Callable[[Level], object],
) -> AbstractContextManager[None]:
    """Context in which the progress line says when kernels are compiled."""
    line = ProgressLine(sys.stderr) if progress is True else progress
    if not isinstance(line, ProgressLine):
        return nullcontext()
    return announced(lambda: line.note("compiling, once per installation ..."))


def progress_listener(
    progress: bool | ProgressLine | Callable[[Level], object],
    on_check: Callable[[Level], object] | None,
    plan: Plan,
) -> Callable[[Level], object] | None:
    """The function to call after every lam: shows the progress, then calls ``on_check``.

    Parameters
    ----------
    progress : bool, ProgressLine or callable
        True draws a line on standard error. A callable is called with every level.
    on_check : callable or None
        A true answer ends the path.
    plan : Plan
        Estimates the share of the path that is solved.
    """
    if progress is False:
        return on_check
    line = ProgressLine(sys.stderr) if progress is True else progress

    def listen(level: Level) -> bool:
        if isinstance(line, ProgressLine):
            clusters = counted(level.n_clusters, "cluster")
            text = f"lam {level.lam:.4g}  {clusters}  gap {level.relative_gap:.1e}"
            line.show(plan.share(level.lam, level.n_clusters), text)
        else:
            line(level)
        return on_check is not None and bool(on_check(level))

    return listen
