"""How a command speaks: lines to the user, and a progress line that redraws itself."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TextIO

Say = Callable[[str], None]


class Refusal(Exception):  # noqa: N818, it is an answer and no failure of the program
    """Bad usage or bad input: the text is for the user, the exit code is 2."""


@dataclass
class ProgressLine:
    """One line on a terminal with a bar, a text and the time left; plain lines elsewhere.

    Parameters
    ----------
    stream : text stream
        Where to draw; normally standard error, so that standard output stays clean.
    quiet : bool
        Draw nothing.
    """

    stream: TextIO
    quiet: bool = False
    begun: float = field(default_factory=time.monotonic)
    drawn: bool = False

    def show(self, share: float, text: str) -> None:
        """Redraw at ``share`` of the way, between 0 and 1."""
        if self.quiet or not self.stream.isatty():
            return
        share = min(max(share, 0.0), 1.0)
        bar = "#" * round(20 * share) + "." * (20 - round(20 * share))
        self.stream.write(f"\r\x1b[K[{bar}] {text}{self._left(share)}")
        self.stream.flush()
        self.drawn = True

    def _left(self, share: float) -> str:
        spent = time.monotonic() - self.begun
        if share < 0.05 or spent < 2.0:
            return ""
        return f"  about {clock(spent * (1.0 - share) / share)} left"

    def clear(self) -> None:
        """Take the line away."""
        if self.drawn:
            self.stream.write("\r\x1b[K")
            self.stream.flush()
            self.drawn = False


def clock(seconds: float) -> str:
    """Seconds as a person says them.

    Examples
    --------
    >>> clock(3.21), clock(75), clock(7300)
    ('3.2 s', '1 min 15 s', '2 h 01 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    if seconds < 3600:
        return f"{int(seconds) // 60} min {int(seconds) % 60:02d} s"
    return f"{int(seconds) // 3600} h {int(seconds) % 3600 // 60:02d} min"
