"""The report in a browser: figures, texts, interaction, no network requests."""

from __future__ import annotations

import base64
import csv
import io
import itertools
import time
from functools import cache
from xml.etree import ElementTree

import numpy as np
import pytest
from report.examples import (
    NASTY,
    made_path,
    pruned_path,
    ring,
    twelve,
    two_thousand,
    unruly,
)

import convexhc
from convexhc._text import format_number
from convexhc.graph import Graph
from convexhc.model.proof import Proof
from convexhc.report import notebook_html, report_html
from convexhc.report.array_encoding import RESOLUTION

NEUTRAL = "#9a9a9a"


@cache
def cluster_path():
    """A path with a graph, by which its scale is suggested."""
    graph = convexhc.datasets.fractal_graph(n_meta=2, n_super=3, clique=4)
    return convexhc.cluster(graph.adjacency, 12)


TWELVE = report_html(twelve(), graph=ring(12), title="Twelve <b>nodes</b>")


@pytest.fixture
def page(open_page):
    return open_page(TWELVE)


def together(values, alone=None):
    """Matrix of equal values; the value `alone` equals only itself."""
    pairs = np.array([[a == b and a != alone for b in values] for a in values])
    return pairs | np.eye(len(values), dtype=bool)


def saved(page, folder, button):
    """The file that a button gives."""
    page.driver.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)}
    )
    before = set(folder.iterdir())
    page.click(button)
    for _ in range(200):
        new = [f for f in set(folder.iterdir()) - before if f.suffix in (".csv", ".svg", ".png")]
        if new:
            return new[0]
        time.sleep(0.05)
    raise AssertionError("no file came")


def downloaded(page, folder):
    """Name and rows of the file of labels."""
    file = saved(page, folder, "#download")
    return file.name, list(csv.reader(io.StringIO(file.read_bytes().decode("utf-8"))))


def test_every_level_shows_the_partition_of_the_path(page):
    for level, point in enumerate(twelve().levels):
        page.go_to(level)
        assert (together(page.fills(), NEUTRAL) == together(point.labels.tolist())).all()
        assert page.text("#count").startswith(f"{point.n_clusters} cluster")
        assert f"{point.n_clusters} cluster" in page.find("#slider").get_attribute("aria-valuetext")


def test_the_slider_updates_every_figure(page):
    seen = []
    for level in range(4):
        page.go_to(level)
        seen.append(
            {
                "label": page.text("#count"),
                "graph": page.fills(),
                "trajectories": page.run(
                    "return document.querySelectorAll('#trajectories circle').length"
                ),
                "heatmap": page.pixels("#heatmap canvas"),
                "branches": page.run(
                    "return [...document.querySelectorAll('#tree .branch')]"
                    ".map(b => b.getAttribute('stroke') + b.getAttribute('d')).join()"
                ),
                "scan": page.cut("#scan"),
                "distances": page.cut("#distances"),
                "tree": page.cut("#tree"),
                "table": page.text("#clusters"),
                "certificate": page.text("#certificate"),
                "level": page.run(
                    "return document.querySelector('#levels [aria-current=true]').rowIndex"
                ),
            }
        )
    for one, other in itertools.pairwise(seen):
        assert [name for name in one if one[name] == other[name]] == []
    cuts = [level["tree"] for level in seen]
    assert cuts == sorted(cuts)


THUMB = (
    "const s = document.querySelector('#slider'), box = s.getBoundingClientRect();"
    "return box.left + 9 + (s.value / s.max) * (box.width - 18)"
)


def test_slider_plateaus_and_scan_share_one_axis(page):
    for level in range(4):
        page.go_to(level)
        assert page.run(THUMB) == pytest.approx(page.cut("#scan") + 1, abs=1.5)
        pressed = "return document.querySelector('#plateaus [aria-pressed=true]').offsetLeft"
        rail = "return document.querySelector('#plateaus').getBoundingClientRect().left"
        assert page.run(rail) + page.run(pressed) == pytest.approx(page.cut("#scan"), abs=1.5)


