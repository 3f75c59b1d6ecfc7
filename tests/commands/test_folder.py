"""The folder of a fit: one fit at a time, whole files or none, and names of any kind."""

from __future__ import annotations

import csv
import errno
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from convexhc import _files, as_graph, solve_path
from convexhc._files import InUse, atomic_write, locked, write_text
from convexhc.cli import main
from convexhc.commands.folder import FILES
from convexhc.export.csv_table import csv_text
from convexhc.path.checkpoint import Checkpoint, Progress

ONE = ["--lambdas", "1", "--quiet"]
posix = pytest.mark.skipif(os.name != "posix", reason="the system has no such locks and limits")


@contextmanager
def held_lock(file: Path) -> Iterator[int]:
    """A process that holds a lock until it is killed; its id."""
    code = (
        "import fcntl, os, sys, time\n"
        "with open(sys.argv[1], 'w') as lock:\n"
        "    fcntl.flock(lock, fcntl.LOCK_EX)\n"
        "    print(f'process {os.getpid()}', file=lock, end='', flush=True)\n"
        "    print('held', flush=True)\n"
        "    time.sleep(600)"
    )
    command = [sys.executable, "-c", code, str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "held\n"
            yield process.pid
        finally:
            process.kill()


@posix
def test_a_second_fit_is_refused_while_the_first_runs_and_not_after_its_death(
    edges: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    with held_lock(out / ".lock") as pid:
        assert main(["fit", str(edges), "-o", str(out), *ONE]) == 2
        assert f"{out} is in use by another fit (process {pid})" in capsys.readouterr().err
        assert [file.name for file in out.iterdir()] == [".lock"]
    # The file is still there, but nobody holds it.
    assert (out / ".lock").exists()
    assert main(["fit", str(edges), "-o", str(out), *ONE]) == 0
    assert {file.name for file in out.iterdir()} == set(FILES)


@posix
def test_a_lock_is_exclusive_and_leaves_no_file(tmp_path: Path) -> None:
    file = tmp_path / "lock"
    with locked(file):
        with pytest.raises(InUse, match="process"), locked(file):
            pass
        assert file.exists()
    assert not file.exists()
    with locked(file):
        pass


def test_a_partial_file_has_a_new_name_each_time_and_follows_no_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = set()
    for _ in range(3):
        with atomic_write(tmp_path / "a"):
            seen |= {file.name for file in tmp_path.iterdir()} - {"a"}
    assert len(seen) == 3
    victim = tmp_path / "victim"
    victim.write_text("mine")
    monkeypatch.setattr(_files.secrets, "token_hex", lambda _: "foreseen")
    (tmp_path / ".foreseen.part").symlink_to(victim)
    with pytest.raises(FileExistsError):
        write_text(tmp_path / "a", "theirs")
    assert victim.read_text() == "mine"


def test_partial_files_of_a_killed_fit_are_removed_by_the_next_and_no_others(
    edges: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    with monkeypatch.context() as killed:
        # A killed process removes nothing.
        killed.setattr(Path, "unlink", lambda *_, **__: None)
        killed.setattr(Path, "replace", lambda *_: None)
        write_text(out / "labels.csv", "half")
    (out / ".mine.part").write_text("mine")
    assert len(list(out.iterdir())) == 2
    assert main(["fit", str(edges), "-o", str(out), *ONE]) == 0
    assert {file.name for file in out.iterdir()} == {*FILES, ".mine.part"}


def test_a_written_file_has_the_rights_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    write_text(tmp_path / "atomic", "")
    modes = {(tmp_path / name).stat().st_mode for name in ("plain", "atomic")}
    assert len(modes) == 1


@contextmanager
def short_files(size: int) -> Iterator[None]:
    """Files longer than ``size`` cannot be written, as on a disk that is full."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@posix
@pytest.mark.usefixtures("fitted")  # compiles, and so writes files of its own
@pytest.mark.parametrize(("size", "file"), [(2_000, "checkpoint.npz"), (60_000, "report.html")])
def test_a_full_disk_names_the_file_and_loses_nothing(
    size: int, file: str, edges: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    given = ["fit", str(edges), "-o", str(out), *ONE]
    with short_files(size):
        assert main(given) == 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert "File too large" in lines[0]
    assert str(out / file) in lines[0]
    if file == "checkpoint.npz":
        assert not out.exists()
        return
    assert "--resume" in lines[0]
    left = {entry.name for entry in out.iterdir()}
    assert {"checkpoint.npz", "begun.json"} <= left
    assert not {"run.json", "report.html"} & left
    assert not [name for name in left if name.endswith(".part")]
    assert main([*given, "--resume"]) == 0
    assert {entry.name for entry in out.iterdir()} == set(FILES)


def test_a_folder_that_cannot_be_written_is_refused_before_the_fit(
    edges: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = os.open

    def read_only(file: object, flags: int, *rest: int, **others: object) -> int:
        if flags & os.O_CREAT:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(file))
        return real(file, flags, *rest, **others)

    def solved(*_: object, **__: object) -> None:
        raise AssertionError("solved before the folder was tried")

    monkeypatch.setattr("convexhc.commands.fit.cluster", solved)
    out = tmp_path / "out"
    out.mkdir()
    (out / "notes.txt").write_text("mine")
    monkeypatch.setattr(os, "open", read_only)
    assert main(["fit", str(edges), "-o", str(out), *ONE]) == 2
    said = capsys.readouterr().err
    assert "Read-only file system" in said
    assert str(out) in said
    assert said.count("\n") == 1
    assert [file.name for file in out.iterdir()] == ["notes.txt"]


@posix
@pytest.mark.usefixtures("own_ctrl_c")
@pytest.mark.parametrize("kind", ["SIGTERM", "SIGINT"])
def test_a_signal_keeps_the_checkpoint_and_says_how_to_go_on(
    kind: str,
    edges: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write, number = Checkpoint.write, getattr(signal, kind)

    def once(self: Checkpoint, progress: Progress) -> None:
        write(self, progress)
        if len(progress.levels) == 2:
            signal.raise_signal(number)

    monkeypatch.setattr(Checkpoint, "write", once)
    before = signal.getsignal(signal.SIGTERM)
    out = tmp_path / "out"
    given = ["fit", str(edges), "-o", str(out), "--quiet", "--weights", "10"]
    given += ["--lambdas", "0.1,0.5,1"]
    assert main(given) == 128 + number
    assert "interrupted; go on with: convexhc fit" in capsys.readouterr().err
    assert signal.getsignal(signal.SIGTERM) is before
    assert {file.name for file in out.iterdir()} == {"checkpoint.npz", "begun.json"}
    assert main([*given, "--resume"]) == 0


@pytest.fixture
def own_ctrl_c() -> Iterator[None]:
    """A process started in the background ignores the signal until told otherwise."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


STRANGE = ["a", "b\rc", "d\ne", "f\r\ng", 'h"i', "j,k", "=1+1", "@x"]


def test_any_name_survives_labels_csv(tmp_path: Path) -> None:
    text = csv_text(["node", "cluster"], [[name, 0] for name in STRANGE])
    file = tmp_path / "labels.csv"
    write_text(file, text)
    with file.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.reader(stream))
    assert rows == [["node", "cluster"], *([name, "0"] for name in STRANGE)]
    # Every line end that is not quoted is a single line feed.
    assert "\r\n" not in text.replace('"f\r\ng"', "")


def test_names_that_look_like_formulas_are_escaped_if_asked_for(
    edges: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "edges.csv", tmp_path / "out"
    file.write_text(edges.read_text().replace("n00", "=1+1").replace("n01", "@b"))
    given = ["fit", str(file), "-o", str(out), *ONE]
    assert main(given) == 0
    assert "\n=1+1," in (out / "labels.csv").read_text()
    assert main([*given, "--force", "--escape-formulas"]) == 0
    assert "\n'=1+1," in (out / "labels.csv").read_text()
    assert "\n'@b," in (out / "labels.csv").read_text()
    capsys.readouterr()
    assert main(["cut", str(out), "-k", "1", "--escape-formulas"]) == 0
    assert "\n'=1+1,0\n" in capsys.readouterr().out


def test_half_a_character_in_a_name_is_refused_before_the_fit() -> None:
    with pytest.raises(ValueError, match=r"node name 'b\\udc80' holds half a character"):
        as_graph(np.eye(3), names=["a", "b\udc80", "c"])


@posix
def test_a_folder_whose_name_is_no_text_is_written_and_told(
    edges: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out\udcff"
    assert main(["fit", str(edges), "-o", str(out), "--lambdas", "1"]) == 0
    assert "out\\udcff" in capsys.readouterr().out
    assert {file.name for file in out.iterdir()} == set(FILES)


DAMAGED = [
    ("run.json", b"{", "info"),
    ("run.json", b"[]", "info"),
    ("run.json", b"\xff", "report"),
    ("run.json", b'{"convexhc": "1"}', "info"),
    ("begun.json", b"{", "info"),
    ("begun.json", b'{"arguments": 3}', "info"),
    ("graph.npz", b"PK", "report"),
    ("path.npz", b"PK", "report"),
    ("checkpoint.npz", b"PK", "info"),
]


@pytest.mark.parametrize(("name", "content", "command"), DAMAGED)
def test_a_damaged_file_of_a_folder_is_named_in_one_line(
    name: str,
    content: bytes,
    command: str,
    fitted: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = shutil.copytree(fitted, tmp_path / "out")
    if name == "begun.json":
        K = np.ones((3, 3)) + np.eye(3)
        solve_path(K, [0.1], checkpoint=out / "checkpoint.npz")
    (out / name).write_bytes(content)
    assert main([command, str(out)]) == 2
    said = capsys.readouterr().err
    assert str(out / name) in said
    assert said.count("\n") == 1


def test_a_record_of_another_program_is_refused(
    fitted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = shutil.copytree(fitted, tmp_path / "out")
    run = json.loads((out / "run.json").read_text())
    (out / "run.json").write_text(json.dumps({**run, "seconds": "long"}))
    assert main(["info", str(out)]) == 2
    assert "seconds is 'long'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("entry", "value"), [("similarity", "x"), ("shift", "x"), ("shift", 1e308)]
)
def test_a_record_with_another_similarity_is_refused(
    entry: str, value: object, edges: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["fit", str(edges), "-o", str(out), *ONE]) == 0
    record = json.loads((out / "run.json").read_text())
    (out / "run.json").write_text(json.dumps({**record, entry: value}))
    capsys.readouterr()
    assert main(["report", str(out)]) == 2
    said = capsys.readouterr().err
    assert f"run.json: not a valid record of a run (fit again with --force): {entry}" in said
    assert said.count("\n") == 1
