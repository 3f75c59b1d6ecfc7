"""`python -m experiments NAME`: what it runs, what it refuses, and what it imports."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from experiments import __main__ as command
from experiments.paper import EXPERIMENTS
from experiments.results import UncertifiedError

ROOT = Path(__file__).resolve().parents[2]


def test_a_claim_runs_as_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def claim(out: Path, **told: Any) -> None:
        told["progress"](0.5, "half way")
        (out / "claim").mkdir(parents=True)
        (out / "claim" / "table.csv").write_text(f"{told['quick']} {told['n_jobs']}")

    monkeypatch.setitem(EXPERIMENTS, "claim", claim)
    assert command.main(["claim", "--quick", "--n-jobs", "1", "-o", str(tmp_path)]) == 0
    assert (tmp_path / "claim" / "table.csv").read_text() == "True 1"
    assert str(tmp_path / "claim") in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [(["synthetic", "--data", "nowhere"], "nowhere"), (["--quick", "quality"], "after its name")],
)
def test_bad_usage_is_refused(
    arguments: list[str],
    fragment: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command.main(arguments) == 2
    assert fragment in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_missed_certificate_is_a_failed_computation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def claim(out: Path, **told: Any) -> None:
        raise UncertifiedError("lam = 1 missed its tolerance")

    monkeypatch.setitem(EXPERIMENTS, "claim", claim)
    assert command.main(["claim", "-o", str(tmp_path)]) == 1
    assert "missed its tolerance" in capsys.readouterr().err


def test_quality_gets_its_own_options(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[list[str]] = []
    monkeypatch.setattr(command, "quality", lambda arguments: given.append(arguments) or 0)
    assert command.main(["quality", "--seeds", "4"]) == 0
    assert given == [["--seeds", "4"]]


@pytest.mark.parametrize("module", ["experiments", "experiments.quality"])
def test_it_is_a_command_of_a_checkout(module: str) -> None:
    run = [sys.executable, "-m", module, "--help"]
    done = subprocess.run(run, cwd=ROOT, check=True, capture_output=True, text=True)
    assert f"python -m {module}" in done.stdout


def test_threads_can_still_be_pinned_when_quality_is_called() -> None:
    code = "import sys, experiments.__main__\nprint({'numpy', 'numba'} & set(sys.modules))"
    run = [sys.executable, "-c", code]
    done = subprocess.run(run, cwd=ROOT, check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "set()"
