"""What a fit will take before it starts: the road it takes, memory and time."""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from convexhc._text import counted
from convexhc.commands.inputs import in_features
from convexhc.graph import Graph
from convexhc.kernels.threads import limited_threads
from convexhc.similarity.leaves import SETTINGS as LEAVES
from convexhc.similarity.leaves import has_leaves
from convexhc.similarity.spectral import N_FEATURES
from convexhc.solvers.memory import feature_path, features_of_large


@dataclass(frozen=True)
class CostModel:
    """Measured figures. `benchmarks/fit_cost.py` measures those of the default fit anew."""

    # Memory of the process before any graph is read, with its compiled kernels.
    process_bytes: int = 250_000_000
    # Multiscale weights per row: node or leaf.
    pairs_per_row: int = 22
    # Rows, and the seconds of CPU of a whole fit of so many, with its report.
    fit_seconds: tuple[tuple[int, float], ...] = (
        (34, 2.9),
        (196, 4.2),
        (500, 7.8),
        (1000, 13.8),
    )
    # Features, leaves and test for groups of a large graph, per node, beside a fit of its leaves.
    seconds_per_node: float = 5.8e-4
    # A product of two matrices of 1000 rows on the machine of the benchmarks.
    product_seconds: float = 0.04
    # Nodes from which a path of the paper's problem takes minutes.
    slow_nodes: int = 1000
    # Iterations of a path of the paper's problem, if nodes fuse early and if they fuse late.
    min_iterations: int = 500
    max_iterations: int = 4000


COSTS = CostModel()


def road(options: Namespace, n: int) -> str:
    """How a fit of n nodes proceeds, and what is faster if it takes long.

    Examples
    --------
    >>> options = Namespace(weights="multiscale", space="auto", similarity="graph", shift=None)
    >>> road(options, 100)
    'in feature space, from 100 single nodes'
    """
    descending = getattr(options, "max_clusters", None) is not None
    if in_features(options):
        large = _by_graph(options) and has_leaves(n)
        start = f"about {LEAVES.n_leaves} leaves" if large else counted(n, "single node")
        return f"in feature space, {'from above, down to' if descending else 'from'} {start}"
    start = "from above" if descending else f"from {counted(n, 'single node')}"
    if n < COSTS.slow_nodes:
        return f"the paper's problem, {start}"
    above = "" if descending else "--max-clusters 50 (from above) or "
    return f"the paper's problem, {start}; faster: {above}--space features"


def feature_cost(options: Namespace, graph: Graph) -> tuple[int, float]:
    """Peak memory in bytes and seconds of a fit in feature space, without compilation.

    Measured on other graphs, and scaled by the speed of a matrix product now.
    """
    n, cost = graph.n, COSTS
    large = _by_graph(options) and has_leaves(n)
    rows = LEAVES.n_leaves if large else n
    memory = cost.process_bytes + feature_path(rows, cost.pairs_per_row * rows, N_FEATURES)
    seconds = seconds_of_rows(rows)
    if large:
        memory += features_of_large(n, graph.n_edges, N_FEATURES)
        seconds += cost.seconds_per_node * n
    return memory, seconds * product_seconds() / cost.product_seconds


def seconds_of_rows(rows: int, measured: Sequence[tuple[int, float]] = COSTS.fit_seconds) -> float:
    """Seconds of a fit of so many rows, on the machine of the benchmarks.

    Between two measured numbers of rows, and beyond the largest, a power of the number.

    Examples
    --------
    >>> seconds_of_rows(300, [(100, 2.0), (200, 4.0)])
    6.0
    """
    known, seconds = np.log(np.array(measured).T)
    slope = (seconds[-1] - seconds[-2]) / (known[-1] - known[-2])
    beyond = max(0.0, float(np.log(rows) - known[-1]))
    return float(np.exp(np.interp(np.log(rows), known, seconds) + slope * beyond))


def _by_graph(options: Namespace) -> bool:
    """Whether the graph determines features and weights: only then there are leaves."""
    return options.similarity == "graph" and options.shift is None


def product_seconds() -> float:
    """CPU seconds of a product of two matrices of 1000 rows, on one thread: best of three."""
    factor, found = np.ones((1000, 1000)), []
    with limited_threads(1):
        for _ in range(3):
            began = time.process_time()
            factor @ factor
            found.append(time.process_time() - began)
    return min(found)
