"""Settings and fixtures shared by all tests."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]


def numba_cache_folder() -> Path:
    """Folder for compiled kernels, one per version of their source, shared by the test workers.

    Numba checks only the file of a kernel, not the kernels it calls, so it would miss an edit of a
    callee.
    """
    sources = sorted((ROOT / "src" / "convexhc" / "kernels").glob("*.py"))
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources))
    return ROOT / ".cache" / "numba" / digest.hexdigest()[:12]


# Both are read when numba and matplotlib are first imported, so they are set here.
os.environ["NUMBA_CACHE_DIR"] = str(numba_cache_folder())
os.environ["MPLBACKEND"] = "Agg"

# The default draws the same examples on every run, so that failures are reproducible;
# `pytest --hypothesis-profile=thorough` draws more examples, and others each time.
settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=30)
settings.register_profile("thorough", deadline=None, max_examples=500)
settings.load_profile("repeatable")


@pytest.fixture(params=["numpy", "compiled"], scope="module")
def version(request: pytest.FixtureRequest) -> Iterator[str]:
    """Both versions of passes that small problems leave to numpy: laws hold for either."""
    from convexhc.kernels import compile

    with pytest.MonkeyPatch.context() as patch:
        if request.param == "compiled":
            patch.setattr(compile, "_FEW_ENTRIES", 0)
        else:
            patch.setattr(compile, "_is_compiled", lambda kernel: False)
        yield request.param


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Folder of the real data sets, which are not part of the project."""
    chosen = os.environ.get("CONVEXHC_DATA")
    folder = Path(chosen) if chosen else ROOT.parent / "shared" / "data"
    if folder.is_dir():
        return folder
    if chosen:
        pytest.fail(f"CONVEXHC_DATA names {chosen}, which is not a folder.")
    pytest.skip("no real data here: set CONVEXHC_DATA to the folder that holds it")


@pytest.fixture(autouse=True)
def _marked_data(request: pytest.FixtureRequest) -> None:
    """Skip a test marked `data` if the folder is missing, even if it does not use the fixture."""
    if request.node.get_closest_marker("data"):
        request.getfixturevalue("data_dir")
