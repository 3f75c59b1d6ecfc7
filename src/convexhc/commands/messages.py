"""Output of a command: lines of text, and exceptions that end it with an exit code."""

from __future__ import annotations

import signal
from collections.abc import Callable

Say = Callable[[str], None]


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


class Terminated(KeyboardInterrupt):
    """SIGTERM, as job schedulers send it: handled as Ctrl-C is."""


def exit_code(stop: KeyboardInterrupt) -> int:
    """128 plus the number of the signal, as shells have it."""
    return 128 + (signal.SIGTERM if isinstance(stop, Terminated) else signal.SIGINT)
