"""A fit that is interrupted: what it leaves, what it says, and how it goes on."""

from __future__ import annotations

import shlex
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import convexhc
from convexhc.cli import main
from convexhc.commands.folder import FILES
from convexhc.path.checkpoint import Checkpoint, Progress

UNFINISHED = {"checkpoint.npz", "begun.json"}


@pytest.fixture
def ctrl_c_after_three(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The process sends itself the signal of Ctrl-C when the third lam has been saved."""
    write = Checkpoint.write

    def once(self: Checkpoint, progress: Progress) -> None:
        write(self, progress)
        if len(progress.levels) == 3:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Checkpoint, "write", once)
    # A process started in the background ignores the signal until told otherwise.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c_after_three")
def test_interrupted_then_resumed_gives_the_same_path(
    edges: Path, fitted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # In one process, since freshly compiled code and code from the cache differ in the last bit.
    out = tmp_path / "out"
    assert main(["fit", str(edges), "-o", str(out), "--quiet"]) == 130 == 128 + signal.SIGINT
    said = capsys.readouterr().err
    assert {file.name for file in out.iterdir()} == UNFINISHED
    assert main(["fit", str(edges), "-o", str(out)]) == 2
    program, *told = shlex.split(said.split("go on with: ")[1])
    assert program == "convexhc"
    assert main(told) == 0
    assert {file.name for file in out.iterdir()} == set(FILES)
    resumed, whole = (convexhc.Path.load(folder / "path.npz") for folder in (out, fitted))
    np.testing.assert_array_equal(resumed.lambdas, whole.lambdas)
    np.testing.assert_array_equal(resumed.partitions, whole.partitions)
    np.testing.assert_array_equal(resumed.objective, whole.objective)


@pytest.mark.usefixtures("ctrl_c_after_three")
def test_info_of_an_unfinished_run_tells_how_far_it_got_and_how_to_go_on(
    edges: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(edges.parent)
    out = tmp_path / "out"
    assert main(["fit", edges.name, "-o", str(out), "--tol", "1e-3", "--quiet"]) == 130
    goes_on = capsys.readouterr().err.split("go on with: ")[1]
    assert main(["info", str(out)]) == 0
    said = capsys.readouterr().out
    assert "24 nodes" in said
    assert "3 lam solved, from " in said
    assert said.endswith(f"go on with: {goes_on}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("convexhc.commands.info.__version__", "99.0")
    assert main(["info", str(out)]) == 0
    said = capsys.readouterr().out
    assert f"go on in {edges.parent} with: {goes_on}" in said
    assert f"begun with convexhc {convexhc.__version__}, which it needs; this is 99.0" in said
    (out / "begun.json").unlink()
    assert main(["info", str(out)]) == 0
    assert "the command it was begun with, and --resume" in capsys.readouterr().out
    monkeypatch.chdir(edges.parent)
    assert main(shlex.split(goes_on)[1:]) == 0
    assert {file.name for file in out.iterdir()} == set(FILES)


@pytest.mark.parametrize("given", [[], ["--weights", "10"]], ids=str)
def test_interrupted_before_the_first_lam_leaves_nothing(
    given: list[str],
    edges: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("convexhc.commands.fit.cluster", interrupted)
    assert main(["fit", str(edges), "-o", str(tmp_path / "out"), *given]) == 130
    assert "nothing to go on from" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
