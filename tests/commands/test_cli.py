"""Every command: exit code, files, and messages."""

from __future__ import annotations

import csv
import hashlib
import json
import shutil
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import convexhc
from convexhc.cli import main
from convexhc.commands.fit import parse_lambdas
from convexhc.commands.messages import Refusal
from convexhc.datasets import fractal_graph
from convexhc.path.suggestion import suggest

FILES = {
    "nodes.csv",
    "labels.csv",
    "linkage.csv",
    "tree.nwk",
    "path.npz",
    "graph.npz",
    "run.json",
    "report.html",
}
# One lam is enough where only the files matter.
ONE = ["--lambdas", "1"]


either_problem = pytest.mark.parametrize("given", [[], ["--weights", "10"]], ids=str)


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


def test_labels_have_a_column_for_every_level(fitted: Path) -> None:
    rows = read_csv((fitted / "labels.csv").read_text())
    path = convexhc.Path.load(fitted / "path.npz")
    counts = sorted(path.level_n_clusters)
    assert list(rows[0]) == ["node", "suggested", *(f"k{k}" for k in counts)]
    assert [row["node"] for row in rows] == list(path.names)
    assert [int(row["suggested"]) for row in rows] == path.suggestion.labels.tolist()
    for k in counts:
        assert [int(row[f"k{k}"]) for row in rows] == path.labels(n_clusters=k, by="lam").tolist()


def test_run_json_records_every_certificate(edges: Path, fitted: Path) -> None:
    run = json.loads((fitted / "run.json").read_text())
    path = convexhc.Path.load(fitted / "path.npz")
    assert [level["lam"] for level in run["levels"]] == path.lambdas.tolist()
    assert all(level["relative_gap"] <= 1e-4 for level in run["levels"])
    assert run["data_sha256"] == path.provenance.data
    assert run["input_sha256"] == hashlib.sha256(edges.read_bytes()).hexdigest()
    assert run["convexhc"] == convexhc.__version__
    assert run["options"]["tol"] == 1e-4
    assert run["seconds"] > 0
    assert run["level_n_clusters"] == list(path.level_n_clusters)
    assert run["suggested_n_clusters"] == path.suggestion.n_clusters == 6
    assert run["confident"] is path.suggestion.confident is True


def test_small_clusters_count_in_the_suggestion_from_the_size_given(tmp_path: Path) -> None:
    np.save(tmp_path / "novel.npy", nx.to_numpy_array(nx.les_miserables_graph()))
    out = tmp_path / "out"
    command = ["fit", str(tmp_path / "novel.npy"), "-o", str(out), "--quiet"]
    assert main([*command, "--min-cluster-size", "1", "--lambdas", "0.001:10:20"]) == 0
    path = convexhc.Path.load(out / "path.npz")
    expected = suggest(path, 1)
    rows = read_csv((out / "labels.csv").read_text())
    assert [int(row["suggested"]) for row in rows] == expected.labels.tolist()
    run = json.loads((out / "run.json").read_text())
    assert run["suggested_n_clusters"] == expected.n_clusters > path.suggestion.n_clusters


