"""The page: skeleton, style, scripts and data joined in one file that asks nobody for anything."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
from collections.abc import Iterable
from importlib import resources
from typing import Any

from convexhc._files import write_bytes
from convexhc.graph import Graph
from convexhc.path import Path
from convexhc.path.suggestion import warning_text
from convexhc.report.levels import levels
from convexhc.report.pictures import (
    assignment_map,
    drawing,
    in_order,
    information,
    similarity_map,
    trails,
)
from convexhc.version import __version__

# The scripts in the order in which they are joined: each uses only those before it.
SCRIPTS = (
    "data.js",
    "axis.js",
    "surface.js",
    "shades.js",
    "scan.js",
    "information.js",
    "graph.js",
    "trails.js",
    "heat.js",
    "tree.js",
    "clusters.js",
    "levels.js",
    "search.js",
    "main.js",
)


def write_report(
    path: Path,
    file: str | os.PathLike[str],
    *,
    graph: Graph | None = None,
    similarity: Graph | None = None,
    title: str | None = None,
    notes: Iterable[str] = (),
) -> None:
    """Write the report of a path: one HTML file, whole or not at all.

    The file holds everything it shows and asks no network for anything. A slider over lam moves
    the drawing of the graph, the centroids, the heat map and the cut of the tree together.

    Parameters
    ----------
    path : Path
        What `convexhc.solve_path` found. Centroids are shown if it kept them.
    file : path
        Where to write; replaced if it exists.
    graph : Graph, optional
        The graph to draw; without it there is no drawing.
    similarity : Graph, optional
        The matrix of the heat map; by default that of ``graph``.
    title : str, optional
        Title of the page.
    notes : iterable of str
        Paragraphs about the run, shown as plain text.

    Raises
    ------
    ValueError
        A graph with another number of nodes than the path.
    OSError
        The file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import convexhc
    >>> K = np.kron(np.eye(2), np.ones((3, 3))) + 0.1 + np.eye(6)
    >>> path = convexhc.solve_path(K)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(path, f"{folder}/report.html", graph=convexhc.as_graph(K))
    """
    page = report_html(path, graph=graph, similarity=similarity, title=title, notes=notes)
    # A title may hold half a character, which no encoding knows; the data is plain ASCII.
    write_bytes(file, page.encode("utf-8", "xmlcharrefreplace"))


def report_html(
    path: Path,
    *,
    graph: Graph | None = None,
    similarity: Graph | None = None,
    title: str | None = None,
    notes: Iterable[str] = (),
) -> str:
    """The report of a path as the text of one HTML file; see `write_report`.

    Examples
    --------
    >>> import numpy as np
    >>> import convexhc
    >>> path = convexhc.solve_path(np.eye(3) + 1, [0.1, 10.0])
    >>> report_html(path, title="Three <nodes>").count("<title>Three &lt;nodes&gt;</title>")
    1
    """
    names = path.names
    drawn = None if graph is None else in_order(graph, names, "graph")
    compared = drawn if similarity is None else in_order(similarity, names, "similarity")
    order = path.tree.leaf_order()
    shown = "Clusters at every scale" if title is None else title
    data = {
        **levels(path),
        "title": shown,
        "graph": None if drawn is None else drawing(drawn),
        "similarity": None if compared is None else similarity_map(compared, order),
        "assignment": assignment_map(path, order),
        "trails": trails(path),
        "information": information(path),
        "options": {name: str(value) for name, value in path.provenance.options.items()},
        "version": path.provenance.version,
        "notes": [*_evidence(path), *(str(note) for note in notes)],
    }
    return _page(shown, path.summary(), data)


def _evidence(path: Path) -> list[str]:
    """What speaks for the suggested scale, or against it."""
    if not path.suggestion.confident:
        return [f"Caution: {warning_text(path)}"]
    return [] if path.structure is None else [f"Structure: {path.structure}."]


def _page(title: str, summary: str, data: dict[str, Any]) -> str:
    """Fill the skeleton; the only scripts and styles allowed to work are those put in here."""
    style = _read("style.css")
    script = "(() => {\n" + "\n".join(_read(name) for name in SCRIPTS) + "})();\n"
    policy = (
        f"default-src 'none'; style-src {_fingerprint(style)}; "
        f"script-src {_fingerprint(script)}; base-uri 'none'; form-action 'none'; img-src data:"
    )
    page = _read("page.html")
    parts = {
        "policy": policy,
        "title": html.escape(title),
        "summary": html.escape(summary),
        "generator": f"convexhc {__version__}",
        "style": style,
        "script": script,
        "data": embedded(data),
    }
    # Cut at the marks first, so that a mark inside a title or a name is not filled again.
    head, *pieces = page.split("{{")
    filled = [head]
    for piece in pieces:
        mark, rest = piece.split("}}", 1)
        filled += [parts[mark], rest]
    return "".join(filled)


def embedded(data: dict[str, Any]) -> str:
    """JSON that can stand inside a script element: no name can end it or open another."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _read(name: str) -> str:
    """A file of the page, as it was shipped."""
    return (resources.files("convexhc.report") / "page" / name).read_text(encoding="utf-8")


def _fingerprint(text: str) -> str:
    """What the browser must find in an element before it lets it work."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
