"""`convexhc cohort`: many files, one folder that compares them; killed, resumed, refused."""

from __future__ import annotations

import csv
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import convexhc
from convexhc.cli import main
from convexhc.commands.folder import FILES
from convexhc.commands.inputs import find_subjects, folder_names, read_groups
from convexhc.commands.messages import Refusal
from convexhc.datasets import hierarchical_connectomes

# A few lam only: these tests are about files.
FEW = ["--lambdas", "0.5:8:4", "--n-jobs", "1", "--quiet"]


@pytest.fixture(scope="module")
def scans(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four scans of two people, a table of groups, and a file that is no graph."""
    folder = tmp_path_factory.mktemp("cohort") / "scans"
    folder.mkdir()
    people = hierarchical_connectomes(n_subjects=2, n_scans=2, n_nodes=12)
    for name, graph in zip(people.names, people.graphs, strict=True):
        names = [str(node) for node in graph.names]
        lines = [
            f"{names[a]},{names[b]},{w:g}"
            for a, b, w in zip(graph.tail, graph.head, graph.weight, strict=True)
        ]
        (folder / f"{name}.csv").write_text("\n".join(["source,target,weight", *lines]) + "\n")
    rows = [f"{name},{who}" for name, who in zip(people.names, people.subject, strict=True)]
    (folder / "groups.csv").write_text("\n".join(["subject,group", *rows, "other,x"]) + "\n")
    (folder / "notes.md").write_text("not a graph")
    return folder


def run(scans: Path, out: Path, *more: str) -> int:
    return main(
        ["cohort", str(scans), "-o", str(out), "--groups", str(scans / "groups.csv"), *FEW, *more]
    )


@pytest.fixture(scope="module")
def finished(scans: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("cohort") / "out"
    assert run(scans, out) == 0
    return out


def table(file: Path) -> list[dict[str, str]]:
    with file.open(newline="") as lines:
        return list(csv.DictReader(lines))


def content(root: Path) -> dict[str, object]:
    """Every file below a folder, without times, arguments and the bytes of the pages."""
    found: dict[str, object] = {}
    for file in sorted(root.rglob("*")):
        name = str(file.relative_to(root))
        if file.suffix == ".npz":
            with np.load(file) as archive:
                found |= {
                    f"{name}/{key}": archive[key].tobytes()
                    for key in archive.files
                    if key != "seconds"
                }
        elif file.suffix == ".html":
            found[name] = "page"
        elif file.suffix == ".json":
            record = json.loads(file.read_text())
            found[name] = {k: v for k, v in record.items() if k not in ("seconds", "arguments")}
        elif file.name == "cohort.csv":
            rows = table(file)
            found[name] = [{k: v for k, v in row.items() if k != "seconds"} for row in rows]
        elif file.is_file():
            found[name] = file.read_text()
    return found


def test_the_folder_holds_what_was_found(finished: Path) -> None:
    subjects = [f"sub-{k}_ses-{s}" for k in (1, 2) for s in (1, 2)]
    assert {entry.name for entry in finished.iterdir()} == {
        *("subjects", "consensus", "cohort.csv", "cohort.json", "cohort.html", "tests.csv"),
        *("consensus.nwk", "consensus_sub-1.nwk", "consensus_sub-2.nwk"),
        *(f"distances_{metric}.csv" for metric in ("cophenetic", "neighbors", "information")),
    }
    assert sorted(entry.name for entry in (finished / "subjects").iterdir()) == subjects
    means = {entry.name for entry in (finished / "consensus").iterdir()}
    assert means == {"all", "sub-1", "sub-2"}
    for folder in [*(finished / "subjects").iterdir(), *(finished / "consensus").iterdir()]:
        assert {file.name for file in folder.iterdir()} == set(FILES)
    rows = table(finished / "cohort.csv")
    assert [row["subject"] for row in rows] == subjects
    assert {row["status"] for row in rows} == {"solved"}
    assert [row["group"] for row in rows] == ["sub-1", "sub-1", "sub-2", "sub-2"]
    record = json.loads((finished / "cohort.json").read_text())
    assert record["n_subjects"] == 4
    assert record["failed"] == {}


def test_the_numbers_are_those_of_python(finished: Path, scans: Path) -> None:
    files = sorted(scans.glob("sub*.csv"))
    cohort = convexhc.solve_paths(
        {file.stem: str(file) for file in files}, lambdas=np.geomspace(0.5, 8, 4)
    )
    with (finished / "distances_cophenetic.csv").open(newline="") as lines:
        rows = list(csv.reader(lines))
    assert rows[0] == ["subject", *(file.stem for file in files)]
    matrix = np.array([row[1:] for row in rows[1:]], dtype=float)
    np.testing.assert_array_equal(matrix, cohort.distances().matrix)
    groups = read_groups(scans / "groups.csv", find_subjects([str(file) for file in files]))
    tests = table(finished / "tests.csv")
    expected = cohort.compare({name: groups[str(name)] for name in cohort.paths})
    assert float(tests[0]["discriminability"]) == expected.discriminability
    assert float(tests[0]["p_value"]) == expected.p_value
    consensus = cohort.consensus()
    text = (finished / "consensus.nwk").read_text()
    assert text == consensus.tree.to_newick(consensus.share) + "\n"
    mean = convexhc.Path.load(finished / "consensus" / "all" / "path.npz")
    np.testing.assert_array_equal(mean.partitions, cohort.mean_path().partitions)


def test_the_page_links_to_every_report(finished: Path) -> None:
    page = (finished / "cohort.html").read_text()
    links = set(re.findall(r'"(subjects/[^"]+|consensus/[^"]+)"', page))
    assert len(links) == 7
    assert all((finished / link).is_file() for link in links)


class Killed(BaseException):
    """Nothing handles it, as nothing handles SIGKILL."""


@pytest.mark.parametrize("after", [3, 7])
def test_a_killed_run_resumes_to_the_same_files(
    after: int, scans: Path, finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed while a subject was written, and before the page."""
    from convexhc.commands import cohort as module

    written = []
    real = module.write_run_report

    def kill(file: Path, *rest: object) -> None:
        written.append(file)
        if len(written) == after:
            raise Killed
        real(file, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(module, "write_run_report", kill)
        if after == 7:
            patch.setattr(module, "write_cohort_report", lambda *_, **__: kill(tmp_path))
            written.clear()
        with pytest.raises(Killed):
            run(scans, tmp_path / "out")
    assert (tmp_path / "out" / "begun.json").exists()
    assert not (tmp_path / "out" / "cohort.json").exists()
    solved = []
    monkeypatch.setattr(module, "write_run_report", lambda *a: (solved.append(a[0]), real(*a)))
    assert run(scans, tmp_path / "out", "--resume") == 0
    # What was finished is not solved again.
    assert len(solved) == 7 - (after - 1)
    assert content(tmp_path / "out") == content(finished)


def test_a_changed_option_is_solved_again(scans: Path, finished: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(finished, out)
    before = {file: file.stat().st_mtime_ns for file in out.rglob("path.npz")}
    assert run(scans, out, "--resume", "--tol", "1e-3") == 0
    assert all(file.stat().st_mtime_ns != stamp for file, stamp in before.items())


def test_failures_are_kept_apart(
    scans: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text("source,target,weight\na,b,-1\n")
    missing = tmp_path / "missing.csv"
    files = [str(scans / f"sub-1_ses-{k}.csv") for k in (1, 2)]
    out = tmp_path / "out"
    assert main(["cohort", *files, str(bad), str(missing), "-o", str(out), *FEW]) == 1
    said = capsys.readouterr().err.strip()
    assert "\n" not in said
    assert "2 of 4 subjects failed: bad: " in said
    rows = table(out / "cohort.csv")
    assert [row["status"] == "solved" for row in rows] == [True, True, False, False]
    assert (out / "cohort.html").exists()
    assert not (out / "tests.csv").exists()
    # A failed subject is tried again.
    bad.write_text((scans / "sub-2_ses-1.csv").read_text())
    missing.write_text(bad.read_text())
    resumed = ["cohort", *files, str(bad), str(missing), "-o", str(out), *FEW, "--resume"]
    assert main(resumed) == 0


def test_centroids_are_compared_at_solved_lam_only(
    scans: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [str(scans / f"sub-1_ses-{k}.csv") for k in (1, 2)]
    given = ["cohort", *files, "--n-jobs", "1", "--quiet", "--lambdas", "0.5,1"]
    assert main([*given, "-o", str(tmp_path / "a"), "--lam", "0.7"]) == 2
    assert "--lam 0.7 is not among" in capsys.readouterr().err
    assert main([*given, "-o", str(tmp_path / "b"), "--lam", "0.5"]) == 0
    assert (tmp_path / "b" / "distances_centroid_lam0.5.csv").exists()


def test_a_folder_in_use_is_refused_and_force_keeps_what_is_not_ours(
    scans: Path, finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(scans, finished) == 2
    assert "already holds" in capsys.readouterr().err
    assert run(scans, tmp_path / "new", "--resume") == 2
    assert "holds no unfinished run" in capsys.readouterr().err
    out = tmp_path / "out"
    (out / "subjects" / "old").mkdir(parents=True)
    (out / "subjects" / "old" / "run.json").write_text("{}")
    (out / "subjects" / "mine").mkdir()
    (out / "subjects" / "mine" / "notes.txt").write_text("mine")
    (out / "distances_old.csv").write_text("old")
    assert run(scans, out, "--force") == 0
    assert not (out / "subjects" / "old").exists()
    assert not (out / "distances_old.csv").exists()
    assert (out / "subjects" / "mine" / "notes.txt").read_text() == "mine"


def test_names_of_subjects_and_folders(tmp_path: Path) -> None:
    for name in ("a.csv", "a.npy", "b.csv", ".hidden.csv", "c.md"):
        (tmp_path / name).write_text("")
    found = find_subjects([str(tmp_path)])
    assert [each.name for each in found] == ["a.csv", "a.npy", "b.csv"]
    two = find_subjects([str(tmp_path / "a.csv"), str(tmp_path / "b.csv")])
    assert [each.name for each in two] == ["a", "b"]
    assert [each.name for each in find_subjects([str(tmp_path)], besides=tmp_path / "a.npy")] == [
        *"ab"
    ]
    with pytest.raises(Refusal, match="two graphs or more, received 1"):
        find_subjects([str(tmp_path / "a.csv")])
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(Refusal, match="holds no graph file"):
        find_subjects([str(empty)])
    names = folder_names(["x", "X", "x-2", "x", "../..", "é", "", "y" * 300])
    assert len({name.lower() for name in names}) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9._-]{1,110}", name) for name in names)
    assert not {".", ".."} & set(names)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("", "first line must name the columns"),
        ("a,b\nx,y\n", "first line must name the columns"),
        ("subject,group\na,1\n", "names no group of 'b'"),
        ("subject,group\na,1\na,2\nb,1\n", "'a' is in two groups"),
        ("subject,group\na\n", "has no group"),
    ],
)
def test_groups_that_are_not_clear_are_refused(table: str, words: str, tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text("")
    file = tmp_path / "groups.tbl"
    file.write_text(table)
    with pytest.raises(Refusal, match=words):
        read_groups(file, find_subjects([str(tmp_path)]))


def test_groups_are_found_by_name_or_file_in_any_column(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.npy").write_text("")
    subjects = find_subjects([str(tmp_path)])
    file = tmp_path / "groups.tsv"
    file.write_text("Group\tage\tFile\nx\t3\ta.npy\ny\t4\tb\n")
    assert read_groups(file, subjects) == {"a": "x", "b": "y"}