def test_the_cuts_of_tree_and_partition_map_are_at_the_place_of_the_slider(page):
    for figure in ("#tree", "#distances"):
        ends = []
        for level in (0, 3):
            page.go_to(level)
            ends.append(page.cut(figure))
        for level in (1, 2):
            page.go_to(level)
            share = page.run("const s = document.querySelector('#slider'); return s.value / s.max")
            across = ends[0] + share * (ends[1] - ends[0])
            assert page.cut(figure) == pytest.approx(across, abs=1)


def test_the_axis_starts_at_the_first_fusion(open_page):
    rows = [[0, 1, 2, 3], [0, 1, 2, 3], [0, 0, 2, 3], [0, 0, 0, 0]]
    page = open_page(report_html(made_path([1e-9, 1e-6, 1.0, 10.0], rows)))
    places = []
    for level in range(4):
        page.go_to(level)
        places.append(int(page.find("#slider").get_attribute("value")))
    assert places[0] == places[1] == 0
    assert 0 < places[2] < 1000
    assert places[3] == 10000
    # The slider at its left end stands for the last level of single nodes.
    page.run(
        "const s = arguments[0]; s.value = 0; s.dispatchEvent(new Event('input'))",
        page.find("#slider"),
    )
    page.settle()
    assert page.text("#at").startswith("at λ = 1e-6")


def test_the_page_opens_at_the_suggested_pruning(open_page):
    path = pruned_path()
    page = open_page(report_html(path))
    assert page.text("#count") == f"{path.suggestion.n_clusters} clusters"
    # In number and lam, the first view, the headline and the path agree.
    plateau = path.suggested_plateau
    low, high = format_number(plateau.lam_from), format_number(plateau.lam_to)
    assert page.text("#at").startswith("suggested: a pruning nearest to λ = ")
    assert page.text("#at").endswith(f"{low} to {high} ({plateau.n_clusters} clusters)")
    assert f"{path.suggestion.n_clusters} clusters" in page.text("#lead")
    assert f"near λ {low} to {high}" in page.text("#lead")
    assert "those inside a cluster" in page.text("#tree-caption")
    sizes = page.run(
        "return [...document.querySelectorAll('#clusters .number')].map(c => c.textContent)"
    )
    assert sorted(map(int, sizes)) == sorted(np.bincount(path.suggestion.labels).tolist())
    assert not page.find("#tree .cut").is_displayed()
    page.press("ARROW_RIGHT")
    assert page.text("#at").startswith("at λ")
    page.click("#scales button")
    assert page.text("#at").startswith("suggested")


def test_a_suggested_level_is_shown_as_a_level(open_page):
    path = cluster_path()
    plateau = path.suggested_plateau
    assert (path.labels(lam=plateau.lam_from) == path.suggestion.labels).all()
    page = open_page(report_html(path))
    low, high = format_number(plateau.lam_from), format_number(plateau.lam_to)
    assert page.text("#at") == f"suggested: λ = {low} to {high}"
    assert page.find("#tree .cut").is_displayed()
    assert "left of the line" in page.text("#tree-caption")
    page.click("#scales button:nth-of-type(2)")
    assert page.text("#at").startswith("lasting: ")
    assert page.text("#count") == "3 clusters"


