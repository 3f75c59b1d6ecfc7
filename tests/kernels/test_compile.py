"""Kernels are compiled with or without a cache, and compiling is announced."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import njit

from convexhc._files import turn_at
from convexhc.kernels.compile import announced, blocks, compiled
from convexhc.progress_line import ProgressLine, shown


def test_kernel_without_a_place_for_its_cache():
    """Code from a string has no file, so numba finds no folder for its cache."""
    scope = {"compiled": compiled}
    exec("@compiled()\ndef double(x):\n    return 2.0 * x", scope)
    assert scope["double"](1.5) == 3.0


def test_import_where_no_folder_can_be_written(tmp_path):
    """As for a user without a home folder, with the package installed by somebody else."""
    code = (
        "import numba.core.caching as caching\n"
        "def unwritable(*_): raise OSError('read-only')\n"
        "caching._CacheLocator.ensure_cache_path = unwritable\n"
        "from convexhc.kernels.simplex import project_rows\n"
        "print(project_rows([[2.0, 0.0]])[0])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.stdout == "[[1. 0.]]\n", done.stderr


def test_a_kernel_is_compiled_by_one_process_at_a_time():
    """Its lock is held while it is compiled, whatever the type of its argument, and then free."""
    fcntl = pytest.importorskip("fcntl")
    locks = Path(_one_more.stats.cache_path, f"{__name__}._one_more.lock")
    held = []

    def probe():
        with open(locks) as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False

    for argument in (1, 1.5):
        with announced(lambda: held.append(probe())):
            assert _one_more(argument) == argument + 1
        assert not probe()
    # Nothing is compiled if an earlier run has left both in the cache.
    assert all(held)


@compiled()
def _one_more(x):
    return x + 1


@pytest.mark.parametrize("place", ["lock", "missing/lock"])
def test_where_no_lock_can_be_made_nobody_waits(tmp_path, place):
    with turn_at(tmp_path / place):
        assert (tmp_path / place).exists() == (place == "lock")


def test_blocks_cover_every_row_once():
    for shape, least in (((5, 7000), 1), ((5, 7000), 2), ((0, 3), 1), ((40_000, 2), 1)):
        rows = [i for some in blocks(shape, least=least) for i in range(shape[0])[some]]
        assert rows == list(range(shape[0]))


def test_compiling_is_announced_once():
    said = []

    @njit
    def one(x):
        return x + 1

    with announced(lambda: said.append("compiling")):
        assert one(1) == 2
        assert one(1.5) == 2.5
    one(np.complex128(1j))
    assert said == ["compiling"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("quiet", [False, True])
def test_progress_line_says_that_kernels_are_compiled(quiet):
    stream = Terminal()

    @njit
    def one(x):
        return x + 1

    with shown(ProgressLine(stream, quiet=quiet)):
        one(1)
    assert ("compiling" in stream.getvalue()) is not quiet
