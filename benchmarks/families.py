"""Paths from above on families of graphs of about the same size.

    python benchmarks/families.py [--nodes 1000] [--only tree grid] [--seconds 300]

Every family in a process of its own, on one thread, up to 50 clusters at a tolerance of 1e-3. One
that takes longer is ended, and its row says how far it came. Results go to
benchmarks/results/families.csv.
"""

from __future__ import annotations

import os

# Set before any library starts its threads.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable

import networkx as nx
import numpy as np
from fit_cost import lfr
from paths import neighbours
from record import Row, keep, peak_megabytes, product_seconds, say, stamp
from scipy.sparse import csr_array

import convexhc
from convexhc.similarity import Similarity, diffusion, knn, two_hop


def _adjacency(graph: nx.Graph) -> csr_array:
    return csr_array(nx.to_scipy_sparse_array(graph, format="csr", dtype=float))


def _grid(n: int) -> Similarity:
    side = round(n**0.5)
    return two_hop(_adjacency(nx.grid_2d_graph(side, side)))


def _ten_dimensions(n: int) -> Similarity:
    from sklearn.datasets import make_blobs

    X, _ = make_blobs(n, n_features=10, centers=20, cluster_std=1.5, random_state=0)
    return knn(X, n_neighbors=10, shift="auto")


def _blocks(n: int) -> Similarity:
    p = np.full((10, 10), 0.005) + 0.095 * np.eye(10)
    return diffusion(_adjacency(nx.stochastic_block_model([n // 10] * 10, p.tolist(), seed=0)))


FAMILIES: dict[str, Callable[[int], Similarity]] = {
    "tree, two hops": lambda n: two_hop(_adjacency(nx.random_labeled_tree(n, seed=0))),
    "grid, two hops": _grid,
    "neighbours in three dimensions": neighbours,
    "neighbours in ten dimensions": _ten_dimensions,
    "heavy tails, two hops": lambda n: two_hop(_adjacency(nx.barabasi_albert_graph(n, 3, seed=0))),
    "LFR, two hops": lambda n: two_hop(lfr(n)),
    "block model, diffusion": _blocks,
}


def measure(name: str, n: int) -> None:
    """Print a row after every lam, the last of which is that of the whole path."""
    K = FAMILIES[name](n)
    convexhc.solve_path(neighbours(60), max_clusters=5)
    began = time.process_time()

    def row(done: bool, clusters: int) -> None:
        taken = {"family": name, "nodes": n, "seconds": time.process_time() - began}
        taken |= {"clusters": clusters, "megabytes": peak_megabytes(), "done": done}
        print(json.dumps(taken), flush=True)

    path = convexhc.solve_path(
        K,
        max_clusters=50,
        tol=1e-3,
        keep="labels",
        on_check=lambda level: row(False, level.n_clusters),
    )
    row(True, int(path.n_clusters.max()))


def in_a_process(name: str, n: int, seconds: float) -> Row:
    """The last row that a process printed within so many seconds by the clock."""
    command = [sys.executable, __file__, "--one", name, "--nodes", str(n)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
        lines = done.stdout.splitlines()
        if done.returncode:
            return {"family": name, "nodes": n, "failed": done.stderr.splitlines()[-1]}
    except subprocess.TimeoutExpired as ended:
        lines = (ended.stdout or b"").decode().splitlines()
    if not lines:
        return {"family": name, "nodes": n, "seconds": seconds, "done": False}
    return dict(json.loads(lines[-1]))


def main() -> int:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--only", nargs="*", default=[""], help="families with such a name")
    parser.add_argument("--seconds", type=float, default=300.0, help="limit for each, by the clock")
    parser.add_argument("--one", choices=FAMILIES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one is not None:
        measure(options.one, options.nodes)
        return 0
    rows = []
    for name in FAMILIES:
        if any(part in name for part in options.only):
            rows.append(in_a_process(name, options.nodes, options.seconds))
            say(rows[-1])
    keep("families", rows, stamp(product_seconds()), key=["family", "nodes"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