def test_a_suggested_pruning_of_many_nodes_is_that_of_the_path(open_page):
    nodes = np.arange(400)
    path = made_path([0.1, 1.0, 5.0], [nodes, nodes // 100, 0 * nodes], centroids=False)
    page = open_page(report_html(path))
    suggested = np.bincount(path.suggestion.labels)
    assert page.text("#count") == f"{len(suggested)} clusters"
    cells = (
        "return [...document.querySelectorAll('#clusters .number')].map(c => Number(c.textContent))"
    )
    assert sorted(page.run(cells)) == sorted(suggested.tolist())


def test_weak_branches_are_faint_and_merges_tell_their_support(open_page):
    path = cluster_path()
    support = convexhc.support(path.graph, path=path, n_resamples=3, share=0.8)
    page = open_page(report_html(path, support=support))
    weak = "return document.querySelectorAll('#tree .weak').length"
    assert page.run(weak) == 0
    page.run(
        "arguments[0].value = 100; arguments[0].dispatchEvent(new Event('input'))",
        page.find("#least-support"),
    )
    page.settle()
    assert page.run(weak) == int(bool((support.share < 1.0).any()))
    page.go_to(3)
    assert "AMI with resamples" in page.text("#level-titles")
    median = np.median(support.ami[:, 3])
    assert page.run(
        "return document.querySelector('#levels [aria-current=true] td:last-child').textContent"
    ).startswith(f"{median:.2f} (")


def test_what_is_proven_is_told(open_page):
    sure = Proof(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1]))
    open_ = Proof(np.array([0, 0, 1, 2]), np.array([0, 0, 1, 1]))
    rows = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 0]]
    page = open_page(
        report_html(made_path([1.0, 2.0, 3.0], rows, names="abcd", proof=[sure, open_, None]))
    )
    page.go_to(0)
    assert page.text("#proof").endswith(", partition proven")
    page.go_to(1)
    assert page.text("#proof").endswith("; not proven for 2 nodes")
    assert "proven but for 2 nodes: c, d" in page.text("#certificate")
    page.go_to(2)
    assert "proven" not in page.text("#proof")
    cells = "return [...document.querySelectorAll('#levels td:last-child')].map(c => c.textContent)"
    assert page.run(cells) == ["yes", "not for 2", ""]


def test_graph_and_tree_are_on_the_first_screen(page):
    bottom = "return document.querySelector(arguments[0]).getBoundingClientRect().bottom"
    height = page.run("return window.innerHeight")
    for figure in ("#graph svg", "#tree svg"):
        assert 0 < page.run(bottom, figure) <= height


def test_the_partition_map_is_square_and_its_shades_have_a_key(page):
    size = page.find("#distances canvas").size
    assert size["width"] == pytest.approx(size["height"], abs=1)
    key = "return getComputedStyle(document.querySelector('#distances-key')).backgroundImage"
    assert page.run(key).startswith("linear-gradient")
    assert page.find("#distances-key").size["width"] > 30
    assert page.text("#distances-panel .ramp").strip() == "identicalmost different"


def test_options_are_words_and_numbers(open_page):
    page = open_page(report_html(cluster_path()))
    told = page.text("#options")
    assert "similarity kinddiffusion" in told
    assert not set("{}[]'") & set(told)


def test_tiny_numbers_are_short(open_page):
    rows = [[0, 1, 2], [0, 0, 2], [0, 0, 0]]
    path = made_path([1.23456789e-9, 1.0, 5.0], rows, relative_gap=[3.21e-13, 1.7e-16, 0.0])
    page = open_page(report_html(path))
    for level, gap in enumerate(("3.2e-13", "1.7e-16", "0")):
        page.go_to(level)
        assert gap in page.text("#certificate")
    page.go_to(0)
    assert page.text("#at").startswith("at \N{GREEK SMALL LETTER LAMDA} = 1.2e-9")
    long = r"return document.querySelector('main').innerText.match(/0\.000\d|\d\.\d{7}/g)"
    assert page.run(long) is None


def test_the_drawing_says_how_many_edges_it_leaves_out(open_page):
    path, graph = two_thousand()
    page = open_page(report_html(path, graph=graph))
    told = f"{graph.n_edges} edges, of which {RESOLUTION.max_edges} are drawn"
    assert page.text("#graph-caption").startswith(told)


