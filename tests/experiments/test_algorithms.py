"""The printed algorithm, the traces of all methods, and what is said of the paper's mistakes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from experiments.reading import files, quiet, read

from convexhc.model.constraint import project_doubly_stochastic
from convexhc.solvers.choose import choose_method
from convexhc.solvers.loop import run
from experiments.paper import EXPERIMENTS, algorithms
from experiments.paper.algorithm_traces import fractal_problem, general, trace
from experiments.paper.errata import errata
from experiments.paper.printed import PrintedFISTA, alternate

SHAPE = (1, 3, 4)


def test_the_printed_projection_is_doubly_stochastic_but_not_the_nearest():
    Y = np.random.default_rng(0).standard_normal((8, 8))
    ended = alternate(Y, passes=3000, tol=1e-10)
    assert np.allclose(ended.sum(axis=0), 1)
    assert np.allclose(ended.sum(axis=1), 1)
    assert ended.min() >= 0
    nearest = project_doubly_stochastic(Y)
    assert np.linalg.norm(Y - ended) > np.linalg.norm(Y - nearest) + 1e-3


def test_the_printed_projection_keeps_what_is_doubly_stochastic():
    inside = np.full((5, 5), 0.2)
    assert np.allclose(alternate(inside), inside)


def test_the_certificate_holds_for_the_printed_algorithm():
    problem = fractal_problem(SHAPE, 0.1)
    best = run(problem, choose_method(problem, "admm"), tol=1e-9).certificate
    found = run(problem, PrintedFISTA(inner_iter=30), tol=0.0, max_iter=10).certificate
    assert found.objective >= best.objective - best.gap - 1e-9
    assert found.objective - found.gap <= best.objective + 1e-9
    # It does come near at so small a lam.
    assert found.objective - best.objective < 0.02 * abs(best.objective)


def test_a_trace_is_in_order_and_ends_at_the_tolerance():
    rows = trace(SHAPE, 0.5, "primal_dual", 1e-4, 20.0)
    for column in ("iteration", "seconds"):
        values = [row[column] for row in rows]
        assert values == sorted(values)
    assert rows[0]["iteration"] == 0
    assert rows[-1]["relative_gap"] <= 1e-4 < rows[0]["relative_gap"]


def test_a_budget_ends_a_trace():
    assert len(trace(SHAPE, 0.5, "dual_fista", 0.0, 0.0)) <= 2


def test_a_general_solver_meets_the_others():
    pytest.importorskip("cvxpy")
    rows = [
        {"n": 12, "lam": 0.5, "method": "admm"} | trace(SHAPE, 0.5, "admm", 1e-8, 20.0)[-1],
        {"n": 12, "lam": 0.5, "method": "clarabel"} | general(SHAPE, 0.5, "clarabel")[0],
    ]
    assert abs(algorithms.with_suboptimality(rows)[1]["suboptimality"]) < 1e-5


def test_the_best_bound_of_any_method_counts():
    rows = [
        {"n": 2, "lam": 1.0, "method": "a", "objective": -1.0, "gap": 1.0},
        {"n": 2, "lam": 1.0, "method": "b", "objective": -1.5, "gap": 0.5},
        {"n": 2, "lam": 1.0, "method": "c", "objective": -1.9, "gap": math.nan},
    ]
    found = [row["suboptimality"] for row in algorithms.with_suboptimality(rows)]
    assert found == pytest.approx([0.5, 0.25, 0.05])


def test_the_first_check_that_meets_a_target_is_told():
    rows = [
        {"n": 2, "lam": 1.0, "method": "a", "iteration": i, "seconds": float(i)}
        | {"relative_gap": gap, "suboptimality": gap}
        for i, gap in ((0, 1.0), (10, 1e-3), (20, 1e-5))
    ]
    found = algorithms.time_to_targets(rows)[0]
    assert (found["iterations_0.01"], found["iterations_0.0001"]) == (10, 20)
    assert math.isnan(found["iterations_1e-06"])
    assert found["last_gap"] == 1e-5


def test_what_the_paper_prints_is_not_what_is_right():
    for row in errata():
        assert math.isnan(row["printed"]) or abs(row["printed"] - row["right"]) > 1e-2, row["what"]


def test_a_small_run_without_cvxpy_says_so(tmp_path, monkeypatch):
    small = algorithms.Size(
        shapes=(SHAPE,), lambdas=(0.5,), tol=1e-3, budget=0.2, limits=(100, 100)
    )
    monkeypatch.setattr(algorithms, "QUICK", small)
    monkeypatch.setattr(algorithms, "has_cvxpy", lambda: False)
    EXPERIMENTS["algorithms"](tmp_path, data=None, quick=True, n_jobs=1, progress=quiet)
    folder = tmp_path / "algorithms"
    assert files(folder, "csv") == {"traces", "targets", "errata"}
    assert files(folder, "png") == {"gap_against_seconds", "gap_against_iteration"}
    assert "CVXPY is not installed" in (folder / "results.md").read_text()
    targets = {row["method"]: row for row in read(folder / "targets.csv")}
    assert set(targets) == {"dual_fista", "admm", "primal_dual", "printed"}
    for method in ("dual_fista", "admm", "primal_dual"):
        assert float(targets[method]["last_gap"]) <= 1e-3
