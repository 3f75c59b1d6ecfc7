"""Convergence of each method: ours, the printed algorithm of the paper, and general solvers.

Dual FISTA, ADMM, the primal-dual method and the paper's algorithm as printed run on the same
fractal graphs from the same cold start and are judged by the same certificate; only their steps are
timed. CVXPY gives one point per solver, if it fits into memory. Errors of the paper that can be
shown by a number are in ``errata.csv``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np

from experiments.paper import algorithm_figures as draw
from experiments.paper.algorithm_traces import GENERAL, ITERATIVE, general, has_cvxpy, trace
from experiments.paper.errata import errata
from experiments.results import (
    Progress,
    Row,
    Unit,
    between,
    compute_units,
    markdown_table,
    write_table,
    write_text,
)

Shape = tuple[int, int, int]
TARGETS = (1e-2, 1e-4, 1e-6)


@dataclass(frozen=True)
class Size:
    """How much is computed, including the largest problem for each general solver.

    At 98 nodes Clarabel takes minutes and 1.2 GB, at 196 SCS takes 4.4 GB.
    """

    shapes: tuple[Shape, ...] = ((1, 7, 7), (2, 7, 7), (4, 7, 7))
    lambdas: tuple[float, ...] = (0.001, 0.1, 1.0)
    tol: float = 1e-6
    budget: float = 40.0
    limits: tuple[int, int] = (49, 98)


FULL = Size()
QUICK = Size(
    shapes=((1, 4, 5), (2, 4, 5)), lambdas=(0.1, 1.0), tol=1e-4, budget=2.0, limits=(20, 20)
)


def run(out: Path, *, data: Path | None, quick: bool, n_jobs: int, progress: Progress) -> None:
    """Trace every method on every problem."""
    size = QUICK if quick else FULL
    folder = out / "algorithms"
    plans = [
        (shape, lam, method)
        for shape in size.shapes
        for lam in size.lambdas
        for method in (*ITERATIVE, *_general_methods(size, prod(shape)))
    ]
    rows = []
    parts = {
        compute: [plan for plan in plans if (plan[2] in GENERAL) == (compute is general)]
        for compute in (trace, general)
    }
    for share, (compute, chosen) in zip((0.0, 0.8), parts.items(), strict=True):
        found = compute_units(
            folder / "parts",
            [_unit(size, *plan) for plan in chosen],
            compute,
            n_jobs=n_jobs,
            progress=between(progress, share, 0.8 if share == 0.0 else 0.95),
        )
        rows += [
            {"n": prod(shape), "lam": lam, "method": method} | row
            for (shape, lam, method), part in zip(chosen, found, strict=True)
            for row in part
        ]
    rows = with_suboptimality(rows)
    table = time_to_targets(rows)
    wrong = compute_units(
        folder / "parts",
        [Unit("errata", {})],
        errata,
        n_jobs=1,
        progress=between(progress, 0.95, 1),
    )[0]
    for name, content in (("traces", rows), ("targets", table), ("errata", wrong)):
        write_table(folder / f"{name}.csv", content)
    for axis in ("seconds", "iteration"):
        draw.gaps(folder / f"gap_against_{axis}", rows, axis)
    write_text(folder / "results.md", _text(size, table, wrong))
    progress(1.0, "written")


def _general_methods(size: Size, n: int) -> tuple[str, ...]:
    if not has_cvxpy():
        return ()
    return tuple(name for name, most in zip(GENERAL, size.limits, strict=True) if n <= most)


def _unit(size: Size, shape: Shape, lam: float, method: str) -> Unit:
    name = f"{method}-{prod(shape)}-{lam:g}"
    if method in GENERAL:
        return Unit(name, {"shape": list(shape), "lam": lam, "solver": method})
    options = {"tol": size.tol, "budget": size.budget}
    return Unit(name, {"shape": list(shape), "lam": lam, "method": method} | options)


def with_suboptimality(rows: Sequence[Row]) -> list[Row]:
    """Rows with the relative distance of their objective from the best lower bound of any method.

    A lower bound of one method holds for all, so the distance is nonnegative up to round-off.
    """
    bounds: dict[tuple[int, float], float] = {}
    for row in rows:
        key, bound = (row["n"], row["lam"]), row["objective"] - row["gap"]
        if not np.isnan(bound):
            bounds[key] = max(bounds.get(key, -np.inf), bound)
    return [
        dict(row) | {"suboptimality": (row["objective"] - bound) / abs(bound)}
        for row in rows
        for bound in [bounds[row["n"], row["lam"]]]
    ]


def time_to_targets(rows: Sequence[Row]) -> list[Row]:
    """Iterations and seconds at the first check that meets each target, and the last gap."""
    groups: dict[tuple[int, float, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["n"], row["lam"], row["method"]), []).append(row)
    table: list[Row] = []
    for (n, lam, method), group in groups.items():
        found: Row = {"n": n, "lam": lam, "method": method}
        for target in TARGETS:
            met = [row for row in group if row["relative_gap"] <= target]
            found[f"iterations_{target:g}"] = met[0]["iteration"] if met else float("nan")
            found[f"seconds_{target:g}"] = met[0]["seconds"] if met else float("nan")
        last = group[-1]
        found |= {"last_iteration": last["iteration"], "last_seconds": last["seconds"]}
        found |= {"last_gap": last["relative_gap"], "last_suboptimality": last["suboptimality"]}
        table.append(found)
    return table


def _text(size: Size, table: Sequence[Row], wrong: Sequence[Row]) -> str:
    lines = [
        "# Algorithms: gap against time and iterations",
        "",
        f"Fractal graphs of {', '.join(str(prod(shape)) for shape in size.shapes)} nodes, "
        f"alpha = 0.95, cold start, at most {size.budget:g} CPU seconds of steps, certificates not "
        "counted. The iterations of dual FISTA and of the printed algorithm have an inner loop.",
    ]
    if size is not FULL:
        lines += ["", "Quick run: small graphs and short times."]
    if has_cvxpy():
        limits = ", ".join(f"{a} {b}" for a, b in zip(GENERAL, size.limits, strict=True))
        lines += ["", f"General solvers were tried up to so many nodes: {limits}."]
    else:
        lines += ["", "General solvers were left out: CVXPY is not installed."]
    lines += ["", markdown_table(table), "", "## Mistakes of the paper, by numbers", ""]
    lines += [markdown_table(wrong)]
    return "\n".join(lines) + "\n"
