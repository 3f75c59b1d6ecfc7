"""Dendrogram, icicle and Sankey diagram: every merge is drawn at its position."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_hex
from plots.made import ODD_PATHS, made_path, path_of_blocks

from convexhc import Tree, plots
from convexhc.layout.colors import neutral, palette


def lines_of(ax):
    return [drawn for drawn in ax.collections if isinstance(drawn, LineCollection)]


def polygons_of(ax):
    return [drawn for drawn in ax.collections if isinstance(drawn, PolyCollection)]


def names_along(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


@pytest.mark.parametrize("name", [name for name in ODD_PATHS if name != "a star"])
def test_one_bracket_per_merge_and_one_stem_per_branch(name):
    tree = ODD_PATHS[name].tree
    brackets, stems = lines_of(plots.dendrogram(tree))
    assert len(brackets.get_segments()) == len(tree.merges)
    assert len(stems.get_segments()) == sum(len(merge.children) for merge in tree.merges)


def test_brackets_are_at_the_lam_of_the_merge():
    path = path_of_blocks()
    for orientation, axis in (("right", 0), ("top", 1)):
        brackets = lines_of(plots.dendrogram(path, orientation=orientation))[0].get_segments()
        heights = [segment[:, axis].tolist() for segment in brackets]
        assert heights == [[merge.lam] * 2 for merge in path.tree.merges]


def test_leaves_are_named_in_an_order_with_clusters_side_by_side():
    path = made_path([1.0, 2.0], [[0, 1, 0, 1, 0], [0] * 5], names="abcde")
    ax = plots.dendrogram(path, n_clusters=2)
    order = names_along(ax)
    assert sorted(order) == list("abcde")
    along = [path.labels(n_clusters=2)["abcde".index(name)] for name in order]
    assert np.count_nonzero(np.diff(along)) == 1


def test_merges_that_only_complete_the_tree_are_dashed():
    path = ODD_PATHS["two components"]
    brackets = lines_of(plots.dendrogram(path))[0]
    dashed = [dashes is not None for _, dashes in brackets.get_linestyle()]
    assert dashed == [merge.artificial for merge in path.tree.merges]
    assert any(dashed)
    assert not all(dashed)


def test_a_large_tree_is_truncated_and_labelled_with_sizes():
    n = 400
    path = made_path([1.0, 2.0, 4.0], [range(n), np.arange(n) // 20, [0] * n], centroids=False)
    ax = plots.dendrogram(path)
    assert names_along(ax) == ["20 nodes"] * 20
    assert len(polygons_of(ax)[0].get_paths()) == 20
    whole = plots.dendrogram(path, max_leaves=n)
    assert len(lines_of(whole)[0].get_segments()) == len(path.tree.merges)


def test_illegible_names_are_replaced_by_sizes():
    n = 200
    path = made_path([1.0, 2.0, 4.0], [range(n), np.arange(n) // 50, [0] * n], centroids=False)
    assert names_along(plots.dendrogram(path, n_clusters=4)) == ["50 nodes"] * 4
    assert names_along(plots.dendrogram(path, n_clusters=4, names=False)) == []
    assert names_along(plots.icicle(path)) == []


def test_names_are_not_parsed_as_formulas():
    figure, ax = plt.subplots()
    plots.dendrogram(ODD_PATHS["odd names"], ax=ax)
    figure.canvas.draw()
    assert names_along(ax)[:2] == ["$x_", "<script>alert(1)</scr…"]
    assert not any(text.get_parse_math() for text in ax.get_yticklabels())


def test_branches_have_the_colours_of_the_cut():
    path = path_of_blocks()
    for style, dark in (("default", False), ("dark_background", True)):
        with plt.style.context(style):
            brackets = lines_of(plots.dendrogram(path, n_clusters=3))[0]
        colors = [to_hex(color) for color in brackets.get_colors()]
        first, second, third = palette(3, dark=dark)
        # Six pairs, then the block of six and the block of four, then the root above the cut.
        inside = [first] * 3 + [second] * 2 + [third] + [first, second]
        assert colors == [*inside, neutral(dark=dark)]


def test_a_linkage_of_another_method_is_drawn_too():
    tree = Tree.from_linkage([[0, 1, 1.0, 2], [2, 3, 3.0, 3]], names="xyz")
    assert sorted(names_along(plots.dendrogram(tree))) == ["x", "y", "z"]
    assert len(polygons_of(plots.icicle(tree))[0].get_paths()) == 2


def test_rectangles_cover_the_nodes_and_the_lam_range_of_clusters():
    path = path_of_blocks()
    merges = path.tree.merges
    boxes = [shape.get_extents() for shape in polygons_of(plots.icicle(path))[0].get_paths()]
    assert [box.x0 for box in boxes] == pytest.approx([merge.lam for merge in merges])
    assert [box.height for box in boxes] == path.tree.nodes.size[12:].tolist()
    taken_in = {child: merge.lam for merge in merges for child in merge.children}
    ends = [taken_in[merge.parent] for merge in merges[:-1]]
    assert [box.x1 for box in boxes[:-1]] == pytest.approx(ends)


def test_a_sankey_has_one_bar_per_cluster_and_ribbons_between():
    ax = plots.sankey(path_of_blocks(), n_clusters=[12, 6, 3])
    sizes = [len(drawn.get_paths()) for drawn in polygons_of(ax)]
    assert sorted(sizes) == sorted([12, 6, 12, 6, 3])


def test_default_columns_differ_in_their_number_of_clusters():
    # Nine clusters last long, and so do eight, which is nearly the same.
    nine, n = np.arange(360) // 40, 360
    rows = [np.arange(n), nine, np.minimum(nine, 7), nine // 3, 0 * nine]
    path = made_path([0.1, 0.2, 2.0, 20.0, 25.0], rows, centroids=False)
    shown = [text.get_text() for text in plots.sankey(path).get_xticklabels()]
    counts = np.array([int(text.split()[0]) for text in shown])
    assert len(counts) > 1
    assert (counts[:-1] / counts[1:] > np.exp(0.4)).all()


def test_a_sankey_by_lam_shows_splits():
    # Nodes 0 and 1 are together at lam 1 and apart at lam 2.
    ax = plots.sankey(ODD_PATHS["a split"], lam=[1.0, 2.0])
    assert len(polygons_of(ax)[0].get_paths()) == 4


def test_a_sankey_without_levels_or_with_both_kinds_is_refused():
    with pytest.raises(ValueError, match="no level"):
        plots.sankey(path_of_blocks(), n_clusters=[])
    with pytest.raises(ValueError, match="both"):
        plots.sankey(path_of_blocks(), n_clusters=[2], lam=[1.0])
