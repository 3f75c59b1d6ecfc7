"""A cohort with poisoned graphs, some of which kill the worker that reads them.

    PYTHONPATH=tests python -m fuzz.cohort --graphs 500
    PYTHONPATH=tests python -m fuzz.cohort --graphs 500 --dask

Every sound graph must be solved, as it is alone, and every poisoned one must be reported.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Hashable, Iterator
from contextlib import ExitStack
from typing import Any

import joblib
import numpy as np

import convexhc

# One graph of so many is poisoned, and one of these in so many kills its worker.
POISONED, DEADLY = 5, 10
OPTIONS: dict[str, Any] = {"similarity": "two_hop", "lambdas": 4, "test_structure": False}


class Deadly(list[Any]):
    """A list of edges that ends any process that reads it but the one that made it."""

    home = 0

    def __iter__(self) -> Iterator[Any]:
        if os.getpid() != self.home:
            os._exit(1)
        return super().__iter__()


def deadly(kind: type[Deadly]) -> Deadly:
    """Such a list, made by this process."""
    edges = kind([("a", "b", 1.0), ("b", "c", 1.0)])
    edges.home = os.getpid()
    return edges


class DeadlyOnArrival(Deadly):
    """The same, but at the moment at which the worker receives it."""

    def __reduce__(self) -> Any:
        return os._exit, (1,)


def sound(rng: np.random.Generator) -> np.ndarray:
    """A small weighted graph."""
    n = int(rng.integers(5, 12))
    W = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.6), 1)
    return W + W.T


def poisoned(number: int, rng: np.random.Generator) -> Any:
    """Not a number, negative weights, a wrong shape, other types, asymmetric, or deadly."""
    W = sound(rng)
    bad: list[Any] = [np.full_like(W, np.nan), -W - 0.1, W[:-1], "no such file", None]
    bad += [np.triu(W + 1.0), np.full((3, 3), np.inf), np.zeros((0, 0))]
    bad += [deadly(Deadly), deadly(DeadlyOnArrival)]
    return bad[number % DEADLY]


def cohort(count: int, seed: int, *, arrive: bool = True) -> dict[Hashable, Any]:
    """So many graphs; the names of the poisoned ones begin with "bad".

    Those that kill on arrival are left out if they do not ``arrive``: a local cluster of Dask
    unpacks graphs in the calling process, too.
    """
    rng, graphs = np.random.default_rng(seed), dict[Hashable, Any]()
    for number in range(count):
        if number % POISONED:
            graphs[f"good {number}"] = sound(rng)
        else:
            graph = poisoned(number // POISONED, rng)
            if arrive or not isinstance(graph, DeadlyOnArrival):
                graphs[f"bad {number}"] = graph
    return graphs


def faults(graphs: dict[Hashable, Any], found: convexhc.Cohort, sample: int) -> list[str]:
    """What is wrong with the outcome; a sample of the paths is compared with single solves."""
    wrong = [f"{name} failed: {error}" for name, error in found.failed.items() if "good" in name]
    wrong += [f"{name} was solved" for name in found.paths if "bad" in name]
    wrong += [f"{name} is missing" for name in graphs if name not in found.paths | found.failed]
    for name in list(found.paths)[:: max(1, len(found.paths) // sample)]:
        alone = convexhc.cluster(graphs[name], **OPTIONS)
        same = [one.labels.tolist() for one in alone.levels] == [
            one.labels.tolist() for one in found.paths[name].levels
        ]
        wrong += [] if same else [f"{name} differs"]
    return wrong


def run(arguments: argparse.Namespace) -> int:
    """Solve a cohort on joblib or on a local Dask cluster; 1 if anything is wrong."""
    graphs = cohort(arguments.graphs, arguments.seed, arrive=not arguments.dask)
    began = time.monotonic()
    with ExitStack() as context:
        if arguments.dask:
            import dask
            import distributed

            # A worker that takes long to restart on a busy machine is not given up.
            context.enter_context(dask.config.set({"distributed.deploy.lost-worker-timeout": 600}))
            cluster = distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None)
            context.enter_context(distributed.Client(context.enter_context(cluster)))
            context.enter_context(joblib.parallel_config("dask"))
        found = convexhc.solve_paths(graphs, n_jobs=None if arguments.dask else 2, **OPTIONS)
    seconds = time.monotonic() - began
    wrong = faults(graphs, found, 20)
    killed = sum("two workers died" in error for error in found.failed.values())
    print(f"{len(graphs)} graphs, {len(found.paths)} solved, {len(found.failed)} reported,")
    print(f"{killed} of them after two workers died; {seconds:.0f} s")
    print("\n".join(wrong) or "nothing wrong")
    return 1 if wrong else 0


def parser() -> argparse.ArgumentParser:
    described = argparse.ArgumentParser(description="A cohort with poisoned graphs.")
    described.add_argument("--graphs", type=int, default=500)
    described.add_argument("--seed", type=int, default=0)
    described.add_argument("--dask", action="store_true", help="on a local Dask cluster")
    return described


if __name__ == "__main__":
    sys.exit(run(parser().parse_args()))
