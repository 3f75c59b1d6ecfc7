"""A cohort of 50 graphs of 70 nodes: one worker, two workers, and two workers of a Dask cluster.

The three runs alternate, so that a busy machine slows all of them; compare the ratios of their
times. Results go to benchmarks/results/cohort.csv.

    python benchmarks/cohort.py [--graphs 50] [--rounds 3]
"""

from __future__ import annotations

import os

# Set before any library starts its threads; the workers inherit it.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import argparse
import sys
import time
from contextlib import ExitStack
from statistics import median

import joblib
import numpy as np
from record import keep, product_seconds, say, stamp

import convexhc
from convexhc.datasets import nested_blocks

WORKERS = 2
# The paper's problem on given similarities.
PAPER = {"similarity": "precomputed", "weights": None}


def dataset(count: int):
    """Similarities of random nested graphs of 70 nodes."""
    drawn = [nested_blocks((2, 5, 7), (0.02, 0.1, 0.9), random_state=k) for k in range(count)]
    return [convexhc.similarity.two_hop(graph.adjacency, shift=0.05) for graph in drawn]


def cluster(stack: ExitStack) -> None:
    from distributed import Client, LocalCluster

    local = LocalCluster(
        n_workers=WORKERS, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
    )
    stack.enter_context(local)
    stack.enter_context(Client(local))


def solved(graphs, backend: str):
    if backend == "dask":
        with joblib.parallel_config("dask"):
            return convexhc.solve_paths(graphs, **PAPER)
    return convexhc.solve_paths(graphs, n_jobs=1 if backend == "one" else WORKERS, **PAPER)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    graphs = dataset(options.graphs)
    seconds: dict[str, list[float]] = {"one": [], "two": [], "dask": []}
    with ExitStack() as stack:
        cluster(stack)
        partitions = {}
        for backend in seconds:
            # Workers start and compile before the timing.
            solved(graphs[: 2 * WORKERS], backend)
        for _ in range(options.rounds):
            for backend, times in seconds.items():
                begin = time.perf_counter()
                cohort = solved(graphs, backend)
                times.append(time.perf_counter() - begin)
                assert not cohort.failed
                partitions[backend] = [path.partitions for path in cohort.paths.values()]
    for backend in ("two", "dask"):
        for one, other in zip(partitions["one"], partitions[backend], strict=True):
            np.testing.assert_array_equal(one, other)
    rows = [
        {
            "workers": backend,
            "graphs": options.graphs,
            "seconds": median(times),
            "speed_up": median(a / b for a, b in zip(seconds["one"], times, strict=True)),
        }
        for backend, times in seconds.items()
    ]
    keep("cohort", rows, stamp(product_seconds(), rounds=options.rounds))
    for row in rows:
        say(row)
    return 0


if __name__ == "__main__":
    sys.exit(main())
