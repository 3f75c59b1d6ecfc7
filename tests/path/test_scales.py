"""Scales that last and say something."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from plots.made import made_path

import convexhc
from convexhc import as_graph
from convexhc.datasets import karate, les_miserables
from convexhc.kernels.labels import numbered_by_first
from convexhc.path.scales import judged, scales_of
from convexhc.similarity.neighbors import Density
from convexhc.similarity.structure import Structure
from convexhc.tree.flat_clusters import default_min_cluster_size

SIX = np.repeat(np.arange(6), 4)
TWO = np.repeat([0, 1], 12)
ONE = np.zeros(24, dtype=int)


def blocks(weight_of_pairs):
    """Cliques of four; weaker edges between those of one half, and still weaker ones across."""
    near, far = weight_of_pairs
    W = np.where(SIX[:, None] == SIX, 1.0, np.where(TWO[:, None] == TWO, near, far))
    return as_graph(W - np.eye(24))


def path_of(lambdas=(1.0, 5.0, 20.0), rows=(SIX, TWO, ONE), weights=(0.1, 0.01)):
    return replace(made_path(lambdas, rows), graph=blocks(weights))


def counts(path):
    return [scale.n_clusters for scale in path.scales]


def test_both_scales_of_a_nested_graph_are_listed_from_fine_to_coarse():
    path = path_of()
    assert counts(path) == [6, 2]
    fine, coarse = path.scales
    np.testing.assert_array_equal(fine.labels, SIX)
    np.testing.assert_array_equal(coarse.labels, TWO)
    assert (fine.lam_from, fine.lam_to, coarse.lam_from, coarse.lam_to) == (1.0, 5.0, 5.0, 20.0)
    assert fine.modularity > coarse.modularity > 0
    assert "5-fold (1 to 5)" in fine.reason
    assert fine.survives is None


def test_a_scale_that_ends_before_lam_doubles_is_not_listed():
    assert counts(path_of(lambdas=(1.0, 1.9, 20.0))) == [2]
    assert counts(path_of(lambdas=(1.0, 2.1, 4.0))) == [6]
    assert counts(path_of(lambdas=(1.0, 1.5, 2.0))) == []


def test_a_scale_that_says_little_is_not_listed():
    # Groups are joined more strongly across the halves than within.
    assert counts(path_of(weights=(0.01, 0.1))) == [6]


def test_at_most_three_scales_are_listed_and_those_are_the_widest():
    rows = [np.arange(32) // size for size in (2, 4, 8, 16, 32)]
    W = sum(0.5**k * (row[:, None] == row) for k, row in enumerate(rows)) - np.eye(32)
    path = made_path([1.0, 3.0, 20.0, 60.0, 900.0], rows)
    path = replace(path, graph=as_graph(W - np.diag(np.diag(W))))
    assert counts(path) == [8, 4, 2]


def test_small_clusters_do_not_end_a_scale():
    # Node 0 joins its group late.
    late = np.where(np.arange(24) == 0, 6, SIX)
    path = path_of((1.0, 1.5, 5.0, 20.0), (late, SIX, TWO, ONE))
    assert (path.scales[0].n_clusters, path.scales[0].lam_from) == (6, 1.0)


@pytest.mark.parametrize(
    ("z", "chance", "expected"), [(8.0, 0.2, [6, 2]), (1.0, 0.2, []), (0.0, 0.0, [6, 2])]
)
def test_nothing_is_listed_for_a_graph_without_groups(z, chance, expected):
    assert counts(replace(path_of(), structure=Structure(z, 0.3, chance))) == expected


def test_nothing_is_listed_for_a_path_that_collapses():
    rows = [np.arange(40), np.zeros(40, dtype=int)]
    assert made_path([1.0, 9.0], rows).collapses
    assert scales_of(made_path([1.0, 9.0], rows)) == ()


def test_scales_of_points_have_valleys_between_their_clusters():
    # No edge crosses the halves, so that only the groups need a valley.
    path = path_of(weights=(0.1, 0.0))
    crossing = SIX[path.graph.tail] != SIX[path.graph.head]
    even = Density(np.zeros(24), np.zeros(crossing.size))
    valleys = Density(np.zeros(24), np.where(crossing, -3.0, 0.0))
    assert counts(replace(path, density=even)) == [2]
    assert counts(replace(path, density=valleys)) == [6, 2]


def test_a_path_without_a_graph_has_scales_without_modularity():
    path = made_path([1.0, 5.0, 20.0], [SIX, TWO, ONE])
    assert counts(path) == [6, 2]
    assert [scale.modularity for scale in path.scales] == [None, None]


def test_agreement_decides_what_survives():
    fine, coarse = judged(path_of().scales, {6: 0.95, 2: 0.3})
    assert fine.survives is True
    assert coarse.survives is False
    assert "does not survive resampling (median AMI 0.30)" in str(coarse)


def test_the_summary_lists_the_scales():
    text = path_of().summary()
    assert (
        "scales that last:\n  6 clusters: lasts while lam grows 5-fold (1 to 5), modularity" in text
    )


def counted_at(path, lam):
    """Clusters of the cut at a lam that are not small, as sets of nodes."""
    labels = path.tree.labels(lam=lam)
    least = max(2, default_min_cluster_size(labels.size))
    members = [frozenset(np.flatnonzero(labels == k).tolist()) for k in range(labels.max() + 1)]
    return [each for each in members if len(each) >= least]


GRAPHS = {
    "24 nodes in 3 groups": lambda: planted(24, 3, 0.8, 0.1, seed=0),
    "24 nodes in 3 other groups": lambda: planted(24, 3, 0.8, 0.1, seed=2),
    "karate club": lambda: karate().adjacency,
    "Les Miserables": lambda: les_miserables().adjacency,
    "relaxed cavemen": lambda: nx.to_numpy_array(nx.relaxed_caveman_graph(10, 8, 0.15, seed=1)),
}


def planted(n, groups, inside, outside, seed):
    graph = nx.planted_partition_graph(groups, n // groups, inside, outside, seed=seed)
    return nx.to_numpy_array(graph)


@pytest.fixture(scope="module", params=GRAPHS)
def real(request):
    return convexhc.cluster(GRAPHS[request.param](), test_structure=False)


def test_cuts_inside_the_range_of_a_scale_show_its_clusters(real):
    assert real.scales
    for scale in real.scales:
        assert scale.labels.max() + 1 == scale.n_clusters
        np.testing.assert_array_equal(scale.labels, real.labels(n_clusters=scale.n_clusters))
        inside = real.lambdas[(real.lambdas >= scale.lam_from) & (real.lambdas < scale.lam_to)]
        for lam in inside.tolist():
            counted = counted_at(real, lam)
            assert len(counted) == scale.n_clusters
            assert sum(map(len, counted)) > len(real.names) / 2
            met = [set(scale.labels[list(each)].tolist()) for each in counted]
            assert sorted(map(tuple, met)) == [(k,) for k in range(scale.n_clusters)]


def test_ranges_do_not_overlap_and_coarser_scales_come_later(real):
    ends = [(scale.lam_from, scale.lam_to) for scale in real.scales]
    for (low, high), (next_low, _) in pairwise(ends):
        assert low < high <= next_low


def test_the_suggested_plateau_is_in_the_range_of_the_scale_of_that_number(real):
    found = [scale for scale in real.scales if scale.n_clusters == real.suggestion.n_clusters]
    for scale in found:
        assert scale.lam_from <= real.suggestion.plateau.lam_from < scale.lam_to


def test_pairs_at_the_fine_end_are_no_scale():
    """Two pairs fuse long before anything else: two clusters, but not those of the pruning."""
    pairs = numbered_by_first(np.where(np.arange(24) < 4, np.arange(24) // 2, np.arange(24)))
    path = path_of((1e-4, 0.1, 5.0, 20.0), (pairs, SIX, TWO, ONE))
    assert [(s.n_clusters, s.lam_from) for s in path.scales] == [(6, 0.1), (2, 5.0)]
    # The same range is the widest, and hid the two halves.
    path = path_of((1e-4, 1.0, 5.0, 20.0), (pairs, SIX, TWO, ONE))
    assert (path.scales[1].lam_from, path.scales[1].lam_to) == (5.0, 20.0)


def test_few_nodes_in_clusters_are_no_scale():
    """One pair in each half, at last together with the rest: most nodes are single for long."""
    pairs = np.where(np.isin(np.arange(24), [1, 13]), np.arange(24) - 1, np.arange(24))
    path = path_of((1.0, 50.0, 60.0), (numbered_by_first(pairs), TWO, ONE))
    assert counts(path) == []


def test_single_nodes_are_never_counted():
    """Four nodes: no cluster of them is small by the default, and still a node is no cluster."""
    rows = [[0, 0, 1, 2], [0, 0, 0, 0]]
    assert made_path([1.0, 9.0], rows).scales == ()
    assert [s.n_clusters for s in made_path([1.0, 9.0], [[0, 0, 1, 1], [0] * 4]).scales] == [2]