def test_zoom_enlarges_and_drags_the_drawing(page):
    place = (
        "const disc = document.querySelector(\"#graph [data-node='3']\");"
        "return [Number(disc.getAttribute('cx')), Number(disc.getAttribute('cy'))]"
    )
    assert not page.find("#zoom-out").is_enabled()
    before = np.array(page.run(place))
    page.click("#zoom-in")
    zoomed = np.array(page.run(place))
    middle = page.find("#graph").size["width"] / 2
    assert zoomed - middle == pytest.approx(1.5 * (before - middle), abs=0.2)
    from selenium.webdriver import ActionChains

    chosen = page.text("#chosen")
    drag = ActionChains(page.driver).move_to_element_with_offset(page.find("#graph"), 100, 100)
    drag.click_and_hold().move_by_offset(-20, 0).move_by_offset(-20, 0).release().perform()
    page.settle()
    assert np.array(page.run(place)) - zoomed == pytest.approx([-40, 0], abs=6)
    assert page.text("#chosen") == chosen
    page.click("#zoom-fit")
    assert np.array(page.run(place)) == pytest.approx(before)


def test_an_enlarged_graph_fills_the_window_and_closes_with_escape(page):
    page.click("#enlarge")
    box = page.find("#graph-panel").rect
    assert box["width"] >= page.run("return document.documentElement.clientWidth")
    assert box["height"] >= page.run("return window.innerHeight") - 1
    page.press("ESCAPE", on="#enlarge")
    assert page.find("#graph-panel").rect["width"] < box["width"]


def test_search_moves_a_node_of_a_zoomed_drawing_into_view(page):
    for _ in range(6):
        page.click("#zoom-in")
    inside = (
        "const d = document.querySelector('#graph .found').getBoundingClientRect(),"
        "h = document.querySelector('#graph').getBoundingClientRect();"
        "return d.left >= h.left && d.right <= h.right && d.top >= h.top && d.bottom <= h.bottom"
    )
    for name in ("Ada", "Bo", "Cy"):
        page.find("#search").clear()
        page.press(*name, "ENTER", on="#search")
        assert page.run(inside)
        assert page.text("#search-note").startswith(name)


def test_search_counts_the_nodes_it_does_not_list(open_page):
    path = made_path(
        [1.0, 2.0], [np.arange(30), np.zeros(30, int)], names=[f"n{i}" for i in range(30)]
    )
    page = open_page(report_html(path))
    page.press("n", on="#search")
    assert page.all("#found li")[-1].text == "and 22 more nodes"


def test_attributes_colour_the_nodes_and_agree_with_the_clusters(open_page):
    values = ["a"] * 6 + ["b"] * 6
    page = open_page(
        report_html(twelve(), graph=ring(12), attributes={"kind": values, "size": np.arange(12.0)})
    )
    page.go_to(2)
    assert page.text("#agreement") == "agreement with kind: AMI 1.00, ARI 1.00"
    page.go_to(3)
    assert page.text("#agreement") == "agreement with kind: AMI 0.00, ARI 0.00"
    page.run(
        "const s = arguments[0]; s.value = '0'; s.dispatchEvent(new Event('change'))",
        page.find("#color-by"),
    )
    page.settle()
    assert (together(page.fills()) == together(values)).all()
    assert page.text("#color-key") == "ab"
    page.point_at("#graph [data-node='0']")
    assert page.text("#tip").endswith("kind: a")
    page.run(
        "const s = arguments[0]; s.value = '1'; s.dispatchEvent(new Event('change'))",
        page.find("#color-by"),
    )
    page.settle()
    assert len(set(page.fills())) == 12


def test_figures_are_saved_as_svg_and_png(page, tmp_path):
    for panel, kinds in {
        "graph": ["SVG", "PNG"],
        "tree": ["SVG", "PNG"],
        "heatmap": ["PNG"],
    }.items():
        buttons = page.all(f"#{panel}-panel .save")
        assert [button.text for button in buttons] == kinds
    svg = saved(page, tmp_path, "#graph-panel .save")
    assert svg.name == "graph.svg"
    drawing = ElementTree.parse(svg).getroot()
    assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
    assert len(drawing.findall(".//{http://www.w3.org/2000/svg}circle")) == 12
    for panel in ("tree", "heatmap"):
        png = saved(page, tmp_path, f"#{panel}-panel .save:last-child")
        assert png.name == f"{panel}.png"
        assert png.read_bytes().startswith(b"\x89PNG")


