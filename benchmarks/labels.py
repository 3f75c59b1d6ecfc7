"""Are the labels of default paths those of the exact minimiser? Random graphs, seeded, resumable.

    python benchmarks/labels.py --count 300

Every path of the paper's problem with default options is compared, lam by lam, with a solve of the
same lams to a relative gap of 1e-10. What a solver shows as equal is no evidence at any gap: at an
event, two solves to 1e-10 show different clusters. The labels of an accurate solve therefore count
where clusters are proven apart, and held together by a flow that keeps away from its balls
(`determined`); else the lam is solved again, from a cold start to 1e-12. Where that does not
determine them either, the level is undetermined, and not compared. Where labels differ, the lam is
solved to 1e-10 on its own, too: two determined answers have to agree.

The first 270 graphs have 12 to 60 nodes, the others up to ``--nodes``, most of them few; of
these at most eight levels are compared. CPU time is that of the path,
and of the path whose labels are not settled. Results go to ``results/labels.csv`` graph by graph; a
run continues where the last one ended.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import numpy as np

from convexhc import solve_path
from convexhc._types import Labels
from convexhc.fusion.contraction import contract
from convexhc.fusion.graph_flows import complete_dual
from convexhc.fusion.graph_proof import proven_apart
from convexhc.fusion.graph_solve import ContractedSolution, transfer
from convexhc.fusion.partition_proof import coarsest
from convexhc.fusion.settled_labels import clear
from convexhc.model.problem import FusionProblem, fuse
from convexhc.path.graph_model import GraphModel
from convexhc.similarity import Similarity, diffusion, two_hop
from convexhc.solvers.solution import Status

RESULTS = Path(__file__).resolve().parent / "results" / "labels.csv"
FAMILIES = (
    "random",
    "blocks",
    "weighted blocks",
    "ring with chords",
    "weights over six orders",
    "tree with twins",
)
# Nodes of small graphs, at the most, and the first seed of larger ones: they take most of the time.
SMALL, LARGE = 60, 270
# Levels of a large graph that are compared, at the most: evenly spread.
LEVELS = 8
COLUMNS = (
    "seed",
    "family",
    "nodes",
    "levels",
    "undetermined",
    "differ",
    "contradicted",
    "proven",
    "wrongly_proven",
    "seconds",
    "unsettled_seconds",
)
ACCURATE, MORE_ACCURATE = 1e-10, 1e-12
# Iterations of the accurate solves: a lam at which they are not enough stays undetermined.
MOST = 5000
# Shares of lam by which the flow inside a cluster has to stay away from its balls: the search fills
# them less than it must where that is easy.
MARGINS = (0.02, 0.003, 0.0003)
# Gap that a flow may leave, relative to the objective.
ROUND_OFF = 1e-13


def drawn(seed: int, largest: int) -> tuple[str, Similarity]:
    """Similarity number ``seed``, and the family of its graph. From `LARGE` on graphs are large."""
    rng = np.random.default_rng(seed)
    family = FAMILIES[seed % len(FAMILIES)]
    n = int(rng.integers(12, SMALL))
    if seed >= LARGE:
        n = SMALL + int((largest - SMALL) * rng.random() ** 2)
    group = rng.integers(0, 3 + (family == "weighted blocks"), n)
    shares = np.where(group[:, None] == group, 0.6, 0.06)
    A = (rng.random((n, n)) < (4.0 / n if family == "random" else shares)).astype(float)
    if family == "weighted blocks":
        A *= rng.uniform(0.5, 2.0, (n, n))
    if family == "weights over six orders":
        A *= 10.0 ** rng.uniform(-3.0, 3.0, (n, n))
    if family == "ring with chords":
        A = (rng.random((n, n)) < 1.0 / n).astype(float)
        A[np.arange(n), (np.arange(n) + 1) % n] += rng.lognormal(0.0, 1.0, n)
    if family == "tree with twins":
        A[:] = 0.0
        A[[rng.integers(max(1, i // 2)) for i in range(1, n)], np.arange(1, n)] = 1.0
    A = np.triu(A, 1)
    A = A + A.T
    return family, two_hop(A, shift=0.1) if rng.random() < 0.5 else diffusion(A)


@contextmanager
def recorded() -> Iterator[dict[float, tuple[FusionProblem, ContractedSolution]]]:
    """Collect the problem and the solution at every lam of the graph model."""
    found: dict[float, tuple[FusionProblem, ContractedSolution]] = {}
    solve = GraphModel.solve

    def listening(model: GraphModel, lam: float, **options: object) -> ContractedSolution | None:
        solution = solve(model, lam, **options)
        if solution is not None:
            found[lam] = (model.problem.at(lam), solution)
        return solution

    with patch.object(GraphModel, "solve", listening):
        yield found


def determined(problem: FusionProblem, solution: ContractedSolution) -> Labels | None:
    """The labels of an accurate solution, if there is evidence for them; None at an event.

    Clusters that are not proven apart count as one. It has to be held together by a flow that keeps
    away from its balls: that of the solution, or one that is searched for.
    """
    small, on_groups = solution.small, solution.contraction.problem.at(problem.lam)
    edges = on_groups.penalty.edges
    between = edges.at(np.flatnonzero(small.labels[edges.tail] != small.labels[edges.head]))
    gap = max(small.certificate.gap, 0.0)
    apart = proven_apart(on_groups.fidelity, small.centroids, between.tail, between.head, gap)
    joined = coarsest(small.labels, small.labels[between.tail], small.labels[between.head], apart)
    C = fuse(small.centroids, joined, on_groups.fidelity.metric.mass)
    labels = joined[solution.groups]
    if clear(on_groups, C, small.dual, joined, small.certificate):
        return labels
    contraction = contract(problem, labels)
    dual = transfer(problem, solution, contraction).dual
    for margin in MARGINS:
        split, cost = complete_dual(problem.at((1.0 - margin) * problem.lam), contraction, dual)
        if split is None and cost <= ROUND_OFF * small.certificate.scale:
            return labels
    return None


def exact(K: Similarity, lambdas: Sequence[float]) -> tuple[list[Labels | None], list[bool]]:
    """Labels at every lam that there is evidence for, at 1e-10 or 1e-12; and which were solved."""
    labels: list[Labels | None] = []
    with warnings.catch_warnings():
        # What was not solved is not compared.
        warnings.simplefilter("ignore")
        with recorded() as found:
            truth = solve_path(K, lambdas, tol=ACCURATE, max_iter=MOST)
        for lam in lambdas:
            known = determined(*found[lam])
            if known is None:
                with recorded() as closer:
                    solve_path(K, [lam], tol=MORE_ACCURATE, max_iter=MOST)
                known = determined(*closer[lam])
            labels.append(known)
    return labels, [level.status is Status.SOLVED for level in truth.levels]


def examine(seed: int, largest: int) -> dict[str, object]:
    """Compare one path with accurate solves at the same lam."""
    family, K = drawn(seed, largest)
    began = time.process_time()
    path = solve_path(K)
    between = time.process_time()
    with patch.multiple(GraphModel, _effort=None, doubt=None):
        solve_path(K)
    ended = time.process_time()
    last = len(path.levels) - 1
    count = last + 1 if seed < LARGE else LEVELS
    compared = np.unique(np.linspace(0, last, count).round().astype(int))
    lambdas, partitions = path.lambdas[compared], path.partitions[compared]
    is_proven = path.proof.is_proven[compared]
    truth, known = exact(K, lambdas)
    certain = known & np.array([labels is not None for labels in truth])
    differ = np.zeros(len(truth), np.bool_)
    for at in np.flatnonzero(certain):
        differ[at] = (truth[at] != partitions[at]).any()
    contradicted = 0
    for at in np.flatnonzero(differ):
        alone = exact(K, [lambdas[at]])[0][0]
        contradicted += alone is not None and bool((alone != truth[at]).any())
    return {
        "seed": seed,
        "family": family,
        "nodes": len(path.names),
        "levels": int(certain.sum()),
        "undetermined": int((~certain).sum()),
        "differ": int(differ.sum()),
        "contradicted": contradicted,
        "proven": int(is_proven.sum()),
        "wrongly_proven": int((differ & is_proven).sum()),
        "seconds": round(between - began, 3),
        "unsettled_seconds": round(ended - between, 3),
    }


def table(rows: list[dict[str, str]]) -> str:
    """Totals by family, and of all."""
    groups = defaultdict(list)
    for row in rows:
        groups[row["family"]].append(row)
        groups["all"].append(row)
    lines = ["| family | graphs | " + " | ".join(COLUMNS[3:]) + " |", "|---" * 10 + "|"]
    for family, found in sorted(groups.items(), key=lambda item: (item[0] == "all", item[0])):
        totals = [f"{sum(float(row[name]) for row in found):g}" for name in COLUMNS[3:]]
        lines.append(f"| {family} | {len(found)} | " + " | ".join(totals) + " |")
    return "\n".join(lines)


def main() -> None:
    """Continue the run, and print the totals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--nodes", type=int, default=200)
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
