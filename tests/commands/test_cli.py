"""Every command: its exit code, its files, what it says when something is wrong."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import convexhc
from convexhc.cli import main
from convexhc.commands.fit import parse_lambdas
from convexhc.commands.speech import Refusal
from convexhc.datasets import fractal_graph

FILES = {
    "labels.csv",
    "linkage.csv",
    "tree.nwk",
    "path.npz",
    "graph.npz",
    "run.json",
    "report.html",
}


@pytest.fixture(scope="module")
def edges(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A CSV edge list of two communities of three groups, with names."""
    graph = fractal_graph(0, n_meta=2, n_super=3, clique=4)
    tail, head = np.nonzero(np.triu(graph.adjacency.toarray()))
    file = tmp_path_factory.mktemp("graphs") / "edges.csv"
    lines = [f"n{a:02d},n{b:02d},1" for a, b in zip(tail, head, strict=True)]
    file.write_text("\n".join(["source,target,weight", *lines]) + "\n")
    return file


@pytest.fixture(scope="module")
def fitted(edges: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("fit") / "out"
    assert main(["fit", str(edges), "-o", str(out), "--quiet"]) == 0
    return out


def read_csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text.splitlines()))


def test_fit_writes_every_file_and_no_checkpoint(fitted: Path) -> None:
    assert {file.name for file in fitted.iterdir()} == FILES


def test_fit_finds_the_known_groups(fitted: Path) -> None:
    rows = read_csv((fitted / "labels.csv").read_text())
    graph = fractal_graph(0, n_meta=2, n_super=3, clique=4)
    by_name = {row["node"]: row for row in rows}
    names = [f"n{i:02d}" for i in range(24)]
    for column, known in (("k6", graph.fine), ("k2", graph.coarse)):
        found = [by_name[name][column] for name in names]
        pairs = set(zip(found, known.tolist(), strict=True))
        assert len(pairs) == len(set(found)) == len(set(known.tolist()))


def test_run_json_tells_every_certificate(fitted: Path) -> None:
    run = json.loads((fitted / "run.json").read_text())
    path = convexhc.Path.load(fitted / "path.npz")
    assert [level["lam"] for level in run["levels"]] == path.lambdas.tolist()
    assert all(level["relative_gap"] <= 1e-4 for level in run["levels"])
    assert run["data_sha256"] == path.provenance.data


def test_linkage_csv_is_the_linkage(fitted: Path) -> None:
    path = convexhc.Path.load(fitted / "path.npz")
    table = np.loadtxt(fitted / "linkage.csv", delimiter=",", skiprows=1)
    np.testing.assert_array_equal(table, path.linkage)


def test_fit_refuses_to_overwrite_and_force_allows_it(
    edges: Path, fitted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (fitted / "run.json").read_bytes()
    assert main(["fit", str(edges), "-o", str(fitted)]) == 2
    assert "--force" in capsys.readouterr().err
    assert (fitted / "run.json").read_bytes() == before
    out = str(tmp_path / "again")
    lam = ["--lambdas", "1"]
    assert main(["fit", str(edges), "-o", out, "--quiet", *lam]) == 0
    assert main(["fit", str(edges), "-o", out, "--quiet", "--force", *lam]) == 0


def test_resume_without_an_unfinished_run_is_refused(
    edges: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fit", str(edges), "-o", str(tmp_path / "new"), "--resume"]) == 2
    assert "--resume" in capsys.readouterr().err


def test_fit_says_when_a_lam_is_not_solved(
    edges: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "out")
    assert main(["fit", str(edges), "-o", out, "--lambdas", "0.3", "--max-iter", "1"]) == 1
    assert "--max-iter" in capsys.readouterr().out


def test_cut_prints_csv(fitted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cut", str(fitted), "-k", "2"]) == 0
    rows = read_csv(capsys.readouterr().out)
    path = convexhc.Path.load(fitted / "path.npz")
    assert [row["node"] for row in rows] == list(path.names)
    assert [int(row["cluster"]) for row in rows] == path.labels(n_clusters=2).tolist()


def test_cut_at_a_lam_to_a_file(fitted: Path, tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    assert main(["cut", str(fitted), "--lam", "1.0", "-o", str(file)]) == 0
    path = convexhc.Path.load(fitted / "path.npz")
    found = [int(row["cluster"]) for row in read_csv(file.read_text())]
    assert found == path.labels(lam=1.0).tolist()


def test_report_is_written_anew(fitted: Path, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    assert main(["report", str(fitted), "-o", str(file)]) == 0
    assert file.read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html>")


def test_info_tells_size_memory_and_time(edges: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(edges)]) == 0
    said = capsys.readouterr().out
    for word in ("24 nodes", "1 connected component", "memory", "time"):
        assert word in said


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        (["fit", "missing.csv", "-o", "out"], "missing.csv"),
        (["cut", "nowhere", "-k", "2"], "convexhc fit"),
        (["report", "nowhere"], "convexhc fit"),
        (["info", "missing.csv"], "missing.csv"),
        (["experiment", "synthetic", "--data", "nowhere"], "nowhere"),
    ],
)
def test_bad_input_exits_with_two_and_says_why(
    arguments: list[str],
    fragment: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    assert fragment in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_bad_usage_exits_with_two() -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["fit"])
    assert stopped.value.code == 2


@pytest.mark.parametrize("command", ["demo", "fit", "cut", "report", "info", "experiment"])
def test_help_has_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([command, "--help"])
    assert stopped.value.code == 0
    assert "example: convexhc" in capsys.readouterr().out


def test_lambdas_that_are_no_numbers_are_refused() -> None:
    for text in ("a,b", "1:2", "0:1:5:6", "1:x:3"):
        with pytest.raises(Refusal, match="--lambdas"):
            parse_lambdas(text)


def test_interrupted_then_resumed_gives_the_same_path(
    edges: Path, fitted: Path, tmp_path: Path
) -> None:
    """The process interrupts itself after the third lam, as Ctrl-C would."""
    out = tmp_path / "out"
    code = (
        # A process started in the background ignores the signal until told otherwise.
        "import os, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from convexhc.cli import main\n"
        "from convexhc.path import storage\n"
        "write = storage.Checkpoint.write\n"
        "def once(self, progress):\n"
        "    write(self, progress)\n"
        "    if len(progress.points) == 3:\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "storage.Checkpoint.write = once\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    command = [sys.executable, "-c", code, "fit", str(edges), "-o", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ, check=False)
    assert done.returncode == 130 == 128 + signal.SIGINT
    assert "--resume" in done.stdout
    assert {file.name for file in out.iterdir()} == {"checkpoint.npz"}
    assert main(["fit", str(edges), "-o", str(out)]) == 2
    assert main(["fit", str(edges), "-o", str(out), "--resume", "--quiet"]) == 0
    resumed, whole = (convexhc.Path.load(folder / "path.npz") for folder in (out, fitted))
    np.testing.assert_array_equal(resumed.lambdas, whole.lambdas)
    np.testing.assert_array_equal(resumed.partitions, whole.partitions)
    np.testing.assert_array_equal(resumed.objective, whole.objective)