def test_json_is_the_record_and_nothing_else(
    edges: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["fit", str(edges), "-o", str(out), "--json", "--quiet", *ONE]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said.pop("output") == str(out)
    assert said == json.loads((out / "run.json").read_text())


def test_the_tree_file_names_every_node(fitted: Path) -> None:
    text = (fitted / "tree.nwk").read_text()
    assert text.count("(") == text.count(")")
    assert text.rstrip().endswith(";")
    assert all(f"n{i:02d}" in text for i in range(24))


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
    assert main(["fit", str(edges), "-o", out, "--quiet", *ONE]) == 0
    assert main(["fit", str(edges), "-o", out, "--quiet", "--force", *ONE]) == 0


def test_files_that_are_not_of_a_run_are_not_overwritten_either(
    edges: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "labels.csv").write_text("mine")
    assert main(["fit", str(edges), "-o", str(tmp_path), *ONE]) == 2
    assert "labels.csv" in capsys.readouterr().err
    assert [file.read_text() for file in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize(
    "wrong",
    [
        ["--tol", "-1"],
        ["--l1-ratio", "2"],
        ["--lam-step", "0"],
        ["--lam-step", "0", "--weights", "10"],
        ["--method", "admm"],
        ["--weights", "0"],
        ["--weights", "auto"],
        ["--max-clusters", "0"],
        ["--min-cluster-size", "0"],
    ],
    ids=" ".join,
)
def test_an_option_out_of_range_touches_nothing(
    edges: Path, fitted: Path, tmp_path: Path, wrong: list[str]
) -> None:
    before = (fitted / "run.json").read_bytes()
    assert main(["fit", str(edges), "-o", str(fitted), "--force", *wrong]) == 2
    assert (fitted / "run.json").read_bytes() == before
    assert main(["fit", str(edges), "-o", str(tmp_path / "new"), *wrong]) == 2
    assert not (tmp_path / "new").exists()


def test_resume_without_an_unfinished_run_is_refused(
    edges: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fit", str(edges), "-o", str(tmp_path / "new"), "--resume"]) == 2
    assert "--resume" in capsys.readouterr().err


def test_fit_says_when_a_lam_is_not_solved(
    edges: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "out")
    given = ["--lambdas", "0.3", "--max-iter", "1", "--quiet", "--weights", "10"]
    assert main(["fit", str(edges), "-o", out, *given]) == 1
    said = capsys.readouterr()
    assert "--max-iter" in said.err
    assert not said.out
    assert {file.name for file in Path(out).iterdir()} == FILES


def test_cut_prints_csv(fitted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cut", str(fitted), "-k", "2"]) == 0
    rows = read_csv(capsys.readouterr().out)
    path = convexhc.Path.load(fitted / "path.npz")
    assert [row["node"] for row in rows] == list(path.names)
    assert [int(row["cluster"]) for row in rows] == path.labels(n_clusters=2).tolist()


@pytest.mark.filterwarnings("default::convexhc.path.cautions.FewerClustersWarning")
def test_cut_gives_exactly_as_many_clusters_unless_it_is_horizontal(
    fitted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = convexhc.Path.load(fitted / "path.npz")
    missing = max(set(range(1, 25)) - set(path.level_n_clusters))
    for given, count in (
        ([], missing),
        (
            ["--by", "lam"],
            max(k for k in path.level_n_clusters if k < missing),
        ),
    ):
        assert main(["cut", str(fitted), "-k", str(missing), *given]) == 0
        said = capsys.readouterr()
        rows = read_csv(said.out)
        short = f"convexhc: warning: {count} clusters, {missing} were asked for: no level of the "
        short += f"tree has {missing}. --by pruning gives exactly as many.\n"
        assert said.err == ("" if count == missing else short)
        assert len({row["cluster"] for row in rows}) == count
    assert main(["cut", str(fitted), "-k", "25"]) == 2
    assert "at most the 24 nodes" in capsys.readouterr().err


def test_cut_at_a_lam_to_a_file(fitted: Path, tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    assert main(["cut", str(fitted), "--lam", "1.0", "-o", str(file)]) == 0
    path = convexhc.Path.load(fitted / "path.npz")
    found = [int(row["cluster"]) for row in read_csv(file.read_text())]
    assert found == path.labels(lam=1.0).tolist()


def test_cut_does_not_overwrite_a_file_without_force(fitted: Path, tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    file.write_text("mine")
    command = ["cut", str(fitted), "-k", "2", "-o", str(file)]
    assert main(command) == 2
    assert file.read_text() == "mine"
    assert main([*command, "--force"]) == 0
    assert len(read_csv(file.read_text())) == 24


@pytest.mark.filterwarnings("ignore::convexhc.path.cautions.FewerClustersWarning")
def test_small_clusters_can_be_noise(fitted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cut", str(fitted), "-k", "2", "--min-cluster-size", "13", "--noise"]) == 0
    labels = {row["cluster"] for row in read_csv(capsys.readouterr().out)}
    assert labels == {"0"}


def test_report_reproduces_the_report_of_the_fit(fitted: Path, tmp_path: Path) -> None:
    page = (fitted / "report.html").read_bytes()
    file = tmp_path / "page.html"
    assert main(["report", str(fitted), "-o", str(file)]) == 0
    assert file.read_bytes() == page
    assert main(["report", str(fitted), "-o", str(file)]) == 2
    (fitted / "report.html").unlink()
    assert main(["report", str(fitted)]) == 0
    assert (fitted / "report.html").read_bytes() == page


def test_demo_leaves_two_reports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small = partial(fractal_graph, n_meta=2, n_super=3, clique=4)
    monkeypatch.setattr("convexhc.commands.demo.fractal_graph", small)
    assert main(["demo", "-o", str(tmp_path)]) == 0
    assert "ARI" in capsys.readouterr().out
    pages = sorted(tmp_path.rglob("*"))
    assert [page.relative_to(tmp_path).as_posix() for page in pages if page.is_file()] == [
        "fractal/report.html",
        "karate/report.html",
    ]


def test_info_prints_size_memory_and_time(edges: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(edges)]) == 0
    said = capsys.readouterr().out
    for word in ("24 nodes", "1 connected component,", "weight 1", "memory", "time"):
        assert word in said
    assert "similarity graph" in said
    assert "in feature space" in said
    assert main(["info", str(edges), "--similarity", "diffusion", "--weights", "10"]) == 0
    said = capsys.readouterr().out
    for word in ("similarity diffusion", "with method", "memory", "time"):
        assert word in said


@pytest.mark.parametrize("file", ["", "path.npz"])
def test_info_of_a_run_prints_the_summary_of_its_path(
    file: str, edges: Path, fitted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["info", str(fitted / file)]) == 0
    said = capsys.readouterr().out
    path = convexhc.Path.load(fitted / "path.npz")
    assert path.summary() in said
    assert f"clusters: {' '.join(str(k) for k in path.level_n_clusters[::-1])}\n" in said
    assert f"convexhc {convexhc.__version__}" in said
    assert "tol 0.0001" in said
    assert "MAX_ITER" not in said
    if not file:
        assert str(edges) in said
        assert "similarity graph, weights multiscale" in said
    else:
        assert "similarity diffusion, weights multiscale" in said


def test_the_paper_s_problem_is_a_matter_of_options(
    edges: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = convexhc.as_graph(str(edges))
    expected = {
        "--weights 5": convexhc.solve_path(
            convexhc.similarity.from_graph(graph), [0.5, 1], weights=5
        ),
        "--similarity two_hop --weights 10": convexhc.solve_path(
            convexhc.similarity.two_hop(graph), [0.5, 1], weights=10
        ),
        "--l1-ratio 0.5 --weights all": convexhc.solve_path(
            convexhc.similarity.from_graph(graph), [0.5, 1], l1_ratio=0.5
        ),
        "--shift 1 --weights 10": convexhc.solve_path(
            convexhc.similarity.from_graph(graph, shift=1.0), [0.5, 1], weights=10
        ),
        "--shift auto --similarity two_hop --weights 10": convexhc.solve_path(
            convexhc.similarity.two_hop(graph, shift="auto"), [0.5, 1], weights=10
        ),
        "--space similarity --weights all": convexhc.solve_path(
            convexhc.similarity.from_graph(graph), [0.5, 1]
        ),
        "": convexhc.cluster(graph, [0.5, 1]),
    }
    for given, path in expected.items():
        out = tmp_path / str(len(given))
        command = ["fit", str(edges), "-o", str(out), "--quiet", "--lambdas", "0.5,1"]
        assert main([*command, *given.split()]) == 0
        found = convexhc.Path.load(out / "path.npz")
        np.testing.assert_array_equal(found.objective, path.objective)
        np.testing.assert_array_equal(found.partitions, path.partitions)
    assert main(["info", str(tmp_path / str(len("--weights 5")))]) == 0
    assert "similarity graph, weights 5" in capsys.readouterr().out


def test_a_graph_without_groups_calls_for_caution(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn = np.triu(np.random.default_rng(0).random((60, 60)) < 0.1, 1)
    np.save(tmp_path / "random.npy", (drawn | drawn.T).astype(float))
    out = tmp_path / "out"
    assert main(["fit", str(tmp_path / "random.npy"), "-o", str(out)]) == 0
    said = capsys.readouterr().out
    assert "caution: the graph has no groups beyond chance" in said
    assert "not to be trusted" in said
    assert "caution: the graph has no groups beyond chance" in (out / "report.html").read_text()
    assert json.loads((out / "run.json").read_text())["confident"] is False
    assert main(["info", str(out)]) == 0
    assert "caution: the graph has no groups beyond chance" in capsys.readouterr().out


def test_info_lists_unsolved_lam_with_advice(
    edges: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "out")
    given = ["--lambdas", "0.3,0.4", "--max-iter", "1", "--quiet", "--weights", "10"]
    assert main(["fit", str(edges), "-o", out, *given]) == 1
    capsys.readouterr()
    assert main(["info", out]) == 0
    said = capsys.readouterr().out
    assert "MAX_ITER: 2 lam, from 0.3 to 0.4. Iteration budget spent" in said
    assert "lambdas 2 given" in said


def test_info_of_other_saved_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    K = convexhc.similarity.two_hop(fractal_graph(0, n_meta=2, n_super=2, clique=3).adjacency)
    solution = convexhc.solve(K, 1.0)
    solution.save(tmp_path / "solution.npz")
    assert main(["info", str(tmp_path / "solution.npz")]) == 0
    assert solution.summary() in capsys.readouterr().out
    path = convexhc.solve_path(K, on_check=lambda point: point.lam > 0.1)
    path.save(tmp_path / "path.npz")
    assert main(["info", str(tmp_path / "path.npz")]) == 0
    said = capsys.readouterr().out
    assert "not complete" in said
    assert "similarity two_hop" in said


@pytest.mark.parametrize("damaged", ["run.json", "path.npz"])
def test_info_of_a_damaged_run_says_which_file(
    damaged: str, fitted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = shutil.copytree(fitted, tmp_path / "out")
    (out / damaged).write_bytes((out / damaged).read_bytes()[:100])
    assert main(["info", str(out)]) == 2
    assert str(out / damaged) in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        (["fit", "missing.csv", "-o", "out"], "missing.csv"),
        (["cut", "nowhere", "-k", "2"], "convexhc fit"),
        (["report", "nowhere"], "convexhc fit"),
        (["info", "missing.csv"], "missing.csv"),
        (["info", "."], "looked for run.json"),
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


@pytest.mark.parametrize("command", ["demo", "fit", "cut", "report", "info"])
def test_help_has_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([command, "--help"])
    assert stopped.value.code == 0
    assert "example: convexhc" in capsys.readouterr().out


def test_lambdas_that_are_no_numbers_are_refused() -> None:
    for text in ("a,b", "1:2", "0:1:5:6", "1:x:3"):
        with pytest.raises(Refusal, match="--lambdas"):
            parse_lambdas(text)


@either_problem
def test_a_failed_computation_exits_with_one(
    given: list[str],
    edges: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise np.linalg.LinAlgError("Eigenvalues did not converge")

    monkeypatch.setattr("convexhc.commands.fit.cluster", fail)
    assert main(["fit", str(edges), "-o", str(tmp_path / "out"), *given]) == 1
    assert "did not converge" in capsys.readouterr().err


def test_warnings_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    points = np.random.default_rng(0).normal(size=(8, 2))
    np.save(tmp_path / "d.npy", np.linalg.norm(points[:, None] - points[None], axis=2))
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        assert main(["info", str(tmp_path / "d.npy")]) == 0
    said = capsys.readouterr().err
    assert said.startswith("convexhc: warning: the matrix looks like distances")
    assert said.count("\n") == 1


def test_the_command_line_imports_no_optional_packages():
    # scikit-learn alone takes longer to import than all the rest.
    code = (
        "import sys, convexhc.cli\n"
        "print(*({'sklearn', 'pandas', 'matplotlib', 'networkx'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == []


def test_an_asymmetric_file_is_refused_in_the_words_of_the_options(tmp_path, capsys):
    file = tmp_path / "K.npy"
    np.save(file, np.array([[1.0, 0.5], [0.2, 1.0]]))
    assert main(["fit", str(file), "-o", str(tmp_path / "out"), "--quiet"]) == 2
    said = capsys.readouterr().err
    assert "Give --symmetrize mean, max or min to combine" in said
    assert "symmetrize=" not in said