def test_on_a_phone_slider_and_certificate_are_in_reach(page):
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        page.settle()
        page.settle()
        page.go_to(2)
        assert page.find("#proof").is_displayed()
        slider, button = page.find("#slider").rect, page.find("#coarser").rect
        apart = (
            slider["y"] + slider["height"] <= button["y"]
            or button["x"] + button["width"] <= slider["x"]
        )
        assert apart
        page.run("window.scrollTo(0, 1500)")
        page.settle()
        top = page.run("return document.querySelector('#slider').getBoundingClientRect().top")
        assert 0 <= top < 60
    finally:
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_the_slider_can_be_dragged_and_stops_only_at_solved_levels(page):
    from selenium.webdriver import ActionChains

    page.go_to(0)
    width = page.find("#slider").size["width"]
    drag = ActionChains(page.driver).move_to_element_with_offset(
        page.find("#slider"), -width // 2 + 9, 0
    )
    drag.click_and_hold().move_by_offset(int(0.6 * width), 0).release().perform()
    page.settle()
    assert page.text("#at").startswith("at λ = 1,")
    # The axis starts a little below the first fusion, at lam 0.1.
    low = np.log(0.1) - 0.03 * np.log(100)
    share = -low / (np.log(10) - low)
    assert int(page.find("#slider").get_attribute("value")) == round(10000 * share)


def test_plateaus_are_buttons_that_jump(page):
    page.go_to(0)
    buttons = page.all("#plateaus button")
    assert [b.text for b in buttons[:3]] == ["12", "4", "2"]
    buttons[2].click()
    page.settle()
    assert page.text("#count") == "2 clusters"
    assert [b.get_attribute("aria-pressed") for b in buttons[:3]] == ["false", "false", "true"]
    page.click("#finer")
    assert page.text("#count") == "4 clusters"
    page.click("#coarser")
    page.click("#coarser")
    assert page.text("#count") == "1 cluster"
    assert not page.find("#coarser").is_enabled()


def test_the_distance_map_names_two_levels_and_jumps_to_one(page):
    page.go_to(0)
    width = page.find("#distances canvas").size["width"]
    # Right of the middle is lam 1, and above the middle too; single nodes are at the lower end.
    page.point_at("#distances canvas", 0.2 * width, -0.2 * width)
    assert page.text("#tip") == "λ = 1 (2 clusters)"
    page.point_at("#distances canvas", 0.2 * width, 0.5 * width - 29)
    words = "λ = 1 (2 clusters) and\nλ = 0.01 (12 clusters):\n"
    # Nothing but the logarithm of six is lost between them, of that of twelve.
    assert page.text("#tip").startswith(words)
    told = float(page.text("#tip").removeprefix(words).split()[0])
    assert told == pytest.approx(100 * np.log(6) / np.log(12), abs=1.5)
    page.find("#distances canvas").click()
    page.settle()
    assert page.text("#count") in ("4 clusters", "2 clusters")


def test_the_csv_has_the_labels_of_the_level(page, tmp_path):
    path = twelve()
    for level, point in enumerate(path.levels):
        page.go_to(level)
        name, rows = downloaded(page, tmp_path)
        assert name == f"labels_{point.n_clusters}_clusters.csv"
        assert rows[0] == ["node", "cluster"]
        assert [row[0] for row in rows[1:]] == list(path.names)
        assert [int(row[1]) for row in rows[1:]] == path.labels(lam=point.lam).tolist()


def test_search_finds_a_node_and_follows_it(page):
    page.go_to(1)
    page.press("b", "o", on="#search")
    assert page.find("#search").get_attribute("aria-expanded") == "true"
    assert [row.text for row in page.all("#found li")] == ["Bo"]
    page.press("ENTER", on="#search")
    assert page.text("#chosen").startswith("Bo is in cluster 3 with 2 other nodes at this level.")
    assert "first merges at λ = 0.1" in page.text("#chosen")
    for figure in ("#graph", "#trajectories", "#tree"):
        assert len(page.all(f"{figure} .found")) == 1
    at = (
        "const disc = document.querySelector(arguments[0]);"
        "return [disc.getAttribute('cx'), disc.getAttribute('cy')]"
    )
    assert page.run(at, "#graph .found") == page.run(at, "#graph [data-node='9']")
    page.go_to(3)
    assert page.text("#chosen").startswith("Bo is in cluster 0 with 11 other nodes")
    page.click("#clear")
    assert page.all("#graph .found") == []
    assert not page.find("#chosen").is_displayed()


