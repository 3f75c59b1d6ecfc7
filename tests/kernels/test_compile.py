"""Kernels are compiled with or without a cache, and compiling is announced."""

from __future__ import annotations

import io
import subprocess
import sys

import numpy as np
import pytest
from numba import njit

from convexhc.kernels.compile import announced, compiled
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
        "from convexhc.kernels.components import components\n"
        "import numpy as np\n"
        "print(components(3, np.array([0]), np.array([2]), np.array([True])))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.stdout == "[0 1 0]\n", done.stderr


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
