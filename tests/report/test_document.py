"""The file: complete, self-contained, small, with all names and titles as plain text."""

from __future__ import annotations

import base64
import hashlib
import html.parser
import json
import re

import numpy as np
import pytest
from report.examples import NASTY, made_path, ring, twelve, two_thousand, unruly

from convexhc.report import report_html, write_report
from convexhc.report.document import json_for_script


class Reader(html.parser.HTMLParser):
    """Every element with its attributes and the text directly inside it."""

    def __init__(self, text):
        super().__init__()
        self.elements = []
        self.inside = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.inside = []
        self.elements.append((tag, dict(attributes), self.inside))

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside is not None:
            self.inside.append(data)

    def named(self, tag):
        return [(found[1], "".join(found[2])) for found in self.elements if found[0] == tag]


def test_nasty_names_open_no_element():
    plain = Reader(report_html(twelve(names=[f"n{i}" for i in range(12)]), graph=ring(12)))
    nasty = Reader(report_html(twelve(), graph=ring(12), notes=NASTY))
    assert [tag for tag, _, _ in nasty.elements] == [tag for tag, _, _ in plain.elements]


def test_names_and_notes_are_in_the_data_as_they_are():
    (data,) = [
        json.loads(text)
        for attributes, text in Reader(report_html(twelve(), notes=NASTY)).named("script")
        if attributes.get("type") == "application/json"
    ]
    assert data["names"][: len(NASTY)] == list(NASTY)
    assert data["notes"] == list(NASTY)


@pytest.mark.parametrize("title", [*NASTY, "half a pair \ud800"])
def test_a_title_stays_text(title, tmp_path):
    write_report(twelve(), tmp_path / "r.html", title=title)
    reader = Reader((tmp_path / "r.html").read_text(encoding="utf-8"))
    shown = title.replace("\ud800", "\ufffd")
    assert [text for _, text in reader.named("title")] == [shown]
    assert [text for _, text in reader.named("h1")] == [shown]


def test_data_cannot_end_its_element():
    text = json_for_script({"name": "</script><!--&"})
    assert not set("<>&") & set(text)
    assert json.loads(text) == {"name": "</script><!--&"}


def test_the_security_policy_allows_only_the_scripts_and_styles_of_the_page():
    reader = Reader(report_html(twelve(), graph=ring(12)))
    (policy,) = [a["content"] for a, _ in reader.named("meta") if "http-equiv" in a]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    (style,) = reader.named("style")
    (script,) = [found for found in reader.named("script") if "type" not in found[0]]

    def fingerprint(text):
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    assert rules["default-src"] == "'none'"
    assert rules["style-src"] == fingerprint(style[1])
    assert rules["script-src"] == fingerprint(script[1])
    assert set(rules) == {
        "default-src",
        "style-src",
        "script-src",
        "img-src",
        "base-uri",
        "form-action",
    }


def test_the_file_has_no_external_references():
    reader = Reader(report_html(twelve(), graph=ring(12)))
    places = [
        value
        for _, attributes, _ in reader.elements
        for name, value in attributes.items()
        if name in ("src", "href", "action", "data", "poster", "srcset")
    ]
    assert [place.split(":")[0] for place in places] == ["data"]
    written = "".join(text for _, text in reader.named("script") + reader.named("style"))
    # The name space of SVG is a name and not an address.
    assert re.findall(r"https?://[^\"'\s]+", written) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", written)


def test_two_hundred_nodes_make_a_small_file():
    rng = np.random.default_rng(0)
    blocks = np.arange(200) // 10
    rows = [np.arange(200)] * 10 + [blocks] * 10 + [blocks // 4] * 10 + [0 * blocks]
    noise = [rng.dirichlet(np.ones(200) * 0.05, size=int(np.max(row)) + 1) for row in rows]
    path = made_path(np.geomspace(0.01, 10, 31), rows, cluster_centroids=noise)
    assert len(report_html(path, graph=ring(200))) < 1_000_000


def test_two_thousand_nodes_make_a_small_file():
    path, graph = two_thousand()
    assert len(report_html(path, graph=graph)) < 1_000_000


@pytest.mark.parametrize("path", [unruly(), made_path([0.0], [[0]]), made_path([1.0], [[0, 1]])])
def test_unusual_paths_are_written(path):
    assert "</html>" in report_html(path)


def test_a_file_is_replaced_atomically(tmp_path):
    file = tmp_path / "report.html"
    file.write_text("old")
    with pytest.raises(ValueError, match="nodes"):
        write_report(twelve(), file, graph=ring(3))
    assert file.read_text() == "old"
    write_report(twelve(), file)
    assert file.read_text(encoding="utf-8").endswith("</html>\n")
    assert [found.name for found in tmp_path.iterdir()] == ["report.html"]


def test_the_same_path_gives_the_same_file():
    assert report_html(twelve(), graph=ring(12)) == report_html(twelve(), graph=ring(12))
