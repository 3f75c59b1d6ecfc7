"""Branches, rectangles, ribbons and cells."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from tree.paths import chain, leaves_under, nested_paths, paths

from convexhc.layout.heatmap import binned_matrix, block_borders, color_limit
from convexhc.layout.sankey import partition_flow
from convexhc.layout.tree_layout import enclosing_cluster, tree_branches, tree_rectangles
from convexhc.tree import Tree


@given(nested_paths())
def test_a_whole_tree_is_laid_out_in_leaf_order(path):
    tree = Tree.from_partitions(*path)
    shown = tree_branches(tree)
    assert np.array_equal(shown.leaves, tree.leaf_order())
    assert shown.children == [list(merge.children) for merge in tree.merges]
    for sets in leaves_under(tree):
        places = shown.position[list(sets)]
        assert np.ptp(places) == len(sets) - 1


@given(nested_paths(), st.integers(1, 15))
def test_a_truncated_tree_covers_every_leaf_once(path, most):
    tree = Tree.from_partitions(*path)
    shown = tree_branches(tree, max_leaves=most)
    assert shown.leaves.size <= most
    below = leaves_under(tree)
    covered = sorted(leaf for node in shown.leaves for leaf in below[node])
    assert covered == list(range(tree.n_leaves))
    drawn = {*shown.leaves.tolist(), *shown.merges.tolist()}
    assert drawn == set(np.flatnonzero(np.isfinite(shown.position)).tolist())
    for merge, children in zip(shown.merges, shown.children, strict=True):
        assert drawn.issuperset(children)
        places = shown.position[children]
        assert np.all(np.diff(places) > 0)
        assert shown.position[merge] == (places[0] + places[-1]) / 2


def test_a_deep_chain_is_laid_out_without_recursion():
    tree = Tree.from_linkage(chain(5000))
    assert tree_branches(tree, max_leaves=40).leaves.size == 40
    assert tree_rectangles(tree).stop.max() == 5000


@given(nested_paths(), st.floats(0.0, 50.0))
def test_rectangles_that_exist_at_one_lam_tile_the_leaves(path, lam):
    box = tree_rectangles(Tree.from_partitions(*path))
    alive = (box.lam_from <= lam) & (lam < box.lam_to)
    order = np.argsort(box.start[alive])
    start, stop = box.start[alive][order], box.stop[alive][order]
    assert start[0] == 0
    assert np.array_equal(start[1:], stop[:-1])
    assert stop[-1] == path[1].shape[1]


@given(nested_paths(), st.integers(1, 14), st.integers(0, 99))
def test_a_node_is_enclosed_by_the_cluster_of_all_its_leaves(path, k, seed):
    tree = Tree.from_partitions(*path)
    labels = tree.labels(n_clusters=k)
    if seed:
        # As in a pruning, a node may be in a cluster far away.
        strays = np.random.default_rng(seed).integers(0, labels.size, 2)
        labels[strays] = labels[strays[::-1]]
    for leaves, cluster in zip(leaves_under(tree), enclosing_cluster(tree, labels), strict=True):
        found = set(labels[list(leaves)].tolist())
        assert ({cluster} == found) if cluster >= 0 else (len(found) > 1)


@given(paths())
def test_ribbons_connect_every_node_between_bars(path):
    lambdas, partitions = path
    rows = [np.unique(row, return_inverse=True)[1] for row in partitions]
    order = Tree.from_partitions(lambdas, partitions).leaf_order()
    bars, flows = partition_flow(rows, order)
    n = order.size
    for labels, column in zip(rows, bars, strict=True):
        assert sorted(column.cluster) == list(range(labels.max() + 1))
        assert np.array_equal(column.size, np.bincount(labels)[column.cluster])
        assert np.all(column.start[1:] >= column.stop[:-1] - 1e-12)
        assert column.start[0] >= -1e-12
        assert column.stop[-1] <= 1 + 1e-12
    for at, flow in enumerate(flows):
        assert flow.size.sum() == n
        for side, clusters, column in (
            (flow.left, flow.source, bars[at]),
            (flow.right, flow.target, bars[at + 1]),
        ):
            for cluster, start, stop in zip(column.cluster, column.start, column.stop, strict=True):
                mine = np.flatnonzero(clusters == cluster)
                mine = mine[np.argsort(side[mine])]
                ends = side[mine] + flow.width[mine]
                assert side[mine][0] == pytest.approx(start, abs=1e-9)
                assert ends[-1] == pytest.approx(stop, abs=1e-9)
                assert ends[:-1] == pytest.approx(side[mine][1:], abs=1e-9)


@given(nested_paths())
def test_ribbons_of_nested_partitions_do_not_cross(path):
    tree = Tree.from_partitions(*path)
    rows = [tree.labels(n_clusters=k) for k in tree.available_n_clusters]
    for flow in partition_flow(rows, tree.leaf_order())[1]:
        by_left = np.lexsort((flow.right, flow.left))
        assert np.all(np.diff(flow.right[by_left]) >= -1e-9)


@given(st.integers(1, 12), st.integers(1, 15), st.booleans(), st.integers(0, 2**32 - 1))
def test_cells_are_means_of_the_matrix_in_order(n, cells, is_sparse, seed):
    rng = np.random.default_rng(seed)
    matrix, order = rng.normal(size=(n, n)), rng.permutation(n)
    given_matrix = sparse.csr_array(matrix) if is_sparse else matrix
    found, borders = binned_matrix(given_matrix, order, max_cells=cells)
    ordered = matrix[np.ix_(order, order)]
    cuts = borders.astype(int)
    assert len(found) == min(n, cells)
    for a in range(len(found)):
        for b in range(len(found)):
            block = ordered[cuts[a] : cuts[a + 1], cuts[b] : cuts[b + 1]]
            assert found[a, b] == pytest.approx(block.mean())


@given(nested_paths())
def test_blocks_of_a_cut_are_its_clusters(path):
    tree = Tree.from_partitions(*path)
    for k in tree.available_n_clusters:
        labels, order = tree.labels(n_clusters=k), tree.leaf_order()
        borders = block_borders(labels, order)
        assert len(borders) == k + 1
        assert sorted(np.diff(borders)) == sorted(np.bincount(labels))


def test_the_colour_scale_saturates_at_off_diagonal_entries():
    cells = np.full((40, 40), 0.2) + 5.0 * np.eye(40)
    cells[0, 1] = 100.0
    assert color_limit(cells) == pytest.approx(0.2)
    assert color_limit(np.eye(3)) == 1.0
    assert color_limit(np.zeros((2, 2))) == 1.0
