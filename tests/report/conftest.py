"""One browser for all tests of the report, and a page that must stay quiet."""

from __future__ import annotations

import pytest
from report.browser import Page, start_browser


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    driver = start_browser(tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()


@pytest.fixture
def open_page(browser, tmp_path):
    """Open a report; at the end of the test every page must have stayed quiet."""
    opened = []

    def open_text(text):
        file = tmp_path / f"report{len(opened)}.html"
        file.write_text(text, encoding="utf-8")
        opened.append(Page(browser, file))
        return opened[-1]

    yield open_text
    if opened:
        opened[-1].check_quiet()
