"""How a command speaks: lines to the user, and the ways in which it can end before its end."""

from __future__ import annotations

from collections.abc import Callable

Say = Callable[[str], None]


class Ending(Exception):  # noqa: N818, it is an answer and no failure of the program
    """A command ends here: the text is for the user, `code` is the exit code."""

    code = 1


class Failure(Ending):
    """The input was sound and the computation failed."""


class Refusal(Ending):
    """Bad usage or bad input."""

    code = 2


class Interruption(Ending):
    """Ctrl-C, with what is left and how to go on."""

    code = 130
