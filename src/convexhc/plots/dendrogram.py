"""The tree of a path as a dendrogram."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from convexhc._types import FloatArray, IntArray
from convexhc.layout import (
    Branches,
    cluster_ranks,
    color_ranks,
    colors_of,
    inside_cluster,
    lam_limits,
    tree_branches,
)
from convexhc.path import Path
from convexhc.plots.chosen import tree_cut, tree_of
from convexhc.plots.style import (
    Orientation,
    Side,
    Theme,
    axes_for,
    bare,
    corners,
    counted,
    lam_axis,
    mark_lam,
    name_size,
    name_ticks,
    shown_name,
    sides,
    theme_of,
)
from convexhc.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# With more leaves than this, only the top of the tree is drawn.
_ALL_LEAVES = 300
# Leaves of such a top.
_TOP_LEAVES = 50


def dendrogram(
    path: Path | Tree,
    *,
    n_clusters: int | None = None,
    lam: float | None = None,
    max_leaves: int | None = None,
    names: bool = True,
    orientation: Orientation = "right",
    ax: Axes | None = None,
) -> Axes:
    """Draw the tree of a path over log lam, coloured by a cut.

    Brackets stand at the lam at which clusters fuse; several clusters that meet at one lam make
    one bracket. Joins that only close the tree, between components or past the end of the path,
    are dashed. Branches inside a cluster of the cut wear its colour, single nodes none.

    Parameters
    ----------
    path : Path or Tree
        What to draw.
    n_clusters, lam : int, float, optional
        The cut; by default the suggested level.
    max_leaves : int, optional
        Draw at most so many leaves: the top of the tree, its clusters as wedges with the number
        of their nodes. By default 50 for trees with more than 300 leaves.
    names : bool
        Name the leaves, where there is room.
    orientation : {"right", "top"}
        Where the root is.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default in a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The brackets are its first collection, one line each. O(n log n).

    Raises
    ------
    ImportError
        matplotlib is missing.
    ValueError
        Both n_clusters and lam, or values out of range.

    Examples
    --------
    >>> import convexhc
    >>> K = np.kron(np.eye(2), np.ones((3, 3))) + 0.1 + np.eye(6)
    >>> ax = dendrogram(convexhc.solve_path(K))
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['0', '1', '2', '3', '4', '5']
    """
    lam_side, leaf_side = sides(orientation)
    tree = tree_of(path)
    if max_leaves is None and tree.n_leaves > _ALL_LEAVES:
        max_leaves = _TOP_LEAVES
    shown = tree_branches(tree, max_leaves=max_leaves)
    length = max(1.3 + 0.13 * shown.leaves.size, 2.8)
    # Past the size that names need, nothing is gained.
    length = length if length <= 12.0 else 7.0
    ax = axes_for(ax, (7.0, length) if leaf_side == "y" else (max(length, 6.0), 5.0))
    theme = theme_of(ax)
    labels, at = tree_cut(tree, n_clusters=n_clusters, lam=lam)
    heights = tree.nodes.height[tree.n_leaves :]
    limits = lam_limits(heights if (heights > 0).any() else tree.lambdas, margin=0.08)
    drawing = _Drawing(tree, shown, _paint(tree, labels, theme), limits[0], lam_side)
    drawing.lines(ax)
    drawing.wedges(ax)
    lam_axis(ax, limits, which=lam_side)
    if limits[0] < at < limits[1]:
        mark_lam(ax, at, theme, which=lam_side)
    if leaf_side == "y":
        ax.set_ylim(shown.leaves.size - 0.4, -0.6)
    else:
        ax.set_xlim(-0.6, shown.leaves.size - 0.4)
    _name_leaves(ax, tree, shown, labels, leaf_side, names=names)
    bare(ax, keep=("bottom",) if lam_side == "x" else ("left",))
    clusters = counted(int(labels.max()) + 1, "cluster")
    ax.set_title(f"{counted(tree.n_leaves, 'node')}, cut into {clusters}", fontsize="medium")
    return ax


@dataclass(frozen=True, eq=False)
class _Drawing:
    """A tree, what is shown of it, the colours of its nodes, and the ground its leaves stand on."""

    tree: Tree
    shown: Branches
    paint: NDArray[np.str_]
    floor: float
    lam_side: Side

    @property
    def height(self) -> FloatArray:
        """Height of each node, leaves on the ground."""
        return np.maximum(self.tree.nodes.height, self.floor)

    def lines(self, ax: Axes) -> None:
        """One bracket for each merge, one stem from each node to the bracket above it."""
        nodes, shown, height = self.tree.nodes, self.shown, self.height
        ends = [[shown.across[below[0]], shown.across[below[-1]]] for below in shown.children]
        top = np.repeat(height[shown.merges][:, None], 2, axis=1)
        brackets = corners(top, np.array(ends), self.lam_side)
        below = np.concatenate([shown.leaves, shown.merges])
        below = below[nodes.parent[below] >= 0]
        above = nodes.parent[below]
        rise = np.stack([height[below], height[above]], axis=1)
        place = np.repeat(shown.across[below][:, None], 2, axis=1)
        self._add(ax, brackets, shown.merges, self.paint[shown.merges])
        self._add(ax, corners(rise, place, self.lam_side), above, self.paint[below])

    def _add(self, ax: Axes, lines: FloatArray, merges: IntArray, colors: NDArray[np.str_]) -> None:
        """Lines that belong to some merges, dashed where those only close the tree."""
        from matplotlib.collections import LineCollection

        closing = merges >= self.tree.n_leaves + self.tree.nodes.n_real
        ax.add_collection(
            LineCollection(
                list(lines),
                colors=colors.tolist(),
                linewidths=float(np.clip(1.7 - self.shown.leaves.size / 200.0, 0.8, 1.5)),
                linestyles=[(0.0, (3.0, 2.0)) if dashed else "solid" for dashed in closing],
            ),
            autolim=False,
        )

    def wedges(self, ax: Axes) -> None:
        """A wedge for each leaf that stands for a cluster, from where it was made down."""
        from matplotlib.collections import PolyCollection

        folded = self.shown.leaves[self.tree.nodes.size[self.shown.leaves] > 1]
        ground = np.full(folded.size, self.floor)
        points = corners(
            np.stack([self.height[folded], ground, ground], axis=1),
            self.shown.across[folded][:, None] + np.array([0.0, -0.38, 0.38]),
            self.lam_side,
        )
        colors = self.paint[folded].tolist()
        wedges = PolyCollection(list(points), facecolors=colors, alpha=0.45, linewidths=0)
        ax.add_collection(wedges, autolim=False)


def _paint(tree: Tree, labels: IntArray, theme: Theme) -> NDArray[np.str_]:
    """Colour of each node of the tree."""
    worn = colors_of(cluster_ranks(labels, color_ranks(tree)), dark=theme.dark)
    return np.array([worn[c] if c >= 0 else theme.neutral for c in inside_cluster(tree, labels)])


def _name_leaves(
    ax: Axes, tree: Tree, shown: Branches, labels: IntArray, side: Side, *, names: bool
) -> None:
    """Name every leaf if there is room, otherwise every cluster by its size."""
    places = np.arange(shown.leaves.size, dtype=np.float64)
    sizes = tree.nodes.size[shown.leaves]
    texts = [
        shown_name(tree.names[node]) if count == 1 else counted(int(count), "node")
        for node, count in zip(shown.leaves.tolist(), sizes.tolist(), strict=True)
    ]
    size = name_size(ax, side, places.size)
    if names and not size:
        places, texts = _cluster_names(tree, shown, labels)
        closest = float(np.diff(places).min(initial=np.inf))
        size = name_size(ax, side, shown.leaves.size / closest)
    if not names or not size:
        places, texts = places[:0], []
    name_ticks(ax, side, places, texts, size)


def _cluster_names(tree: Tree, shown: Branches, labels: IntArray) -> tuple[FloatArray, list[str]]:
    """Middle and size of each cluster of the cut with more than one node."""
    along = labels[tree.nodes.first_leaf[shown.leaves]]
    sizes = np.bincount(labels)
    counts = np.bincount(along, minlength=sizes.size)
    large = np.flatnonzero((sizes > 1) & (counts > 0))
    middle = np.bincount(along, weights=np.arange(along.size), minlength=sizes.size)
    places = middle[large] / counts[large]
    order = np.argsort(places)
    return places[order], [counted(int(sizes[c]), "node") for c in large[order]]
