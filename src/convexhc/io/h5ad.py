"""Matrices in h5ad files, read by a process of their own (`h5ad_child`)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from convexhc._extras import required
from convexhc.io import h5ad_child
from convexhc.io.arrays import read_members, sparse_from
from convexhc.io.border import most_numbers


@dataclass(frozen=True)
class ChildLimits:
    """Limits of the process that reads the file."""

    # Time for the process to start and for a small file, in seconds.
    seconds: float = 50.0
    # Slowest disk that is waited for, in bytes a second.
    bytes_per_second: float = 1e6
    # Memory of the libraries.
    libraries_bytes: int = 2 * 10**9
    # Copies of an array while it is copied.
    copies: int = 3


SETTINGS = ChildLimits()


def read_h5ad(path: Path, key: str) -> tuple[Any, list[str]]:
    """The matrix ``obsp[key]`` and the names of the cells."""
    required("h5py", f"reading {path.name!r}", "anndata")
    size = path.stat().st_size
    most = most_numbers(size)
    memory = SETTINGS.libraries_bytes + SETTINGS.copies * 8 * most
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "copy.npz")
        arguments = [str(path), key, copy, str(most), str(memory)]
        _run_child(arguments, SETTINGS.seconds + size / SETTINGS.bytes_per_second)
        arrays = read_members(copy)
    names = json.loads(str(arrays.pop("names")))
    return arrays["dense"] if "dense" in arrays else sparse_from(arrays), names


def _run_child(arguments: list[str], seconds: float) -> None:
    # -P: the folder of the program is no place to import from. One thread of BLAS, because each
    # reserves memory.
    command = [sys.executable, "-P", h5ad_child.__file__, *arguments]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            command, env=environment, check=False, capture_output=True, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        raise ValueError(f"the HDF5 library was not done after {seconds:.0f} s") from None
    if done.returncode == h5ad_child.REFUSED:
        raise ValueError(done.stderr.decode(errors="replace"))
    if done.returncode != 0:
        raise ValueError(f"the HDF5 library crashed on it (exit code {done.returncode})")
