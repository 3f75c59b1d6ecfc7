"""CPU seconds of the first use after an installation, and of the next process.

    python benchmarks/first_use.py [--source OTHER/src]

The karate club and the 196-node fractal graph are solved, each in a process with an empty folder
for compiled kernels, then in a second one. Bytecode is written before, as an installation does.
--source measures another checkout. Results go to benchmarks/results/first_use.csv.
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
import sys
from time import process_time
import networkx as nx
began = process_time()
import convexhc
convexhc.solve
took = [process_time() - began]
if sys.argv[1] == "karate":
    graph = nx.to_numpy_array(nx.karate_club_graph(), weight=None)
else:
    graph = convexhc.datasets.fractal_graph().adjacency
K = convexhc.similarity.two_hop(graph)
for call in (
    lambda: convexhc.solve(K, 1.0),
    lambda: convexhc.solve_path(K),
    lambda: convexhc.cluster(graph),
):
    began = process_time()
    call()
    took.append(process_time() - began)
print(*(f"{seconds:.2f}" for seconds in took))
"""
BYTECODE = """
import compileall, importlib.util
(folder,) = importlib.util.find_spec("convexhc").submodule_search_locations
compileall.compile_dir(folder, quiet=1)
"""
COLUMNS = ("import", "solve", "solve_path", "cluster")


def measured(graph: str, environment: dict[str, str]) -> dict[str, str]:
    """Seconds of every call in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CODE, graph],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(zip(COLUMNS, done.stdout.split(), strict=True))


def main() -> int:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", help="folder that contains convexhc, instead of the installed")
    source = parser.parse_args().source
    rows = []
    single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    for graph in ("karate", "fractal"):
        with tempfile.TemporaryDirectory() as folder:
            environment = os.environ | single | {"NUMBA_CACHE_DIR": folder}
            environment.pop("PYTHONDONTWRITEBYTECODE", None)
            if source:
                environment["PYTHONPATH"] = source
            subprocess.run([sys.executable, "-c", BYTECODE], env=environment, check=True)
            for process in ("first", "second"):
                rows.append({"graph": graph, "process": process} | measured(graph, environment))
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
