"""What `convexhc info` says a fit takes, beside the seconds of CPU that `convexhc fit` takes.

One graph of each size: two small known ones, an LFR graph, nested blocks, and a graph that is
clustered from leaves. Every fit runs in a process of its own on one thread, with compiled kernels.
After a change of speed, the last lines replace `CostModel.fit_seconds` and `seconds_per_node` in
`src/convexhc/commands/costs.py`: they are scaled to the machine of its other figures. Results go to
benchmarks/results/fit_cost.csv.

    python benchmarks/fit_cost.py [--graphs karate fractal lfr500 nested1000 nested3000 leaves20000]
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import networkx as nx
from features import THREADS, dataset
from record import keep, say, stamp
from scipy import sparse

from convexhc.commands.costs import COSTS, product_seconds, seconds_of_rows
from convexhc.datasets import fractal_graph, karate, nested_blocks
from convexhc.similarity.leaves import SETTINGS as LEAVES
from convexhc.similarity.leaves import has_leaves

UNITS = {"h": 3600.0, "min": 60.0, "s": 1.0}


def lfr(n: int) -> sparse.csr_array:
    """An LFR graph with the settings of `experiments/quality/collection.py`."""
    graph = nx.LFR_benchmark_graph(
        n,
        2.5,
        1.5,
        0.3,
        average_degree=12,
        max_degree=50,
        min_community=20,
        max_community=80,
        seed=3,
        max_iters=300,
    )
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    return sparse.csr_array(nx.to_scipy_sparse_array(graph, nodelist=sorted(graph)))


GRAPHS: dict[str, Callable[[], sparse.csr_array]] = {
    "karate": lambda: karate().adjacency,
    "fractal": lambda: fractal_graph().adjacency,
    "lfr500": lambda: lfr(500),
    "nested1000": lambda: nested_blocks((5, 5, 40), (0.002, 0.02, 0.25)).adjacency,
    "nested3000": lambda: nested_blocks((8, 8, 47), (0.0005, 0.008, 0.2)).adjacency,
    "leaves20000": lambda: dataset(20_000)[0],
}


def children_seconds() -> float:
    """Seconds of CPU of all ended processes that this one started."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def command(*words: str) -> str:
    """What the command line prints, on one thread."""
    pinned = {**os.environ, **dict.fromkeys(THREADS, "1")}
    run = [sys.executable, "-m", "convexhc", *words]
    return subprocess.run(run, env=pinned, stdout=subprocess.PIPE, text=True, check=True).stdout


def said_seconds(text: str) -> float:
    """The estimate in what `convexhc info` printed."""
    (line,) = re.findall(r"^time: about (.*) on one", text, flags=re.MULTILINE)
    found = re.findall(r"([\d.]+) (h|min|s)\b", line)
    return sum(float(number) * UNITS[unit] for number, unit in found)


def measure(name: str, folder: Path) -> dict[str, object]:
    """Estimate and measured seconds of one graph, and the reference seconds of its path."""
    A = GRAPHS[name]()
    upper = sparse.triu(A, 1).tocoo()
    file = folder / f"{name}.csv"
    pairs = zip(*(ends.tolist() for ends in upper.coords), strict=True)
    file.write_text("source,target\n" + "".join(f"{i},{j}\n" for i, j in pairs))
    estimate = said_seconds(command("info", str(file)))
    begun, unit = children_seconds(), product_seconds()
    command("fit", str(file), "-o", str(folder / name))
    seconds = children_seconds() - begun
    unit = min(unit, product_seconds())
    return {
        "graph": name,
        "nodes": A.shape[0],
        "edges": upper.nnz,
        "estimate_seconds": estimate,
        "cpu_seconds": seconds,
        "ratio": estimate / seconds,
        "reference_seconds": seconds * COSTS.product_seconds / unit,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", nargs="*", choices=GRAPHS, default=list(GRAPHS))
    names = parser.parse_args().graphs
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command("fit", "-o", str(folder / "first"), _smallest(folder))
        rows = []
        for graph in names:
            rows.append(measure(graph, folder))
            say(rows[-1])
    keep("fit_cost", rows, stamp(product_seconds(), threads=1), key=["graph"])
    say_figures(rows)


def say_figures(rows: list[dict[str, object]]) -> None:
    """Print the figures for the cost model that the rows determine."""
    found = {int(str(row["nodes"])): float(str(row["reference_seconds"])) for row in rows}
    small = {n: seconds for n, seconds in found.items() if not has_leaves(n)}
    print("fit_seconds =", tuple((n, round(seconds, 1)) for n, seconds in sorted(small.items())))
    for n in found.keys() - small.keys():
        if len(small) > 1:
            of_leaves = seconds_of_rows(LEAVES.n_leaves, tuple(sorted(small.items())))
            print(f"seconds_per_node = {(found[n] - of_leaves) / n:.1e}")


def _smallest(folder: Path) -> str:
    """A file whose fit compiles what the others need."""
    file = folder / "first.csv"
    file.write_text("a,b\nb,c\nc,a\nc,d\nd,e\ne,f\nf,d\n")
    return str(file)


if __name__ == "__main__":
    main()
