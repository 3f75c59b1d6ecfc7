"""Support of the 196-node fractal graph: 100 resamples with one worker and with two.

The two runs alternate, so that a busy machine slows both; compare the ratio of their times. Every
run with two workers starts them anew, as a command does. Results go to
benchmarks/results/support.csv; two rounds take about four minutes on an idle machine.

    python benchmarks/support.py [--resamples 100] [--rounds 2]
"""

from __future__ import annotations

import os

# Set before any library starts its threads; the workers inherit it.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import argparse
import sys
import time
from statistics import median

import numpy as np
from joblib.externals.loky import get_reusable_executor
from record import keep, product_seconds, say, stamp

import convexhc
from convexhc.datasets import fractal_graph

WORKERS = (1, 2)


def timed(path: convexhc.Path, n_resamples: int, n_jobs: int) -> tuple[float, convexhc.Support]:
    """Seconds and result, from the start of the workers to their end."""
    begin = time.perf_counter()
    found = path.support(n_resamples=n_resamples, random_state=0, n_jobs=n_jobs)
    if n_jobs > 1:
        get_reusable_executor().shutdown(wait=True)
    return time.perf_counter() - begin, found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--resamples", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    path = convexhc.cluster(fractal_graph().adjacency)
    # The first call compiles what is not in the cache yet.
    timed(path, 2, 1)
    seconds: dict[int, list[float]] = {count: [] for count in WORKERS}
    share = {}
    for _ in range(options.rounds):
        for count in WORKERS:
            elapsed, found = timed(path, options.resamples, count)
            seconds[count].append(elapsed)
            share[count] = found.share
            say({"workers": count, "seconds": elapsed})
    np.testing.assert_array_equal(share[1], share[2])
    rows = [
        {
            "workers": count,
            "resamples": options.resamples,
            "seconds": median(times),
            "speed_up": median(a / b for a, b in zip(seconds[1], times, strict=True)),
        }
        for count, times in seconds.items()
    ]
    keep("support", rows, stamp(product_seconds(), rounds=options.rounds))
    for row in rows:
        say(row)
    return 0


if __name__ == "__main__":
    sys.exit(main())
