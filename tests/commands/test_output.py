"""`convexhc plot` and `convexhc export`, and errors in the words of the command line."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import networkx as nx
import pytest

import convexhc
from convexhc.cli import main
from convexhc.commands.messages import in_options
from convexhc.commands.output import KINDS

MAGIC = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<?xml"}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_figure_is_drawn(fitted: Path, tmp_path: Path, kind: str) -> None:
    for ending, magic in MAGIC.items():
        if ending == ".svg" or kind == "dendrogram":
            file = tmp_path / f"figure{ending}"
            assert main(["plot", str(fitted), "--kind", kind, "-o", str(file)]) == 0
            assert file.read_bytes().startswith(magic)


def test_figures_show_the_scales_asked_for(
    fitted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "tree.svg"
    plot = ["plot", str(fitted), "-o", str(file)]
    assert main([*plot, "-k", "2"]) == 0
    capsys.readouterr()
    assert main([*plot, "-k", "2"]) == 2
    assert "exists: name another file, or overwrite it with --force" in capsys.readouterr().err
    assert main([*plot, "--force", "--kind", "sankey", "-k", "6,2"]) == 0
    assert main([*plot, "--force", "--kind", "network", "-k", "6,2"]) == 2
    assert "a network shows one scale" in capsys.readouterr().err
    assert main(["plot", str(fitted), "-o", str(tmp_path / "tree.gif")]) == 2
    assert "must end in .svg, .png or .pdf" in capsys.readouterr().err
    assert main(["plot", str(tmp_path), "-o", str(tmp_path / "new.svg")]) == 2
    assert "holds no finished run" in capsys.readouterr().err


def test_export_writes_what_the_path_exports(
    fitted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = convexhc.Path.load(fitted / "path.npz")
    for name in ("g.gexf", "g.graphml", "g.cx2", "g.nwk", "g.csv"):
        assert main(["export", str(fitted), "-o", str(tmp_path / name)]) == 0
        path.export(tmp_path / f"expected-{name}")
        assert (tmp_path / name).read_bytes() == (tmp_path / f"expected-{name}").read_bytes()
    found = nx.read_gexf(tmp_path / "g.gexf")
    assert [found.nodes[node]["cluster"] for node in found] == path.suggestion.labels.tolist()
    assert json.loads((tmp_path / "g.cx2").read_text())[-1] == {"status": [{"success": True}]}
    capsys.readouterr()
    assert main(["export", str(fitted), "-o", str(tmp_path / "g.gexf")]) == 2
    assert "--force" in capsys.readouterr().err
    assert main(["export", str(fitted), "-o", str(tmp_path / "tree")]) == 2
    assert "Or give --format" in capsys.readouterr().err
    assert main(["export", str(fitted), "--format", "newick", "-o", str(tmp_path / "tree")]) == 0


def test_the_node_table_of_a_fit_has_few_columns(fitted: Path) -> None:
    path = convexhc.Path.load(fitted / "path.npz")
    rows = list(csv.DictReader((fitted / "nodes.csv").read_text().splitlines()))
    assert list(rows[0])[:3] == ["Id", "Label", "cluster"]
    assert len(rows[0]) <= 6
    assert [row["Id"] for row in rows] == list(path.names)
    assert [int(row["cluster"]) for row in rows] == path.suggestion.labels.tolist()


def test_columns_and_titles_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "edges.csv"
    file.write_text("enzyme,substrate\na,b\nb,c\nc,a\n")
    assert main(["info", str(file)]) == 2
    said = capsys.readouterr().err
    assert "give --columns enzyme,substrate; if it is an edge, --columns 1,2" in said
    assert main(["info", str(file), "--columns", "enzyme,substrate"]) == 0
    assert "3 nodes, 3 edges" in capsys.readouterr().out
    assert main(["info", str(file), "--columns", "1,2"]) == 0
    assert "5 nodes, 4 edges" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--lam-step", "0"], "--lam-step must be above 0"),
        (["--tol", "-1"], "--tol must be finite and not negative"),
        (["--l1-ratio", "2"], "--l1-ratio must be between 0 and 1"),
        (["--max-clusters", "0"], "--max-clusters must be at least 1"),
        (["--min-cluster-size", "0"], "--min-cluster-size must be at least 1"),
        (["--similarity", "precomputed"], "that of a graph: leave --similarity out"),
    ],
)
def test_errors_speak_of_options(
    edges: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    expected: str,
) -> None:
    assert main(["fit", str(edges), "-o", str(tmp_path / "out"), *options]) == 2
    said = capsys.readouterr().err
    assert expected in said
    assert said.count("\n") == 1
    assert not any(word in said for word in ("_", "convexhc.cluster", "similarity."))


def test_a_directed_file_is_told_the_option(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "directed.csv"
    file.write_text("source,target,weight\na,b,1\nb,a,2\n")
    assert main(["info", str(file)]) == 2
    assert "--symmetrize mean, max or min" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("give max_iter=5 or tol=0.1.", "give --max-iter 5 or --tol 0.1."),
        ("weights must be a number", "--weights must be a number"),
        ("the weights are not symmetric", "the weights are not symmetric"),
        ("name them with columns=..., please", "name them with --columns A,B, please"),
    ],
)
def test_arguments_become_options_where_they_are_meant(ours: str, theirs: str) -> None:
    assert in_options(ours) == theirs