def test_search_ranks_exact_names_first_and_reports_no_match(open_page):
    names = ["alpha 10", "alpha 1", "beta alpha 1", *map(str, range(9))]
    page = open_page(report_html(twelve(names=names)))
    page.press(*"alpha 1", on="#search")
    assert [row.text for row in page.all("#found li")] == ["alpha 1", "alpha 10", "beta alpha 1"]
    page.press("ARROW_DOWN", "ENTER", on="#search")
    assert page.text("#chosen").startswith("alpha 10 ")
    page.press(*"zzz", on="#search")
    assert [row.text for row in page.all("#found li")] == ["No node has this name"]


def test_a_row_of_the_table_highlights_its_cluster(page):
    page.go_to(2)
    rows = page.all("#clusters tr")
    assert len(rows) == 2
    assert rows[1].text.split() == ["1", "6", *", ".join(twelve().names[6:]).split()]
    page.click("#clusters tr:nth-child(2) button")
    bright = page.run(
        "return [...document.querySelectorAll('#graph [data-node]')]"
        ".filter(disc => !disc.hasAttribute('opacity')).map(disc => Number(disc.dataset.node))"
    )
    assert sorted(bright) == list(range(6, 12))
    page.press("ESCAPE", on="#slider")
    assert not page.find("#chosen").is_displayed()


