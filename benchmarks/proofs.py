"""Are proven clusters right? Random small problems against solves at a gap of 1e-10.

    python benchmarks/proofs.py --count 2000

Every problem is solved at one lam, to a random relative gap between 1e-2 and 1e-8, and once more
to 1e-10 from a cold start. Newton's method is accurate at any tolerance: "loose points" are solved
by ADMM, which is not. Counted are problems whose gap is below the true suboptimality, whose
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

from convexhc import datasets, solve_features_path, solve_path, solve_points_path
from convexhc.fusion.points_proof import prove_points
from convexhc.model.problem import points_problem
from convexhc.model.proof import Proof
from convexhc.path.level import Level
from convexhc.similarity import neighbor_weights, rbf, two_hop
from convexhc.solvers.admm import ADMM
from convexhc.solvers.loop import run
from convexhc.solvers.solution import Solution

RESULTS = Path(__file__).resolve().parent / "results" / "proofs.csv"
COLUMNS = (
    "seed",
    "model",
    "family",
    "lam",
    "tol",
    "verdict",
    "excess_over_gap",
    "same",
    "truth",
)
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
        seed = int(rng.integers(99))
        return datasets.fractal_graph(seed, n_meta=2, n_super=2, clique=4).adjacency.toarray()
    groups = rng.integers(0, 3, n)
    shares = np.where(groups[:, None] == groups, 0.7, 0.1)
    A = np.triu(rng.random((n, n)) < shares, 1).astype(float)
    if family in ("tree", "path"):
        A[:] = 0.0
        parents = (
            np.arange(n - 1) if family == "path" else [rng.integers(0, i) for i in range(1, n)]
        )
        A[np.array(parents, int), np.arange(1, n)] = 1.0
    if family == "grid":
        A = np.kron(np.eye(3), np.diag(np.ones(n // 3), 1))
        A += np.kron(np.diag(np.ones(2), 1), np.eye(n // 3 + 1))
    if family == "weights":
        A *= 10.0 ** rng.uniform(-4, 4, A.shape)
    return np.maximum(A, A.T)


POINTS = ("normal", "blobs", "duplicates", "grid", "scales")
GRAPHS = ("sbm", "fractal", "tree", "path", "grid", "weights")
MODELS = ("points", "loose points", "features", "graph")
Run = Callable[[float, float], Level]


@dataclass
class Drawn:
    """A problem: its model and family, and functions from lam and tolerance to a level."""

    model: str
    family: str
    rough: Run
    accurate: Run
    lam: float
    tol: float


def draw(seed: int) -> Drawn:
    """Problem number ``seed``."""
    rng = np.random.default_rng([17, seed])
    model = MODELS[seed % len(MODELS)]
    family = str(rng.choice(POINTS if "points" in model else GRAPHS))
    l1_ratio, tol = float(rng.choice([0.0, 0.05, 0.5])), float(10.0 ** rng.uniform(-8, -2))
    lam = float(10.0 ** rng.uniform(-1.7, 0.5))
    if "points" in model:
        X = points(rng, family)
        edges = neighbor_weights(X, n_neighbors=min(5, len(X) - 1))
        problem = points_problem(X, edges, 0.0, l1_ratio=l1_ratio)
        lam *= float(X.std()) or 1.0

        def accurate(lam: float, tol: float) -> Level:
            return solve_points_path(X, [lam], weights=edges, l1_ratio=l1_ratio, tol=tol).levels[0]

        def rough(lam: float, tol: float) -> Level:
            found = run(problem.at(lam), ADMM(), tol=tol, max_iter=3000)
            proof = prove_points(problem.at(lam), found)
            return _level(found, proof)

        return Drawn(model, family, rough if "loose" in model else accurate, accurate, lam, tol)
    of_points = rng.random() < 0.2
    family = "rbf of blobs" if of_points else family
    K = (
        rbf(points(rng, "blobs"), shift=0.1)
        if of_points
        else two_hop(graph(rng, family), shift=0.1)
    )

    def solved(lam: float, tol: float) -> Level:
        if model == "graph":
            return solve_path(K, [lam], l1_ratio=l1_ratio, tol=tol).levels[0]
        return solve_features_path(K, [lam], l1_ratio=l1_ratio, tol=tol).levels[0]

    return Drawn(model, family, solved, solved, lam, tol)


def _level(found: Solution, proof: Proof) -> Level:
    """A solution as a level of a path."""
    objective, gap, residual, _ = found.certificate
    return Level(
        found.lam,
        found.labels,
        objective,
        gap / max(abs(objective), 1e-300),
        residual,
        found.n_iter,
        found.status,
        proof=proof,
    )


def examine(seed: int) -> dict[str, object]:
    """Solve a problem twice and compare."""
    drawn = draw(seed)
    rough = drawn.rough(drawn.lam, drawn.tol)
    truth = drawn.accurate(drawn.lam, ACCURATE)
    proof = rough.proof
    assert proof is not None
    refines = _refines(proof.finest, truth.labels) and _refines(truth.labels, proof.coarsest)
    verdict = "proven" if proof.is_proven else "open"
    excess = (rough.objective - truth.objective) / max(abs(rough.objective), 1e-300)
    return {
        "seed": seed,
        "model": drawn.model,
        "family": drawn.family,
        "lam": drawn.lam,
        "tol": drawn.tol,
        "verdict": verdict if refines else "WRONG",
        "excess_over_gap": excess - rough.relative_gap,
        "same": bool((rough.labels == truth.labels).all()),
        "truth": truth.status.name,
    }


def _refines(fine: Array, coarse: Array) -> bool:
    first = np.unique(fine, return_index=True)[1]
    return bool((coarse == coarse[first[fine]]).all())


def table(rows: list[dict[str, str]]) -> str:
    """Counts by model and family."""
    groups = defaultdict(list)
    for row in rows:
        groups[row["model"], row["family"]].append(row)
    lines = ["| model | family | problems | proven | wrong | other labels | gap below the truth |"]
    lines.append("|---|---|---|---|---|---|---|")
    for (model, family), found in sorted(groups.items()):
        proven, wrong = (sum(r["verdict"] == v for r in found) for v in ("proven", "WRONG"))
        low = sum(float(r["excess_over_gap"]) > 1e-9 for r in found)
        other = sum(r["same"] == "False" for r in found)
        counts = (len(found), proven, wrong, other, low)
        lines.append(f"| {model} | {family} | " + " | ".join(map(str, counts)) + " |")
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
