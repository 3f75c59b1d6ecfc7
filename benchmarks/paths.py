"""Paths: savings by warm starts and contraction, and growth of time and memory with the size.

    python benchmarks/paths.py [--whole 100 200 500 1000] [--coarse 1000 2000] [--draw]

The 196-node fractal graph at 50 lam, as a path and as 50 cold solves, side by side. Then graphs of
ten nearest neighbours: the whole path to the consensus at a gap of 1e-4, and the levels with at
most 50 clusters at 1e-3, every size in a separate process. Results are added to
benchmarks/results/paths.csv; --draw only draws them.
"""

from __future__ import annotations

import os

# Set before any library starts its threads.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "2")

import argparse
import csv
import json
import subprocess
import sys
import time
from statistics import median

import numpy as np
from record import RESULTS, keep, peak_megabytes, product_seconds, say, stamp

import convexhc
from convexhc.datasets import fractal_graph


def neighbours(n: int) -> convexhc.similarity.Similarity:
    """Twenty overlapping groups of points in three dimensions, ten neighbours each."""
    from sklearn.datasets import make_blobs

    X, _ = make_blobs(n, n_features=3, centers=20, cluster_std=1.5, random_state=0)
    return convexhc.similarity.knn(X, n_neighbors=10, shift="auto")


def fractal(rounds: int = 5) -> list[dict[str, object]]:
    """Fifty lam of the 196-node graph: a path, and cold solves of the full problem.

    Over the range of the paper's Table I, and over the range in which clusters change, where a path
    saves least. Both alternate for ``rounds`` rounds; medians are reported.
    """
    K = convexhc.similarity.two_hop(fractal_graph(0).adjacency)
    convexhc.solve_path(K, [0.05, 0.5, 5.0])
    product, rows = product_seconds(), []
    for first, last in ((0.001, 40.0), (0.01, 12.0)):
        grid = np.geomspace(first, last, 50)
        variants = {
            "path": lambda grid=grid: convexhc.solve_path(K, grid).relative_gap.max(),
            "cold solves": lambda grid=grid: max(convexhc.solve(K, x).relative_gap for x in grid),
        }
        taken, gap = {model: [] for model in variants}, {}
        for _ in range(rounds):
            for model, solve in variants.items():
                begin = time.perf_counter()
                gap[model] = solve()
                taken[model].append(time.perf_counter() - begin)
        rows += [
            {
                "model": f"fractal, lam {first:g} to {last:g}, {model}",
                "nodes": 196,
                "edges": K.graph.n_edges,
                "lambdas": 50,
                "seconds": median(seconds),
                "products": median(seconds) / product,
                "ratio": median(np.divide(seconds, taken["path"])),
                "largest_gap": gap[model],
            }
            for model, seconds in taken.items()
        ]
    return rows


def measure(n: int, coarse: bool) -> dict[str, object]:
    """One path on a neighbour graph, in this process."""
    K = neighbours(n)
    convexhc.solve_path(neighbours(60), max_clusters=5)
    options = {"max_clusters": 50, "tol": 1e-3} if coarse else {}
    product, begin = product_seconds(), time.perf_counter()

    def report(point: convexhc.path.Level) -> None:
        print(
            f"  {time.perf_counter() - begin:8.1f} s  lam {point.lam:.4g}  "
            f"{point.n_clusters} clusters  {point.n_iter} iterations",
            file=sys.stderr,
            flush=True,
        )

    path = convexhc.solve_path(K, keep="labels", on_check=report, **options)
    seconds = time.perf_counter() - begin
    return {
        "model": "neighbours, up to 50 clusters" if coarse else "neighbours, whole path",
        "nodes": n,
        "edges": K.graph.n_edges,
        "lambdas": len(path.levels),
        "clusters_at_most": int(path.n_clusters.max()),
        "seconds": seconds,
        "products": seconds / product,
        "largest_gap": float(path.relative_gap.max()),
        "megabytes": peak_megabytes(),
    }


def in_a_process(n: int, coarse: bool) -> dict[str, object]:
    command = [sys.executable, __file__, "--one", str(n), *(["--down"] if coarse else [])]
    out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    return json.loads(out.splitlines()[-1])


def add(rows: list[dict[str, object]]) -> None:
    """Replace rows of the same model and size; keep the others."""
    keep("paths", rows, stamp(product_seconds()), key=["model", "nodes"])
    for row in rows:
        say(row)


def draw() -> None:
    """Seconds and megabytes against nodes, both axes logarithmic, with fitted exponents."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with (RESULTS / "paths.csv").open(newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["model"].startswith("neighbours")]
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    models = sorted({row["model"] for row in rows})
    for model, color, marker in zip(models, ("#0072b2", "#d55e00"), "os", strict=False):
        mine = sorted((row for row in rows if row["model"] == model), key=lambda r: int(r["nodes"]))
        n = np.array([int(row["nodes"]) for row in mine])
        for axis, quantity in zip(axes, ("seconds", "megabytes"), strict=True):
            value = np.array([float(row[quantity]) for row in mine])
            slope = np.polyfit(np.log(n), np.log(value), 1)[0] if n.size > 1 else float("nan")
            print(f"{model}: {quantity} grow like N^{slope:.2f}")
            label = f"{model.split(', ')[1]}: $N^{{{slope:.1f}}}$"
            axis.loglog(n, value, marker=marker, color=color, label=label)
    for axis, title in zip(axes, ("seconds", "peak memory, MB"), strict=True):
        axis.set(xlabel="nodes", title=title)
        axis.grid(alpha=0.25, which="both")
        axis.legend(frameon=False, loc="upper left")
    ticks = [300, 500, 1000, 2000, 4000]
    axes[1].set_yticks(ticks, [str(tick) for tick in ticks])
    axes[1].set_yticks([], minor=True)
    axes[1].set_ylim(250, 5000)
    figure.savefig(RESULTS / "growth.png", dpi=140)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--whole", type=int, nargs="*", default=[100, 200, 500])
    parser.add_argument("--coarse", type=int, nargs="*", default=[100, 200, 500, 1000, 2000])
    parser.add_argument("--no-fractal", action="store_true")
    parser.add_argument("--draw", action="store_true", help="only draw what was measured")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--down", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one is not None:
        print(json.dumps(measure(options.one, options.down)))
        return 0
    if not options.draw:
        if not options.no_fractal:
            add(fractal())
        for coarse, sizes in ((False, options.whole), (True, options.coarse)):
            for n in sizes:
                add([in_a_process(n, coarse)])
    draw()
    return 0


if __name__ == "__main__":
    sys.exit(main())
