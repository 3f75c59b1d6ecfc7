"""Finished work is kept and found again; what is written is whole."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from convexhc.api.single_lam import solve
from experiments import results
from experiments.results import Unit, compute_units

CALLS: list[str] = []


def quiet(share: float, text: str) -> None:
    assert 0.0 <= share <= 1.0


def total(name: str, values: np.ndarray | None = None, factor: float = 1.0) -> dict:
    CALLS.append(name)
    return {
        "total": factor * float(np.sum(values if values is not None else 0.0)),
        "nothing": math.nan,
        "array": np.array([0.1, np.nan]),
        "count": np.int64(3),
    }


@pytest.fixture(autouse=True)
def _no_calls() -> None:
    CALLS.clear()


def units(factor: float = 1.0, last: float = 3.0) -> list[Unit]:
    values = {"values": np.array([1.0, last])}
    return [
        Unit("a", {"name": "a"}),
        Unit("b", {"name": "b", "factor": factor}, values),
    ]


def compute(folder: Path, work: list[Unit]) -> list:
    return compute_units(folder, work, total, n_jobs=1, progress=quiet)


def test_a_second_run_computes_nothing_and_sees_the_same(tmp_path):
    first = compute(tmp_path, units())
    again = compute(tmp_path, units())
    assert CALLS == ["a", "b"]
    assert first[1]["total"] == again[1]["total"] == 4.0
    assert repr(first) == repr(again)
    assert math.isnan(again[0]["nothing"])
    assert math.isnan(again[0]["array"][1])
    assert again[0]["count"] == 3


@pytest.mark.parametrize("changed", [{"factor": 2.0}, {"last": 4.0}])
def test_other_options_or_other_data_are_computed_anew(tmp_path, changed):
    compute(tmp_path, units())
    CALLS.clear()
    found = compute(tmp_path, units(**changed))
    assert CALLS == ["b"]
    assert found[1]["total"] != 4.0


def test_a_damaged_part_is_computed_anew(tmp_path):
    compute(tmp_path, units())
    CALLS.clear()
    (tmp_path / "a.json").write_text('{"fingerprint": ')
    compute(tmp_path, units())
    assert CALLS == ["a"]


def test_work_done_before_an_error_is_kept(tmp_path):
    broken = [units()[0], Unit("c", {"name": "c"}, {"values": np.array(["x"])})]
    with pytest.raises(TypeError):
        compute(tmp_path, broken)
    CALLS.clear()
    compute(tmp_path, units()[:1])
    assert CALLS == []


def test_progress_ends_at_one(tmp_path):
    seen = []
    compute_units(
        tmp_path, units(), total, n_jobs=1, progress=lambda share, text: seen.append(share)
    )
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_a_table_is_read_back(tmp_path):
    rows = [{"lam": 0.1, "note": "a, b", "score": math.nan}, {"lam": 1, "note": "", "score": 1 / 3}]
    results.write_table(tmp_path / "deep" / "table.csv", rows)
    with (tmp_path / "deep" / "table.csv").open(newline="") as file:
        read = list(csv.DictReader(file))
    assert [row["note"] for row in read] == ["a, b", ""]
    assert [row["score"] for row in read] == ["", "0.333333"]
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["table.csv"]


def test_a_solve_without_a_certificate_is_refused():
    K = np.kron(np.eye(2), np.ones((3, 3))) + 0.1 + np.eye(6)
    results.require_certified(solve(K, 0.3), "solved")
    with pytest.warns(ConvergenceWarning), pytest.raises(RuntimeError, match="MAX_ITER"):
        results.require_certified(solve(K, 0.3, max_iter=1, tol=1e-12), "stopped")
