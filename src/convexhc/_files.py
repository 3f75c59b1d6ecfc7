"""Atomic writing of files: a failed write leaves the old file as it was."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_write(file: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary file in the same folder, and rename it over ``file`` on success.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with atomic_write(folder / "a.txt") as partial:
    ...     size = partial.write_text("whole")
    >>> [file.name for file in folder.iterdir()]
    ['a.txt']
    """
    target = Path(file)
    partial = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        yield partial
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def write_bytes(file: str | os.PathLike[str], content: bytes) -> None:
    """Write a file atomically."""
    with atomic_write(file) as partial:
        partial.write_bytes(content)


def write_text(file: str | os.PathLike[str], text: str) -> None:
    """Write a text file in UTF-8, atomically."""
    with atomic_write(file) as partial:
        partial.write_text(text, encoding="utf-8")
