"""CPU seconds of the first use after an installation, and of the next process.

    python benchmarks/first_use.py [--source OTHER/src]

The karate club is solved in a process with an empty folder for compiled kernels, then in a second
one. --source measures another checkout. Results go to benchmarks/results/first_use.csv.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile

from record import RESULTS

CODE = """
from time import process_time
began = process_time()
import convexhc
took = {"import": process_time() - began}
import networkx as nx
graph = nx.karate_club_graph()
K = convexhc.similarity.two_hop(nx.to_numpy_array(graph, weight=None))
for name, call in (
    ("solve", lambda: convexhc.solve(K, 1.0)),
    ("solve_path", lambda: convexhc.solve_path(K)),
    ("cluster", lambda: convexhc.cluster(graph)),
):
    began = process_time()
    call()
    took[name] = process_time() - began
print(*(f"{seconds:.2f}" for seconds in took.values()))
"""


def main() -> int:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", help="folder that contains convexhc, instead of the installed")
    source = parser.parse_args().source
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        single = dict.fromkeys(
            ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
        )
        environment = os.environ | single | {"NUMBA_CACHE_DIR": folder}
        if source:
            environment["PYTHONPATH"] = source
        for process in ("first", "second"):
            done = subprocess.run(
                [sys.executable, "-W", "ignore", "-c", CODE],
                env=environment,
                capture_output=True,
                text=True,
                check=True,
            )
            seconds = dict(
                zip(("import", "solve", "solve_path", "cluster"), done.stdout.split(), strict=True)
            )
            rows.append({"process": process} | seconds)
            print(rows[-1])
    if not source:
        RESULTS.mkdir(exist_ok=True)
        with (RESULTS / "first_use.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
