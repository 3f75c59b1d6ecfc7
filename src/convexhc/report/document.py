"""The page of a path, as one self-contained HTML file or in a notebook, and how a page is made."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from typing import Any

import numpy as np

from convexhc._files import write_bytes
from convexhc._text import counted, format_number, on_page
from convexhc._types import FloatArray
from convexhc.graph import Graph
from convexhc.layout.graph_layout import align_nodes
from convexhc.path import Path
from convexhc.path.suggestion import warning_text
from convexhc.report.array_encoding import RESOLUTION
from convexhc.report.figure_data import (
    assignment_data,
    distance_data,
    graph_data,
    similarity_data,
    trajectory_data,
)
from convexhc.report.path_data import (
    attribute_data,
    described_options,
    path_data,
    proof_data,
    shown_scales,
    support_data,
)
from convexhc.resampling.support import Support
from convexhc.version import __version__

# Scripts in the order of concatenation; each uses only those before it when loaded.
SCRIPTS = (
    "shared/basics.js",
    "shared/theme.js",
    "shared/views.js",
    "page/data.js",
    "page/axis.js",
    "page/surface.js",
    "page/attributes.js",
    "page/save.js",
    "page/zoom.js",
    "page/scan.js",
    "page/distances.js",
    "page/graph.js",
    "page/trajectories.js",
    "page/heatmap.js",
    "page/tree.js",
    "page/clusters.js",
    "page/levels.js",
    "page/search.js",
    "page/main.js",
)


def write_report(
    path: Path,
    file: str | os.PathLike[str],
    *,
    graph: Graph | None = None,
    similarity: Graph | None = None,
    attributes: Mapping[str, Sequence[Any]] | None = None,
    support: Support | None = None,
    title: str | None = None,
    notes: Iterable[str] = (),
) -> None:
    """Write the report of a path to one HTML file, atomically.

    The file is self-contained and makes no network requests. A slider over lam updates the
    drawing of the graph, the centroids, the heat map and the cut of the tree together.

    Parameters
    ----------
    path : Path
        Result of `convexhc.solve_path`. Centroids are shown if it kept them.
    file : path
        File to write; replaced if it exists.
    graph : Graph, optional
        The graph to draw; without it there is no drawing.
    similarity : Graph, optional
        The matrix of the heat map; by default that of ``graph``.
    attributes : mapping from name to sequence, optional
        Values known of the nodes, one per node: numbers, or words whose agreement with the
        clusters is shown. Nodes can be coloured by them. None and NaN are unknown.
    support : Support, optional
        Support of the branches, from `convexhc.support`: weak branches can be drawn faint, and the
        levels have their agreement with the resamples.
    title : str, optional
        Title of the page.
    notes : iterable of str
        Paragraphs about the run, shown as plain text.

    Raises
    ------
    ValueError
        The graph or the similarity has another number of nodes than the path.
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
    page = report_html(
        path,
        graph=graph,
        similarity=similarity,
        attributes=attributes,
        support=support,
        title=title,
        notes=notes,
    )
    write_page(file, page)


def report_html(
    path: Path,
    *,
    graph: Graph | None = None,
    similarity: Graph | None = None,
    attributes: Mapping[str, Sequence[Any]] | None = None,
    support: Support | None = None,
    title: str | None = None,
    notes: Iterable[str] = (),
) -> str:
    """The report of a path as HTML text; see `write_report`.

    Examples
    --------
    >>> import numpy as np
    >>> import convexhc
    >>> path = convexhc.solve_path(np.eye(3) + 1, [0.1, 10.0])
    >>> report_html(path, title="Three <nodes>").count("<title>Three &lt;nodes&gt;</title>")
    1
    """
    names = path.names
    graph = None if graph is None else align_nodes(graph, names)
    matrix = graph if similarity is None else align_nodes(similarity, names, "similarity")
    order = path.tree.leaf_order()
    heading = "Clusters at every scale" if title is None else title
    scales = shown_scales(path, support)
    data = {
        **path_data(path),
        "scales": [scale.data(path) for scale in scales],
        "proof": proof_data(path),
        "support": support_data(support),
        "graph": None if graph is None else graph_data(graph),
        "similarity": None if matrix is None else similarity_data(matrix, order),
        "assignment": assignment_data(path, order),
        "trajectories": trajectory_data(path),
        "distances": distance_data(path),
        "attributes": attribute_data(path, [scale.labels for scale in scales], attributes or {}),
        "options": dict(described_options(path.provenance.options)),
        "version": path.provenance.version,
        "notes": [*_evidence(path), *(str(note) for note in notes)],
    }
    return fill_template(
        "page/page.html",
        data,
        title=heading,
        summary=on_page(path.summary()),
        styles=["page/style.css"],
        scripts=SCRIPTS,
    )


def _evidence(path: Path) -> list[str]:
    """Evidence for or against the suggested scale."""
    if not path.suggestion.confident:
        return [f"Caution: {on_page(warning_text(path))}"]
    return [] if path.structure is None else [f"Structure: {path.structure}."]


