"""Reports that the site shows, as they come out of the package: one HTML file each."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
from sphinx.application import Sphinx

import convexhc

FOLDER = Path(__file__).resolve().parents[1] / "_live"


def write_reports(app: Sphinx) -> None:
    """Cluster the karate club and a graph of nested communities, and write their reports."""
    FOLDER.mkdir(exist_ok=True)
    club = nx.karate_club_graph()
    nested = convexhc.datasets.fractal_graph(0).adjacency
    for name, title, graph in [
        ("karate", "Zachary's karate club", club),
        ("nested", "28 groups in four communities", nested),
    ]:
        path = convexhc.cluster(graph)
        convexhc.report.write_report(
            path, FOLDER / f"live-{name}.html", graph=convexhc.as_graph(graph), title=title
        )


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", write_reports)
    return {"parallel_read_safe": True}
