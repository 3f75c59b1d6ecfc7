"""Nasty problems, each solved in a process of its own with limits.

    PYTHONPATH=tests python -m fuzz.problems --singles 1600 --paths 300 --seed 0

Singular, indefinite by round-off, badly scaled, disconnected, with twins and with zeros: every
problem must be solved, refused by ValueError or TypeError, or end with a status that says why not.
Anything else is a failure: another exception, a warning, a death, more than 60 s of CPU time, a gap
below zero by more than round-off, a value that is not finite, a cluster whose rows differ.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from fuzz.files import REFUSED, Reader

import convexhc
from convexhc.path.path import Path as SolvedPath
from convexhc.solvers.solution import Solution, Status

# Gaps may be negative by this share of the objective, or of its size at the identity.
ROUND_OFF = 1e-9
SOLVED = "solved"
# Iterations of a single solve, and of each of a path.
MAX_ITER = 20_000

Rng = np.random.Generator
Matrix = np.ndarray


def gram(rng: Rng, n: int) -> Matrix:
    """Of any rank, one included."""
    X = rng.normal(size=(n, int(rng.integers(1, n + 1))))
    return X @ X.T


def nonnegative_gram(rng: Rng, n: int) -> Matrix:
    X = rng.random((n, int(rng.integers(1, n + 1))))
    return X @ X.T


def centred(rng: Rng, n: int) -> Matrix:
    """Rows that sum to zero."""
    X = rng.normal(size=(n, 3))
    X -= X.mean(axis=0)
    return X @ X.T


def laplacian(rng: Rng, n: int) -> Matrix:
    W = graph(rng, n)
    return np.diag(W.sum(axis=1)) - W


def graph(rng: Rng, n: int) -> Matrix:
    """A random weighted graph, often disconnected."""
    W = np.triu(rng.random((n, n)) * (rng.random((n, n)) < rng.uniform(0.1, 0.9)), 1)
    return W + W.T


def dominant(rng: Rng, n: int) -> Matrix:
    """A graph with a dominant diagonal."""
    W = graph(rng, n)
    return W + np.diag(W.sum(axis=1) + 0.1 * rng.random(n))


def many_orders(rng: Rng, n: int) -> Matrix:
    """Weights over up to six hundred orders of magnitude."""
    W = graph(rng, n)
    low, high = sorted(rng.uniform(*((-300, 300) if rng.random() < 0.3 else (-12, 12)), size=2))
    spread = np.triu(10.0 ** rng.uniform(low, high, size=(n, n)), 1)
    W = (W > 0) * (spread + spread.T)
    return W + np.diag(W.sum(axis=1))


def badly_scaled(rng: Rng, n: int) -> Matrix:
    """S K S with a diagonal S over many orders."""
    scales = 10.0 ** rng.uniform(-6, 6, size=n)
    K = nonnegative_gram(rng, n) if rng.random() < 0.5 else dominant(rng, n)
    return K * np.outer(scales, scales)


def zero_rows(rng: Rng, n: int) -> Matrix:
    K = dominant(rng, n)
    out = rng.random(n) < 0.4
    K[out], K[:, out] = 0.0, 0.0
    return K


def twins(rng: Rng, n: int) -> Matrix:
    """Duplicated nodes."""
    K = dominant(rng, n)
    which = rng.integers(max(1, n // 2), size=n)
    return K[np.ix_(which, which)]


def blocks(rng: Rng, n: int) -> Matrix:
    groups = rng.integers(1 + n // 3, size=n)
    return (groups[:, None] == groups) * 1.0


def constant(rng: Rng, n: int) -> Matrix:
    return np.full((n, n), float(rng.choice([0.0, 1.0, 1e-300, 1e300])))


def identity(rng: Rng, n: int) -> Matrix:
    return np.eye(n)


def two_hop(rng: Rng, n: int) -> Any:
    shift = float(rng.choice([0.0, 1e-300, 1e-12, 0.1, 1e12, 1e300, 1e308]))
    return convexhc.similarity.two_hop(graph(rng, n), shift=shift)


def not_positive(rng: Rng, n: int) -> Matrix:
    """Indefinite, barely or by far."""
    return gram(rng, n) - np.eye(n) * float(rng.choice([1e-14, 1e-9, 1e-3, 1.0]))


FAMILIES: tuple[Callable[[Rng, int], Any], ...] = (
    gram,
    nonnegative_gram,
    centred,
    laplacian,
    dominant,
    many_orders,
    badly_scaled,
    zero_rows,
    twins,
    blocks,
    constant,
    identity,
    two_hop,
    not_positive,
)


def similarity(family: Callable[[Rng, int], Any], rng: Rng) -> Any:
    """A similarity of that family, of some size, type and unit."""
    n = int(rng.choice([1, 2, 3, 6, 10, 14, 25]))
    K = family(rng, n)
    if not isinstance(K, np.ndarray):
        return K
    choice = rng.integers(8)
    if choice == 0:
        with np.errstate(over="ignore"):
            return K.astype(np.float32)
    if choice == 1 and np.abs(K).max() < 1e9:
        return np.round(K).astype(np.int64)
    if choice == 2:
        with np.errstate(over="ignore", under="ignore"):
            return K * float(rng.choice([1e-300, 1e-150, 1e-12, 1e12, 1e150, 1e300]))
    return K


def strength(rng: Rng) -> float:
    """Usually near one, at times at the ends of the range of numbers."""
    if rng.random() < 0.15:
        return float(rng.choice([0.0, 5e-324, 1e-300, 1e-20, 1e20, 1e300, 1.7e308]))
    return float(10.0 ** rng.uniform(-4, 4))


def weights_of(K: Any, rng: Rng) -> Any:
    """Mostly a graph of its own where K has negative entries, else mostly those of K."""
    signed = isinstance(K, np.ndarray) and K.size and bool((K < 0).any())
    if rng.random() < (0.9 if signed else 0.2):
        return graph(rng, len(K) if isinstance(K, np.ndarray) else K.graph.n)
    return None


def options(rng: Rng) -> dict[str, Any]:
    return {
        "l1_ratio": float(rng.choice([0.0, 0.05, 0.05, 0.5, 1.0])),
        "tol": float(rng.choice([1e-4, 1e-4, 1e-6])),
        "constraint": str(rng.choice(["doubly_stochastic", "doubly_stochastic", "simplex"])),
        "method": str(rng.choice(["auto", "admm", "primal_dual", "dual_fista"])),
    }


def single(case: Path | str) -> str:
    """One lam: the outcome, or what was wrong."""
    rng, family = _case(case)
    K = None

    def attempt() -> str:
        nonlocal K
        K = similarity(family, rng)
        lam = strength(rng)
        if rng.random() < 0.4 and isinstance(K, np.ndarray):
            lam *= float(np.abs(K).max())
        found = convexhc.solve(
            K, lam, weights=weights_of(K, rng), max_iter=MAX_ITER, **options(rng)
        )
        return judged_solution(found, K)

    return _judged(attempt)


def path(case: Path | str) -> str:
    """One path of any model: the outcome, or what was wrong."""
    rng, family = _case(case)

    def attempt() -> str:
        kind, most = int(rng.integers(5)), None
        if kind == 0:
            n = int(rng.choice([1, 2, 5, 20]))
            X = rng.normal(size=(n, 2))[rng.integers(n, size=n)] * rng.choice([0.0, 1.0])
            X[:, 0] *= float(rng.choice([1.0, 1e-6]))
            X = (X + rng.choice([0.0, 0.1, 1e6])) * rng.choice([1e-150, 1e-8, 1.0, 1e8, 1e150])
            found = convexhc.solve_points_path(X, 8, weights=int(rng.integers(1, 6)))
        else:
            K = similarity(family, rng)
            grid = [None, 5, [strength(rng) for _ in range(3)]][rng.integers(3)]
            if kind == 1:
                found = convexhc.solve_features_path(K, 8)
            elif kind == 2:
                found = convexhc.cluster(K, 8)
            else:
                most = int(rng.integers(1, 6)) if kind == 4 else None
                chosen = options(rng) | {"method": "auto"}
                found = convexhc.solve_path(
                    K,
                    grid,
                    weights=weights_of(K, rng),
                    max_clusters=most,
                    max_iter=2000,
                    **chosen,
                )
        return judged_path(found, most)

    return _judged(attempt)


def _case(case: Path | str) -> tuple[Rng, Callable[[Rng, int], Any]]:
    """The random numbers of a case, ``family-seed-number``."""
    name, seed, number = str(case).split("-")
    family = next(one for one in FAMILIES if one.__name__ == name)
    return np.random.default_rng([int(seed), int(number)]), family


def _judged(attempt: Callable[[], str]) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # A status says so, too.
        warnings.filterwarnings("ignore", ".*not solved to tol=")
        try:
            return attempt()
        except (ValueError, TypeError, MemoryError) as error:
            return f"bad message: {error}" if "\n" in str(error) else REFUSED


def judged_solution(found: Solution, K: Any) -> str:
    """SOLVED, the name of another status, or what is wrong."""
    proof, C = found.certificate, found.centroids
    if not (np.isfinite(C).all() and np.isfinite(proof).all()):
        return f"failed: not finite {tuple(proof)}"
    diagonal = np.diag(K) if isinstance(K, np.ndarray) else K.graph.diagonal
    least = ROUND_OFF * max(abs(proof.objective), 0.5 * float(np.abs(diagonal).sum()))
    if proof.gap < -least:
        return f"failed: negative gap {tuple(proof)}"
    first = np.unique(found.labels, return_index=True)[1]
    if not np.array_equal(C[first[found.labels]], C):
        return "failed: rows of a cluster differ"
    if len(np.unique(C[first], axis=0)) != len(first):
        return "failed: two clusters with equal rows"
    return SOLVED if found.status is Status.SOLVED else found.status.name


def judged_path(found: SolvedPath, most: int | None = None) -> str:
    """SOLVED, the name of the first other status, or what is wrong.

    A path from above is incomplete if there are never more than ``most`` clusters.
    """
    numbers = [(one.lam, one.objective, one.relative_gap, one.residual) for one in found.levels]
    if not np.isfinite(numbers).all():
        return f"failed: not finite {numbers}"
    if not found.levels:
        return "failed: no level"
    others = [one.status.name for one in found.levels if one.status is not Status.SOLVED]
    return others[0] if others else SOLVED if found.complete or most else "failed: incomplete"


def run(arguments: argparse.Namespace) -> int:
    """Solve so many problems; print the counts; 1 if any failed."""
    reader, failures, began = Reader(single, path), 0, time.monotonic()
    counts: dict[str, Counter[str]] = {}
    slowest: Counter[str] = Counter()
    for function, total in ((single, arguments.singles), (path, arguments.paths)):
        for number in range(total):
            if time.monotonic() - began > arguments.seconds:
                break
            family = FAMILIES[number % len(FAMILIES)].__name__
            case = f"{family}-{arguments.seed}-{number}"
            outcome, seconds = reader.attempt(function, Path(case))
            fine = outcome in (SOLVED, REFUSED) or outcome in Status.__members__
            kind = f"{function.__name__} {family}"
            counts.setdefault(kind, Counter())[outcome if fine else "failed"] += 1
            slowest[kind] = max(slowest[kind], seconds)
            if not fine or outcome in arguments.show:
                failures += not fine
                print(f"{function.__name__} {case}: {outcome} ({seconds:.1f} s)", flush=True)
    reader.close()
    for kind, count in counts.items():
        said = ", ".join(f"{number} {name}" for name, number in count.most_common())
        print(f"{kind:28s}{count.total():5d}: {said}; slowest {slowest[kind]:.1f} s")
    everything = sum(counts.values(), Counter[str]())
    print(f"{everything.total()} problems: {dict(everything)}")
    return 1 if failures else 0


def parser() -> argparse.ArgumentParser:
    described = argparse.ArgumentParser(description="Nasty problems of every family.")
    described.add_argument("--singles", type=int, default=1600)
    described.add_argument("--paths", type=int, default=300)
    described.add_argument("--seconds", type=float, default=1e9)
    described.add_argument("--seed", type=int, default=0)
    described.add_argument("--show", nargs="*", default=(), help="statuses to list")
    return described


if __name__ == "__main__":
    sys.exit(run(parser().parse_args()))
