"""The command line: ``convexhc demo | fit | cohort | cut | plot | export | report | info``."""

from __future__ import annotations

import argparse
import io
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from convexhc.commands.arguments import build_parser
from convexhc.commands.messages import Ending, Terminated, exit_code, in_options
from convexhc.progress_line import new_line

# Options of earlier versions, and their new names.
RENAMED = {
    "--neighbors": "--weights",
    "--min-size": "--min-cluster-size",
    "--gamma": "--shift",
    "--resolution": "--lam-step",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    parser = build_parser()
    for old in RENAMED.keys() & {word.split("=")[0] for word in given}:
        parser.error(f"{old} is now {RENAMED[old]}")
    options = parser.parse_args(given)
    options.given = given
    return run_command(options)


def run_command(options: argparse.Namespace) -> int:
    """Call ``options.run``; an exception becomes a line on standard error and an exit code."""
    quiet, as_json = getattr(options, "quiet", False), getattr(options, "json", False)
    progress = new_line()
    progress.quiet = quiet
    try:
        with _warnings_in_one_line(), _terminated_like_ctrl_c():
            options.run(options, _speaker(quiet and not as_json), progress)
            return 0
    except BrokenPipeError:
        # The reader of our output has closed the pipe; flushing at exit must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (Ending, KeyboardInterrupt, *EXPECTED) as error:
        progress.clear()
        text, code = _ending(error)
        print(f"convexhc: {text}", file=sys.stderr)
        return code


# Any other exception is a bug, and is shown with its traceback.
EXPECTED = (ValueError, TypeError, MemoryError, OSError, ImportError)


def _ending(error: BaseException) -> tuple[str, int]:
    """Message and exit code of an exception."""
    if isinstance(error, Ending):
        return in_options(error), error.code
    if isinstance(error, KeyboardInterrupt):
        return "interrupted", exit_code(error)
    failed = isinstance(error, MemoryError | np.linalg.LinAlgError)
    return in_options(error), 1 if failed else 2


@contextmanager
def _terminated_like_ctrl_c() -> Iterator[None]:
    """Raise an exception on SIGTERM, so that a run ends as on Ctrl-C."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise Terminated

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before or signal.SIG_DFL)


def _speaker(quiet: bool) -> Callable[[str], None]:
    # A file name may hold bytes that are no characters.
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")
    return (lambda text: None) if quiet else print


@contextmanager
def _warnings_in_one_line() -> Iterator[None]:
    """Print warnings in one line, without the line of code they come from."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda text, *_: print(
            f"convexhc: warning: {in_options(text)}", file=sys.stderr
        )
        yield


if __name__ == "__main__":
    sys.exit(main())
