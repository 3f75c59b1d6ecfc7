"""Trajectories of the centroids as they fuse with growing lam."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from convexhc.layout.trajectories import centroid_trajectories
from convexhc.path import Path
from convexhc.plots.selection import last_up_to, select_level
from convexhc.plots.style import add_lines, axes_or_new, hide_spines, theme_of
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
    """Draw the centroids in the plane, with the trajectories along which they fuse.

    All lam share one projection on the principal components of all fused centroids. Each node has
    a trajectory from its own centroid (small dots) to the consensus. Discs show the clusters of
    the selected level; their area grows with the number of nodes.

    Parameters
    ----------
    result : Path or Solution
        A path that kept centroids; a solution has discs only.
    n_clusters, lam : int, float, optional
        The level; by default the suggested one. Discs are drawn at the last lam up to it whose
        centroids were kept.
    trails : bool
        Draw the trajectories.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        Its last collection holds the discs, one per cluster.

    Raises
    ------
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
    level = select_level(result, n_clusters=n_clusters, lam=lam)
    trajectories = centroid_trajectories(result)
    ax = axes_or_new(ax, (7.0, 5.6))
    theme = theme_of(ax)
    cluster_colors = np.array(level.cluster_colors(dark=theme.dark))
    node_colors = cluster_colors[level.labels].tolist()
    n = level.labels.size
    if trails and trajectories.lambdas.size > 1:
        add_lines(
            ax,
            trajectories.positions.transpose(1, 0, 2),
            autolim=True,
            colors=node_colors,
            linewidths=float(np.clip(12.0 / np.sqrt(n), 0.4, 1.4)),
            alpha=float(np.clip(6.0 / np.sqrt(n), 0.15, 0.7)),
            rasterized=n > 500,
        )
        x, y = trajectories.positions[0].T
        ax.scatter(x, y, s=float(np.clip(900.0 / n, 2.0, 14.0)), c=node_colors, linewidths=0)
    # Above the level its clusters may have fused.
    shown = last_up_to(trajectories.lambdas, level.lam)
    sizes = np.bincount(level.labels)
    x, y = (np.bincount(level.labels, weights=w) / sizes for w in trajectories.positions[shown].T)
    ax.scatter(
        x,
        y,
        s=20.0 + 500.0 * sizes / n,
        c=cluster_colors.tolist(),
        edgecolors=[theme.background],
        linewidths=1.0,
        zorder=3.0,
    )
    ax.margins(0.06)
    ax.set_aspect("equal", adjustable="datalim")
    for axis, share in zip((ax.xaxis, ax.yaxis), trajectories.explained_variance, strict=True):
        axis.set_ticks([])
        axis.set_label_text(f"{100.0 * share:.0f} % of the variance")
    hide_spines(ax, keep=("left", "bottom"))
    at = replace(level, lam=float(trajectories.lambdas[shown]))
    ax.set_title(at.title, fontsize="medium")
    return ax
