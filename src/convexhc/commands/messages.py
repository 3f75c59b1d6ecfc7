"""What a command says: lines of text, its ending with an exit code, errors in its own words."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from convexhc.progress_line import ProgressLine
from convexhc.similarity.definite import NotPositiveSemidefiniteError

Say = Callable[[str], None]

# Options of the command line that are arguments of the library, by the name of the argument.
_NAMES = (
    "by|l1_ratio|lam_step|lambdas|max_clusters|max_iter|method|min_cluster_size|n_clusters|n_jobs|"
    "shift|similarity|space|symmetrize|tol|weights"
)
# With a value, name='value'; as an ordinary word only where it cannot be prose.
_WITH_VALUE = re.compile(rf"\b({_NAMES})=('?)([\w.-]+)\2")
_ALONE = re.compile(
    r"(?<![\w-])(l1_ratio|lam_step|max_clusters|max_iter|min_cluster_size|n_clusters)\b"
)
_SUBJECT = re.compile(rf"^({_NAMES})(?= must be )|\b(loosen|raise) (tol)\b")
_COLUMNS = re.compile(r"\bpass columns=\(([^()]*)\)|\bcolumns=(?:\(([^()]*)\)|\.\.\.)")
# What the library advises, and what to do here.
_PHRASES = (
    ("with --symmetrize mean, 'max' or 'min'", "with --symmetrize mean, max or min"),
    ("Pass --symmetrize mean, 'max' or 'min'", "Give --symmetrize mean, max or min"),
    (", or leave names out", ""),
    ("for points in space use similarity.knn", "for points use Python: similarity.knn"),
)


class Ending(Exception):  # noqa: N818, not every ending is an error
    """End of a command: a message for the user, and `code`, the exit code."""

    code = 1


class Failure(Ending):
    """The input was valid, but the computation failed."""


class Refusal(Ending):
    """Wrong usage or invalid input."""

    code = 2


class Interruption(Ending):
    """Ctrl-C, or an order to terminate; the message says how to resume."""

    def __init__(self, text: str, stop: KeyboardInterrupt) -> None:
        super().__init__(text)
        self.code = exit_code(stop)


@contextmanager
def resumable(progress: ProgressLine, advice: Callable[[], str]) -> Iterator[None]:
    """End a run that is interrupted, or cannot write, with advice on how to go on."""
    try:
        yield
    except KeyboardInterrupt as stop:
        raise Interruption(f"interrupted{advice()}", stop) from None
    except OSError as error:
        raise Failure(f"{error}; stopped{advice()}") from error
    finally:
        progress.clear()


class Terminated(KeyboardInterrupt):
    """SIGTERM, as job schedulers send it: handled as Ctrl-C is."""


def exit_code(stop: KeyboardInterrupt) -> int:
    """128 plus the number of the signal, as shells have it."""
    return 128 + (signal.SIGTERM if isinstance(stop, Terminated) else signal.SIGINT)


def in_options(message: object) -> str:
    """The text of an error or a warning, with options instead of arguments.

    Examples
    --------
    >>> in_options(ValueError("lam_step must be above 0"))
    '--lam-step must be above 0'
    >>> in_options("not solved to tol=0.01: raise max_iter or loosen tol.")
    'not solved to --tol 0.01: raise --max-iter or loosen --tol.'
    """
    # A refusal was raised from the error it words.
    cause = message.__cause__ if isinstance(message, BaseException) else None
    for error in (message, cause):
        if isinstance(error, NotPositiveSemidefiniteError):
            advice = "if it is a similarity, give --shift auto; if it is a graph,"
            if error.zero_diagonal:
                advice = "its diagonal is zero, as that of a graph:"
            return f"{error.finding}: {advice} leave --similarity out."
    text = _WITH_VALUE.sub(lambda found: f"{_option(found[1])} {found[3]}", str(message))
    text = _ALONE.sub(lambda found: _option(found[1]), text)
    text = _SUBJECT.sub(
        lambda found: _option(found[1]) if found[1] else f"{found[2]} {_option(found[3])}", text
    )
    text = _COLUMNS.sub(_columns, text)
    for ours, theirs in _PHRASES:
        text = text.replace(ours, theirs)
    return text


def _columns(found: re.Match[str]) -> str:
    """The option --columns for the argument columns=... of a message."""
    words = (found[1] or found[2] or "'A', 'B'").replace("'", "").replace(", ", ",")
    return f"{'give ' if found[1] else ''}--columns {words}"


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
