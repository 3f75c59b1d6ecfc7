"""Are proven clusters right? Random small problems against solves at a gap of 1e-10.

    python benchmarks/proofs.py --count 2000

Every problem is solved at one lam, to a random relative gap between 1e-2 and 1e-8, and once more
to 1e-10 from a cold start. Counted are problems whose gap is below the true suboptimality, whose
proof contradicts the accurate partition, and whose whole partition is proven. Results go to
``results/proofs.csv`` problem by problem; a run continues where the last one ended.
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from convexhc import datasets, solve_path
from convexhc.api.features_path import features_path
from convexhc.api.options import FEATURES, Monitor, Options
from convexhc.api.points_path import solve_points_path
from convexhc.path.path import Path as Solved
from convexhc.similarity import rbf, two_hop

RESULTS = Path(__file__).resolve().parent / "results" / "proofs.csv"
COLUMNS = ("seed", "model", "family", "lam_share", "tol", "verdict", "gap_error", "solved")
ACCURATE = 1e-10
Array = np.ndarray


def points(rng: np.random.Generator, family: str) -> Array:
    """Points of a family, at most 24."""
    n = int(rng.integers(3, 25))
    X = rng.normal(size=(n, int(rng.integers(1, 5))))
    if family == "blobs":
        X += 4.0 * rng.normal(size=(3, X.shape[1]))[rng.integers(0, 3, n)]
    if family == "duplicates":
        X = X[rng.integers(0, max(2, n // 2), n)]
    if family == "grid":
        X = np.argwhere(np.ones((3, n // 3 + 1)))[:n].astype(float)
    if family == "scales":
        X *= 10.0 ** rng.uniform(-4, 4, (n, 1))
    return X


def graph(rng: np.random.Generator, family: str) -> Array:
    """The adjacency matrix of a graph of a family, at most 24 nodes."""
    n = int(rng.integers(3, 25))
    if family == "fractal":
        return datasets.fractal_graph(int(rng.integers(99)), n_meta=2, n_super=2, clique=4).adjacency
    groups = rng.integers(0, 3, n)
    shares = np.where(groups[:, None] == groups, 0.7, 0.1)
    A = np.triu(rng.random((n, n)) < shares, 1).astype(float)
    if family in ("tree", "path"):
        A[:] = 0.0
        parents = np.arange(n - 1) if family == "path" else [rng.integers(0, i) for i in range(1, n)]
        A[np.array(parents, int), np.arange(1, n)] = 1.0
    if family == "grid":
        A = np.kron(np.eye(3), np.diag(np.ones(n // 3), 1))
        A += np.kron(np.diag(np.ones(2), 1), np.eye(n // 3 + 1))
    if family == "weights":
        A *= 10.0 ** rng.uniform(-4, 4, A.shape)
    return np.maximum(A, A.T)


POINTS = ("normal", "blobs", "duplicates", "grid", "scales")
GRAPHS = ("sbm", "fractal", "tree", "path", "grid", "weights")
Run = Callable[[list[float], float], Solved]


@dataclass
class Drawn:
    """A problem: its model, its family, and a function from lam and tolerance to a path."""

    model: str
    family: str
    run: Run
    lam: float
    tol: float


def draw(seed: int) -> Drawn:
    """Problem number ``seed``."""
    rng = np.random.default_rng([17, seed])
    model = ("points", "features", "graph")[seed % 3]
    family = str(rng.choice(POINTS if model == "points" else GRAPHS))
    l1_ratio, tol = float(rng.choice([0.0, 0.05, 0.5])), float(10.0 ** rng.uniform(-8, -2))
    run: Run
    if model == "points":
        X = points(rng, family)

        def run(lams: list[float], tol: float) -> Solved:
            return solve_points_path(X, lams, weights=5, l1_ratio=l1_ratio, tol=tol)

    else:
        kernel = two_hop if rng.random() < 0.7 else rbf
        data = graph(rng, family)
        K = kernel(data if kernel is two_hop else points(rng, "blobs"), shift=0.1)

        def run(lams: list[float], tol: float) -> Solved:
            options = {"l1_ratio": l1_ratio, "tol": tol}
            if model == "graph":
                return solve_path(K, lams, **options)
            chosen = Options(lambdas=lams, max_iter=FEATURES.max_iter, **options)
            return features_path(K, "multiscale", 60, chosen, Monitor())

    top = run([1e-9], 1e-2)
    scale = float(max(top.provenance.options.get("lam_max", 0.0), 0.0)) or 3.0
    return Drawn(model, family, run, scale * float(10.0 ** rng.uniform(-2.5, 0.5)), tol)


def examine(seed: int) -> dict[str, object]:
    """Solve a problem twice and compare."""
    drawn = draw(seed)
    rough = drawn.run([drawn.lam], drawn.tol).levels[0]
    exact = drawn.run([drawn.lam], ACCURATE)
    truth = exact.levels[0]
    proof = rough.proof
    assert proof is not None
    refines = _refines(proof.finest, truth.labels) and _refines(truth.labels, proof.coarsest)
    verdict = "proven" if proof.is_proven else "open"
    # The optimum is at most the accurate objective: the paper's objective is twice the halved one.
    factor = 2.0 if drawn.model == "graph" else 1.0
    unit = max(abs(rough.objective), 1e-300)
    gap_error = (rough.objective - truth.objective) / unit - rough.relative_gap / 1.0
    return {
        "seed": seed,
        "model": drawn.model,
        "family": drawn.family,
        "lam_share": drawn.lam,
        "tol": drawn.tol,
        "verdict": verdict if refines else "WRONG",
        "gap_error": gap_error * factor / factor,
        "solved": truth.status.name,
    }


def _refines(fine: Array, coarse: Array) -> bool:
    first = np.unique(fine, return_index=True)[1]
    return bool((coarse == coarse[first[fine]]).all())


def table(rows: list[dict[str, str]]) -> str:
    """Counts by model and family."""
    groups = defaultdict(list)
    for row in rows:
        groups[row["model"], row["family"]].append(row)
    lines = ["| model | family | problems | proven | wrong | gap below the truth |"]
    lines.append("|---|---|---|---|---|---|")
    for (model, family), found in sorted(groups.items()):
        proven, wrong = (sum(r["verdict"] == v for r in found) for v in ("proven", "WRONG"))
        low = sum(float(r["gap_error"]) > 1e-9 for r in found)
        lines.append(f"| {model} | {family} | {len(found)} | {proven} | {wrong} | {low} |")
    return "\n".join(lines)


def main() -> None:
    """Continue the run, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--results", type=Path, default=RESULTS)
    asked = parser.parse_args()
    asked.results.parent.mkdir(exist_ok=True)
    done = 0
    if asked.results.exists():
        done = len(list(csv.DictReader(asked.results.open())))
    with asked.results.open("a", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS)
        if not done:
            writer.writeheader()
        for seed in range(done, asked.count):
            writer.writerow(examine(seed))
            stream.flush()
    print(table(list(csv.DictReader(asked.results.open()))))


if __name__ == "__main__":
    main()
