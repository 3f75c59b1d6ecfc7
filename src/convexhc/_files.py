"""Atomic writing of files, and locks: a failed write leaves the old file as it was."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


# Bytes of the random name of a partial file.
_RANDOM_BYTES = 8
_PARTIAL_NAME = f".{'[0-9a-f]' * 2 * _RANDOM_BYTES}.part"


class InUse(Exception):  # noqa: N818, not an error of the file
    """Another process holds the lock; the text says which."""


@contextmanager
def atomic_write(file: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Yield a stream to a new file in the same folder, which replaces ``file`` on success.

    The new file has a name that cannot be foreseen and is never opened through a link. An OSError,
    as of a full disk, names ``file``.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with atomic_write(folder / "a.txt") as stream:
    ...     size = stream.write(b"whole")
    >>> [file.name for file in folder.iterdir()]
    ['a.txt']
    """
    target = Path(file)
    partial = target.with_name(f".{secrets.token_hex(_RANDOM_BYTES)}.part")
    try:
        # Mode x fails if the name exists, also as a link.
        with partial.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(target)
    except OSError as error:
        raise type(error)(error.errno, error.strerror or str(error), str(target)) from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def write_bytes(file: str | os.PathLike[str], content: bytes) -> None:
    """Write a file atomically."""
    with atomic_write(file) as stream:
        stream.write(content)


def write_text(file: str | os.PathLike[str], text: str) -> None:
    """Write a text file in UTF-8, atomically and without translation of line ends."""
    write_bytes(file, text.encode("utf-8"))


def remove_partial(folder: Path) -> None:
    """Remove the partial files of processes that were killed while they wrote."""
    for partial in folder.glob(_PARTIAL_NAME):
        partial.unlink(missing_ok=True)


@contextmanager
def locked(file: str | os.PathLike[str]) -> Iterator[None]:
    """Lock a file; `InUse`, with what the holder wrote there, if another has it.

    The system releases the lock of a process that dies, however it dies, so that a file left behind
    locks nothing. File systems without locks are not locked.
    """
    descriptor = _acquire(Path(file))
    try:
        yield
    finally:
        # Removed before it is released: whoever opened it meanwhile finds it gone, and starts over.
        with suppress(OSError):
            os.unlink(file)
        os.close(descriptor)


def _acquire(file: Path) -> int:
    """Descriptor of the locked file."""
    while True:
        descriptor = _open(file)
        try:
            _lock(descriptor, wait=False)
            # The holder before us may have removed the file between open and lock.
            if _is_current(descriptor, file):
                os.ftruncate(descriptor, 0)
                os.write(descriptor, f"process {os.getpid()}".encode())
                return descriptor
        except BlockingIOError:
            holder = os.read(descriptor, 100).decode(errors="replace")
            os.close(descriptor)
            raise InUse(holder or "another process") from None
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _open(file: Path) -> int:
    return os.open(file, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)


def _lock(descriptor: int, *, wait: bool) -> None:
    """Lock a file, where that is possible; BlockingIOError if another process has the lock."""
    if fcntl is not None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            raise
        except OSError:
            # Some network file systems have no locks.
            return


def _is_current(descriptor: int, file: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(file))
    except FileNotFoundError:
        return False


@contextmanager
def turn_at(file: Path) -> Iterator[None]:
    """Wait until no other process is inside this context of the file, where files can be locked."""
    try:
        descriptor = _open(file)
    except OSError:
        yield
        return
    try:
        _lock(descriptor, wait=True)
        yield
    finally:
        os.close(descriptor)
