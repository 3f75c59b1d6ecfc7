"""Shared by the benchmarks: unit of time, provenance, peak memory, result files."""

from __future__ import annotations

import csv
import json
import os
import platform
import resource
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import convexhc

RESULTS = Path(__file__).resolve().parent / "results"

Row = dict[str, object]


def product_seconds() -> float:
    """Unit of time: the best of five 1000 x 1000 float64 products on this machine, now."""
    A = np.random.default_rng(0).random((1000, 1000))
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        A @ A
        times.append(time.perf_counter() - begin)
    return min(times)


def stamp(unit: float, **more: object) -> Row:
    """Machine and versions of a measurement."""
    return {
        "convexhc": convexhc.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "threads": os.environ.get("NUMBA_NUM_THREADS"),
        "matrix_product_seconds": unit,
        "date": time.strftime("%Y-%m-%d"),
        **more,
    }


def peak_megabytes() -> float:
    """Largest resident size of this process so far.

    On Linux children inherit the peak of `getrusage` from their parent, so the status file of the
    process is read instead.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def keep(name: str, rows: Sequence[Row], said: Row, *, key: Sequence[str] = ()) -> None:
    """Write rows to ``name``.csv and the stamp to ``name``.json.

    With a ``key``, rows of the file whose key differs from all new ones are kept, so that sizes can
    be measured one at a time.
    """
    RESULTS.mkdir(exist_ok=True)
    file, kept = RESULTS / f"{name}.csv", []
    if key and file.exists():
        fresh = {tuple(str(row[part]) for part in key) for row in rows}
        with file.open(newline="") as stream:
            for row in csv.DictReader(stream):
                if tuple(row.get(part) for part in key) not in fresh:
                    kept.append(row)
    every = [*kept, *rows]
    with file.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(dict.fromkeys(part for row in every for part in row)))
        writer.writeheader()
        writer.writerows(every)
    (RESULTS / f"{name}.json").write_text(json.dumps(said, indent=2) + "\n")


def say(row: Row, *, without: Sequence[str] = ()) -> None:
    """Print a row on one line."""
    words = []
    for name, value in row.items():
        if name not in without:
            words.append(f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}")
    print("  ".join(words), flush=True)
