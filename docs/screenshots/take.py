"""Take the pictures of the README: `make screenshots`.

Runs the demo, opens its reports in a browser without a window, and draws the figures of the same
path with matplotlib. The pictures are written beside this file.
"""

from __future__ import annotations

import base64
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
WIDTH = 1240


def photograph(page, target: Path) -> None:
    """An open page from its top to the end of the picture of all scales."""
    page.run("document.activeElement.blur(); window.scrollTo(0, 0)")
    ends = "return document.querySelector('#scan-panel').getBoundingClientRect().bottom + 12"
    page.driver.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
    height = 1000
    for _ in range(2):
        size = {"width": WIDTH, "height": height, "deviceScaleFactor": 1, "mobile": False}
        page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        # Once for the new size, and once for what is drawn anew.
        page.settle()
        page.settle()
        height = round(page.run(ends))
    taken = page.driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
    target.write_bytes(base64.b64decode(taken["data"]))


def take_reports(folder: Path) -> None:
    """The fractal graph in light colours at the level it opens at, the karate club in dark."""
    sys.path.insert(0, str(HERE.parents[1] / "tests"))
    from report.browser import Page, start_browser

    driver = start_browser(folder / "profile")
    try:
        page = Page(driver, folder / "fractal" / "report.html")
        photograph(page, HERE / "report.png")
        page = Page(driver, folder / "karate" / "report.html")
        page.click("#theme")
        photograph(page, HERE / "report-dark.png")
    finally:
        driver.quit()


def draw_figures() -> None:
    """Four figures of the path of the fractal graph."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    import convexhc
    from convexhc import plots

    graph = convexhc.datasets.fractal_graph(0)
    path = convexhc.solve_path(convexhc.similarity.two_hop(graph.adjacency))
    figure, axes = plt.subplots(2, 2, figsize=(13.0, 9.6), layout="constrained")
    plots.dendrogram(path, ax=axes[0, 0])
    plots.icicle(path, ax=axes[0, 1])
    plots.coalescence(path, ax=axes[1, 0])
    plots.sankey(path, ax=axes[1, 1])
    figure.savefig(HERE / "figures.png", dpi=90)


def main() -> None:
    from convexhc.cli import main as convexhc

    with tempfile.TemporaryDirectory() as name:
        convexhc(["demo", "-o", name])
        take_reports(Path(name))
    draw_figures()


if __name__ == "__main__":
    main()
