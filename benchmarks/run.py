"""`make bench`: gap against seconds for every solver in one run.

Compare ratios and multiples of a 1000 x 1000 matrix product between machines; seconds are those of
the recorded machine. Results go to benchmarks/results/.
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
from pathlib import Path

import numpy as np
from record import RESULTS, keep, product_seconds, say, stamp

HERE = Path(__file__).resolve().parent
METHODS = ("auto", "admm", "primal_dual", "dual_fista")


def single_solves(unit: float, *, against: bool) -> list[dict[str, object]]:
    """Cold solves at one lam: ours at 49, 98 and 196 nodes, general solvers at 49."""
    from datasets import DATASETS
    from objective import relative_suboptimality
    from solvers import general, ours

    from convexhc.model.problem import graph_problem

    rows = []
    for n, tol in ((49, 1e-6), (98, 1e-4), (196, 1e-4)):
        kernel = DATASETS[n]
        for lam in (0.1, 0.5, 1.0, 3.0):
            problem = graph_problem(kernel, lam)
            best = {}
            for method in METHODS:
                ours(problem, method, 1e-1)
                curve = min(
                    (ours(problem, method, tol) for _ in range(3)), key=lambda c: c.seconds[-1]
                )
                best[method] = curve.seconds[-1]
                rows.append(
                    {
                        "nodes": n,
                        "lam": lam,
                        "solver": method,
                        "seconds": curve.seconds[-1],
                        "products": curve.seconds[-1] / unit,
                        "n_iter": curve.solution.n_iter,
                        "relative_gap": curve.solution.relative_gap,
                        "n_clusters": curve.solution.n_clusters,
                        "curve": json.dumps(list(zip(curve.seconds, curve.gaps, strict=True))),
                    }
                )
                say(rows[-1], without=["curve"])
            if n == 49 and against:
                tight = ours(problem, "auto", 1e-9).solution.certificate.objective
                for solver in ("CLARABEL", "SCS"):
                    seconds, C = general(kernel, lam, 0.05, solver)
                    rows.append(
                        {
                            "nodes": n,
                            "lam": lam,
                            "solver": solver,
                            "seconds": seconds,
                            "products": seconds / unit,
                            "times_slower_than_auto": seconds / best["auto"],
                            "relative_gap": relative_suboptimality(problem, C, tight),
                        }
                    )
                    say(rows[-1], without=["curve"])
    return rows


def peak_memory() -> float:
    """Peak resident megabytes of a fresh process that solves the 196-node graph once."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from datasets import fractal; from record import peak_megabytes; import convexhc\n"
        "convexhc.solve(fractal(4), 0.5)\n"
        "print(peak_megabytes())"
    )
    out = subprocess.run(
        [sys.executable, "-c", code, str(HERE)], capture_output=True, text=True, check=True
    )
    return float(out.stdout)


def draw(rows: list[dict[str, object]], file: Path) -> None:
    """Gap against seconds, one panel per size and lam."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    colours = dict(zip(METHODS, ("#000000", "#0072b2", "#d55e00", "#009e73"), strict=True))
    lams = sorted({row["lam"] for row in rows})
    sizes = sorted({row["nodes"] for row in rows})
    figure, axes = plt.subplots(
        len(sizes),
        len(lams),
        figsize=(3.2 * len(lams), 2.6 * len(sizes)),
        sharey="row",
        layout="constrained",
        squeeze=False,
    )
    for row in rows:
        axis = axes[sizes.index(row["nodes"]), lams.index(row["lam"])]
        if "curve" in row:
            seconds, gaps = zip(*json.loads(row["curve"]), strict=True)
            axis.loglog(
                seconds,
                np.maximum(gaps, 1e-12),
                color=colours[row["solver"]],
                label=row["solver"],
                linestyle="--" if row["solver"] == "auto" else "-",
                linewidth=1.5,
            )
        else:
            gap = max(abs(row["relative_gap"]), 1e-12)
            marker = {"CLARABEL": "s", "SCS": "^"}[row["solver"]]
            axis.plot(
                row["seconds"], gap, marker, color="#cc79a7", label=row["solver"], markersize=7
            )
    for i, n in enumerate(sizes):
        for j, lam in enumerate(lams):
            axes[i, j].set_title(f"{n} nodes, lam = {lam:g}", fontsize=9)
            axes[i, j].grid(alpha=0.25)
        axes[i, 0].set_ylabel("relative gap")
    for axis in axes[-1]:
        axis.set_xlabel("seconds")
    handles = {}
    for axis in axes.flat:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    figure.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=6, fontsize=9)
    figure.savefig(file, dpi=140)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ours", action="store_true", help="without CVXPY")
    options = parser.parse_args()
    unit = product_seconds()
    rows = single_solves(unit, against=not options.ours)
    said = stamp(unit, peak_megabytes_196=peak_memory())
    keep("single", rows, said)
    draw(rows, RESULTS / "single.png")
    say(said)
    return 0


if __name__ == "__main__":
    sys.exit(main())