def fill_template(
    page: str,
    data: dict[str, Any],
    *,
    title: str,
    summary: str,
    styles: Iterable[str],
    scripts: Iterable[str],
) -> str:
    """Fill a template; the content security policy allows only this style and this script.

    ``page``, styles and scripts are files of this package, joined in their order; ``data`` are
    values for JSON, which the scripts read; the title and the summary, for no JavaScript, are plain
    text.
    """
    style = "".join(_read(name) for name in styles)
    script = "(() => {\n" + "\n".join(_read(name) for name in scripts) + "})();\n"
    policy = (
        f"default-src 'none'; style-src {_source_hash(style)}; "
        f"script-src {_source_hash(script)}; base-uri 'none'; form-action 'none'; img-src data:"
    )
    parts = {
        "policy": policy,
        "title": html.escape(title),
        "summary": html.escape(summary),
        "generator": f"convexhc {__version__}",
        "style": style,
        "script": script,
        "data": json_for_script(data),
    }
    frame = _read(page)
    for part in ("head", "foot"):
        frame = frame.replace(f"{{{{{part}}}}}\n", _read(f"shared/{part}.html"))
    # One pass: a placeholder inside a title or a name stays as it is.
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], frame)


def write_page(file: str | os.PathLike[str], page: str) -> None:
    """Write a page atomically."""
    # A title may contain a lone surrogate, which UTF-8 cannot encode; the data is plain ASCII.
    write_bytes(file, page.encode("utf-8", "xmlcharrefreplace"))


def json_for_script(data: dict[str, Any]) -> str:
    """JSON for a script element, with all characters escaped that could end it."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _read(name: str) -> str:
    """Text of a file of this package."""
    return resources.files("convexhc.report").joinpath(name).read_text(encoding="utf-8")


def _source_hash(text: str) -> str:
    """Hash source of a content security policy."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def notebook_html(path: Path, *, graph: Graph | None = None) -> str:
    """Notebook view of a path, as HTML with inline styles.

    A card shows the number of clusters over log lam and the summary. For up to 300 nodes the
    interactive report follows, in a sandboxed frame without access to notebook or network; it draws
    ``graph``, which the path does not store.

    Examples
    --------
    >>> import numpy as np
    >>> import convexhc
    >>> card = notebook_html(convexhc.solve_path(np.eye(3) + 1, [0.1, 10.0]))
    >>> card.count("<svg"), card.count("<iframe")
    (1, 1)
    """
    card = (
        "<div style='border:1px solid #8886;border-radius:8px;padding:.6em 1em;margin:.2em 0;"
        "display:inline-block;max-width:100%;box-sizing:border-box'>"
        "<div style='display:flex;flex-wrap:wrap;gap:.3em 1.5em;align-items:center'>"
        f"<strong>convexhc path</strong>{sparkline(path)}</div>"
        "<pre style='margin:.4em 0 0;max-width:100%;white-space:pre-wrap'>"
        f"{html.escape(on_page(path.summary()))}</pre></div>"
    )
    if len(path.names) > RESOLUTION.notebook_nodes:
        return card
    page = report_html(path, graph=graph)
    if len(page) > RESOLUTION.notebook_length:
        return card
    return (
        f'{card}<iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts allow-downloads" '
        'title="Report of the path" style="width:100%;height:720px;border:1px solid #8886;'
        'border-radius:8px"></iframe>'
    )


def sparkline(path: Path) -> str:
    """Number of clusters over lam as a small SVG, both on logarithmic scales."""
    width, height, margin = 220, 48, 4
    lam, counts = path.lambdas, path.n_clusters
    positive = lam[lam > 0]
    floor = float(positive[0]) if positive.size else 1.0
    # Zero has no logarithm and is drawn at a third of the smallest positive lam.
    x = _rescaled(np.log(np.where(lam > 0, lam, floor / 3)), margin, width - margin)
    y = _rescaled(np.log(counts.astype(np.float64)), height - margin, margin)
    steps = [f"M{x[0]:.1f} {y[0]:.1f}"]
    steps += [f"H{a:.1f}V{b:.1f}" for a, b in zip(x[1:], y[1:], strict=True)]
    description = _description(path)
    return (
        f'<svg role="img" aria-label="{description}" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}"><title>{description}</title><path '
        f'd="{"".join(steps)}" fill="none" stroke="currentColor" stroke-width="1.6"/></svg>'
    )


def _description(path: Path) -> str:
    """The sparkline in words."""
    low, high = format_number(path.lambdas[0]), format_number(path.lambdas[-1])
    first, last = int(path.n_clusters[0]), int(path.n_clusters[-1])
    if len(path.levels) == 1:
        return f"{counted(first, 'cluster')} at \u03bb = {low}"
    if first == last:
        return f"{counted(first, 'cluster')} at both ends, \u03bb = {low} and {high}"
    return f"from {counted(first, 'cluster')} to {last} as \u03bb grows from {low} to {high}"


def _rescaled(values: FloatArray, low: float, high: float) -> FloatArray:
    """Map values linearly to a range; equal values to its middle."""
    spread = float(np.ptp(values))
    if spread == 0:
        return np.full(values.shape, (low + high) / 2)
    return np.asarray(low + (high - low) * (values - values.min()) / spread)
