"""Colours: distinguishable in all kinds of vision, and consistent over the levels of a path."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oklab import linear_rgb, oklab, palette_sequence, perceived
from tree.paths import nested_paths, paths

from convexhc.layout.colors import (
    cluster_ranks,
    color_ranks,
    neutral,
    palette,
    ranks_by_size,
)
from convexhc.tree import Tree

GROUNDS = {False: "#ffffff", True: "#000000"}


def contrast(color, ground):
    one, other = sorted(linear_rgb([color, ground]) @ [0.2126, 0.7152, 0.0722])
    return (other + 0.05) / (one + 0.05)


def smallest_distance(lab):
    apart = np.sqrt(((lab[:, None] - lab[None]) ** 2).sum(axis=2))
    return apart[np.triu_indices(len(lab), 1)].min()


@pytest.mark.parametrize("dark", [False, True])
def test_colours_contrast_with_the_background_and_with_each_other(dark):
    colors = palette(64, dark=dark)
    assert all(re.fullmatch("#[0-9a-f]{6}", color) for color in colors)
    assert min(contrast(color, GROUNDS[dark]) for color in colors) > 1.9
    # Oklab distances: 0.02 is about the least that can be seen.
    for lab in perceived(linear_rgb(colors[:10])):
        assert smallest_distance(lab) > 0.06
    for lab in perceived(linear_rgb(colors[:30])):
        assert smallest_distance(lab) > 0.035
    assert len(set(palette(256, dark=dark))) > 250


@pytest.mark.parametrize("dark", [False, True])
def test_single_nodes_are_grey_and_no_cluster_is(dark):
    grey = neutral(dark=dark)
    assert contrast(grey, GROUNDS[dark]) > 2.0
    lab = oklab(linear_rgb([grey, *palette(30, dark=dark)]))
    assert np.hypot(lab[0, 1], lab[0, 2]) < 0.001
    assert np.hypot(lab[1:, 1], lab[1:, 2]).min() > 0.03


@given(st.integers(0, 600), st.booleans())
def test_more_colours_never_change_the_first_ones(n, dark):
    longer = palette(600, dark=dark)
    assert palette(n, dark=dark) == longer[:n]


def test_hues_are_the_same_on_dark_backgrounds():
    light, dark = (oklab(linear_rgb(palette(20, dark=ground))) for ground in (False, True))
    hue = np.arctan2(light[:, 2], light[:, 1]) - np.arctan2(dark[:, 2], dark[:, 1])
    assert np.abs(np.angle(np.exp(1j * hue))).max() < 0.1


@pytest.mark.parametrize("dark", [False, True])
def test_the_palette_is_the_sequence_that_its_rule_gives(dark):
    assert palette(256, dark=dark) == palette_sequence(dark)


@given(nested_paths())
def test_the_largest_cluster_of_a_merge_keeps_its_colour(path):
    tree = Tree.from_partitions(*path)
    ranks = color_ranks(tree)
    assert sorted(ranks) == list(range(tree.n_leaves))
    under = [[leaf] for leaf in range(tree.n_leaves)]
    for merge in tree.merges:
        pieces = [under[child] for child in merge.children]
        largest = max(pieces, key=lambda piece: (len(piece), -min(piece)))
        joined = [leaf for piece in pieces for leaf in piece]
        under.append(joined)
        if len(largest) > 1:
            assert min(ranks[joined]) == min(ranks[largest])


@given(nested_paths())
def test_a_cut_without_single_nodes_uses_the_first_colours(path):
    tree = Tree.from_partitions(*path)
    ranks = color_ranks(tree)
    for k in tree.available_n_clusters:
        places = cluster_ranks(tree.labels(n_clusters=k), ranks)
        if (places >= 0).all():
            assert sorted(places) == list(range(k))


@given(paths())
def test_clusters_of_any_partition_have_distinct_colours(path):
    lambdas, partitions = path
    tree = Tree.from_partitions(lambdas, partitions)
    for row in partitions:
        labels = np.unique(row, return_inverse=True)[1]
        for ranks in (color_ranks(tree), ranks_by_size(labels)):
            places = cluster_ranks(labels, ranks)
            worn = places[places >= 0]
            assert len(set(worn.tolist())) == worn.size
            assert np.array_equal(places < 0, np.bincount(labels) == 1)
