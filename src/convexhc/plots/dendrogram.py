"""Dendrogram of the tree of a path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from convexhc._text import counted
from convexhc._types import FloatArray, IntArray
from convexhc.layout.colors import cluster_ranks, color_ranks, rank_colors
from convexhc.layout.tree_layout import Branches, enclosing_cluster, tree_branches
from convexhc.path import Path
from convexhc.plots.selection import check_tree
from convexhc.plots.style import (
    SETTINGS,
    add_lines,
    add_polygons,
    blend,
    name_font_size,
    set_name_ticks,
    truncated_name,
)
from convexhc.plots.tree_axes import Orientation, TreeAxes, tree_axes
from convexhc.resampling.support import Support
from convexhc.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def dendrogram(
    path: Path | Tree,
    *,
    n_clusters: int | None = None,
    lam: float | None = None,
    max_leaves: int | None = None,
    names: bool = True,
    support: Support | ArrayLike | None = None,
    support_as: Literal["color", "number"] = "color",
    orientation: Orientation = "right",
    ax: Axes | None = None,
) -> Axes:
    """Draw the tree of a path over log lam, coloured by a cut.

    Each merge is a bracket at the lam at which its clusters fuse; merges of several clusters have
    one bracket. Merges that only complete the tree, between components or past the end of the
    path, are dashed. Branches inside a cluster of the cut have its colour; single nodes are grey.

    Parameters
    ----------
    path : Path or Tree
        The tree to draw.
    n_clusters, lam : int, float, optional
        The clusters: a pruning into so many, as `Path.labels` makes it, or the cut at a lam; by
        default the suggested pruning.
    max_leaves : int, optional
        Truncate the tree to at most this many leaves; wedges labelled with their sizes represent
        the clusters below. By default 50 for trees with more than 300 leaves.
    names : bool
        Label the leaves if there is room.
    support : Support or (m,) array, optional
        Support of the branches, one number between 0 and 1 per merge of the tree.
    support_as : {"color", "number"}
        Whether branches fade as their support falls, or are labelled with it, in per cent.
    orientation : {"right", "top"}
        Side of the root.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        Its first collection holds the brackets, one line each. O(n log n).

    Raises
    ------
    ValueError
        Both n_clusters and lam, values out of range, or support of another tree.

    Examples
    --------
    >>> import convexhc
    >>> K = np.kron(np.eye(2), np.ones((3, 3))) + 0.1 + np.eye(6)
    >>> ax = dendrogram(convexhc.solve_path(K))
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['0', '1', '2', '3', '4', '5']
    """
    tree = check_tree(path)
    if max_leaves is None and tree.n_leaves > SETTINGS.max_leaves:
        max_leaves = SETTINGS.truncated_leaves
    branches = tree_branches(tree, max_leaves=max_leaves)
    axes = tree_axes(
        path,
        tree.nodes.height[tree.n_leaves :],
        (-0.6, branches.leaves.size - 0.4),
        n_clusters=n_clusters,
        lam=lam,
        orientation=orientation,
        ax=ax,
    )
    shares = _shares(tree, support, support_as)
    colors = _node_colors(tree, axes)
    if shares is not None and support_as == "color":
        colors = _faded(colors, shares, axes)
    drawing = _Drawing(tree, branches, axes, colors)
    drawing.add_lines()
    drawing.add_wedges()
    if shares is not None and support_as == "number":
        drawing.add_numbers(shares)
    if names:
        drawing.add_names()
    return axes.ax


def _node_colors(tree: Tree, axes: TreeAxes) -> NDArray[np.str_]:
    """Colour of each node of the tree."""
    ranks = cluster_ranks(axes.labels, color_ranks(tree))
    # The label -1 of nodes above the cut selects the last entry.
    colors = [*rank_colors(ranks, dark=axes.theme.dark), axes.theme.neutral]
    return np.array(colors)[enclosing_cluster(tree, axes.labels)]


def _shares(tree: Tree, support: Support | ArrayLike | None, support_as: str) -> FloatArray | None:
    """Support of each node of the tree; leaves are certain."""
    if support_as not in ("color", "number"):
        raise ValueError(f"support_as must be 'color' or 'number', received {support_as!r}.")
    if support is None:
        return None
    found = support.share if isinstance(support, Support) else support
    shares = np.asarray(found, dtype=np.float64)
    if shares.shape != (tree.nodes.n_merges,) or not ((shares >= 0) & (shares <= 1)).all():
        raise ValueError(
            f"support must have a number between 0 and 1 for each of {tree.nodes.n_merges} merges; "
            f"got shape {shares.shape}. Was it computed for another path?"
        )
    return np.concatenate([np.ones(tree.n_leaves), shares])


def _faded(colors: NDArray[np.str_], shares: FloatArray, axes: TreeAxes) -> NDArray[np.str_]:
    """Colours mixed with the background where there is little support."""
    from matplotlib.colors import to_hex, to_rgb

    kept = SETTINGS.faint + (1.0 - SETTINGS.faint) * shares
    mixed = (
        blend(to_rgb(color), axes.theme.background, share)
        for color, share in zip(colors.tolist(), kept.tolist(), strict=True)
    )
    return np.array([to_hex(color) for color in mixed])


@dataclass(frozen=True, eq=False)
class _Drawing:
    """A tree, the part of it that is shown, the axes, and the colour of each node."""

    tree: Tree
    branches: Branches
    axes: TreeAxes
    colors: NDArray[np.str_]

    @property
    def height(self) -> FloatArray:
        """Height of each node; leaves are at the start of the lam axis."""
        return np.maximum(self.tree.nodes.height, self.axes.limits[0])

    def add_lines(self) -> None:
        """Add one bracket per merge, and one stem from each node to the bracket above it."""
        nodes, branches, height = self.tree.nodes, self.branches, self.height
        outermost = np.array([[below[0], below[-1]] for below in branches.children], dtype=int)
        tops = np.repeat(height[branches.merges][:, None], 2, axis=1)
        brackets = self.axes.xy(tops, branches.position[outermost])
        shown = np.concatenate([branches.leaves, branches.merges])
        shown = shown[nodes.parent[shown] >= 0]
        parent = nodes.parent[shown]
        rise = np.stack([height[shown], height[parent]], axis=1)
        stems = self.axes.xy(rise, np.repeat(branches.position[shown][:, None], 2, axis=1))
        self._add_segments(brackets, branches.merges, self.colors[branches.merges])
        self._add_segments(stems, parent, self.colors[shown])

    def _add_segments(self, lines: FloatArray, merges: IntArray, colors: NDArray[np.str_]) -> None:
        """Add the lines of some merges, dashed if the merge only completes the tree."""
        artificial = merges >= self.tree.n_leaves + self.tree.nodes.n_real
        add_lines(
            self.axes.ax,
            lines,
            colors=colors.tolist(),
            linewidths=float(np.clip(1.7 - self.branches.leaves.size / 200.0, 0.8, 1.5)),
            linestyles=[(0.0, (3.0, 2.0)) if dashed else "solid" for dashed in artificial],
        )

    def add_wedges(self) -> None:
        """Add a wedge for each leaf that represents a cluster."""
        folded = self.branches.leaves[self.tree.nodes.size[self.branches.leaves] > 1]
        base = np.full(folded.size, self.axes.limits[0])
        points = self.axes.xy(
            np.stack([self.height[folded], base, base], axis=1),
            self.branches.position[folded][:, None] + np.array([0.0, -0.38, 0.38]),
        )
        colors = self.colors[folded].tolist()
        add_polygons(self.axes.ax, points, facecolors=colors, alpha=0.45, linewidths=0)

    def add_numbers(self, shares: FloatArray) -> None:
        """Write the support beside each branch but the root, if there is room."""
        merges = self.branches.merges[self.tree.nodes.parent[self.branches.merges] >= 0]
        font_size = name_font_size(self.axes.ax, self.axes.leaf_side, self.branches.leaves.size)
        if not font_size:
            return
        position = self.branches.position[merges]
        places = self.axes.xy(self.height[merges][:, None], position[:, None])[:, 0]
        for (x, y), share in zip(places.tolist(), shares[merges].tolist(), strict=True):
            self.axes.ax.annotate(
                f"{100 * share:.0f}",
                (x, y),
                xytext=(1.5, 1.5),
                textcoords="offset points",
                fontsize=font_size,
                color=self.axes.theme.grey(0.75),
            )

    def add_names(self) -> None:
        """Label each leaf if there is room, otherwise each cluster of the cut with its size."""
        ax, side, leaves = self.axes.ax, self.axes.leaf_side, self.branches.leaves
        positions = np.arange(leaves.size, dtype=np.float64)
        names = [
            truncated_name(self.tree.names[node]) if size == 1 else counted(size, "node")
            for node, size in zip(leaves, self.tree.nodes.size[leaves].tolist(), strict=True)
        ]
        font_size = name_font_size(ax, side, leaves.size)
        if not font_size:
            positions, names = self._cluster_sizes()
            closest = float(np.diff(positions).min(initial=np.inf))
            font_size = name_font_size(ax, side, leaves.size / closest)
        if not font_size:
            positions, names = positions[:0], []
        set_name_ticks(ax, side, positions, names, font_size)

    def _cluster_sizes(self) -> tuple[FloatArray, list[str]]:
        """Mean position and size of each cluster of the cut with more than one node."""
        labels = self.axes.labels
        leaf_label = labels[self.tree.nodes.first_leaf[self.branches.leaves]]
        sizes = np.bincount(labels)
        counts = np.bincount(leaf_label, minlength=sizes.size)
        large = np.flatnonzero((sizes > 1) & (counts > 0))
        sums = np.bincount(leaf_label, weights=np.arange(leaf_label.size), minlength=sizes.size)
        positions = sums[large] / counts[large]
        order = np.argsort(positions)
        return positions[order], [counted(int(sizes[c]), "node") for c in large[order]]
