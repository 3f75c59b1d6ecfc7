"""`convexhc fit --bootstrap`: files, resumption, refusals."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import convexhc
from convexhc.cli import main
from convexhc.commands.folder import FILES, SUPPORT_FILES, Folder
from convexhc.resampling.comparison import Comparison, Reference

GIVEN = ["--lambdas", "0.02:60:10", "--bootstrap", "3", "--edge-share", "0.9", "--n-jobs", "1"]


def rows_of(file: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(file.read_text().splitlines()))


@pytest.fixture(scope="module")
def supported(edges: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("fit") / "out"
    assert main(["fit", str(edges), "-o", str(out), "--quiet", *GIVEN]) == 0
    return out


def test_the_files_hold_the_support_of_the_path(supported: Path, edges: Path) -> None:
    assert {file.name for file in supported.iterdir()} == {*FILES, *SUPPORT_FILES}
    folder = Folder(supported)
    path, found = folder.path(), folder.support()
    assert found is not None
    expected = path.support(n_resamples=3, share=0.9)
    assert found.share.tolist() == expected.share.tolist()
    branches = rows_of(supported / "support.csv")
    assert [float(row["share"]) for row in branches] == expected.share.tolist()
    names = [row["node"] for row in rows_of(supported / "support_nodes.csv")]
    assert names == list(path.names)
    assert len(rows_of(supported / "support_levels.csv")) == len(path.levels)
    assert (supported / "tree.nwk").read_text() == expected.to_newick() + "\n"
    joins = rows_of(supported / "linkage.csv")
    assert [float(row["share"]) for row in joins if row["share"]] == expected.share.tolist()
    run = json.loads((supported / "run.json").read_text())
    assert run["bootstrap"]["n_resamples"] == 3
    assert [scale["n_clusters"] for scale in run["scales"]] == [
        scale.n_clusters for scale in expected.scales
    ]


def test_an_interrupted_fit_resumes_to_the_same_files(
    supported: Path,
    edges: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "out"
    command = ["fit", str(edges), "-o", str(out), *GIVEN]

    class Stopped(Reference):
        """Ctrl-C after the first resample."""

        def compare(self, other: convexhc.Path) -> Comparison:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("convexhc.resampling.run.Reference", Stopped)
        assert main(command) == 130
    assert "go on with: convexhc fit" in capsys.readouterr().err
    assert len(list((out / "resamples").iterdir())) == 1
    assert main([*command, "--resume"]) == 0
    said = capsys.readouterr().out
    assert "support from 3 resamples, each without 10 % of the edges" in said
    assert "robust scales:" in said
    assert {file.name for file in out.iterdir()} == {*FILES, *SUPPORT_FILES}
    for name in ("tree.nwk", "linkage.csv", *SUPPORT_FILES[:-1]):
        assert (out / name).read_bytes() == (supported / name).read_bytes()
    assert main(["info", str(out)]) == 0
    assert "support from 3 resamples" in capsys.readouterr().out
    # A new fit without resamples leaves none of their files.
    assert main(["fit", str(edges), "-o", str(out), "--lambdas", "1", "--force", "--quiet"]) == 0
    assert {file.name for file in out.iterdir()} == set(FILES)


def test_a_similarity_is_refused_before_anything_is_solved(
    edges: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["fit", str(edges), "-o", str(tmp_path / "out"), "--similarity", "precomputed"]
    assert main([*command, *GIVEN]) == 2
    assert "--bootstrap resamples the edges of a graph" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--bootstrap", "0"], "n_resamples must be at least 1"),
        (["--edge-share", "0"], "share must be above 0"),
        (["--resample", "weights"], "needs weights that are counts"),
    ],
)
def test_bad_resamples_are_refused_in_one_line(
    given: list[str],
    message: str,
    edges: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    uneven = tmp_path / "uneven.csv"
    uneven.write_text(edges.read_text().replace(",1\n", ",1.5\n"))
    command = ["fit", str(uneven), "-o", str(tmp_path / "out"), *GIVEN, *given]
    assert main(command) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
