"""The notebook view of a path."""

from __future__ import annotations

import html.parser
import subprocess
import sys

import numpy as np
import pytest
from report.examples import made_path, ring, twelve, two_thousand

from convexhc.report import notebook_html, report_html
from convexhc.report.document import sparkline


def frames(text):
    found = []

    class Reader(html.parser.HTMLParser):
        def handle_starttag(self, tag, attributes):
            if tag == "iframe":
                found.append(dict(attributes))

    Reader().feed(text)
    return found


def test_a_small_path_has_its_report_in_a_sandboxed_frame():
    (frame,) = frames(notebook_html(twelve(), graph=ring(12)))
    assert frame["srcdoc"] == report_html(twelve(), graph=ring(12))
    assert set(frame["sandbox"].split()) == {"allow-scripts", "allow-downloads"}


def test_a_notebook_shows_the_sparkline_and_the_slider_view():
    path = twelve()
    assert path._repr_html_() == notebook_html(path)
    assert sparkline(path) in path._repr_html_()
    (frame,) = frames(path._repr_html_())
    assert 'id="slider"' in frame["srcdoc"]


def test_the_report_is_loaded_only_when_a_notebook_asks():
    code = (
        "import sys, numpy as np, convexhc\n"
        "path = convexhc.solve_path(np.eye(2) + 1, [0.1, 9.0])\n"
        "assert 'convexhc.report' not in sys.modules\n"
        "assert '<iframe' in path._repr_html_()\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_large_path_is_a_card_with_its_summary():
    path, _ = two_thousand()
    text = notebook_html(path)
    assert not frames(text)
    assert "2000 nodes" in text
    assert len(text) < 5000


@pytest.mark.parametrize(
    "path", [twelve(), made_path([0.0, 1.0], [[0, 1], [0, 0]]), made_path([2.0], [[0, 1, 2]])]
)
def test_the_sparkline_decreases_inside_its_box(path):
    steps = sparkline(path).split('d="M')[1].split('"')[0].replace("V", " ").split("H")
    x, y = np.array([[float(value) for value in step.split()] for step in steps]).T
    assert len(x) == len(path.levels)
    assert (np.diff(x) > 0).all()
    assert (np.diff(y) > 0).all()
    assert min(x.min(), y.min()) >= 0
    assert x.max() <= 220
    assert y.max() <= 48


@pytest.mark.parametrize(
    ("path", "description"),
    [
        (twelve(), "from 12 clusters to 1 as λ grows from 0.01 to 10"),
        (made_path([2.0], [[0, 1, 2]]), "3 clusters at λ = 2"),
        (made_path([2.0], [[0, 0, 0]]), "1 cluster at λ = 2"),
        (made_path([1.0, 2000.0], [[0, 1], [0, 1]]), "2 clusters at both ends, λ = 1 and 2000"),
    ],
)
def test_the_sparkline_is_described_in_correct_english(path, description):
    assert f'aria-label="{description}"' in sparkline(path)
