"""The page of a cohort in a real browser: nothing is asked for, everything can be reached."""

from __future__ import annotations

import pytest
from cohort.made import GROUPS, HALVES, ONE, PAIRS, cohort, path
from report.examples import NASTY

from convexhc.cohort.overview import overview
from convexhc.report.cohort_page import cohort_html

LINKS = {name: f"subjects/{name}/report.html" for name in ("p1", "p2", "q1", "q2")}


@pytest.fixture(scope="module")
def html():
    made = cohort()
    compared = overview(made.paths, GROUPS, n_permutations=99, n_draws=50)
    means = {"all": path([PAIRS, HALVES, ONE])}
    return cohort_html(
        made, groups=GROUPS, title="Four <people>", compared=compared, means=means, links=LINKS
    )


@pytest.fixture
def page(html, open_page):
    return open_page(html)


def column(page, at):
    return page.run(
        "return [...document.querySelectorAll('#subjects tr')]"
        ".map(row => row.cells[arguments[0]].textContent)",
        at,
    )


def test_the_page_says_what_was_compared(page):
    assert page.text("h1") == "Four <people>"
    assert page.text("#lead") == "5 subjects in 2 groups; 8 nodes each"
    assert page.text("#failures").startswith("1 subject failed.")
    assert len(page.all("#tests tr")) == 3
    assert "1.000" in page.text("#tests tr")
    assert len(page.all("#trees .tree-card")) == 4
    assert len(page.all("#icicles .card")) == 4
    assert column(page, 0) == ["p1", "p2", "q1", "q2", "<b>broken</b>"]


def test_every_subject_links_to_its_report(page):
    hrefs = "return [...document.querySelectorAll(arguments[0])].map(a => a.getAttribute('href'))"
    assert page.run(hrefs, "#icicles a.card") == list(LINKS.values())
    assert page.run(hrefs, "#subjects a") == list(LINKS.values())


def test_the_table_is_sorted_by_any_column_and_back(page):
    page.click("#subjects-head th:first-child button")
    assert column(page, 0) == ["<b>broken</b>", "p1", "p2", "q1", "q2"]
    page.click("#subjects-head th:first-child button")
    assert column(page, 0) == ["q2", "q1", "p2", "p1", "<b>broken</b>"]
    sort = page.run("return document.querySelector('#subjects-head th').getAttribute('aria-sort')")
    assert sort == "descending"
    # Cells without a value stay last in both directions.
    for _ in range(2):
        page.click("#subjects-head th:nth-child(3) button")
        assert column(page, 0)[-1] == "<b>broken</b>"


def test_subjects_are_found_by_name(page):
    page.press("q", on="#search")
    assert column(page, 0) == ["q1", "q2"]
    assert page.text("#table-caption") == "2 of 5 subjects"


def test_another_metric_and_another_order_draw_another_matrix(page):
    first = page.pixels("#matrix canvas")
    page.click("#tests tr:nth-child(2) button")
    second = page.pixels("#matrix canvas")
    assert first != second
    assert page.text("#matrix-caption").startswith("share of nearest neighbours")
    page.click("#order-choice button:nth-child(2)")
    pressed = "return document.querySelector('#order-choice [aria-pressed=true]').textContent"
    assert page.run(pressed) == "By dendrogram"


def test_the_matrix_tells_the_distance_and_marks_the_subject(page):
    page.point_at("#matrix canvas", 60, 60)
    assert "p1" in page.text("#tip") or "q" in page.text("#tip")
    page.click("#subjects tr:nth-child(2) td:nth-child(3)")
    assert page.run("return document.querySelectorAll('.chosen-row td').length") > 0
    assert page.text("#icicles .card.chosen") == "p2"
    page.press("ESCAPE", on="body")
    assert page.all("#icicles .card.chosen") == []


def test_the_theme_changes_every_colour_and_the_phone_has_no_scroll_sideways(page):
    light = page.pixels("#matrix canvas")
    background = "return getComputedStyle(document.body).backgroundColor"
    before = page.run(background)
    page.click("#theme")
    assert page.pixels("#matrix canvas") != light
    assert page.run(background) != before
    size = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        page.settle()
        page.settle()
        wide = "const d = document.documentElement; return d.scrollWidth - d.clientWidth"
        assert page.run(wide) <= 0
    finally:
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_names_are_text_whatever_they_hold(open_page):
    names = [*NASTY, "a b"]
    paths = {name: path([PAIRS, HALVES, ONE], names=tuple(NASTY)) for name in names}
    made = cohort(paths)
    made = type(made)(tuple(each for each in made if each.name in names), made.options)
    groups = {name: f"{name}</script>" for name in names} | {NASTY[0]: "x", NASTY[1]: "x"}
    page = open_page(cohort_html(made, groups=groups, title=NASTY[1], means={}))
    assert sorted(column(page, 0)) == sorted(names)
    assert page.all("#icicles img") == page.all("main script") == []


def test_one_subject_and_no_common_nodes_have_a_page_without_comparison(open_page):
    strangers = cohort({"r": path([PAIRS, HALVES, ONE], names=tuple("stuvwxya"))})
    two = type(strangers)(tuple(o for o in strangers if o.name in ("p1", "r")), {})
    page = open_page(cohort_html(two, means={}))
    assert page.all("#matrix") == page.all("#trees") == []
    assert column(page, 0) == ["p1", "r"]
