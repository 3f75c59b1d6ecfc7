"""Are the labels of default paths those of the exact minimiser? Random graphs, seeded, resumable.

    python benchmarks/labels.py --count 300

Every path of the paper's problem with default options is compared, lam by lam, with a solve of the
same lam to a relative gap of 1e-10. Graphs have 12 to 60 nodes, or 12 to ``--nodes``. Where they
differ, a third solve, from a cold start to 1e-10 at that lam alone, tells whether accurate solves
agree among themselves: if not, the level counts as undecided, too. CPU time is that of the path,
and of the path whose labels are not settled. Results go to ``results/labels.csv`` graph by graph; a
run continues where the last one ended.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections import defaultdict
from pathlib import Path
from unittest.mock import patch

import numpy as np

from convexhc import solve_path
from convexhc.path import graph_model
from convexhc.path.level import Level
from convexhc.similarity import Similarity, diffusion, two_hop
from convexhc.solvers.solution import Status

RESULTS = Path(__file__).resolve().parent / "results" / "labels.csv"
FAMILIES = ("random", "blocks", "weighted blocks", "ring with chords")
COLUMNS = (
    "seed",
    "family",
    "nodes",
    "levels",
    "differ",
    "undecided",
    "proven",
    "wrongly_proven",
    "seconds",
    "unsettled_seconds",
)
ACCURATE = 1e-10


def drawn(seed: int, largest: int) -> tuple[str, Similarity]:
    """Similarity number ``seed``, and the family of its graph."""
    rng = np.random.default_rng(seed)
    n, family = int(rng.integers(12, largest)), FAMILIES[seed % len(FAMILIES)]
    group = rng.integers(0, 3 + (family == "weighted blocks"), n)
    shares = np.where(group[:, None] == group, 0.6, 0.06)
    A = (rng.random((n, n)) < (4.0 / n if family == "random" else shares)).astype(float)
    if family == "weighted blocks":
        A *= rng.uniform(0.5, 2.0, (n, n))
    if family == "ring with chords":
        A = (rng.random((n, n)) < 1.0 / n).astype(float)
        A[np.arange(n), (np.arange(n) + 1) % n] += rng.lognormal(0.0, 1.0, n)
    A = np.triu(A, 1)
    A = A + A.T
    return family, two_hop(A, shift=0.1) if seed % 8 < 4 else diffusion(A)


def examine(seed: int, largest: int) -> dict[str, object]:
    """Compare one path with accurate solves at the same lam."""
    family, K = drawn(seed, largest)
    began = time.process_time()
    path = solve_path(K)
    between = time.process_time()
    with patch.object(graph_model, "_EFFORTS", ()):
        solve_path(K)
    ended = time.process_time()
    with warnings.catch_warnings():
        # A lam that was not solved is not compared.
        warnings.simplefilter("ignore")
        truth = solve_path(K, path.lambdas, tol=ACCURATE)
    known = np.array([level.status is Status.SOLVED for level in truth.levels])
    differ = known & (path.partitions != truth.partitions).any(axis=1)
    undecided = [not _agrees(K, truth.levels[at]) for at in np.flatnonzero(differ)]
    return {
        "seed": seed,
        "family": family,
        "nodes": len(path.names),
        "levels": int(known.sum()),
        "differ": int(differ.sum()),
        "undecided": sum(undecided),
        "proven": path.proof.n_proven,
        "wrongly_proven": int((differ & path.proof.is_proven).sum()),
        "seconds": round(between - began, 3),
        "unsettled_seconds": round(ended - between, 3),
    }


def _agrees(K: Similarity, level: Level) -> bool:
    """Whether a cold start at one lam gives the labels of an accurate level."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alone = solve_path(K, [level.lam], tol=ACCURATE).levels[0]
    return bool((alone.labels == level.labels).all())


def table(rows: list[dict[str, str]]) -> str:
    """Totals by family, and of all."""
    groups = defaultdict(list)
    for row in rows:
        groups[row["family"]].append(row)
        groups["all"].append(row)
    lines = ["| family | graphs | " + " | ".join(COLUMNS[3:]) + " |", "|---" * 8 + "|"]
    for family, found in sorted(groups.items(), key=lambda item: (item[0] == "all", item[0])):
        totals = [f"{sum(float(row[name]) for row in found):g}" for name in COLUMNS[3:]]
        lines.append(f"| {family} | {len(found)} | " + " | ".join(totals) + " |")
    return "\n".join(lines)


def main() -> None:
    """Continue the run, and print the totals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--nodes", type=int, default=60)
    parser.add_argument("--results", type=Path, default=RESULTS)
    asked = parser.parse_args()
    asked.results.parent.mkdir(exist_ok=True)
    rows = []
    if asked.results.exists():
        rows = list(csv.DictReader(asked.results.open()))
    with asked.results.open("a", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS)
        if not rows:
            writer.writeheader()
        for seed in range(len(rows), asked.count):
            writer.writerow(examine(seed, asked.nodes))
            stream.flush()
    print(table(list(csv.DictReader(asked.results.open()))))


if __name__ == "__main__":
    main()
