"""Centroids that run together as lam grows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from convexhc.layout import centroid_trails
from convexhc.path import Path
from convexhc.plots.chosen import chosen_level
from convexhc.plots.style import axes_for, bare, counted, theme_of
from convexhc.solvers.loop import Solution

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def coalescence(
    result: Path | Solution,
    *,
    n_clusters: int | None = None,
    lam: float | None = None,
    trails: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw the centroids in the plane, with the trails along which they fuse.

    All lam share one projection, the principal components of all centroids together. Each node
    leaves a trail from its own centroid (small dots) to the consensus; discs show where the
    clusters of the chosen level are, with an area that grows with their number of nodes.

    Parameters
    ----------
    result : Path or Solution
        A path that kept centroids; a solution has discs only.
    n_clusters, lam : int, float, optional
        The level; by default the suggested one. Discs stand at the lam nearest to it whose
        centroids were kept.
    trails : bool
        Draw the trails.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default in a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        Its last collection holds the discs, one for each cluster.

    Raises
    ------
    ImportError
        matplotlib is missing.
    ValueError
        No centroids were kept, or both n_clusters and lam.

    Examples
    --------
    >>> import convexhc
    >>> K = np.kron(np.eye(2), np.ones((3, 3))) + 0.1 + np.eye(6)
    >>> ax = coalescence(convexhc.solve_path(K))
    >>> len(ax.collections[-1].get_offsets())
    2
    """
    from matplotlib.collections import LineCollection

    level = chosen_level(result, n_clusters=n_clusters, lam=lam)
    found = centroid_trails(result)
    ax = axes_for(ax, (7.0, 5.6))
    theme = theme_of(ax)
    worn = np.array(level.cluster_colors(dark=theme.dark))
    colors = worn[level.labels].tolist()
    n = level.labels.size
    if trails and found.lambdas.size > 1:
        ax.add_collection(
            LineCollection(
                list(found.places.transpose(1, 0, 2)),
                colors=colors,
                linewidths=float(np.clip(12.0 / np.sqrt(n), 0.4, 1.4)),
                alpha=float(np.clip(6.0 / np.sqrt(n), 0.15, 0.7)),
                rasterized=n > 500,
            )
        )
        x, y = found.places[0].T
        ax.scatter(x, y, s=float(np.clip(900.0 / n, 2.0, 14.0)), c=colors, linewidths=0)
    tiny = 1e-300
    nearest = int(np.abs(np.log((found.lambdas + tiny) / (level.lam + tiny))).argmin())
    sizes = np.bincount(level.labels)
    x, y = (np.bincount(level.labels, weights=w) / sizes for w in found.places[nearest].T)
    ax.scatter(
        x,
        y,
        s=20.0 + 500.0 * sizes / n,
        c=worn.tolist(),
        edgecolors=[theme.ground],
        linewidths=1.0,
        zorder=3.0,
    )
    ax.margins(0.06)
    ax.set_aspect("equal", adjustable="datalim")
    for axis, share in zip((ax.xaxis, ax.yaxis), found.explained, strict=True):
        axis.set_ticks([])
        axis.set_label_text(f"{share:.0%} of the variance")
    bare(ax, keep=("left", "bottom"))
    ax.set_title(
        rf"{counted(n, 'node')}, {counted(level.n_clusters, 'cluster')} at "
        rf"$\lambda$ = {found.lambdas[nearest]:.3g}",
        fontsize="medium",
    )
    return ax