def test_names_in_the_drawing_overlap_neither_each_other_nor_a_node(open_page):
    rng = np.random.default_rng(0)
    names = [f"a name {i}" for i in range(90)]
    rows = [np.arange(90), np.arange(90) // 9, np.zeros(90, int)]
    tail, head = np.nonzero(np.triu(rng.random((90, 90)) < 0.05, 1))
    graph = Graph.from_edges(90, tail, head, names=names)
    page = open_page(report_html(made_path([0.1, 1.0, 5.0], rows, names=names), graph=graph))
    boxes = page.run(
        "return ['text', '[data-node]'].map(kind => "
        "[...document.querySelectorAll(`#graph ${kind}`)].map(e => {"
        "const b = e.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; }))"
    )
    words, nodes = np.array(boxes[0]), np.array(boxes[1])
    assert 10 < len(words) < 90
    for at, (left, top, right, bottom) in enumerate(words):
        others = np.concatenate([words[:at], nodes])
        # A line is taller than its letters, and a disc has a rim.
        inside = (others[:, 0] < right - 1) & (others[:, 2] > left + 1)
        inside &= (others[:, 1] < bottom - 4) & (others[:, 3] > top + 4)
        assert not inside.any()


def test_hovering_shows_the_name_of_a_node(page):
    page.go_to(1)
    for node in (0, 8):
        page.point_at(f"#graph [data-node='{node}']")
        assert page.text("#tip") == f"{twelve().names[node]}\ncluster {node // 3}, 3 nodes"
    page.point_at("#tree svg")
    assert "cluster" in page.text("#tip")
    page.point_at("h1")
    assert not page.find("#tip").is_displayed()


def test_nasty_names_stay_text_everywhere(page):
    shown = page.text("#clusters")
    assert all(name in shown for name in NASTY)
    for name in (*NASTY, "Ada"):
        page.find("#search").clear()
        page.press(*name, "ENTER", on="#search")
        assert page.text("#chosen").startswith(name)
        for figure in ("#graph", "#tree"):
            written = page.run(
                "return [...document.querySelectorAll(arguments[0])].map(t => t.textContent)",
                f"{figure} text",
            )
            short = [words[:-1] for words in written if words.endswith("…") and len(words) > 5]
            assert name in written or any(name.startswith(words) for words in short)
    assert page.text("h1") == "Twelve <b>nodes</b>"
    assert page.run("return [document.scripts.length, document.images.length]") == [2, 0]
    assert page.run("return document.querySelectorAll('h1 *, td script, p script').length") == 0


def test_the_security_policy_blocks_requests(page):
    page.check_quiet()
    script = (
        "const done = arguments[0];"
        "fetch('http://127.0.0.1:9/').then(() => done('sent'), () => done('stopped'))"
    )
    assert page.driver.execute_async_script(script) == "stopped"
    assert page.logged() == []
    assert any("Content Security Policy" in message for message in page.errors())
    page.run(
        "const made = document.createElement('script'); made.textContent = 'window.ran = true';"
        "document.body.append(made)"
    )
    assert page.run("return window.ran === undefined")
    assert page.errors() != []


def test_the_certificate_of_each_level_is_shown(page):
    for level, point in enumerate(twelve().levels):
        page.go_to(level)
        assert f"Iterations{point.n_iter}" in page.text("#certificate")
        assert "certified" in page.text("#proof")
        assert "no feasible point at this λ has an objective better" in page.text("#explained")
    assert "by more than 0.0013 %." in page.text("#explained")
    assert len(page.all("#levels tr")) == 4


def test_unusual_paths_are_described(open_page):
    page = open_page(report_html(unruly(), graph=ring(6)))
    page.go_to(2)
    assert "not solved" in page.text("#proof")
    assert "raise max_iter" in page.text("#certificate")
    assert "1 of them not solved to tolerance" in page.text("#lead")
    shape = page.text("#shape")
    assert "the cluster of p (3 nodes) splits into 2 pieces; outside the largest: r." in shape
    assert "2 connected components" in shape
    assert "1 merge at the top of the tree (dashed) only completes it" in shape
    assert page.run("return document.querySelectorAll('#tree [stroke-dasharray]').length") == 1
    page.go_to(0)
    assert page.text("#at").startswith("at λ = 0")


def test_counts_and_percentages_are_correct_english(open_page):
    page = open_page(report_html(made_path([3.0], [[0, 0, 1]], relative_gap=[0.0])))
    assert page.text("#lead").startswith("3 nodes, 1 level at λ = 3, certified to a gap of 0. ")
    assert page.text("#explained").endswith("by more than 0 %.")
    # A node that changes sides 51 times, one more than are listed.
    rows = [[0, 0, 1, 1], [0, 1, 1, 1]] * 26
    page = open_page(report_html(made_path(np.arange(1.0, 53.0), rows[:52])))
    assert page.text("#shape").startswith("51 splits occur as λ grows.")
    assert "1 more split is not listed." in page.text("#shape")
    assert page.text("#lead").startswith("4 nodes, 52 levels from λ = 1 to 52, all certified to a")


def test_a_level_without_certificate_is_not_called_certified(open_page):
    rows = [[0, 1, 2], [0, 0, 0]]
    page = open_page(report_html(made_path([1.0, 2.0], rows, relative_gap=[np.nan, 1e-5])))
    assert "1 of them without a certificate" in page.text("#lead")
    page.go_to(0)
    assert page.text("#proof") == "! not certified: gap unknown"


def test_the_caption_of_an_averaged_heat_map_names_the_number_of_nodes_per_row(open_page):
    path = made_path([1.0, 2.0], [np.arange(300), np.zeros(300, int)], centroids=False)
    page = open_page(report_html(path, graph=ring(300)))
    assert "averaged over 1.2 nodes per row" in page.text("#heatmap-caption")


@pytest.mark.parametrize(
    "path",
    [
        made_path([0.0], [[0]]),
        made_path([1.0], [[0, 1]]),
        made_path([0.0, 3.0], [[0, 1, 2], [0, 0, 0]], centroids=False),
    ],
)
def test_the_smallest_paths_are_shown(open_page, path):
    page = open_page(report_html(path, graph=ring(3) if len(path.names) == 3 else None))
    for level, point in enumerate(path.levels):
        page.go_to(level)
        assert page.text("#count").startswith(f"{point.n_clusters} cluster")


def test_dark_and_light(page):
    page.go_to(2)
    light = page.fills()
    ground = "return getComputedStyle(document.body).backgroundColor"
    bright = page.run(ground)
    page.click("#theme")
    assert page.run(ground) != bright
    assert all(one != other for one, other in zip(light, page.fills(), strict=True))
    page.click("#theme")
    assert page.fills() == light
    assert page.run(ground) == bright


def test_the_theme_of_the_system_is_followed(open_page, browser):
    wish = {"name": "prefers-color-scheme", "value": "dark"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [wish]})
    try:
        page = open_page(report_html(twelve()))
        assert page.run("return document.documentElement.dataset.theme") == "dark"
        wish["value"] = "light"
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [wish]})
        page.run("return document.documentElement.dataset.theme", until="light")
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_printing_is_light_and_restores_the_screen(page):
    page.click("#theme")
    page.run(
        "window.addEventListener('beforeprint', () => { window.printed = "
        "[document.documentElement.dataset.theme, document.querySelector('#all-levels').open]; });"
    )
    pdf = page.driver.execute_cdp_cmd("Page.printToPDF", {})["data"]
    assert base64.b64decode(pdf).startswith(b"%PDF")
    assert page.run("return window.printed") == ["light", True]
    assert page.run("return document.documentElement.dataset.theme") == "dark"
    assert page.run("return document.querySelector('#all-levels').open") is False


