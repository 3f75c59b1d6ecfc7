"""Progress on a terminal or in a notebook: share done, last level, time left."""

from __future__ import annotations

import importlib.util
import math
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TextIO

from convexhc._text import clock, counted
from convexhc.kernels.compile import announced
from convexhc.model.problem import Certificate
from convexhc.path.level import Level
from convexhc.path.plan import Plan


@dataclass
class ProgressLine:
    """One line that redraws itself: a bar, a text and the time left.

    Nothing is drawn where the stream is neither a terminal nor the output of a notebook cell, so
    log files stay short.
    """

    stream: TextIO
    quiet: bool = False
    now: Callable[[], float] = time.monotonic
    width: int = 24  # characters of the bar
    drawn: bool = False
    # Smallest share so far, and when: a path first probes for its first lam, and a resumed one
    # starts in the middle.
    lowest: float = math.inf
    began: float = 0.0
    # Whether a run is drawing on it already, and announces compilation.
    busy: bool = False

    def show(self, share: float, text: str) -> None:
        """Redraw at ``share`` of the path, between 0 and 1."""
        if not self._visible():
            return
        share = min(max(share, 0.0), 1.0)
        if share <= self.lowest:
            self.lowest, self.began = share, self.now()
        self._draw(share, f"{text}{self._time_left(share)}")
        self.drawn = True

    def note(self, text: str) -> None:
        """Write a text in place of the line, until it is redrawn."""
        if self._visible():
            self._draw(None, text)
            self.drawn = True

    def leave_out(self, seconds: float) -> None:
        """Do not count time already spent, such as that of compilation, in the time left."""
        self.began += seconds

    def clear(self) -> None:
        """Erase the line; the next one starts anew."""
        if self.drawn:
            self._erase()
        self.drawn, self.lowest = False, math.inf

    def _visible(self) -> bool:
        return not self.quiet and (self.stream.isatty() or in_notebook())

    def _time_left(self, share: float) -> str:
        spent, done = self.now() - self.began, share - self.lowest
        if done < 0.05 or spent < 1.0:
            return ""
        return f"  about {clock(spent * (1.0 - share) / done)} left"

    def _draw(self, share: float | None, text: str) -> None:
        done = "#" * round(self.width * (share or 0.0))
        bar = "" if share is None else f"[{done.ljust(self.width, '.')}] "
        self.stream.write(f"\r\x1b[K{bar}{text}")
        self.stream.flush()

    def _erase(self) -> None:
        self.stream.write("\r\x1b[K")
        self.stream.flush()


@dataclass
class TqdmLine(ProgressLine):
    """The same as a bar of tqdm, which in a notebook is a widget."""

    bar: Any = field(default=None, repr=False)

    def _draw(self, share: float | None, text: str) -> None:
        if self.bar is None:
            self.bar = _new_bar(self.stream)
        if share is not None:
            self.bar.n = round(100.0 * share, 1)
        self.bar.set_postfix_str(text, refresh=False)
        self.bar.refresh()

    def _erase(self) -> None:
        self.bar.close()
        self.bar = None


def _new_bar(stream: TextIO) -> Any:
    with warnings.catch_warnings():
        # It warns where a notebook has no widgets, and then draws text.
        warnings.simplefilter("ignore")
        from tqdm.auto import tqdm

        form = "{percentage:3.0f}%|{bar:24}|{postfix}"
        return tqdm(total=100.0, file=stream, leave=False, bar_format=form)


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


def new_line() -> ProgressLine:
    """A line on standard error; drawn by tqdm where it is installed."""
    drawn_by_tqdm = importlib.util.find_spec("tqdm") is not None
    return TqdmLine(sys.stderr) if drawn_by_tqdm else ProgressLine(sys.stderr)


@contextmanager
def shown(progress: object) -> Iterator[ProgressLine | None]:
    """The line that ``progress`` asks for, if it is True or a line, during a run.

    It says once when kernels are compiled, and leaves that time out of its estimates. A line made
    here is erased at the end.
    """
    if not isinstance(progress, bool | ProgressLine) and not callable(progress):
        raise TypeError(f"progress must be True, False or a function, received {progress!r}.")
    line = new_line() if progress is True else progress
    if not isinstance(line, ProgressLine):
        yield None
    elif line.busy:
        yield line
    else:
        line.busy = True
        notice = "compiling, once per installation ..."
        try:
            with announced(lambda: line.note(notice), line.leave_out):
                yield line
        finally:
            line.busy = False
            if progress is True:
                line.clear()


def level_listener(
    line: ProgressLine | None,
    progress: object,
    on_check: Callable[[Level], object] | None,
    plan: Plan,
) -> Callable[[Level], object] | None:
    """The function to call after every lam: shows the progress, then calls ``on_check``."""
    callback = progress if line is None and callable(progress) else None
    if line is None and callback is None:
        return on_check

    def listen(level: Level) -> bool:
        if callback is not None:
            callback(level)
        elif line is not None:
            clusters = counted(level.n_clusters, "cluster")
            text = f"lam {level.lam:.4g}  {clusters}  gap {level.relative_gap:.1e}"
            line.show(plan.share(level.lam, level.n_clusters), text)
        return on_check is not None and bool(on_check(level))

    return listen


def certificate_listener(
    line: ProgressLine | None,
    progress: object,
    on_check: Callable[[int, Certificate], object] | None,
    *,
    lam: float,
    tol: float,
) -> Callable[[int, Certificate], object]:
    """The function to call at every certificate of a single lam."""
    callback = progress if line is None and callable(progress) else None
    first: list[float] = []

    def listen(n_iter: int, certificate: Certificate) -> bool:
        gap = certificate.relative_gap
        if callback is not None:
            callback(n_iter, certificate)
        elif line is not None:
            first.append(gap)
            text = f"lam {lam:.4g}  iteration {n_iter}  gap {gap:.1e}"
            line.show(_share_of_decades(first[0], gap, tol), text)
        return on_check is not None and bool(on_check(n_iter, certificate))

    return listen


def _share_of_decades(first: float, gap: float, tol: float) -> float:
    """How much of the way from the first gap to the tolerance is done, on a logarithmic scale."""
    least = max(tol, 1e-12)
    if gap <= least:
        return 1.0
    return math.log(first / gap) / math.log(first / least) if first > least else 0.0


def count_listener(
    line: ProgressLine | None, progress: object, total: int, noun: str
) -> Callable[[int], object]:
    """The function to call with the number of items done, of ``total``."""
    if line is not None:
        return lambda done: line.show(done / total, f"{done} of {counted(total, noun)}")
    return (lambda done: progress(done, total)) if callable(progress) else (lambda done: None)
