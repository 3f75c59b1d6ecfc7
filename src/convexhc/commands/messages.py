"""Output of a command: lines of text, and exceptions that end it with an exit code."""

from __future__ import annotations

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
    """Ctrl-C; the message says how to resume."""

    code = 130
