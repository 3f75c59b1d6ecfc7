"""The smooth model from ten thousand nodes to a million: seconds, memory, residuals, recovery.

The graph has five million edges at a million nodes: every node draws five neighbours, most of
them in its own group, so the groups are known. Each size runs in a separate process, whose peak
memory is measured. Results go to benchmarks/results/smooth.csv.

    python benchmarks/smooth.py [--nodes 10000 100000 1000000] [--threads 2]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
SUPERS, GROUPS, NEIGHBOURS, COLUMNS = 4, 8, 5, 16
INSIDE, NEAR = 0.9, 0.07


def dataset(n: int):
    """Adjacency (csr), coarse and fine groups of a graph in 4 x 8 nested groups, nodes shuffled.

    90 % of the neighbours of a node are in its own group, 7 % in its coarse group, 3 % anywhere.
    """
    import numpy as np
    from scipy.sparse import csr_array

    rng = np.random.default_rng(0)
    count = SUPERS * GROUPS
    fine = np.sort(np.arange(n) % count)
    sizes = np.bincount(fine)
    first = np.cumsum(sizes) - sizes
    one = np.repeat(np.arange(n), NEIGHBOURS)
    draw, home = rng.random(one.size), fine[one]
    around = home // GROUPS * GROUPS + rng.integers(0, GROUPS, one.size)
    far = rng.integers(0, count, one.size)
    goal = np.where(draw < INSIDE, home, np.where(draw < INSIDE + NEAR, around, far))
    other = first[goal] + (rng.random(one.size) * sizes[goal]).astype(np.int64)
    place, apart = rng.permutation(n), one != other
    one, other = place[one[apart]], place[other[apart]]
    A = csr_array((np.ones(one.size), (one, other)), shape=(n, n))
    A = A.maximum(A.T).tocsr()
    A.data[:] = 1.0
    groups = np.empty(n, dtype=np.int64)
    groups[place] = fine
    return A, groups // GROUPS, groups


def measure(n: int) -> dict[str, object]:
    """Run every part of the smooth model on one graph, and time each step."""
    import time

    import numpy as np
    from record import peak_megabytes
    from sklearn.metrics import adjusted_rand_score

    import convexhc
    from convexhc.graph import Graph

    row: dict[str, object] = {"nodes": n}
    # A small graph triggers the compilation before the timing.
    warm = convexhc.SmoothModel.of(np.ones((4, 4)) + 4.0 * np.eye(4), form="sparse")
    warm.columns(1.0, [0])
    A, coarse, fine = dataset(n)
    row["edges"] = A.nnz // 2
    clock, cpu = time.perf_counter(), time.process_time()

    def lap(name: str) -> None:
        nonlocal clock
        now = time.perf_counter()
        row[f"{name}_seconds"], clock = now - clock, now

    kernel = Graph.from_matrix(A).with_diagonal(A.sum(axis=1))
    del A
    model = convexhc.SmoothModel.of(kernel, form="sparse")
    lap("read")
    for lam in (1.0, 1000.0):
        chosen = np.random.default_rng(1).choice(n, COLUMNS, replace=False)
        columns = model.columns(lam, chosen)
        lap(f"columns_{lam:g}")
        row[f"columns_{lam:g}_steps"] = columns.n_iter
        row[f"columns_{lam:g}_residual"] = columns.residual.max()
        row[f"columns_{lam:g}_sums_off"] = np.abs(columns.values.sum(axis=0) - 1.0).max()
        del columns
        clock = time.perf_counter()
    modes = model.modes
    lap("modes")
    row["modes"], row["modes_residual"] = int(modes.counts[0]) - 1, modes.residual.max()
    for name, count, truth in (("coarse", SUPERS, coarse), ("fine", SUPERS * GROUPS, fine)):
        labels = model.labels(n_clusters=count)
        lap(f"{name}_labels")
        row[f"{name}_ari"] = adjusted_rand_score(truth, labels)
        clock = time.perf_counter()
    rank, error = model.effective_rank(np.geomspace(0.01, 100.0, 9))
    row["rank_error"] = float((error / rank).max())
    lap("rank")
    seconds = [value for name, value in row.items() if name.endswith("_seconds")]
    row["total_seconds"] = sum(seconds)  # type: ignore[arg-type]
    row["cpu_seconds"] = time.process_time() - cpu
    row["peak_megabytes"] = peak_megabytes()
    row["full_pi_megabytes"] = 8.0 * n * n / 2**20
    return {name: getattr(value, "item", lambda v=value: v)() for name, value in row.items()}


def in_a_process(n: int, threads: int) -> dict[str, object]:
    pinned = {**os.environ, **dict.fromkeys(THREADS, str(threads))}
    command = [sys.executable, str(HERE / "smooth.py"), "--one", str(n)]
    run = subprocess.run(command, env=pinned, stdout=subprocess.PIPE, text=True, check=True)
    return {**json.loads(run.stdout.splitlines()[-1]), "threads": threads}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one)))
        return 0
    from record import keep, product_seconds, say, stamp

    unit = product_seconds()
    for n in options.nodes:
        row = in_a_process(n, options.threads)
        say(row)
        keep("smooth", [row], stamp(unit, threads=options.threads), key=["nodes"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
