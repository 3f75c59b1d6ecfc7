"""Generated graphs have the requested structure; loaded ones are the published networks."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.sparse.csgraph import connected_components

from convexhc import datasets
from convexhc.datasets import fractal_graph, karate, les_miserables, nested_blocks

seeds = st.integers(0, 2**32 - 1)
counts = st.integers(1, 4)


def assert_simple_graph(adjacency, n):
    dense = adjacency.toarray()
    assert dense.shape == (n, n)
    assert dense.dtype == np.float64
    assert_array_equal(dense, dense.T)
    assert_array_equal(np.diag(dense), 0)
    assert set(np.unique(dense)) <= {0.0, 1.0}


def edges_between(adjacency, labels):
    """Edge counts between groups; the diagonal counts every inner edge twice."""
    member = np.eye(labels.max() + 1)[labels]
    return member.T @ adjacency.toarray() @ member


def effective_rank_of_two_hop(adjacency):
    two_hop = (adjacency @ adjacency).toarray()
    degree = two_hop.sum(axis=1)
    spectrum = np.linalg.eigvalsh(two_hop / np.sqrt(np.outer(degree, degree)))
    share = spectrum[spectrum > 1e-12]
    share = share / share.sum()
    return np.exp(-np.sum(share * np.log(share)))


@given(seed=seeds, n_meta=counts, n_super=counts, clique=counts, links=counts)
def test_fractal_graph_has_the_requested_edges(seed, n_meta, n_super, clique, links):
    links_super = min(links, clique**2)
    links_meta = min(links, (n_super * clique) ** 2)
    adjacency, fine, coarse = fractal_graph(
        seed,
        n_meta=n_meta,
        n_super=n_super,
        clique=clique,
        links_super=links_super,
        links_meta=links_meta,
    )
    assert_simple_graph(adjacency, n_meta * n_super * clique)
    assert_array_equal(np.bincount(fine), np.full(n_meta * n_super, clique))
    assert_array_equal(np.bincount(coarse), np.full(n_meta, n_super * clique))

    between_super = edges_between(adjacency, fine)
    assert_array_equal(np.diag(between_super), clique * (clique - 1))
    same_meta = np.equal.outer(coarse[::clique], coarse[::clique])
    np.fill_diagonal(same_meta, False)
    assert_array_equal(between_super[same_meta], links_super)
    between_meta = edges_between(adjacency, coarse)
    off_diagonal = between_meta[~np.eye(n_meta, dtype=bool)]
    assert set(off_diagonal) <= {0.0, float(links_meta)}


@given(seed=seeds, p=st.floats(0.3, 1.0))
def test_fractal_graph_is_connected_at_every_level(seed, p):
    adjacency, _, coarse = fractal_graph(seed, n_super=4, clique=3, p_super=p, p_meta=p)
    assert connected_components(adjacency, directed=False)[0] == 1
    for meta in range(4):
        inside = np.flatnonzero(coarse == meta)
        part = adjacency[inside][:, inside]
        assert connected_components(part, directed=False)[0] == 1


def test_fewer_super_nodes_are_linked_with_a_smaller_probability():
    full = [fractal_graph(seed).adjacency.nnz for seed in range(10)]
    half = [fractal_graph(seed, p_super=0.5).adjacency.nnz for seed in range(10)]
    # 84 pairs of super nodes, two stored entries each; half are removed, a binomial of 840 trials.
    assert 0.4 < (np.mean(full) - np.mean(half)) / (2 * 84) < 0.6


@pytest.mark.parametrize(
    ("links", "expected"), [(1, 62.0), (3, 73.6)], ids=["one edge a pair", "three edges a pair"]
)
def test_effective_rank_of_the_default_wiring(links, expected):
    graphs = [fractal_graph(s, links_super=links, links_meta=links).adjacency for s in range(10)]
    rank = np.mean([effective_rank_of_two_hop(adjacency) for adjacency in graphs])
    assert rank == pytest.approx(expected, abs=0.5)


def test_the_same_seed_gives_the_same_graph_and_another_one_another():
    first, again, other = (fractal_graph(s).adjacency.toarray() for s in (3, 3, 4))
    assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    blocks = [nested_blocks((3, 4, 5), (0.1, 0.3, 0.8), s).adjacency.toarray() for s in (3, 3, 4)]
    assert_array_equal(blocks[0], blocks[1])
    assert not np.array_equal(blocks[0], blocks[2])


@pytest.mark.parametrize("source", [np.random.default_rng, np.random.RandomState])
def test_a_generator_advances(source):
    state = source(5)
    first, second = (fractal_graph(state).adjacency.toarray() for _ in range(2))
    assert not np.array_equal(first, second)
    assert_array_equal(first, fractal_graph(source(5)).adjacency.toarray())


def test_global_random_state_is_not_modified():
    before = np.random.get_state()[1].copy()  # noqa: NPY002 - the global state is the subject
    fractal_graph(None)
    nested_blocks((2, 3), (0.5, 0.5), None)
    assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"n_meta": 0}, ValueError, "n_meta .* at least 1, received 0"),
        ({"clique": 2.5}, TypeError, "clique .* integer, received 2.5"),
        ({"n_super": True}, TypeError, "n_super .* received True"),
        ({"links_super": 50}, ValueError, "links_super = 50 .* only 49 pairs"),
        ({"p_super": 1.5}, ValueError, r"p_super .* between 0 and 1, received 1.5"),
        ({"p_meta": float("nan")}, ValueError, "p_meta .* received nan"),
        ({"p_meta": 0.0}, ValueError, "p_meta = 0.0 gave no connected graph on 4 nodes"),
    ],
)
def test_fractal_graph_rejects_invalid_options(options, error, words):
    with pytest.raises(error, match=words):
        fractal_graph(0, **options)


@given(seed=seeds, sizes=st.lists(counts, min_size=1, max_size=4))
def test_nested_blocks_with_certain_edges_are_the_blocks(seed, sizes):
    # Probability 1 inside the finest blocks and 0 elsewhere gives disjoint cliques.
    probabilities = [0.0] * (len(sizes) - 1) + [1.0]
    adjacency, labels = nested_blocks(sizes, probabilities, seed)
    n = int(np.prod(sizes))
    assert_simple_graph(adjacency, n)
    finest = labels[-1] if labels else np.zeros(n, dtype=int)
    assert_array_equal(adjacency.toarray(), np.equal.outer(finest, finest) - np.eye(n))


@given(sizes=st.lists(counts, min_size=2, max_size=4), depth=st.integers(0, 3))
def test_each_probability_applies_to_the_pairs_of_its_depth(sizes, depth):
    depth = min(depth, len(sizes) - 1)
    probabilities = [float(level == depth) for level in range(len(sizes))]
    adjacency, labels = nested_blocks(sizes, probabilities)
    n = int(np.prod(sizes))
    levels = [np.zeros(n, dtype=int), *labels, np.arange(n)]
    inside = np.equal.outer(levels[depth], levels[depth])
    apart = ~np.equal.outer(levels[depth + 1], levels[depth + 1])
    assert_array_equal(adjacency.toarray(), (inside & apart).astype(float))


def test_nested_labels_refine_each_other():
    labels = nested_blocks((2, 3, 4, 5), (0.1, 0.2, 0.3, 0.4)).labels
    assert [len(np.unique(level)) for level in labels] == [2, 6, 24]
    for coarse, fine in itertools.pairwise(labels):
        assert len(np.unique(np.stack([coarse, fine]), axis=1).T) == len(np.unique(fine))


def test_nested_blocks_have_the_requested_density():
    sizes, probabilities = (4, 5, 20), (0.02, 0.1, 0.5)
    adjacency, (coarse, fine) = nested_blocks(sizes, probabilities, 1)
    same_coarse, same_fine = np.equal.outer(coarse, coarse), np.equal.outer(fine, fine)
    off_diagonal = ~np.eye(coarse.size, dtype=bool)
    depths = [~same_coarse, same_coarse & ~same_fine, same_fine & off_diagonal]
    for pairs, p in zip(depths, probabilities, strict=True):
        n_pairs = pairs.sum() / 2
        drawn = adjacency.toarray()[pairs].mean()
        assert abs(drawn - p) < 5 * np.sqrt(p * (1 - p) / n_pairs)


@pytest.mark.parametrize(
    ("sizes", "probabilities", "words"),
    [
        ((2, 3), (0.1,), "have 2 and 1 entries"),
        ((), (), "have 0 and 0 entries"),
        ((2, 0), (0.1, 0.2), r"sizes\[1\] .* received 0"),
        ((2, 3), (0.1, -0.2), r"probabilities\[1\] .* received -0.2"),
    ],
)
def test_nested_blocks_rejects_invalid_options(sizes, probabilities, words):
    with pytest.raises(ValueError, match=words):
        nested_blocks(sizes, probabilities)


def test_karate_is_zacharys_network():
    pytest.importorskip("networkx")
    club = karate()
    dense = club.adjacency.toarray()
    assert_array_equal(dense, dense.T)
    assert (dense.shape, np.count_nonzero(dense) // 2) == ((34, 34), 78)
    assert (len(club.names), np.bincount(club.labels).tolist()) == (34, [17, 17])
    # The instructor (first) and the officer (last) led the two clubs.
    assert club.labels[0] != club.labels[33]


def test_les_miserables_is_knuths_network():
    pytest.importorskip("networkx")
    novel = les_miserables()
    dense = novel.adjacency.toarray()
    assert_array_equal(dense, dense.T)
    assert (dense.shape, np.count_nonzero(dense) // 2) == ((77, 77), 254)
    valjean, cosette = novel.names.index("Valjean"), novel.names.index("Cosette")
    assert dense[valjean, cosette] == 31
    assert novel.labels is None


@pytest.mark.parametrize("load", [datasets.karate, datasets.les_miserables])
def test_loaders_name_the_extra_when_networkx_is_missing(load, monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ImportError, match=r"convexhc\[graphs\]"):
        load()
