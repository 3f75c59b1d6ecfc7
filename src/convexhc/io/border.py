"""The border that all readers share: what goes wrong with a file is one line that names it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

# Longest reason quoted from another library, in characters.
_LONGEST_REASON = 300
# Errors that say enough: the file or a library is not there, or may not be read.
_CLEAR = (FileNotFoundError, PermissionError, IsADirectoryError, ImportError)

# A file may declare this many numbers, 1 GB as float64, whatever its own size.
_ALWAYS_NUMBERS = 2**27
# More only up to this many per byte of the file: then nearly all of them would be equal.
_NUMBERS_PER_BYTE = 12
# A file may declare this many nodes, whatever its size; more only up to one per byte.
_ALWAYS_NODES = 1_000_000


@contextmanager
def border(
    file: str | os.PathLike[str], kind: str, *, ours: tuple[type[Exception], ...] = ()
) -> Iterator[None]:
    """Turn any error into a ValueError ``FILE: not a valid KIND: reason``.

    Errors of the types ``ours`` are about valid files with invalid content: they keep their text
    and, if TypeErrors, their type, after the name of the file. A lack of memory stays a
    MemoryError, and a missing file an OSError.

    Examples
    --------
    >>> with border("graph.gml", "GML file"):
    ...     raise IndexError("list index out of range")
    Traceback (most recent call last):
    ...
    ValueError: graph.gml: not a valid GML file: list index out of range
    """
    try:
        yield
    except _CLEAR:
        raise
    except MemoryError as error:
        raise MemoryError(f"{file}: not enough memory to read it. {one_line(error)}") from error
    except ours as error:
        made = TypeError if isinstance(error, TypeError) else ValueError
        raise made(f"{file}: {error}") from error
    except Exception as error:
        raise ValueError(f"{file}: not a valid {kind}: {one_line(error)}") from error


def one_line(error: BaseException) -> str:
    """The text of an error in one line of bounded length, or its type if it has no text."""
    text = " ".join(str(error).split()) or type(error).__name__
    # The text of a KeyError is only the key.
    text = f"{text} is missing" if isinstance(error, KeyError) else text
    return text if len(text) <= _LONGEST_REASON else text[:_LONGEST_REASON] + " ..."


def most_numbers(n_bytes: int) -> int:
    """The most numbers that a file of this many bytes may declare."""
    return max(_ALWAYS_NUMBERS, _NUMBERS_PER_BYTE * n_bytes)


def check_numbers(declared: int, n_bytes: int) -> None:
    """Refuse more numbers than this many bytes can sensibly hold, before memory is taken.

    Examples
    --------
    >>> check_numbers(10**12, 76)
    Traceback (most recent call last):
    ...
    ValueError: it declares 1000000000000 numbers in 76 bytes; save a sparse matrix instead
    """
    if declared > most_numbers(n_bytes):
        raise ValueError(
            f"it declares {declared} numbers in {n_bytes} bytes; save a sparse matrix instead"
        )


def check_nodes(declared: int, n_bytes: int) -> None:
    """Refuse more nodes than this many bytes can sensibly hold, before memory is taken."""
    if declared > max(_ALWAYS_NODES, n_bytes):
        raise ValueError(
            f"it declares {declared} nodes in {n_bytes} bytes; leave out nodes without edges"
        )
