"""CPU time of this checkout over that of another one, on the same inputs.

    python benchmarks/side_by_side.py --base OTHER/src [--only path points] [--rounds 3]

Every workload runs in a process of its own, the two checkouts in turn and in alternating order, on
one thread and with compiled kernels. The table has the least CPU time of each and their ratio.
Results go to benchmarks/results/side_by_side.csv.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from paths import neighbours
from record import RESULTS, Row, say
from scipy.sparse import csr_array, save_npz

import convexhc

HERE = Path(__file__).resolve().parents[1] / "src"
# Inputs are files and calls use names that old versions know, so that any two can be compared.
CODE = """
import sys
from time import process_time
import numpy as np, scipy.sparse as sp
import convexhc
def read(file):
    return np.load(file) if file.endswith(".npy") else sp.csr_array(sp.load_npz(file))
def call(K):
    return {call}
small, K = (read(file) for file in sys.argv[1:3])
call(small)
began = process_time()
call(K)
print(process_time() - began)
"""


class Workload(NamedTuple):
    """An expression of K, and two K for it: one to compile its kernels, one to measure.

    Kernels depend on the size, so the first is not much smaller.
    """

    call: str
    small: csr_array | np.ndarray
    large: csr_array | np.ndarray


def _sparse(similarity: convexhc.similarity.Similarity) -> csr_array:
    return csr_array(similarity.graph.matrix())


def _moons(n: int) -> np.ndarray:
    from sklearn.datasets import make_moons

    return make_moons(n, noise=0.06, random_state=0)[0]


def workloads() -> dict[str, Callable[[], Workload]]:
    """The workloads by name; inputs are made when asked for."""
    fractal = convexhc.datasets.fractal_graph

    def paper() -> tuple[csr_array, csr_array]:
        K = _sparse(convexhc.similarity.two_hop(fractal(0).adjacency))
        return K, K

    def graphs() -> tuple[csr_array, csr_array]:
        A = csr_array(fractal(0).adjacency)
        return A, A

    def near(n: int) -> tuple[csr_array, csr_array]:
        return _sparse(neighbours(150)), _sparse(neighbours(n))

    solves = {
        f"solve {method} lam {lam:g}": (
            lambda method=method, lam=lam: Workload(
                f"[convexhc.solve(K, {lam}, method={method!r}) for _ in range(3)]", *paper()
            )
        )
        for method in ("auto", "primal_dual", "dual_fista")
        for lam in (0.1, 0.5, 1.0, 3.0)
    }
    square = np.random.default_rng(0).random((800, 800))
    grid = "np.geomspace(0.01, 12.0, 50)"
    return solves | {
        "path of 50 lam": lambda: Workload(f"convexhc.solve_path(K, {grid})", *paper()),
        "path found": lambda: Workload("convexhc.solve_path(K)", *paper()),
        "path 300 neighbours": lambda: Workload(
            "convexhc.solve_path(K, keep='labels')", *near(300)
        ),
        "from above 1000": lambda: Workload(
            "convexhc.solve_path(K, max_clusters=50, tol=1e-3, keep='labels')", *near(1000)
        ),
        "cluster 196": lambda: Workload("convexhc.cluster(K)", *graphs()),
        "points 2000": lambda: Workload(
            "convexhc.solve_points_path(K, np.geomspace(1e-3, 10.0, 50))", _moons(500), _moons(2000)
        ),
        "projection 800": lambda: Workload(
            "[convexhc.project_doubly_stochastic(K) for _ in range(5)]", square[:200, :200], square
        ),
        "tree 196": lambda: Workload(
            "[convexhc.solve_path(K, [0.05, 0.5, 5.0]).linkage for _ in range(3)]", *paper()
        ),
    }


def cpu_seconds(work: Workload, source: Path, folder: Path) -> float:
    """CPU time of a workload in a process of its own."""
    files = [str(folder / name) for name in ("small", "large")]
    for k, K in enumerate((work.small, work.large)):
        if isinstance(K, np.ndarray):
            files[k] += ".npy"
            np.save(files[k], K)
        else:
            files[k] += ".npz"
            save_npz(files[k], K)
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CODE.replace("{call}", work.call), *files],
        env=os.environ | one | {"PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"{source} failed:\n{done.stderr[-2000:]}")
    return float(done.stdout)


def main() -> int:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", type=Path, required=True, help="folder that contains convexhc")
    parser.add_argument("--only", nargs="*", default=[""], help="workloads with such a name")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    rows: list[Row] = []
    for name, make in workloads().items():
        if not any(part in name for part in options.only):
            continue
        work, taken = make(), {HERE: [], options.base: []}
        with tempfile.TemporaryDirectory() as folder:
            for k in range(options.rounds):
                for source in list(taken)[:: 1 if k % 2 else -1]:
                    taken[source].append(cpu_seconds(work, source, Path(folder)))
        here, base = (min(seconds) for seconds in taken.values())
        rows.append({"workload": name, "here": here, "base": base, "ratio": here / base})
        say(rows[-1])
    if rows:
        RESULTS.mkdir(exist_ok=True)
        with (RESULTS / "side_by_side.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