def test_every_control_has_a_name_and_can_be_reached_by_keyboard(page):
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.keys import Keys

    controls = [c for c in page.all("button, input, summary, [tabindex]") if c.is_displayed()]
    assert len(controls) > 12
    assert [c.get_attribute("outerHTML") for c in controls if not c.accessible_name] == []
    page.run("document.activeElement.blur(); window.scrollTo(0, 0)")
    reached = set()
    for _ in range(3 * len(controls)):
        ActionChains(page.driver).send_keys(Keys.TAB).perform()
        reached.add(page.driver.switch_to.active_element)
    wanted = {c for c in controls if c.is_enabled()}
    assert wanted <= reached


@pytest.mark.parametrize("width", [1400, 800, 400])
def test_no_width_needs_horizontal_scrolling(page, width):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        page.settle()
        page.settle()
        assert page.run("return document.documentElement.scrollWidth") <= width
    finally:
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_two_thousand_nodes_are_drawn_on_canvas(open_page, tmp_path):
    path, graph = two_thousand()
    page = open_page(report_html(path, graph=graph))
    assert page.all("#graph svg, #tree svg, #heatmap svg") == []
    assert page.all("#trajectories-panel") == []
    seen = []
    for level, point in enumerate(path.levels):
        page.go_to(level)
        seen.append([page.pixels(f"{host} canvas") for host in ("#graph", "#heatmap", "#tree")])
        assert page.text("#count").startswith(f"{point.n_clusters} cluster")
    for one, other in itertools.pairwise(seen):
        assert all(before != after for before, after in zip(one, other, strict=True))
    page.go_to(1)
    assert page.run("return document.querySelectorAll('*').length") < 2000
    _, rows = downloaded(page, tmp_path)
    assert [int(row[1]) for row in rows[1:]] == path.labels(lam=0.1).tolist()


def test_the_frame_of_a_notebook_works(browser, tmp_path):
    file = tmp_path / "notebook.html"
    file.write_text(notebook_html(twelve(), graph=ring(12)), encoding="utf-8")
    browser.get_log("browser")
    browser.get(file.as_uri())
    browser.switch_to.frame(0)
    try:
        from selenium.webdriver.support.ui import WebDriverWait

        ready = "return document.documentElement.dataset.ready === 'true'"
        assert WebDriverWait(browser, 20).until(lambda driver: driver.execute_script(ready))
        assert browser.find_element("id", "count").text.endswith("clusters")
    finally:
        browser.switch_to.default_content()
    assert browser.get_log("browser") == []
