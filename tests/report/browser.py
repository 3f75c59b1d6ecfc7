"""A headless browser, and the report opened in it."""

from __future__ import annotations

import json
import shutil

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# No window, no graphics card, and nothing of its own to say to a network.
SWITCHES = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1400,1000",
)
# Wait until what was asked for has been drawn.
SETTLE = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done));"


def start_browser(folder):
    """A browser with an empty profile; skips the test where there is none."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    driver = shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip("no Chromium with its chromedriver here: apt-get install chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for switch in (*SWITCHES, f"--user-data-dir={folder}"):
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))


class Page:
    """A report that is open in the browser."""

    def __init__(self, driver, file):
        self.driver = driver
        self.address = file.as_uri()
        self.logged()
        driver.get(self.address)
        assert self.run("return document.documentElement.dataset.ready ?? 'no'", until="true")
        self.settle()

    def run(self, script, *values, until=None):
        """Answer of a script; with `until`, ask again until it is that."""
        if until is None:
            return self.driver.execute_script(script, *values)
        from selenium.webdriver.support.ui import WebDriverWait

        return WebDriverWait(self.driver, 20).until(
            lambda driver: driver.execute_script(script, *values) == until
        )

    def settle(self):
        self.driver.execute_async_script(SETTLE)

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def all(self, selector):
        return self.driver.find_elements("css selector", selector)

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def click(self, selector):
        self.run("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", selector)
        self.find(selector).click()
        self.settle()

    def press(self, *keys, on="#slider"):
        from selenium.webdriver.common.keys import Keys

        self.find(on).send_keys(*(getattr(Keys, key, key) for key in keys))
        self.settle()

    def go_to(self, level):
        self.press("HOME")
        if level:
            self.press(*["ARROW_RIGHT"] * level)

    def point_at(self, selector, across=0.0, down=0.0):
        """Move the pointer to the middle of an element, or so many pixels from it."""
        from selenium.webdriver import ActionChains

        self.run("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", selector)
        ActionChains(self.driver).move_to_element_with_offset(
            self.find(selector), across, down
        ).perform()
        self.settle()

    def fills(self):
        """Colour of each node in the drawing, in the order of the nodes."""
        return self.run(
            "return [...document.querySelectorAll('#graph [data-node]')]"
            ".map(disc => [Number(disc.dataset.node), disc.getAttribute('fill')])"
            ".sort((a, b) => a[0] - b[0]).map(pair => pair[1])"
        )

    def pixels(self, selector):
        """The picture on a canvas, as text."""
        return self.run("return document.querySelector(arguments[0]).toDataURL()", selector)

    def cut(self, host):
        """Where the line through a figure stands, in pixels from the left of the window."""
        return self.run(
            "return document.querySelector(arguments[0]).getBoundingClientRect().left",
            f"{host} .cut",
        )

    def errors(self):
        return [said["message"] for said in self.driver.get_log("browser")]

    def logged(self):
        """Addresses that this page asked for since the last call."""
        messages = [json.loads(e["message"])["message"] for e in self.driver.get_log("performance")]
        requests = [m["params"] for m in messages if m["method"] == "Network.requestWillBeSent"]
        # The browser has pages of its own, such as the one it starts with.
        return [r["request"]["url"] for r in requests if r["documentURL"] == self.address]

    def check_quiet(self):
        """Nothing was complained about, and nothing asked for but the file itself."""
        assert self.errors() == []
        asked = [a for a in self.logged() if not a.startswith(("data:", "blob:"))]
        assert [address for address in asked if address != self.address] == []
        entries = self.run("return performance.getEntriesByType('resource').map(e => e.name)")
        assert [name for name in entries if not name.startswith(("data:", "blob:"))] == []
