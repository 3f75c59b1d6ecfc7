"""Notebook view of a path: a sparkline, the summary, and the report if it is small."""

from __future__ import annotations

import html

import numpy as np

from convexhc._text import counted, format_number, on_page
from convexhc._types import FloatArray
from convexhc.graph import Graph
from convexhc.path import Path
from convexhc.report.array_encoding import RESOLUTION
from convexhc.report.document import report_html


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
