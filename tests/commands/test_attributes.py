"""Attributes of the nodes on the command line."""

from __future__ import annotations

import json
import re

import pytest

from convexhc.cli import main
from convexhc.commands.inputs import read_attributes
from convexhc.commands.messages import Refusal


def test_columns_are_in_the_order_of_the_nodes_and_gaps_are_none(tmp_path):
    file = tmp_path / "known.csv"
    file.write_text('name,kind,age\nbo,"x, y",3\nann,z,4\nnobody,z,5\n', encoding="utf-8")
    assert read_attributes(str(file), ["ann", "cid", "bo"]) == {
        "kind": ["z", None, "x, y"],
        "age": ["4", None, "3"],
    }
    assert read_attributes(None, ["ann"]) == {}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("name\nann\n", "one column"),
        ("name,kind\nann,a,b\n", "3 cells, not 2"),
        ("name,kind\nann,a\nann,b\n", "two lines"),
        ("name,kind\nnobody,a\n", "none of its 1 node is in the graph"),
        ('name,kind\n"ann,a\n', "cannot be read as CSV"),
    ],
)
def test_a_file_of_no_use_is_refused_before_the_fit(tmp_path, text, reason):
    file = tmp_path / "known.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(Refusal, match=re.escape(reason)):
        read_attributes(str(file), ["ann"])


def test_the_report_of_a_fit_has_them(tmp_path, capsys):
    (tmp_path / "edges.csv").write_text("a,b\nb,c\n", encoding="utf-8")
    known = tmp_path / "known.csv"
    known.write_text("name,kind\na,left\nb,right\n", encoding="utf-8")
    given = ["fit", str(tmp_path / "edges.csv"), "-o", str(tmp_path / "out"), "--lambdas", "1"]
    assert main([*given, "--attributes", str(tmp_path / "nowhere.csv")]) == 2
    assert "nowhere.csv" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert main([*given, "--attributes", str(known)]) == 0
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    data = json.loads(page.split('id="data">')[1].split("</script>")[0])
    assert [(a["name"], a["values"]) for a in data["attributes"]] == [
        ("kind", ["left", "right", ""])
    ]
    assert main(["report", str(tmp_path / "out")]) == 0
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert '"attributes":[]' in page
