"""The card of a path in a notebook: a sparkline, the summary, and the report when it is small."""

from __future__ import annotations

import html

import numpy as np

from convexhc._types import FloatArray
from convexhc.graph import Graph
from convexhc.path import Path
from convexhc.report.document import report_html

# Nodes up to which a notebook shows the report: every output is a copy inside the notebook.
SMALL_NODES = 300
# Characters of a page up to which a notebook shows it.
SMALL_PAGE = 400_000

_WIDTH, _HEIGHT, _MARGIN = 220.0, 48.0, 4.0


def notebook_html(path: Path, *, graph: Graph | None = None) -> str:
    """A path as a notebook shows it.

    A card with the number of clusters against log lam and the summary; for up to 300 nodes the
    report follows, with its slider, in a frame that can reach neither the notebook nor a network.

    Parameters
    ----------
    path : Path
        What `convexhc.solve_path` found.
    graph : Graph, optional
        The graph to draw; a path does not know it.

    Returns
    -------
    str
        HTML with all styles inside its elements.

    Raises
    ------
    ValueError
        A graph with another number of nodes than the path.

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
        "display:inline-block'><div style='display:flex;gap:1.5em;align-items:center'>"
        f"<strong>convexhc path</strong>{sparkline(path)}</div>"
        f"<pre style='margin:.4em 0 0'>{html.escape(path.summary())}</pre></div>"
    )
    if len(path.names) > SMALL_NODES:
        return card
    page = report_html(path, graph=graph)
    if len(page) > SMALL_PAGE:
        return card
    return (
        f'{card}<iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts allow-downloads" '
        'title="Report of the path" style="width:100%;height:720px;border:1px solid #8886;'
        'border-radius:8px"></iframe>'
    )


def sparkline(path: Path) -> str:
    """Number of clusters against log lam as a small SVG, both on logarithmic scales.

    Examples
    --------
    >>> import numpy as np
    >>> import convexhc
    >>> "2 to 1 clusters" in sparkline(convexhc.solve_path(np.eye(2) + 1, [0.1, 10.0]))
    True
    """
    lam, counts = path.lambdas, path.n_clusters
    positive = lam[lam > 0]
    floor = float(positive[0]) if positive.size else 1.0
    # Zero has no logarithm; it stands where a third of the smallest other lam would.
    across = _placed(np.log(np.where(lam > 0, lam, floor / 3)), _MARGIN, _WIDTH - _MARGIN)
    up = _placed(np.log(counts.astype(np.float64)), _HEIGHT - _MARGIN, _MARGIN)
    steps = [f"M{across[0]:.1f} {up[0]:.1f}"]
    steps += [f"H{x:.1f}V{y:.1f}" for x, y in zip(across[1:], up[1:], strict=True)]
    said = f"{counts[0]} to {counts[-1]} clusters as lam grows from {lam[0]:.3g} to {lam[-1]:.3g}"
    return (
        f'<svg role="img" aria-label="{said}" width="{_WIDTH:.0f}" height="{_HEIGHT:.0f}" '
        f'viewBox="0 0 {_WIDTH:.0f} {_HEIGHT:.0f}"><title>{said}</title><path '
        f'd="{"".join(steps)}" fill="none" stroke="currentColor" stroke-width="1.6"/></svg>'
    )


def _placed(values: FloatArray, low: float, high: float) -> FloatArray:
    """Values spread between two ends; in the middle when they are all one."""
    spread = float(np.ptp(values))
    if spread == 0:
        return np.full(values.shape, (low + high) / 2)
    return np.asarray(low + (high - low) * (values - values.min()) / spread)
